"""DIV: the quotient of two tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from mcugen.ir.call import Call, Params
from mcugen.ir.element import Element
from mcugen.ir.fixed_point import activation_bounds, activation_range, quantize_multiplier
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.op import Example, Op, Scaling
from mcugen.ir.quant_rule import Scales
from mcugen.ir.types import TensorType, dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _elementwise, _onnx, _pairs, _quotients, _tflite
from mcugen.ops._channelwise import Pointwise
from mcugen.oracle import once, quantized, quotients

_LARGEST = float(np.finfo(np.float32).max)
_QUANTIZED = ("s8", "u8", "s16")
_SPARE = {"s8": 23, "u8": 23, "s16": 15}
"""Least number of zero bits above a dividend. It is the largest left shift of a multiplier."""


def from_tflite(source: Source) -> Imported:
    return Imported(Div(source.attributes["fused_activation_function"]))


def bounds(call: Call) -> tuple[float, float]:
    """The bounds of the activation, within the range of finite floats."""
    low, high = activation_bounds(call.op.activation)
    return max(low, -_LARGEST), min(high, _LARGEST)


def to_tflite(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    broadcasts = call.input(0).shape != call.input(1).shape
    number = 2 if broadcasts and len(call.output.shape) > 4 else 1
    return _tflite.operator(call, sink, "DIV", inputs, _tflite.activation(call), number)


def multiplier(call: Call) -> tuple[int, int]:
    """(mult, shift) for scale_a / (scale_b * scale_y), computed in float32. Source: div.cc, OpData."""
    a, b, y = (np.float32(t.scale) for t in (call.input(0), call.input(1), call.output))
    with np.errstate(over="ignore", divide="ignore"):
        return quantize_multiplier(float(a / (b * y)))


def shifts_right(call: Call) -> bool:
    "the multiplier of quotients shifts no bits out to the left"
    dtype = call.input(0).dtype
    return dtype not in _SPARE or multiplier(call)[1] <= _SPARE[dtype]


def params(call: Call) -> Params:
    mult, shift = multiplier(call)
    low, high = activation_range(call.op.activation, call.output)
    found = {
        "mult": mult, "shift": shift, "out_min": low, "out_max": high, "a_zero_point": call.input(0).zero_point,
        "b_zero_point": call.input(1).zero_point, "out_zero_point": call.output.zero_point,
    }  # fmt: skip
    return {f"quotient.{name}": value for name, value in found.items()}


_INTEGERS = Element(
    "mg_scaled_quotient_of(&quotient, a, b)",
    {"quotient": "mg_scaled_quotient"},
    params,
    slow=True,
    headers=("quotient.h",),
)


@dataclass(frozen=True)
class Div(Pointwise):
    """y = activation(a / b), elementwise, broadcasting; infinite quotients become the largest float.

    a, b, y: one type of s8, u8, s16 (per tensor), s32 and f32
    s32: the quotient is truncated. A division by 0 gives 0; runtimes abort or have no defined result.
    Scaled types: for quotients below a quarter of a step the runtimes shift by more than 31 bits, which C leaves
    undefined. Results are those of x86-64 and AArch64: 1, or the least or largest y.
    rounding: "even" if integer results are real numbers rounded once; 0 / 0 then gives the least y; see _rounding
    Source: TFLite DIV; reference_ops::Div, DivElementwise.
    """

    activation: str = "NONE"
    rounding: str = ""

    tflm_types = dtypes("s8 f32 s32")
    litert_types = dtypes("s8 u8 s16 f32 s32")
    imports = (Import("tflite", "DIV", from_tflite),)
    writes = (Write("tflite", to_tflite), _onnx.same("Div"))
    element: ClassVar = {
        "f32": Element("a / b", bounds=bounds),
        "s32": Element("b == 0 ? 0 : (b == -1 ? (int32_t)(0u - (uint32_t)a) : a / b)", bounds=bounds),
    }
    kernels = (
        *_elementwise.all_kernels("mg_div", element),
        *_elementwise.kernels("mg_div_s8", "s8", _INTEGERS, (_pairs.by_runtime, shifts_right)),
        *_elementwise.kernels("mg_div_s16", "s16", _INTEGERS, (_elementwise.symmetric, shifts_right)),
        *_elementwise.kernels("mg_div_line_s8", "s8", _quotients.ELEMENT, (_quotients.has_lines,)),
    )

    def infer(self, a: TensorType | None, b: TensorType | None) -> tuple[TensorType, ...]:
        allowed = ("s8", "u8") if self.rounding else (*_QUANTIZED, "f32", "s32")
        return (_elementwise.broadcast_types(a, b, allowed),)

    def quantized(self, call: Call) -> Scales:
        apart = "the runtimes' results for small int8 quotients are arbitrary"
        return Scales("own", widths=(8,), form=replace(self, rounding="even"), apart=apart)

    def refused_by(self, call: Call, runtime: str) -> str:
        if not self.rounding and not shifts_right(call):
            return "it shifts by a negative number with these scales"
        return super().refused_by(call, runtime)

    def rounded(self, call: Call) -> Op | None:
        return replace(self, rounding="even")

    def reference(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            return quantized.clamped(np.clip(a / b, -_LARGEST, _LARGEST), self.activation)

    def reference_q(self, call: Call, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        if self.rounding:
            return once.divided(call, a, b)
        if call.output.dtype in _QUANTIZED:
            return quotients.divided(call, a, b)
        x, y = np.broadcast_arrays(a.astype(np.int64), b.astype(np.int64))
        size = np.abs(x) // np.maximum(np.abs(y), 1)
        found = np.where(y == 0, 0, np.sign(x) * np.sign(y) * size).astype(np.int32)
        return quantized.clamped_int32(found, self.activation)

    def scaling(self, call: Call) -> Scaling:
        if self.rounding or call.output.dtype not in _QUANTIZED:
            return {}
        return {"scale": multiplier(call), "bounds": activation_range(self.activation, call.output)}

    def scaling_q(self, call: Call) -> Scaling:
        return {} if self.rounding or call.output.dtype not in _QUANTIZED else quotients.scaling(call)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [
            *_elementwise.examples(cls("NONE"), "f32", [(1, 1, 1)]),
            *_elementwise.examples(cls("NONE"), "s32", [(1, 1, 1)]),
            *_elementwise.examples(cls("RELU"), "f32", [(1, 1, 1)], 20)[:3],
            *_elementwise.examples(cls("NONE"), "s8", [(0.05, 0.04, 0.02), (0.5, 0.25, 0.125), (2.0, 0.1, 0.3)], 40),
            *_elementwise.examples(cls("RELU6"), "s8", [(0.05, 0.04, 0.1), (0.1, 3.0, 0.002)], 50)[:2],
            *_elementwise.examples(cls("NONE"), "s16", [(1e-3, 3e-3, 2e-5), (0.5, 0.002, 0.25)], 60),
            *_elementwise.examples(
                cls(rounding="even"), "s8", [(0.05, 0.04, 0.02), (0.5, 0.25, 0.125), (2.0, 0.1, 0.3)], 30
            ),
        ]
