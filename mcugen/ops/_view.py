"""Shared recipe of operators whose result is a copy of a strided view of their operand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Kernel, RowWindow, Whole, Window
from mcugen.ir.op import Example, Op
from mcugen.ir.ranges import Range
from mcugen.ir.types import Shape, TensorType, images_of, rows_of
from mcugen.ops import _strided


class View(Op):
    """Base of operators whose result copies a strided view. `view` defines the result and the C kernel's loops."""

    only_moves = True

    def view(self, x: np.ndarray) -> np.ndarray:
        """The result as a NumPy view of x. It may have more axes than the result, to which it is reshaped."""
        raise NotImplementedError

    def reference(self, x: np.ndarray) -> np.ndarray:
        return self.view(x)

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        """Elements are moved as they are stored."""
        return self.view(x)

    def bounds(self, call: Call) -> tuple[Range | None, ...]:
        return _strided.moved_bounds(call)


def _view(call: Call) -> tuple[np.ndarray, np.ndarray]:
    """(operand, view of it), as arrays with one byte per element."""
    op, base = call.op, _strided.blank(call.input(0).shape)
    assert isinstance(op, View)
    return base, op.view(base)


def few_loops(call: Call) -> bool:
    "at most six nested loops reach all elements"
    return len(_strided.view_loops(_view(call)[1])) <= _strided.MAX_LOOPS


def params(call: Call) -> Params:
    base, view = _view(call)
    element = call.output.np_dtype.itemsize
    return {
        **_strided.fields(_strided.view_loops(view), element),
        "offset": _strided.view_offset(base, view) * element,
    }


def _row_of(call: Call) -> tuple[int, int, np.ndarray] | None:
    """(row of the operand that row 0 of the result is taken from, rows from one to the next, view of a row); None if a
    row of the result is not part of one row.
    """
    x, y = call.input(0).shape, call.output.shape
    base, view = _view(call)
    view = view.squeeze()
    if len(x) != 4 or images_of(x) != 1 or images_of(y) != 1 or rows_of(y) < 2 or view.shape[0] != rows_of(y):
        return None
    row = base.strides[1]
    first, column = divmod(_strided.view_offset(base, view), row)
    step, uneven = divmod(view.strides[0], row)
    reach = [(size - 1) * stride for size, stride in zip(view.shape[1:], view.strides[1:], strict=True)]
    inside = column + sum(min(r, 0) for r in reach) >= 0 and column + sum(max(r, 0) for r in reach) < row
    return (first, step, view[0]) if step > 0 and not uneven and inside else None


def moves_pixels(call: Call) -> bool:
    "pixels, u8 without a scale, stay in their row, and rows in their order"
    x = call.input(0)
    return x.dtype == "u8" and x.quant is None and _row_of(call) is not None


def row_window(call: Call) -> RowWindow:
    first, step, _ = _row_of(call) or (0, 1, None)
    return RowWindow(1, step, 1, -first, rows_of(call.input(0).shape), rows_of(call.output.shape))


def row_params(call: Call) -> Params:
    base, view = _view(call)
    found = _row_of(call)
    assert found is not None
    loops = _strided.view_loops(found[2])
    return {**_strided.fields(loops, 1), "offset": _strided.view_offset(base, view) % base.strides[1]}


KERNELS = (Kernel("mg_view", Whole(), accepts=(_strided.has_c_type, few_loops), params=params),)
_ROWS = Kernel("mg_view__rows", Window(row_window), accepts=(moves_pixels, few_loops), params=row_params)
WITH_ROWS = (_ROWS, *KERNELS)
"""Also the kernel of single rows, for operators on images of a camera."""


def examples(cases: Iterable[tuple[Op, Shape]]) -> Sequence[Example]:
    """Each case with elements of 1, 2, 4 and 8 bytes. cases: (operator, shape of the operand)."""
    return [
        Example(op, (x,), (TensorType(op.infer(x)[0].shape, dtype, quant),), {}, k)
        for k, (op, shape) in enumerate(cases)
        for dtype, quant in _strided.DTYPES
        for x in [TensorType(shape, dtype, quant)]
    ]


def pixel_examples(cases: Iterable[tuple[Op, Shape]]) -> Sequence[Example]:
    """Each case with pixels of a camera. cases: (operator, shape of the operand)."""
    types = ((op, TensorType(shape, "u8")) for op, shape in cases)
    return [Example(op, (x,), op.infer(x), {}, k) for k, (op, x) in enumerate(types)]
