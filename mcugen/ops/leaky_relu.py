"""LEAKY_RELU: x if x is positive, else alpha * x."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mcugen.errors import UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.element import Element
from mcugen.ir.fixed_point import INT_RANGE, multiply_double_rounding, quantize_multiplier
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.op import Example, Scaling
from mcugen.ir.quant_rule import OWN, Scales
from mcugen.ir.types import TensorType, dtypes
from mcugen.ops import _bytes, _onnx, _tflite, _unary
from mcugen.oracle import quantized

Multiplier = tuple[int, int]


def from_tflite(source: Source) -> Imported:
    return Imported(LeakyRelu(float(source.attributes["alpha"])))


def multipliers(call: Call) -> tuple[Multiplier, Multiplier]:
    """(mult, shift) for positive values, and for negative values times |alpha|.

    TFLM computes them in float64, LiteRT in float32. Source: leaky_relu_common.cc, activations.cc.
    """
    precision = np.float64 if call.reference == "tflm" else np.float32
    alpha = abs(call.op.alpha)
    x, y, alpha = (precision(np.float32(v)) for v in (call.input(0).scale, call.output.scale, alpha))
    return quantize_multiplier(float(x / y)), quantize_multiplier(float(x * alpha / y))


def negative_sign(call: Call) -> int:
    """The sign of alpha. Runtimes round the product with |alpha| first, and apply the sign after that."""
    return -1 if call.op.alpha < 0 else 1


def params_s16(call: Call) -> Params:
    positive, negative = multipliers(call)
    return {
        "mult": positive[0],
        "shift": positive[1],
        "negative_mult": negative[0],
        "negative_shift": negative[1],
        "negative_sign": negative_sign(call),
        "in_zero_point": call.input(0).zero_point,
        "out_zero_point": call.output.zero_point,
    }


def params_f32(call: Call) -> Params:
    return {"alpha": float(call.op.alpha)}


def _attributes(call: Call) -> dict[str, object]:
    return {"alpha": call.op.alpha}


@dataclass(frozen=True)
class LeakyRelu(_bytes.ByteFunction):
    """y = x if x >= 0, else alpha * x.

    x, y: s8, u8, s16 (per tensor) or f32
    Source: TFLite LEAKY_RELU; reference_ops::QuantizeLeakyRelu.
    """

    alpha: float = 0.0

    tflm_types = dtypes("s8 s16 f32")
    litert_types = dtypes("s8 u8 s16 f32")
    imports = (Import("tflite", "LEAKY_RELU", from_tflite),)
    writes = (_tflite.same("LEAKY_RELU", _attributes, s16=2), _onnx.same("LeakyRelu", _attributes))
    element: ClassVar = {"f32": Element("a > 0.0f ? a : alpha * a", {"alpha": "float"}, params_f32)}
    kernels = (
        _bytes.table_kernel(),
        _unary.kernel("mg_leaky_relu_s16", "s16", params_s16),
        *_unary.kernels("mg_leaky_relu", element),
    )

    def quantized(self, call: Call) -> Scales:
        return OWN

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        if not math.isfinite(self.alpha):
            raise UnsupportedError(f"alpha={self.alpha} must be finite")
        return _unary.same_type(x, ("s8", "u8", "s16", "f32"))

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.where(x > 0, x, x * self.alpha)

    def entries(self, call: Call, x: np.ndarray) -> np.ndarray:
        centred = x.astype(np.int64) - call.input(0).zero_point
        positive, negative = multipliers(call)
        scaled = np.where(
            centred >= 0,
            multiply_double_rounding(centred, *positive),
            multiply_double_rounding(centred, *negative) * negative_sign(call),
        )
        return np.asarray(np.clip(scaled + call.output.zero_point, *INT_RANGE[call.output.dtype]))

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        """With a negative alpha, runtimes round the product with |alpha| and then apply the sign."""
        a, y = call.input(0), call.output
        steps, in_double = quantized.centred(x, a), quantized.is_tflm(call)
        positive = quantized.rescaled(steps, a, y, in_double=in_double)
        negative = quantized.rescaled(steps, a, y, in_double=in_double, factor=abs(self.alpha))
        return quantized.stored(np.where(steps >= 0, positive, -negative if self.alpha < 0 else negative), y)

    def scaling(self, call: Call) -> Scaling:
        return {} if call.output.is_float else dict(zip(("positive", "negative"), multipliers(call), strict=True))

    def scaling_q(self, call: Call) -> Scaling:
        return {} if call.output.is_float else quantized.gains(call, abs(self.alpha))

    @classmethod
    def examples(cls) -> Sequence[Example]:
        near = [((0.05, -128), (0.04, 5)), ((0.05, 0), (0.2, -128)), ((0.1, 127), (0.1, 0))]
        far = [((0.0003, 0), (0.0002, 0)), ((0.001, 0), (0.001, 0)), ((0.00001, 0), (0.9, 0))]
        return [
            *_unary.examples(cls(0.3), "s8", near),
            *_unary.examples(cls(-1.5), "s8", near, 5),
            *_unary.examples(cls(0.1), "s16", far, 10),
            *_unary.examples(cls(1.7), "s16", far, 15),
            *_unary.examples(cls(0.2), "f32", seed=20),
        ]
