"""gemmlowp's logistic and tanh on int16, step by step, for every int16 at once.

"Q<k>" means an int16 with k integer bits and 15 - k fractional bits. Source: gemmlowp fixedpoint/fixedpoint.h with
int16_t.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from mcugen.oracle.fixed import Ints, divided, int64

_LEAST, _MOST = -(1 << 15), (1 << 15) - 1
_EXP_STEPS = ((-2, 1672461947), (-1, 1302514674), (0, 790015084), (1, 290630308), (2, 39332535), (3, 720401), (4, 242))
"""Pairs of e and exp(-2**e), the latter with 31 bits of fraction."""


def _constant(raw: int) -> int:
    """A 32-bit constant rescaled to 16 bits. Source: RescaleConstantInitializer."""
    return int(divided(np.array(raw), 16))


def _wrapped(x: Ints) -> Ints:
    return int64(x.astype(np.int16))


def _saturated(x: Ints) -> Ints:
    return np.asarray(np.clip(x, _LEAST, _MOST))


def _product(a: Ints, b: Ints | int) -> Ints:
    """SaturatingRoundingDoublingHighMul: a * b / 2**15 to the nearest, computed by adding a half and truncating."""
    exact = int64(a) * int64(b)
    total = exact + np.where(exact >= 0, 1 << 14, 1 - (1 << 14))
    return _saturated(np.sign(total) * (np.abs(total) >> 15))


def _left(x: Ints, bits: int) -> Ints:
    """x * 2**bits, saturated as gemmlowp does."""
    most = (1 << (15 - bits)) - 1
    return np.select([x > most, x < -most], [_MOST, _LEAST], x << bits)


def _exp_near_zero(a: Ints) -> Ints:
    """exp of a number from -1/4 to 0, Q0."""
    x = _wrapped(a + (1 << 12))
    x2 = _product(x, x)
    x3, x4 = _product(x2, x), _product(x2, x2)
    third = _product(_wrapped(divided(x4, 2) + x3), _constant(715827883))
    tail = divided(_wrapped(third + x2), 1)
    first = _constant(1895147668)
    return _saturated(first + _product(_wrapped(x + tail), first))


def _exp_of_negative(a: Ints, bits: int) -> Ints:
    """exp(a) for a <= 0, Q<bits> to Q0."""
    fraction = 15 - bits
    quarter = 1 << (fraction - 2)
    nearby = (a & (quarter - 1)) - quarter
    result, rest = _exp_near_zero(_left(nearby, bits)), _wrapped(nearby - a)
    for exponent, raw in _EXP_STEPS:
        if bits > exponent:
            taken = rest >> (fraction + exponent) & 1
            result = np.where(taken, _product(result, _constant(raw)), result)
    if bits > 5:
        result = np.where(a < _constant(-(1 << (36 - bits))), 0, result)
    return np.where(a == 0, _MOST, result)


def _newton(a: Ints) -> Ints:
    """2 / (1 + a) for a from 0 to 1: Q0 to Q2."""
    total = a + _MOST
    half = np.sign(total) * ((np.abs(total) + 1) >> 1)
    x = _wrapped(_constant(1515870810) + _product(half, _constant(-1010580540)))
    for _ in range(3):
        x = _wrapped(x + _left(_product(x, _wrapped((1 << 13) - _product(half, x))), 2))
    return x


@cache
def logistic(bits: int) -> Ints:
    """1 / (1 + exp(-x)) in Q0 for every x in Q<bits>, in ascending order."""
    x = np.arange(_LEAST, _MOST + 1)
    above = _left(_newton(_exp_of_negative(-np.abs(x), bits)), 1)
    return np.select([x == 0, x > 0], [1 << 14, above], _MOST - above)


@cache
def tanh(bits: int) -> Ints:
    """tanh(x) in Q0 for every x in Q<bits>, in ascending order."""
    x = np.arange(_LEAST, _MOST + 1)
    size = _left(_wrapped(_newton(_exp_of_negative(-np.abs(x), bits + 1)) - (1 << 13)), 2)
    return np.select([x == 0, x > 0], [0, size], -size)


def looked_up(table: Ints, x: Ints) -> Ints:
    """The entries of a table of `logistic` or `tanh` for int16 values x."""
    return np.asarray(table[int64(x) - _LEAST])
