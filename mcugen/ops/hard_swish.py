"""HARD_SWISH: x * relu6(x + 3) / 6."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

import numpy as np

from mcugen.errors import QuantizationError
from mcugen.ir.call import Call
from mcugen.ir.element import Element
from mcugen.ir.fixed_point import INT_RANGE, Ints, quantize_multiplier, rounding_divide_by_pot
from mcugen.ir.imports import Import
from mcugen.ir.op import Example
from mcugen.ir.quant_rule import Scales
from mcugen.ir.types import TensorType, dtypes
from mcugen.ops import _bytes, _onnx, _tflite, _unary
from mcugen.oracle import quantized
from mcugen.oracle.fixed import divided
from mcugen.oracle.rational import binary32, multiplier, quotient, scale_of

_LOW, _HIGH = INT_RANGE["s16"]


def _high_mul(a: Ints, b: Ints | int) -> Ints:
    """SaturatingRoundingDoublingHighMul on int16: a * b / 2**15, rounded to nearest."""
    return np.asarray(np.clip((a * b + 2**14) >> 15, _LOW, _HIGH))


def _shift_left(x: Ints, bits: int) -> Ints:
    return np.asarray(np.clip(x << bits, _LOW, _HIGH))


def _divide_by_pot(x: Ints, exponent: int) -> Ints:
    """RoundingDivideByPOT on int16.

    From exponent 16 on its int16 mask overflows to -1. Source: gemmlowp, fixedpoint.h.
    """
    if exponent < 16:
        return rounding_divide_by_pot(x, exponent)
    return np.asarray((x >> exponent) + (x >= 0))


def _multiplier(real: np.float32) -> tuple[int, int]:
    """(mult, shift) with mult reduced to 16 bits. Source: activations.cc, DownScaleInt32ToInt16Multiplier."""
    mult, shift = quantize_multiplier(float(real))
    return (_HIGH if mult >= 2**31 - 1 - 2**15 else (mult + 2**15) >> 16), shift


class HardSwish(_bytes.ByteFunction):
    """y = x * min(max(x + 3, 0), 6) / 6.

    x, y: s8 or u8 per tensor, or f32
    Source: TFLite HARD_SWISH; reference_ops::HardSwish.
    """

    tflm_types = dtypes("s8 f32")
    litert_types = dtypes("s8 u8 f32")
    imports = (Import("tflite", "HARD_SWISH"), Import("onnx", "HardSwish"))
    writes = (_tflite.same("HARD_SWISH"), _onnx.same("HardSwish"))
    element: ClassVar = {"f32": Element("a * mg_clamp_float(a + 3.0f, 0.0f, 6.0f) / 6.0f")}
    kernels = (_bytes.table_kernel(), *_unary.kernels("mg_hard_swish", element))

    def quantized(self, call: Call) -> Scales:
        return Scales("own", matters=(-3.0, math.inf), widths=(8,))

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        return _unary.same_type(x, ("s8", "u8", "f32"))

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(x * np.clip(x + 3.0, 0.0, 6.0) / 6.0)

    def entries(self, call: Call, x: np.ndarray) -> np.ndarray:
        """Computed in int16: x in steps of 1/128, times a gate in [0, 1] with 15 bits."""
        a, y = call.input(0), call.output
        fine = np.float32(1 / 128) * np.float32(a.scale)
        out_mult, out_shift = _multiplier(fine / np.float32(y.scale))
        _check_gain(out_shift)
        value = (x.astype(np.int64) - a.zero_point) << 7
        gate = _gate(value, *_multiplier(fine / np.float32(3.0 / 32768.0)))
        product = gate * _high_mul(value, out_mult)
        high = np.sign(product) * (np.abs(product) >> 15)
        return np.asarray(np.clip(_divide_by_pot(high, -out_shift) + y.zero_point, *INT_RANGE[y.dtype]))

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        """Computed in int16. Source: reference_ops::HardSwish, activations.cc, HardSwishPrepare."""
        a, y = call.input(0), call.output
        fine = binary32(Fraction(1, 128) * scale_of(a))
        gain, right = _int16_multiplier(binary32(quotient(fine, scale_of(y))))
        _check_gain(right)
        slope, left = _int16_multiplier(binary32(fine / binary32(Fraction(3, 32768))))

        value = quantized.centred(x, a) * 128
        relu = value if left <= 0 else _int16(value << (left - 1))
        relu = _rounded_product(relu, slope)
        relu = _int16(relu << 1) if left > 0 else _divided(relu, -left)
        both = ((relu + 32768) >> 1) * _rounded_product(value, gain)
        return quantized.stored(_divided(_towards_zero(both), -right), y)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        quants = [((0.05, -3), (0.04, -120)), ((0.08, 0), (0.2, -128)), ((0.01, 127), (0.02, 0))]
        return [*_unary.examples(cls(), "s8", quants), *_unary.examples(cls(), "f32", seed=9)]


def _check_gain(shift: int) -> None:
    """Raise QuantizationError for a left shift: runtimes only shift right."""
    if shift > 0:
        raise QuantizationError("the input's scale is over 64 times the result's", hint="use a larger result scale")


def _divided(x: np.ndarray, exponent: int) -> np.ndarray:
    """RoundingDivideByPOT on int16.

    From exponent 16 on its int16 mask overflows to -1, so all of x is the remainder.
    """
    return divided(x, exponent) if exponent < 16 else np.where(x >= 0, 1, -1)


def _int16(x: np.ndarray) -> np.ndarray:
    return np.asarray(np.clip(x, _LOW, _HIGH))


def _rounded_product(a: np.ndarray, b: int) -> np.ndarray:
    """SaturatingRoundingDoublingHighMul on int16."""
    product = a * b
    return _int16(_towards_zero(product + np.where(product >= 0, 16384, -16383)))


def _towards_zero(x: np.ndarray) -> np.ndarray:
    """x / 2**15, rounded towards zero."""
    return np.asarray(np.sign(x) * (np.abs(x) >> 15))


def _int16_multiplier(real: Fraction) -> tuple[int, int]:
    """(mult, shift) with a mult of 16 bits. Source: quantization_util.h, DownScaleInt32ToInt16Multiplier."""
    mult, shift = multiplier(real)
    return min(_HIGH, (mult + 32768) // 65536), shift


def _gate(value: Ints, mult: int, shift: int) -> Ints:
    """The gate (clamp(x / 3, -1, 1) + 1) / 2, with 15 fractional bits."""
    relu = _shift_left(value, shift - 1) if shift > 0 else value
    relu = _high_mul(relu, mult)
    if shift > 0:
        relu = _shift_left(relu, 1)
    if shift < 0:
        relu = _divide_by_pot(relu, -shift)
    return (relu + 2**15) >> 1
