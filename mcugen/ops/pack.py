"""PACK: tensors of one shape stacked along a new axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import ShapeError
from mcugen.ir.call import Call, Params
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.op import Example, Op
from mcugen.ir.ranges import Range
from mcugen.ir.types import Shape, TensorType, dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _join, _onnx, _strided, _tflite


def from_tflite(source: Source) -> Imported:
    a = source.attributes
    if a["values_count"] != len(source.inputs):
        raise ShapeError(f"values_count is {a['values_count']}, but there are {len(source.inputs)} operands")
    return Imported(Pack(a["axis"]))


def outer(call: Call) -> int:
    """The number of repetitions `outer`, see `_join`."""
    assert isinstance(call.op, Pack)
    return _join.outer_of(call.output.shape, call.op.axis % len(call.output.shape))


def stacks_in_rows(call: Call) -> bool:
    "images are stacked along columns or channels"
    assert isinstance(call.op, Pack)
    return len(call.output.shape) != 4 or call.op.axis % 4 >= 2


def params(call: Call) -> Params:
    repeats = outer(call)
    shapes = [call.input(k).shape for k in range(len(call.inputs))]
    return {"run": _join.runs(shapes, repeats, call.output.np_dtype.itemsize), "outer": repeats}


def _attributes(call: Call) -> dict[str, object]:
    return {"axis": call.op.axis, "values_count": len(call.inputs)}


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    axis = call.op.axis % len(call.output.shape)
    shape = tuple(1 if k == axis else size for k, size in enumerate(call.output.shape))
    parts = [_onnx.reshaped(sink, str(name), sink.type(str(name)).with_shape(shape)) for name in inputs]
    return sink.operator("Concat", parts, call.outputs, {"axis": axis})


@dataclass(frozen=True)
class Pack(Op):
    """y[..., k, ...] = the k-th operand, k along the new axis `axis`.

    x...: any type, equal shapes   y: as x, with one more axis
    in_place: whether the operands are stored inside the result
    Source: TFLite PACK.
    """

    axis: int
    in_place: bool = False

    only_moves = True
    tflm_types = dtypes("s8 s16 s32 s64 f32")
    litert_types = dtypes("s8 u8 s16 s32 s64 u32 f32")
    imports = (Import("tflite", "PACK", from_tflite),)
    writes = (_tflite.same("PACK", _attributes, s8=2, s16=3), Write("onnx", to_onnx))
    kernels = _join.join_kernels("mg_concatenation", (), stacks_in_rows, params, outer)

    def infer(self, *xs: TensorType | None) -> tuple[TensorType, ...]:
        given = [_strided.operand(x) for x in xs]
        if not given or len({(x.shape, x.dtype) for x in given}) > 1:
            raise ShapeError(f"operands [{', '.join(map(str, given))}] cannot be stacked: they need one type and shape")
        shape = given[0].shape
        axis = _strided.axis_of(self.axis, len(shape) + 1)
        return (TensorType((*shape[:axis], len(given), *shape[axis:]), given[0].dtype),)

    def reference(self, *xs: np.ndarray) -> np.ndarray:
        return np.stack(xs, self.axis)

    def reference_q(self, call: Call, *xs: np.ndarray) -> np.ndarray:
        """Stored elements are moved."""
        return self.reference(*xs)

    def bounds(self, call: Call) -> tuple[Range | None, ...]:
        return _strided.moved_bounds(call)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        cases: tuple[tuple[int, int, Shape], ...] = (
            (0, 2, (2, 3, 4)),
            (1, 3, (1, 3, 4)),
            (2, 2, (2, 3, 4)),
            (-1, 4, (2, 3, 4)),
            (0, 5, ()),
            (-1, 1, (7,)),
            *((k % 3, k, (2, 2)) for k in range(6, _join.MAX_PARTS + 1)),
            *((k % 4, k, (2, 2, 2)) for k in range(2, _join.MAX_PARTS + 1)),
        )
        x = TensorType((4, 3), "s8")
        joined = Example(cls(0, in_place=True), (x, x), (TensorType((2, 4, 3), "s8"),), {})
        return [
            joined,
            *(
                Example(op, xs, (TensorType(op.infer(*xs)[0].shape, dtype, quant),), {0: None} if count > 4 else {}, k)
                for k, (axis, count, shape) in enumerate(cases)
                for dtype, quant in (*_strided.DTYPES[: 4 if k < 6 else 1], ("s32", None))
                for op, xs in [(cls(axis), (TensorType(shape, dtype, quant),) * count)]
            ),
        ]
