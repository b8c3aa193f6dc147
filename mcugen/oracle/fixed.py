"""Fixed-point arithmetic of the runtimes on integer arrays, step by step as in their sources.

Integers are computed in int64. Values that the runtimes store in int32 are wrapped to 32 bits. Source: gemmlowp
fixedpoint/fixedpoint.h; TensorFlow Lite kernels/internal/common.h and common.cc.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Ints = np.ndarray
_LEAST, _MOST = -(1 << 31), (1 << 31) - 1
_UNSURE = 2.0**-20


def int64(x: Ints | int) -> Ints:
    """x in int64; the same array if it is int64 already."""
    return np.asarray(x).astype(np.int64, copy=False)


def wrapped(x: Ints) -> Ints:
    """x wrapped to int32: its low 32 bits."""
    return int64(int64(x).astype(np.int32))


def away(x: np.ndarray) -> np.ndarray:
    """Floats of at most 2**50 rounded to whole numbers, halves away from zero, in float64."""
    wide = x.astype(np.float64)
    return np.asarray(np.copysign(np.floor(np.abs(wide) + 0.5), wide))


def high_product(a: Ints, b: Ints | int) -> Ints:
    """SaturatingRoundingDoublingHighMul: floor((a * b + 2**30) / 2**31), saturated for a = b = -2**31.

    The runtimes add 2**30, or 1 - 2**30 for negative products, and round towards zero, which gives this floor.
    """
    quotient = int64(a) * int64(b)
    quotient += 1 << 30
    quotient >>= 31
    if not np.any(int64(b) == _LEAST):
        return np.asarray(quotient)
    return np.where((int64(a) == _LEAST) & (int64(b) == _LEAST), _MOST, quotient)


def divided(x: Ints, exponent: Ints | int) -> Ints:
    """RoundingDivideByPOT: x / 2**exponent to the nearest, halves away from zero."""
    wide, by = int64(x), int64(exponent)
    # The shift rounds down. Halves of negative numbers must round down too, so 1 is subtracted before.
    rounded = (wide >> 63) & -int64(by > 0)
    rounded += wide
    rounded += (np.int64(1) << by) >> 1
    rounded >>= by
    return np.asarray(rounded)


def scaled_twice(x: Ints, mult: Ints | int, shift: Ints | int) -> Ints:
    """MultiplyByQuantizedMultiplier of an int32: shifted left, multiplied and rounded, shifted right and rounded."""
    left = np.maximum(int64(shift), 0)
    shifted = wrapped(int64(x) << left) if np.any(left) else int64(x)
    return divided(high_product(shifted, mult), left - int64(shift))


def scaled_down(x: np.ndarray, mult: Ints, shift: Ints) -> np.ndarray:
    """A faster `scaled_twice` for int32 numbers held in float64, [rows, channels], with shifts <= 0. Results are
    float64.

    One rounding gives the result of the two roundings of `scaled_twice`, unless the number is within 2**(shift - 1) of
    a tie. Only numbers near a tie go through `scaled_twice`.
    """
    real = x * (mult * np.exp2(shift - 31.0))
    found = np.rint(real)
    real -= found
    unsure = np.flatnonzero(np.abs(real, out=real) > 0.5 - np.exp2(shift - 1.0) - _UNSURE)
    if unsure.size:
        k = unsure % mult.size
        found.reshape(-1)[unsure] = scaled_twice(int64(x.reshape(-1)[unsure]), mult[k], shift[k])
    return np.asarray(found)


def scaled_once(x: Ints, scale: np.ndarray) -> Ints:
    """x * scale in float64, rounded to the nearest, halves away from zero. Results beyond int32 become -2**31.

    Source: LiteRT reference_ops::FullyConnected, with x86's conversion to int32.
    """
    real = away(int64(x).astype(np.float64) * scale)
    inside = (real >= _LEAST) & (real <= _MOST)
    return int64(np.where(inside, real, _LEAST))


def scaled_wide(x: Ints, mult: Ints | int, shift: Ints | int) -> Ints:
    """MultiplyByQuantizedMultiplier of an int64: the multiplier is reduced to 16 bits, and halves of the product round
    up.
    """
    reduced = np.where(int64(mult) < 0x7FFF0000, (int64(mult) + 0x8000) // 0x10000, 0x7FFF)
    right = 15 - int64(shift)
    return wrapped((int64(x) * reduced + (np.int64(1) << (right - 1))) >> right)


def each(x: Ints, function: Callable[[int], int]) -> Ints:
    """`function` applied to every element, called once per distinct value."""
    if x.size and x.itemsize <= 2:
        least = int(x.min())
        place = x.astype(np.int64).reshape(-1) - least
        values = np.flatnonzero(np.bincount(place))
        results = np.zeros(int(values[-1]) + 1, np.int64)
        results[values] = [function(int(v) + least) for v in values]
        return results[place].reshape(x.shape)
    values, place = np.unique(x, return_inverse=True)
    results = np.array([function(int(v)) for v in values], np.int64)
    return results[place.reshape(-1)].reshape(x.shape)
