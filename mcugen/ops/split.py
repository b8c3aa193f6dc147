"""SPLIT and SPLIT_V: parts of a tensor along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.axis_order import Order
from mcugen.ir.call import Call, Params
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.op import Example, Op, Reordered
from mcugen.ir.ranges import Range
from mcugen.ir.types import Shape, TensorType, dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _join, _ordered, _strided, _tflite


def from_split(source: Source) -> Imported:
    x = _strided.operand(source.inputs[1] if len(source.inputs) > 1 else None)
    axis, parts = _constant_axis(source, 0, x), source.attributes["num_splits"]
    size = x.shape[axis]
    if parts < 1 or size % parts or parts != len(source.outputs):
        raise ShapeError(f"num_splits={parts} must divide the axis of {size} and match {len(source.outputs)} results")
    return Imported(Split(axis, (size // parts,) * parts), inputs=(1,))


def from_split_v(source: Source) -> Imported:
    x = _strided.operand(source.inputs[0] if source.inputs else None)
    axis, sizes = _constant_axis(source, 2, x), source.ints(1)
    if sizes is None:
        raise UnsupportedError("the sizes (operand 1) are computed at run time", hint="make them a constant")
    if source.attributes["num_splits"] != len(sizes) or sizes.count(-1) > 1:
        count = source.attributes["num_splits"]
        raise ShapeError(f"sizes {list(sizes)} must be num_splits={count} numbers, at most one of them -1")
    rest = x.shape[axis] - sum(n for n in sizes if n != -1)
    return Imported(Split(axis, tuple(rest if n == -1 else n for n in sizes)), inputs=(0,))


def _constant_axis(source: Source, k: int, x: TensorType) -> int:
    axis = source.ints(k)
    if axis is None or len(axis) != 1:
        raise UnsupportedError(f"the axis (operand {k}) must be one constant number", hint="make it a constant")
    return _strided.axis_of(axis[0], len(x.shape))


def outer(call: Call) -> int:
    """The number of repetitions `outer`, see `_join`."""
    assert isinstance(call.op, Split)
    return _join.outer_of(call.input(0).shape, call.op.axis)


def params(call: Call) -> Params:
    repeats = outer(call)
    shapes = [y.shape for y in call.outputs]
    return {"run": _join.runs(shapes, repeats, call.output.np_dtype.itemsize), "outer": repeats}


def to_tflite(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    """SPLIT if all parts are equal, else SPLIT_V."""
    op, x = call.op, call.input(0)
    axis, parts = sink.constant(np.array(op.axis, np.int32)), {"num_splits": len(op.sizes)}
    if len(set(op.sizes)) == 1:
        number = _tflite.version(x, s8=2, s32=3, s16=4)
        return _tflite.operator(call, sink, "SPLIT", [axis, *inputs], parts, number)
    operands = [*inputs, _tflite.vector(sink, op.sizes), axis]
    return _tflite.operator(call, sink, "SPLIT_V", operands, parts, _tflite.version(x, s8=2))


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    attributes = {"axis": call.op.axis % len(call.input(0).shape), "split": call.op.sizes}
    return sink.operator("Split", inputs, call.outputs, attributes)


@dataclass(frozen=True)
class Split(Op):
    """y[k] = part k of x along `axis`, with sizes[k] elements along it.

    x: any type and shape   y...: as x, sizes[k] along the axis
    in_place: whether the results are stored inside the operand
    Source: TFLite SPLIT, SPLIT_V.
    """

    axis: int
    sizes: tuple[int, ...]
    in_place: bool = False

    only_moves = True
    tflm_types = dtypes("s8 s16 s32 f32")
    litert_types = dtypes("s8 u8 s16 s32 s64 f32")
    imports = (Import("tflite", "SPLIT", from_split), Import("tflite", "SPLIT_V", from_split_v))
    writes = (Write("tflite", to_tflite), Write("onnx", to_onnx))
    kernels = _join.split_kernels(params, outer)

    def reordered(self, call: Call, orders: Sequence[Order | None]) -> Reordered | None:
        axis = self.axis % len(call.input(0).shape)
        found = _ordered.resized(call, orders, (axis,))
        return None if found is None else replace(found[1], op=replace(self, axis=found[0][axis]))

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        x = _strided.operand(x)
        axis = _strided.axis_of(self.axis, len(x.shape))
        if not self.sizes or min(self.sizes) < 1 or sum(self.sizes) != x.shape[axis]:
            raise ShapeError(f"an axis of {x.shape[axis]} cannot be split into {list(self.sizes)}")
        return tuple(TensorType((*x.shape[:axis], n, *x.shape[axis + 1 :]), x.dtype) for n in self.sizes)

    def reference(self, x: np.ndarray) -> tuple[np.ndarray, ...]:
        return tuple(np.split(x, np.cumsum(self.sizes)[:-1].tolist(), self.axis))

    def reference_q(self, call: Call, x: np.ndarray) -> tuple[np.ndarray, ...]:
        """Stored elements are moved."""
        return self.reference(x)

    def bounds(self, call: Call) -> tuple[Range | None, ...]:
        return _strided.moved_bounds(call)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        cases: tuple[tuple[int, tuple[int, ...], Shape], ...] = (
            (0, (3, 1), (4, 4)),
            (1, (2, 2, 2), (1, 6, 4, 3)),
            (2, (1, 3), (2, 2, 4, 3)),
            (3, (1, 2, 4), (1, 2, 3, 7)),
            (0, (1, 1, 1, 1), (4, 6)),
            (0, (5,), (5,)),
            *((1, (1,) * k, (2, k, 2)) for k in range(5, _join.MAX_PARTS + 1)),
        )
        return [
            Example(op, (x,), tuple(TensorType(y.shape, dtype, quant) for y in op.infer(x)), {}, k)
            for k, (axis, sizes, shape) in enumerate(cases)
            for dtype, quant in _strided.DTYPES
            for op, x in [(cls(axis, sizes, in_place=k == 0), TensorType(shape, dtype, quant))]
        ]
