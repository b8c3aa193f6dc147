"""Normalization of stored integers: exact sums, a reciprocal root of 31 bits, and one product for each element.

The steps are those of the docstring of Normalization. Python's integers have no limit, so nothing here can overflow.
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
    lowest, highest = ends(call.output)
    parts = x.astype(np.int64).reshape(-1, op.positions, op.groups, op.channels)
    place = np.arange(x.size) // op.inner % len(gains) if len(gains) > 1 else np.zeros(x.size, np.int64)
    entries = place.reshape(parts.shape)
    found = np.empty(parts.shape, np.int64)
    for row in range(parts.shape[0]):
        for group in range(op.groups):
            q = parts[row, :, group].reshape(-1)
            total, spread = _sums(call, [int(v) for v in q])
            root, shift = _root((spread << up) + least)
            steps = [int(v) * len(q) - total for v in q]
            by = left + shift // 2
            scaled = [d << by if by >= 0 else 0 for d in steps]
            at = entries[row, :, group].reshape(-1)
            slopes = {int(k): 2 * _halves_up(root * gains[k], _WHOLE) for k in np.unique(at)}
            values = [((d * slopes[int(k)] >> _WHOLE) + offsets[k]) >> down for d, k in zip(scaled, at, strict=True)]
            found[row, :, group] = np.clip(values, lowest, highest).reshape(op.positions, op.channels)
    return found.reshape(x.shape)


def _sums(call: Call, row: list[int]) -> tuple[int, int]:
    """(what is subtracted from n times an element, n^2 times the mean square of the elements after that)."""
    n = len(row)
    total = sum(row) if call.op.centred else n * call.input(0).zero_point
    return total, sum((n * q - total) ** 2 for q in row) // n


def _root(number: int) -> tuple[int, int]:
    """(r, z) of a number of 62 bits: z is even, and r = floor(2^46 / sqrt(number * 2^z / 2^32)), at most 2^31 - 1."""
    shift = (64 - number.bit_length()) // 2 * 2
    upper = number << shift >> 32
    return min(math.isqrt((1 << 92) // upper), _LARGEST), shift


def _halves_up(number: int, bits: int) -> int:
    return (number + (1 << (bits - 1))) >> bits


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
