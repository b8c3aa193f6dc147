"""MUL: the product of two tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from mcugen.ir.call import Call, Params
from mcugen.ir.element import Element, Stated
from mcugen.ir.fixed_point import activation_range, quantize_multiplier
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.op import Example, Op, Scaling
from mcugen.ir.quant_rule import OWN, Scales
from mcugen.ir.ranges import Range
from mcugen.ir.types import TensorType, dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _elementwise, _onnx, _pairs, _tflite
from mcugen.ops._activation import Activated
from mcugen.ops._channelwise import Pointwise
from mcugen.oracle import once, quantized
from mcugen.oracle.fixed import int64, scaled_twice, wrapped

_TYPES = ("s8", "u8", "s16", "s32", "f32")
_MOST_SHIFT = 14
"""Left shift up to which a product of two 8-bit values minus zero points (17 bits) does not overflow."""


def from_tflite(source: Source) -> Imported:
    return Imported(Mul(source.attributes["fused_activation_function"]))


def multiplier(call: Call) -> tuple[int, int]:
    """(mult, shift) for scale_a * scale_b / scale_y, in float64 for TFLM, float32 for LiteRT.

    Source: mul_common.cc, mul.cc.
    """
    a, b, y = (np.float32(t.scale) for t in (call.input(0), call.input(1), call.output))
    if call.reference == "litert":
        return quantize_multiplier(float(a * b / y))
    return quantize_multiplier(float(a) * float(b) / float(y))


def params(call: Call) -> Params:
    mult, shift = multiplier(call)
    low, high = activation_range(call.op.activation, call.output)
    return {
        "product.mult": mult,
        "product.shift": shift,
        "product.a_zero_point": call.input(0).zero_point,
        "product.b_zero_point": call.input(1).zero_point,
        "product.out_zero_point": call.output.zero_point,
        "product.out_min": low,
        "product.out_max": high,
    }


def int_bounds(call: Call) -> tuple[int, int]:
    """The bounds of int32 products without scales."""
    return _elementwise.int_bounds(call.op.activation)


def scaled(call: Call) -> Element:
    """The expression of a product of stored integers."""
    is_down = multiplier(call)[1] < 0
    return Element(
        f"mg_product_{'down' if is_down else 'of'}(&product, a, b)",
        {"product": "mg_product"},
        params,
        slow=not is_down,
        headers=("product.h",),
    )


ELEMENT: Mapping[str, Stated] = {
    "s8": scaled,
    "s16": scaled,
    "f32": Element("a * b", bounds=_elementwise.float_bounds, commutes=True),
    "s32": Element("(int32_t)((uint32_t)a * (uint32_t)b)", bounds=int_bounds, commutes=True),
}


def to_tflite(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    """MUL; int8 and uint8 need version 3 if scale_a * scale_b >= scale_y."""
    a, b, y = call.input(0), call.input(1), call.output
    number = _tflite.version(a, s8=2, s16=4)
    if a.dtype in ("s8", "u8") and a.scale * b.scale >= y.scale:
        number = 3
    return _tflite.operator(call, sink, "MUL", inputs, _tflite.activation(call), number)


@dataclass(frozen=True)
class Mul(Pointwise, Activated):
    """y = activation(a * b), elementwise, broadcasting.

    a, b, y: one type of s8, u8, s16 (per tensor), s32 and f32
    rounding: "even" or "single" if integer results are real numbers rounded once; see _rounding, _pairs
    flipped_u8: whether the model's data is uint8; "single" then rounds as on uint8
    Source: TFLite MUL; reference_integer_ops::Mul, reference_ops::Mul.
    """

    activation: str = "NONE"
    rounding: str = ""
    flipped_u8: bool = False

    tflm_types = dtypes("s8 s16 s32 f32")
    litert_types = dtypes("s8 u8 s16 s32 s64 f16 f32")
    imports = (Import("tflite", "MUL", from_tflite),)
    writes = (Write("tflite", to_tflite), _onnx.same("Mul"))
    element: ClassVar = ELEMENT
    kernels = (
        *_elementwise.kernels("mg_mul_s8", "s8", ELEMENT["s8"], (_pairs.by_runtime,)),
        *_elementwise.kernels("mg_mul_line_s8", "s8", _pairs.product_element(), (_pairs.has_line,)),
        *_elementwise.kernels("mg_mul_s16", "s16", ELEMENT["s16"], (_pairs.by_runtime, _elementwise.symmetric)),
        *_elementwise.kernels("mg_mul_f32", "f32", ELEMENT["f32"]),
        *_elementwise.kernels("mg_mul_s32", "s32", ELEMENT["s32"]),
    )

    def quantized(self, call: Call) -> Scales:
        return OWN

    def infer(self, a: TensorType | None, b: TensorType | None) -> tuple[TensorType, ...]:
        return (_elementwise.broadcast_types(a, b, _TYPES),)

    def reference(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return quantized.clamped(a * b, self.activation)

    def reference_q(self, call: Call, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        if a.dtype == np.int32:
            return quantized.clamped_int32(wrapped(int64(a) * b), self.activation)
        if self.rounding:
            return once.multiplied(call, a, b)
        y = call.output
        product = quantized.centred(a, call.input(0)) * quantized.centred(b, call.input(1))
        factors = (call.input(0).scale, call.input(1).scale)
        scale = quantized.product_multiplier(factors, y.scale, in_double=call.reference != "litert")
        return quantized.activated(scaled_twice(product, *scale) + y.zero_point, self.activation, y)

    def rounded(self, call: Call) -> Op | None:
        return replace(self, rounding="even")

    def scaling(self, call: Call) -> Scaling:
        if call.output.quant is None or call.output.dtype == "s32" or self.rounding:
            return {}
        bounds = activation_range(self.activation, call.output)
        return {"product": multiplier(call), "bounds": bounds}

    def scaling_q(self, call: Call) -> Scaling:
        y, factors = call.output, (call.input(0), call.input(1))
        if y.quant is None or y.dtype == "s32" or self.rounding:
            return {}
        scales = tuple(t.scale for t in factors)
        product = quantized.product_multiplier(scales, y.scale, in_double=call.reference != "litert")
        return {"product": product, "bounds": quantized.bounds(self.activation, y)}

    def bounds(self, call: Call) -> tuple[Range | None, ...]:
        """Bounds from the ends of the operands' bounds.

        The scaled product is monotonic in each operand, unless a left shift wraps.
        """
        small = call.output.dtype == "s8" and (self.rounding != "" or multiplier(call)[1] <= _MOST_SHIFT)
        found = _elementwise.corners(call) if small else None
        return super().bounds(call) if found is None else (found,)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        near = [(0.05, 0.04, 0.3), (0.011, 3.0, 0.2), (2.0, 1.0, 0.5)]
        far = [(0.0003, 0.0002, 0.002), (1e-5, 0.1, 0.03)]
        return [
            *_elementwise.examples(cls("NONE"), "s8", near),
            *_elementwise.examples(cls("RELU"), "s8", near[1:], 10)[:4],
            *_elementwise.examples(cls("RELU6"), "s8", near[:1], 20)[:2],
            *_elementwise.examples(cls("NONE"), "s16", far, 30),
            *_elementwise.examples(cls("NONE"), "f32", [(1, 1, 1)], 50),
            *_elementwise.examples(cls("RELU6"), "f32", [(1, 1, 1)], 50)[:4],
            *_elementwise.examples(cls("NONE"), "s32", [(1, 1, 1)], 60),
            *_elementwise.stated_examples(cls()),
            *_elementwise.flipped_examples(cls()),
        ]
