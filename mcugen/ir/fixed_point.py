"""Fixed-point arithmetic of the reference runtimes, on NumPy arrays, bit for bit.

Source: gemmlowp fixedpoint/fixedpoint.h; TensorFlow Lite kernels/internal/common.h and quantization_util.cc.
Integers are carried in int64 and wrapped to int32 where the runtimes use int32.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from mcugen.errors import QuantizationError, UnsupportedError
from mcugen.ir.types import TensorType

Ints = np.ndarray
INT_RANGE = {"s8": (-128, 127), "u8": (0, 255), "s16": (-32768, 32767), "s32": (-(2**31), 2**31 - 1)}


def wrap32(x: Ints) -> Ints:
    """x as an int32 register would hold it (two's complement), in int64."""
    return (np.asarray(x, np.int64) + 2**31) % 2**32 - 2**31


def quantize_multiplier(real: float) -> tuple[int, int]:
    """The real multiplier as (mult, shift): real = mult * 2**(shift - 31), mult in [2**30, 2**31).

    shift > 0 shifts left. Raises QuantizationError for a number that is not finite.
    Source: quantization_util.cc, QuantizeMultiplier.
    """
    if not math.isfinite(real):
        raise QuantizationError(f"the scales make a multiplier of {real}", hint="quantize the model again")
    if real == 0.0:
        return 0, 0
    mantissa, shift = math.frexp(real)
    mult = round_half_away(mantissa * 2**31)
    if mult == 2**31:
        mult, shift = mult // 2, shift + 1
    if shift < -31:
        return 0, 0
    return (2**31 - 1, 30) if shift > 30 else (mult, shift)


def round_half_away(x: float) -> int:
    """x rounded to the nearest integer, halves away from zero (C's round). Raises QuantizationError if not finite."""
    if not math.isfinite(x):
        raise QuantizationError(f"the scales make a constant of {x}", hint="quantize the model again")
    return math.floor(x + 0.5) if x >= 0 else math.ceil(x - 0.5)


def rounding_doubling_high_mul(a: Ints, b: Ints | int) -> Ints:
    """SaturatingRoundingDoublingHighMul: round(a * b / 2**31), with -2**31 * -2**31 saturated.

    The sign-dependent nudge and the truncating division of gemmlowp together are floor((a*b + 2**30) / 2**31).
    """
    product = np.asarray(a, np.int64) * np.asarray(b, np.int64)
    return np.asarray(np.minimum((product + 2**30) >> 31, 2**31 - 1))


def rounding_divide_by_pot(x: Ints, exponent: Ints | int) -> Ints:
    """RoundingDivideByPOT: x / 2**exponent, nearest, halves away from zero."""
    x = np.asarray(x, np.int64)
    mask = (np.int64(1) << np.asarray(exponent, np.int64)) - 1
    threshold = (mask >> 1) + (x < 0)
    return np.asarray((x >> np.asarray(exponent, np.int64)) + ((x & mask) > threshold))


def multiply_double_rounding(x: Ints, mult: Ints | int, shift: Ints | int) -> Ints:
    """MultiplyByQuantizedMultiplier as gemmlowp rounds: high multiply, then divide, each rounded.

    x: accumulators; mult, shift: broadcast against x; shift > 0 is to the left (int32, wrapping).
    """
    shift = np.asarray(shift, np.int64)
    shifted = wrap32(np.asarray(x, np.int64) << np.maximum(shift, 0))
    return rounding_divide_by_pot(rounding_doubling_high_mul(shifted, mult), np.maximum(-shift, 0))


def multiply_single_rounding(x: Ints, mult: Ints | int, shift: Ints | int) -> Ints:
    """x * mult / 2**(31 - shift) to the nearest, halves away from zero. Results beyond int32 become -2**31.

    LiteRT's fully connected layers compute this in double precision: std::round, then a conversion to int32.
    """
    x, mult, total = np.broadcast_arrays(np.asarray(x, np.int64), mult, 31 - np.asarray(shift, np.int64))
    near, split = np.abs(x) < 2**32, total > 16
    direct = (np.where(near, np.abs(x), 0) * mult + (np.int64(1) << (total - 1))) >> total
    rest = np.maximum(total - 16, 1)
    high, low = np.abs(x) >> 16, np.abs(x) & 0xFFFF
    parts = (high * mult + (low * mult >> 16) + (np.int64(1) << (rest - 1))) >> rest
    size = np.where(near, direct, np.where(split, parts, 2**31))
    return np.where(size < 2**31, np.sign(x) * size, -(2**31))


def reduced_multiplier(mult: Ints | int) -> Ints:
    """The 16 bit multiplier that `multiply_wide` works with."""
    m = np.asarray(mult, np.int64)
    return np.where(m < 0x7FFF0000, (m + 0x8000) >> 16, 0x7FFF)


def activation_range(activation: str, y: TensorType) -> tuple[int, int]:
    """The clamp of a fused activation in y's stored integers.

    Raises UnsupportedError for an activation that runtimes do not fuse, QuantizationError if a bound exceeds int32.
    """
    return clamp_range(*activation_bounds(activation), y)


def clamp_range(low: float, high: float, y: TensorType) -> tuple[int, int]:
    """The clamp to low..high in y's stored integers. Raises QuantizationError if a finite bound exceeds int32.

    Source: kernel_util.cc, CalculateActivationRangeQuantized.
    """
    if (low, high) == (-math.inf, math.inf):
        return INT_RANGE[y.dtype]
    return _clamp(low, high, y.dtype, y.scale, y.zero_point)


@lru_cache(maxsize=1024)
def _clamp(low: float, high: float, dtype: str, scale: float, zero_point: int) -> tuple[int, int]:
    least, most = INT_RANGE[dtype]

    def stored(real: float) -> int:
        with np.errstate(over="ignore"):
            steps = float(np.float32(real) / np.float32(scale))
        if abs(steps) >= 2**31:
            raise QuantizationError(f"the clamp to {real:g} is {steps:g} steps of scale {scale:g}, beyond 32 bits")
        return zero_point + round_half_away(steps)

    return (
        least if low == -math.inf else max(least, stored(low)),
        most if high == math.inf else min(most, stored(high)),
    )


def activation_bounds(activation: str) -> tuple[float, float]:
    """The clamp of a fused activation on real numbers. Raises UnsupportedError for other activations."""
    bounds = {
        "NONE": (-math.inf, math.inf),
        "RELU": (0.0, math.inf),
        "RELU6": (0.0, 6.0),
        "RELU_N1_TO_1": (-1.0, 1.0),
    }
    if activation not in bounds:
        raise UnsupportedError(f"fused activation {activation} is not supported")
    return bounds[activation]


def round_array_half_away(x: np.ndarray) -> np.ndarray:
    """Every element of x to the nearest integer, halves away from zero (C's round), in x's own float type."""
    whole = np.trunc(x)
    return np.asarray(whole + np.copysign(np.abs(x - whole) >= 0.5, x), x.dtype)
