"""Reductions of integers and booleans without scales: sum, product, maximum, minimum. Also the product of floats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.kernel import Kernel, Whole
from mcugen.ir.op import Example
from mcugen.ir.types import TensorType, dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _onnx, _plain, _reduce

_TFLITE = {"REDUCE_PROD": "prod", "REDUCE_ANY": "max", "REDUCE_ALL": "min"}
_WIDE = {"SUM": "sum", "REDUCE_MAX": "max", "REDUCE_MIN": "min"}
"""Operators that become ReducePlain for int32 and int64 data, and except SUM for bool data."""


def is_wide(source: Source) -> bool:
    """Whether operand 0 is int32 or int64, or bool if the operator is not SUM."""
    x = source.inputs[0] if source.inputs else None
    return x is not None and x.dtype in ("s32", "s64", *(() if source.name == "SUM" else ("bool",)))


def from_tflite(source: Source) -> Imported:
    op = ReducePlain(**_reduce.attributes(source), how=(_TFLITE | _WIDE)[source.name])
    logical, dtype = source.name in ("REDUCE_ANY", "REDUCE_ALL"), source.inputs[0].dtype if source.inputs[0] else ""
    lacking = {} if logical else {"tflm": "no kernel for integers without a scale"}
    if logical and dtype != "bool":
        lacking = dict.fromkeys(("tflm", "litert"), f"no kernel for {dtype}")
    return Imported(op, inputs=(0,), refused_by=lacking)


def params(call: Call) -> Params:
    return {"how": _plain.FOLDS[call.op.how], **_plain.kind_of(call), **_reduce.walk(call)}


def to_tflite(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    """The TensorFlow Lite reduction that imports as this operator."""
    x, how = call.input(0), call.op.how
    known = {"bool": ("max", "min", "prod"), "f32": ("prod",), "s32": _plain.FOLDS, "s64": _plain.FOLDS}
    names = _TFLITE if x.dtype == "bool" else _TFLITE | _WIDE
    name = {made: name for name, made in names.items()}.get(how, "")
    if how not in known.get(x.dtype, ()):
        raise UnsupportedError(f"TensorFlow Lite has no {call.op.how} of {call.input(0).dtype} without a scale")
    return _reduce.written(name).write(call, sink, inputs)


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    if call.op.how == "prod" and not call.output.is_float:
        raise UnsupportedError("products of integers wrap here, but not in ONNX: they cannot be written as .onnx")
    rank = len(call.input(0).shape)
    attributes = {"axes": call.op.chosen(rank), "keepdims": int(call.op.keep_dims)}
    names = {"sum": "ReduceSum", "prod": "ReduceProd", "max": "ReduceMax", "min": "ReduceMin"}
    return [_onnx.in_wide(call, sink, names[call.op.how], inputs, attributes)]


@dataclass(frozen=True)
class ReducePlain(_reduce.Reduction):
    """y = sum, product, largest or smallest element over `axes`.

    x, y: s8, u8, s16, s32, s64, bool (max: any, min: all) or f32, without scales; integers wrap
    Source: TFLite REDUCE_PROD, REDUCE_ANY, REDUCE_ALL, SUM, REDUCE_MAX, REDUCE_MIN; ONNX ReduceProd-18, ReduceSum-13.
    """

    how: str = "sum"

    tflm_types = dtypes("bool")
    litert_types = dtypes("s32 s64 f32 bool")
    imports = (
        *(Import("tflite", name, from_tflite) for name in _TFLITE),
        *(Import("tflite", name, from_tflite, when=is_wide) for name in _WIDE),
    )
    writes = (Write("tflite", to_tflite), Write("onnx", to_onnx))
    kernels = (
        Kernel("mg_reduce_plain_integers", Whole(), (_plain.integers(0),), params),
        Kernel("mg_reduce_plain_f32", Whole(), (_plain.floats(0),), params),
    )

    def refused_by(self, call: Call, runtime: str) -> str:
        if runtime == "tflm" and self.how == "max" and call.input(0).dtype == "bool":
            return "no kernel for REDUCE_ANY"
        return super().refused_by(call, runtime)

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        x = _plain.operand(x)
        if x.quant is not None:
            raise ShapeError(f"{x} must not have a scale: stored integers are reduced")
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
