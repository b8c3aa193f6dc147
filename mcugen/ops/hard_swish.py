"""HARD_SWISH: x * relu6(x + 3) / 6."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.call import Call
from mcugen.imports import Import
from mcugen.numeric import INT_RANGE, Ints, quantize_multiplier, rounding_divide_by_pot
from mcugen.op import Example
from mcugen.ops import _bytes, _unary
from mcugen.types import TensorType

_LOW, _HIGH = INT_RANGE["s16"]


def _high_mul(a: Ints, b: Ints | int) -> Ints:
    """SaturatingRoundingDoublingHighMul on int16: a * b / 2**15 to nearest."""
    return np.asarray(np.clip((a * b + 2**14) >> 15, _LOW, _HIGH))


def _shift_left(x: Ints, bits: int) -> Ints:
    return np.asarray(np.clip(x << bits, _LOW, _HIGH))


def _multiplier(real: np.float32) -> tuple[int, int]:
    """(mult, shift) with mult reduced to 16 bits. Source: activations.cc, DownScaleInt32ToInt16Multiplier."""
    mult, shift = quantize_multiplier(float(real))
    return (_HIGH if mult >= 2**31 - 1 - 2**15 else (mult + 2**15) >> 16), shift


@dataclass(frozen=True)
class HardSwish(_bytes.ByteFunction):
    """y = x * min(max(x + 3, 0), 6) / 6.

    x, y: s8 or u8 per tensor, or f32
    Source: TFLite HARD_SWISH; reference_ops::HardSwish.
    """

    imports = (Import("tflite", "HARD_SWISH"),)
    kernels = (_bytes.table_kernel(), _unary.kernel("mg_unary_f32__hard_swish", "f32"))

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        return _unary.same_type(x, ("s8", "u8", "f32"))

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(x * np.clip(x + 3.0, 0.0, 6.0) / 6.0)

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        """All in int16: x in 1/128 steps, times a gate in [0, 1] of 15 bits."""
        a, y = call.input(0), call.output
        fine = np.float32(1 / 128) * np.float32(a.scale)
        out_mult, out_shift = _multiplier(fine / np.float32(y.scale))
        value = (x.astype(np.int64) - a.zero_point) << 7
        gate = _gate(value, *_multiplier(fine / np.float32(3.0 / 32768.0)))
        product = gate * _high_mul(value, out_mult)
        high = np.sign(product) * (np.abs(product) >> 15)
        return np.asarray(np.clip(rounding_divide_by_pot(high, -out_shift) + y.zero_point, *INT_RANGE[y.dtype]))

    @classmethod
    def examples(cls) -> Sequence[Example]:
        quants = [((0.05, -3), (0.04, -120)), ((0.08, 0), (0.2, -128)), ((0.01, 127), (0.02, 0))]
        return [*_unary.examples(cls(), "s8", quants), *_unary.examples(cls(), "f32", seed=9)]


def _gate(value: Ints, mult: int, shift: int) -> Ints:
    """(clamp(x / 3, -1, 1) + 1) / 2 in 15 bits."""
    relu = _shift_left(value, shift - 1) if shift > 0 else value
    relu = _high_mul(relu, mult)
    if shift > 0:
        relu = _shift_left(relu, 1)
    if shift < 0:
        relu = rounding_divide_by_pot(relu, -shift)
    return (relu + 2**15) >> 1
