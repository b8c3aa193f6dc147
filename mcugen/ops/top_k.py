"""TOPK_V2: the largest or smallest elements along an axis, in order, and their indices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.kernel import Kernel, Whole
from mcugen.ir.op import Example, Op
from mcugen.ir.types import QuantParams, Shape, TensorType, dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _onnx, _plain, _strided, _tflite


def from_tflite(source: Source) -> Imported:
    count = source.ints(1)
    if count is None or len(count) != 1:
        raise UnsupportedError("k (operand 1) must be one constant number", hint="make it a constant")
    return Imported(TopK(count[0]), inputs=(0,))


def params(call: Call) -> Params:
    op, shape = call.op, call.input(0).shape
    axis = op.axis % len(shape)
    return {
        **_plain.kind_of(call),
        "outer": prod(shape[:axis]),
        "size": shape[axis],
        "inner": prod(shape[axis + 1 :]),
        "k": op.count,
        "wide": int(op.dtype == "s64"),
        "smallest": int(op.smallest),
    }


def to_tflite(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    op, x = call.op, call.input(0)
    if op.smallest or op.dtype != "s32" or op.axis % len(x.shape) != len(x.shape) - 1:
        raise UnsupportedError("TOPK_V2 only has the largest elements along the last axis, with int32 indices")
    operands = [*inputs, sink.constant(np.array(op.count, np.int32))]
    return _tflite.operator(call, sink, "TOPK_V2", operands, {}, _tflite.version(x, s8=2, s16=3))


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    axis = call.op.axis % len(call.input(0).shape)
    types = [call.outputs[0], TensorType(call.outputs[1].shape, "s64")]
    attributes = {"k": (call.op.count,), "axis": axis, "largest": int(not call.op.smallest)}
    values, places = sink.operator("TopK", inputs, types, attributes)
    return [values, _onnx.cast(sink, places, call.op.dtype)]


@dataclass(frozen=True)
class TopK(Op):
    """y = the `count` largest elements along `axis` (smallest with `smallest`), in order; at = their indices.

    x: s8, u8, s16, s32, s64 or f32, any shape; compared as stored   y: as x   at: `dtype` (s32 or s64)
    Equal elements keep their order. Source: TFLite TOPK_V2; ONNX TopK-11.
    """

    count: int
    axis: int = -1
    smallest: bool = False
    dtype: str = "s32"

    only_moves = True
    litert_types = dtypes("s8 u8 s16 s32 s64 f32")
    imports = (Import("tflite", "TOPK_V2", from_tflite),)
    writes = (Write("tflite", to_tflite), Write("onnx", to_onnx))
    kernels = (
        Kernel("mg_top_k_integers", Whole(), (_plain.integers(0),), params),
        Kernel("mg_top_k_f32", Whole(), (_plain.floats(0),), params),
    )

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        x = _plain.operand(x)
        axis = _strided.axis_of(self.axis, len(x.shape))
        if not 1 <= self.count <= x.shape[axis]:
            raise ShapeError(f"k={self.count} must be between 1 and the size of the axis, {x.shape[axis]}")
        shape = (*x.shape[:axis], self.count, *x.shape[axis + 1 :])
        return TensorType(shape, x.dtype), TensorType(shape, self.dtype)

    def reference(self, x: np.ndarray) -> tuple[np.ndarray, ...]:
        keys = x.astype(object) if x.dtype.kind in "iu" else x
        order = np.argsort(keys if self.smallest else -keys, axis=self.axis, kind="stable")
        chosen = np.take(order, range(self.count), self.axis)
        return np.take_along_axis(x, chosen, self.axis), chosen

    def reference_q(self, call: Call, x: np.ndarray) -> tuple[np.ndarray, ...]:
        return self.reference(x)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        cases: tuple[tuple[int, int, Shape], ...] = ((3, -1, (2, 10)), (1, 1, (2, 5, 3)), (4, 0, (4, 3)))
        types = (("s8", QuantParams((0.5,), (-3,))), ("f32", None), ("s64", None), ("s32", None))
        return [
            Example(op, (x,), (TensorType(y.shape, dtype, quant), at), {}, seed)
            for seed, ((count, axis, shape), (dtype, quant)) in enumerate((c, t) for c in cases for t in types)
            for op in [cls(count, axis, bool(seed & 1), ("s32", "s64")[seed // 2 % 2])]
            for x in [TensorType(shape, dtype, quant)]
            for y, at in [op.infer(x)]
        ]
