"""UNPACK: slices of a tensor along an axis, without that axis."""

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
    if a["num"] != len(source.outputs):
        raise ShapeError(f"num is {a['num']}, but there are {len(source.outputs)} results")
    return Imported(Unpack(a["axis"], a["num"]))


def outer(call: Call) -> int:
    """The number of repetitions `outer`, see `_join`."""
    assert isinstance(call.op, Unpack)
    x = call.input(0).shape
    return _join.outer_of(x, call.op.axis % len(x))


def params(call: Call) -> Params:
    repeats = outer(call)
    shapes = [y.shape for y in call.outputs]
    return {"run": _join.runs(shapes, repeats, call.output.np_dtype.itemsize), "outer": repeats}


def _attributes(call: Call) -> dict[str, object]:
    return {"axis": call.op.axis, "num": call.op.count}


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    axis, x = call.op.axis % len(call.input(0).shape), call.input(0)
    shape = tuple(1 if k == axis else size for k, size in enumerate(x.shape))
    types = [t.with_shape(shape) for t in call.outputs]
    parts = sink.operator("Split", inputs, types, {"axis": axis, "split": (1,) * len(types)})
    return [_onnx.reshaped(sink, part, t) for part, t in zip(parts, call.outputs, strict=True)]


@dataclass(frozen=True)
class Unpack(Op):
    """y[k] = x[..., k, ...], with k along `axis`.

    x: any type, `count` along the axis   y...: as x, without the axis
    in_place: whether the results are stored inside the operand
    Source: TFLite UNPACK.
    """

    axis: int
    count: int
    in_place: bool = False

    only_moves = True
    tflm_types = dtypes("s8 s16 s32 f32")
    litert_types = dtypes("s8 u8 s16 s32 f16 f32 bool")
    imports = (Import("tflite", "UNPACK", from_tflite),)
    writes = (_tflite.same("UNPACK", _attributes, s8=2, u8=2, bool=3, s16=4), Write("onnx", to_onnx))
    kernels = _join.split_kernels(params, outer)

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        x = _strided.operand(x)
        axis = _strided.axis_of(self.axis, len(x.shape))
        if self.count != x.shape[axis]:
            raise ShapeError(f"an axis of {x.shape[axis]} cannot be unpacked into {self.count} slices")
        return (TensorType((*x.shape[:axis], *x.shape[axis + 1 :]), x.dtype),) * self.count

    def reference(self, x: np.ndarray) -> tuple[np.ndarray, ...]:
        return tuple(np.moveaxis(x, self.axis, 0))

    def reference_q(self, call: Call, x: np.ndarray) -> tuple[np.ndarray, ...]:
        """Stored elements are moved."""
        return self.reference(x)

    def bounds(self, call: Call) -> tuple[Range | None, ...]:
        return _strided.moved_bounds(call)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        cases: tuple[tuple[int, Shape], ...] = (
            (0, (3, 4)),
            (0, (2, 3, 4)),
            (1, (2, 3, 4)),
            (-1, (2, 3, 4)),
            (0, (1, 5)),
            (0, (7,)),
            *((1, (2, k, 3)) for k in range(5, _join.MAX_PARTS + 1)),
        )
        return [
            Example(op, (x,), tuple(TensorType(y.shape, dtype, quant) for y in op.infer(x)), {}, k)
            for k, (axis, shape) in enumerate(cases)
            for dtype, quant in _strided.DTYPES
            for op, x in [(cls(axis, shape[axis], in_place=k == 0), TensorType(shape, dtype, quant))]
        ]
