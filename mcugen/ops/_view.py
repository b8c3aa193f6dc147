"""Shared recipe of operators whose result is a copy of a strided view of their operand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Kernel, Whole
from mcugen.ir.op import Example, Op
from mcugen.ir.ranges import Range
from mcugen.ir.types import Shape, TensorType
from mcugen.ops import _strided


class View(Op):
    """Base of these operators. `view` defines the result, and the loops of the C kernel are derived from it."""

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


KERNELS = (Kernel("mg_view", Whole(), accepts=(_strided.has_c_type, few_loops), params=params),)


def examples(cases: Iterable[tuple[Op, Shape]]) -> Sequence[Example]:
    """Each case with elements of 1, 2, 4 and 8 bytes. cases: (operator, shape of the operand)."""
    return [
        Example(op, (x,), (TensorType(op.infer(x)[0].shape, dtype, quant),), {}, k)
        for k, (op, shape) in enumerate(cases)
        for dtype, quant in _strided.DTYPES
        for x in [TensorType(shape, dtype, quant)]
    ]
