"""Sums, products and extremes over axes of plain integers and truth values, and products of floats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.call import Call, Params
from mcugen.errors import ShapeError, UnsupportedError
from mcugen.imports import Import, Imported, Source
from mcugen.kernel import Form, Kernel
from mcugen.op import Example
from mcugen.ops import _onnx, _plain, _reduce
from mcugen.types import TensorType, dtypes
from mcugen.writes import Sink, Write

_TFLITE = {"REDUCE_PROD": "prod", "REDUCE_ANY": "max", "REDUCE_ALL": "min"}


def from_tflite(source: Source) -> Imported:
    return Imported(ReducePlain(**_reduce.attributes(source), how=_TFLITE[source.name]), inputs=(0,))


def params(call: Call) -> Params:
    return {"how": _plain.FOLDS[call.op.how], **_plain.kind_of(call), **_reduce.walk(call)}


def to_tflite(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    """Products, and the truth of any or of all."""
    is_bool = call.input(0).dtype == "bool"
    name = {"prod": "" if is_bool else "REDUCE_PROD", "max": "REDUCE_ANY", "min": "REDUCE_ALL"}.get(call.op.how, "")
    if not name or is_bool != (call.op.how != "prod") or call.input(0).dtype not in ReducePlain.litert_types:
        raise UnsupportedError(f"the {call.op.how} of {call.input(0).dtype} without a scale has no operator")
    return _reduce.written(name).write(call, sink, inputs)


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    if call.op.how == "prod" and not call.output.is_float:
        raise UnsupportedError("products of integers, which wrap, cannot be written as .onnx")
    rank = len(call.input(0).shape)
    attributes = {"axes": call.op.chosen(rank), "keepdims": int(call.op.keep_dims)}
    names = {"sum": "ReduceSum", "prod": "ReduceProd", "max": "ReduceMax", "min": "ReduceMin"}
    return [_onnx.in_wide(call, sink, names[call.op.how], inputs, attributes)]


@dataclass(frozen=True)
class ReducePlain(_reduce.Reduction):
    """y = sum, product, largest or smallest element over `axes`.

    x, y: s8, u8, s16, s32, s64, bool (max: any, min: all) or f32, without scales; integers wrap
    Source: TFLite REDUCE_PROD, REDUCE_ANY, REDUCE_ALL; ONNX ReduceProd-18, ReduceSum-13.
    """

    how: str = "sum"

    tflm_types = dtypes("bool")
    litert_types = dtypes("s32 s64 f32 bool")
    imports = tuple(Import("tflite", name, from_tflite) for name in _TFLITE)
    writes = (Write("tflite", to_tflite), Write("onnx", to_onnx))
    kernels = (
        Kernel("mg_reduce_plain_integers", Form.WHOLE, (_plain.integers(0),), params),
        Kernel("mg_reduce_plain_f32", Form.WHOLE, (_plain.floats(0),), params),
    )

    def refused_by(self, call: Call, runtime: str) -> str:
        if runtime == "tflm" and self.how == "max":
            return "no such operator"
        return super().refused_by(call, runtime)

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        x = _plain.operand(x)
        if x.quant is not None:
            raise ShapeError(f"{x} has a scale, which sums and products of stored integers ignore")
        shape = super().infer(TensorType(x.shape, "f32"))[0].shape
        return (TensorType(shape, x.dtype),)

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(_plain.REDUCERS[self.how](x, axis=self.chosen(x.ndim), keepdims=self.keep_dims))

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            return _plain.wrapped(self.reference(x.astype(np.int64)), call.output)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        pairs = [(how, dtype) for how in _plain.FOLDS for dtype in ("s8", "f32")]
        pairs += [("sum", "u8"), ("prod", "s32"), ("max", "bool"), ("min", "s64"), ("sum", "s16")]
        return [
            Example(op, (x,), op.infer(x), {}, k)
            for k, (how, dtype) in enumerate(pairs)
            for shape, axes, keep in [_reduce.CASES[k % len(_reduce.CASES)]]
            for op, x in [(cls(axes, keep, how), TensorType(shape, dtype))]
        ]
