"""LOGISTIC and TANH of the runtimes on stored integers: scaling of the input, and interpolated tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from mcugen.errors import UnsupportedError
from mcugen.ir.call import Call
from mcugen.oracle import byte_tables, gemmlowp
from mcugen.oracle.fixed import Ints, each, int64
from mcugen.oracle.quantized import Multiplier
from mcugen.oracle.quantized_sums import exponent_near
from mcugen.oracle.rational import binary64, exponent_of, nearest, power, scale_of

_INTEGER_BITS = 4


def of_bytes(call: Call, x: np.ndarray, function: Callable[[int], int]) -> np.ndarray:
    """A fixed-point function of Q4 inputs applied to int8 data. Inputs beyond Q4 give -128 or 127.

    Source: logistic_common.cc, tanh.cc.
    """
    a = call.input(0)
    real = scale_of(a) * power(31 - _INTEGER_BITS)
    shift = exponent_of(real) + 1
    mult = nearest(real * power(31 - shift))
    radius = math.floor(((1 << _INTEGER_BITS) - 1) * power(31 - _INTEGER_BITS - shift))

    def stored(v: int) -> int:
        steps = v - a.zero_point
        if steps <= -radius or steps >= radius:
            return -128 if steps <= -radius else 127
        left = steps << shift if shift > 0 else steps
        scaled = gemmlowp.divided(gemmlowp.product(left, mult), max(-shift, 0))
        return max(-128, min(127, function(scaled)))

    return each(x, stored)


def of_int16(call: Call, x: np.ndarray, lefts: Sequence[int]) -> Ints:
    """int16 data rescaled to steps of 1 / (3 * 4096). lefts: as for `multiplier`."""
    mult, right = multiplier(call, lefts)
    return (int64(x) * mult + ((1 << right) >> 1)) >> right


def tabled_logistic(scaled: Ints) -> Ints:
    """sigmoid(x) by interpolation in the table of sigmoid(i / 24). scaled: the result of `of_int16`.

    Source: reference_integer_ops.
    """
    size = np.abs(scaled)
    at, entries = np.minimum(size >> 9, 254), byte_tables.sigmoid()
    between = (entries[at] << 9) + (size & 0x1FF) * (entries[at + 1] - entries[at])
    result = np.where(size >> 9 >= 255, 0x7FFF << 10, between)
    return np.asarray(np.where(scaled >= 0, result + (1 << 9), (1 << 25) - result + (1 << 9) - 1) >> 10)


def tabled_tanh(scaled: Ints) -> Ints:
    """tanh(x) = 2 * sigmoid(2 * x) - 1 by interpolation in the table of sigmoid(i / 24)."""
    size = np.abs(scaled)
    at, entries = np.minimum(size >> 8, 254), byte_tables.sigmoid()
    between = (entries[at] << 8) + (size & 0xFF) * (entries[at + 1] - entries[at])
    result = np.where(size >> 8 >= 255, 0xFFFF << 8, between)
    one, half = 1 << 23, 1 << 7
    return np.asarray(np.where(scaled >= 0, result - one + half, one - result + half - 1) >> 8)


def multiplier(call: Call, lefts: Sequence[int]) -> Multiplier:
    """(mult, right shift) that rescale int16 data to steps of 1 / (3 * 4096).

    lefts: left shifts n for which the runtime multiplies an input of scale 2**(n - 12) by 3 << n. Source:
    logistic_common.cc, tanh.cc.
    """
    scale = scale_of(call.input(0))
    exponent = exponent_near(call.input(0).scale)
    if exponent is not None and exponent + 12 in lefts:
        return 3 << (exponent + 12), 0
    real, right = binary64(scale * 4096 * 3), 0
    while real <= Fraction(32767, 2) and right <= 30:
        real, right = 2 * real, right + 1
    if real > 32767:
        raise UnsupportedError(f"input scale {call.input(0).scale:.3g} is too large for int16")
    return math.floor(real), right
