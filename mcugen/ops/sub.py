"""SUB: the difference of two tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.element import Element
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.op import Example, Op, Scaling
from mcugen.ir.quant_rule import Scales
from mcugen.ir.ranges import Range
from mcugen.ir.types import TensorType, dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _elementwise, _linear_sum, _onnx, _pairs, _sum, _tflite
from mcugen.ops._activation import Activated
from mcugen.ops._channelwise import Pointwise
from mcugen.oracle import once, quantized, quantized_sums
from mcugen.oracle.fixed import int64, wrapped

_TYPES = ("s8", "u8", "s16", "s32", "f32")


def from_tflite(source: Source) -> Imported:
    a = source.attributes
    return Imported(Sub(a["fused_activation_function"], bool(a["pot_scale_int16"])))


def int_bounds(call: Call) -> tuple[int, int]:
    """The bounds of int32 differences without scales."""
    return _elementwise.int_bounds(call.op.activation)


ELEMENT = {
    "s8": _sum.element(-1),
    "s16": _sum.element(-1),
    "f32": Element("a - b", bounds=_elementwise.float_bounds),
    "s32": Element("(int32_t)((uint32_t)a - (uint32_t)b)", bounds=int_bounds),
}


def _attributes(call: Call) -> dict[str, object]:
    return _tflite.activation(call) | {"pot_scale_int16": call.op.power_of_two}


def to_tflite(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    a, b = call.input(0), call.input(1)
    number = 3 if a.shape != b.shape and len(call.output.shape) > 4 else _tflite.version(a, s8=2)
    number = 5 if a.dtype == "s16" and not call.op.power_of_two else number
    return _tflite.operator(call, sink, "SUB", inputs, _attributes(call), number)


@dataclass(frozen=True)
class Sub(Pointwise, Activated):
    """y = activation(a - b), elementwise, broadcasting.

    a, b, y: one type of s8, u8, s16 (per tensor), s32 and f32
    power_of_two: whether LiteRT may subtract int16 data by shifting if all scales are powers of two
    rounding: "even" or "single" if integer results are real numbers rounded once; see _rounding, _pairs
    Source: TFLite SUB; reference_ops::Sub, sub.cc.
    """

    activation: str = "NONE"
    power_of_two: bool = False
    rounding: str = ""

    tflm_types = dtypes("s8 s16 s32 f32")
    litert_types = dtypes("s8 u8 s16 s32 s64 f32")
    imports = (Import("tflite", "SUB", from_tflite),)
    writes = (Write("tflite", to_tflite), _onnx.same("Sub"))
    element: ClassVar = ELEMENT
    kernels = (
        *_linear_sum.kernels(-1),
        *_elementwise.kernels("mg_add_s8", "s8", ELEMENT["s8"], (_pairs.by_runtime,)),
        *_elementwise.kernels("mg_pair_s8", "s8", partial(_pairs.sum_element, -1), (_pairs.is_proved(-1),)),
        *_elementwise.kernels("mg_fused_pair_s8", "s8", _pairs.fused_element(-1), (_pairs.is_fused,)),
        *_elementwise.kernels("mg_add_s16", "s16", ELEMENT["s16"], (_pairs.by_runtime, _elementwise.symmetric)),
        *_elementwise.kernels("mg_sub_f32", "f32", ELEMENT["f32"]),
        *_elementwise.kernels("mg_sub_s32", "s32", ELEMENT["s32"]),
    )

    def quantized(self, call: Call) -> Scales:
        return _sum.scales(call, -1)

    def infer(self, a: TensorType | None, b: TensorType | None) -> tuple[TensorType, ...]:
        return (_elementwise.broadcast_types(a, b, _TYPES),)

    def refused_by(self, call: Call, runtime: str) -> str:
        return super().refused_by(call, runtime) or _sum.without_shifts(call, runtime)

    def reference(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return quantized.clamped(a - b, self.activation)

    def reference_q(self, call: Call, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        if a.dtype == np.int32:
            return quantized.clamped_int32(wrapped(int64(a) - b), self.activation)
        if self.rounding:
            return once.added(call, -1, a, b)
        return quantized_sums.added(call, -1, a, b)

    def rounded(self, call: Call) -> Op | None:
        return replace(self, rounding="even")

    def scaling(self, call: Call) -> Scaling:
        return {} if self.rounding else _sum.scaling(call, -1)

    def scaling_q(self, call: Call) -> Scaling:
        return {} if self.rounding else quantized_sums.scaling(call)

    def bounds(self, call: Call) -> tuple[Range | None, ...]:
        found = _elementwise.corners(call) if call.output.dtype in ("s8", "s16") else None
        return super().bounds(call) if found is None else (found,)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [*_elementwise.sum_examples(cls), *_elementwise.stated_examples(cls())]
