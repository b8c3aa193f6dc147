"""Normalization of stored integers: exact sums, a reciprocal root of 31 bits, and one product for each element.

The steps are those of the docstring of Normalization.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from mcugen.ir.call import Call
from mcugen.oracle.fixed import Ints
from mcugen.oracle.quantized import ends
from mcugen.oracle.rational import exact, exponent_of, power, quotient, scale_of

_WHOLE = 32
_LARGEST = (1 << 31) - 1


def results(call: Call, x: np.ndarray, gamma: np.ndarray, beta: np.ndarray) -> Ints:
    """The stored results. gamma, beta: vectors of equal length."""
    op, (up, least, left, down, gains, offsets) = call.op, _numbers(call, gamma, beta)
    parts = x.astype(np.int64).reshape(-1, op.positions, op.groups, op.channels)
    place = np.arange(x.size) // op.inner % len(gains) if len(gains) > 1 else np.zeros(x.size, np.int64)
    entries = place.reshape(parts.shape)
    steps, spread = _centred(call, parts)
    found = [_root((int(v) << up) + least) for v in spread.reshape(-1)]
    roots, shifts = (np.array(numbers, np.int64).reshape(spread.shape) for numbers in zip(*found, strict=True))
    scaled = steps << np.minimum(left + shifts // 2, _WHOLE)
    slopes = 2 * ((roots * np.array(gains, np.int64)[entries] + (1 << (_WHOLE - 1))) >> _WHOLE)
    made = ((scaled * slopes >> _WHOLE) + np.array(offsets, np.int64)[entries]) >> down
    return np.asarray(np.clip(made, *ends(call.output))).reshape(x.shape)


def _centred(call: Call, parts: Ints) -> tuple[Ints, Ints]:
    """(n times each element minus the row's sum, or n times the zero point; n^2 times the mean of the squares of that).

    All products of this module have at most 62 bits, so that 64 bits hold them.
    """
    n = call.op.length
    if not call.op.centred:
        plain = parts - call.input(0).zero_point
        return n * plain, n * (plain**2).sum(axis=(1, 3), keepdims=True)
    total = parts.sum(axis=(1, 3), keepdims=True)
    return n * parts - total, n * (parts**2).sum(axis=(1, 3), keepdims=True) - total**2


def _root(number: int) -> tuple[int, int]:
    """(r, z) of a number of 62 bits: z is even, and r = floor(2^46 / sqrt(number * 2^z / 2^32)), at most 2^31 - 1."""
    shift = (64 - number.bit_length()) // 2 * 2
    upper = number << shift >> 32
    return min(math.isqrt((1 << 92) // upper), _LARGEST), shift


def _numbers(
    call: Call, gamma: np.ndarray, beta: np.ndarray
) -> tuple[int, int, int, int, tuple[int, ...], tuple[int, ...]]:
    """(up, least, left, down, gains, offsets), as in c_runtime's norm.h."""
    op, x, y = call.op, call.input(0), call.output
    n, low = op.length, ends(x)[0] if x.dtype != "u8" else -128
    deviation = -low if op.centred else -2 * low
    widest = (2 ** math.ceil(math.log2(n)) * deviation) ** 2
    up = min(30, 61 - (widest.bit_length() - 1)) // 2 * 2
    epsilon = quotient(exact(op.epsilon) * n * n, scale_of(x) ** 2)
    while round(epsilon * power(up)) >= power(61):
        up -= 2
    half = math.ceil(math.log2(n) / 2)
    steps = [[quotient(exact(float(v)), scale_of(y)) for v in line] for line in (gamma, beta)]
    room = power(y.bits)
    down = min(29 - half - _exponent(max(map(abs, steps[0]))), 30 - _exponent(max(map(abs, steps[1])) + room))
    gains = tuple(min(round(v * power(down + 2 + half)), _LARGEST) for v in steps[0])
    offsets = tuple(round((v + y.zero_point) * power(down)) + (1 << down >> 1) for v in steps[1])
    return up, max(1, round(epsilon * power(up))), up // 2 - half - 1, down, gains, offsets


def _exponent(value: Fraction) -> int:
    """The least e of -31 or more with value < 2^e."""
    return max(-31, exponent_of(value) + 1) if value else -31


def scaling(call: Call, gamma: np.ndarray, beta: np.ndarray) -> dict[str, object]:
    """The numbers of a call, by name."""
    *row, gains, offsets = _numbers(call, gamma, beta)
    return {"row": tuple(row), "gain": gains, "offset": offsets}
