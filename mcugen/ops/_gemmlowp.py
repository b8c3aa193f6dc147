"""Fixed-point functions of gemmlowp on NumPy arrays: exponential, reciprocal, logistic and tanh, bit for bit.

Raw values are int32 held in int64. "Q<k>" means k integer bits, 31 - k fractional bits.
Source: gemmlowp fixedpoint/fixedpoint.h.
"""

from __future__ import annotations

import numpy as np

from mcugen.ir.fixed_point import Ints, rounding_divide_by_pot, rounding_doubling_high_mul

ONE = 2**31 - 1
_MIN = -(2**31)
_EXP_MINUS_EIGHTH = 1895147668  # exp(-1/8) in Q0
_THIRD = 715827883  # 1/3 in Q0
_EXP_OF_MINUS_POWERS = (  # exponent e, exp(-2**e) in Q0
    (-2, 1672461947),
    (-1, 1302514674),
    (0, 790015084),
    (1, 290630308),
    (2, 39332535),
    (3, 720401),
    (4, 242),
)
_C48_OVER_17 = 1515870810  # 48/17 in Q2
_C_MINUS_32_OVER_17 = -1010580540  # -32/17 in Q2
_ONE_Q2 = 1 << 29


def shift_left(x: Ints, bits: int) -> Ints:
    """x * 2**bits, saturated to int32."""
    return np.asarray(np.clip(np.asarray(x, np.int64) << bits, _MIN, ONE))


def half_sum(a: Ints, b: Ints | int) -> Ints:
    """(a + b) / 2 to nearest, halves away from zero."""
    total = np.asarray(a, np.int64) + b
    rounded = total + np.where(total >= 0, 1, -1)
    return np.asarray(np.sign(rounded) * (np.abs(rounded) >> 1))


def _exp_near_zero(a: Ints) -> Ints:
    """exp(a) for a in [-1/4, 0), Q0 to Q0: a series around -1/8."""
    mul = rounding_doubling_high_mul
    x = a + (1 << 28)
    x2 = mul(x, x)
    x3, x4 = mul(x2, x), mul(x2, x2)
    third_terms = mul(rounding_divide_by_pot(x4, 2) + x3, _THIRD)
    tail = rounding_divide_by_pot(third_terms + x2, 1)
    return _EXP_MINUS_EIGHTH + mul(np.full_like(x, _EXP_MINUS_EIGHTH), x + tail)


def exp_on_negative_values(a: Ints, integer_bits: int) -> Ints:
    """exp(a) for a <= 0, Q<integer_bits> to Q0."""
    a = np.asarray(a, np.int64)
    fraction = 31 - integer_bits
    quarter = 1 << (fraction - 2)
    rest = (a & (quarter - 1)) - quarter
    result = _exp_near_zero(shift_left(rest, integer_bits))
    remainder = rest - a
    for exponent, factor in _EXP_OF_MINUS_POWERS:
        if integer_bits > exponent:
            bit = 1 << (fraction + exponent)
            result = np.where(remainder & bit != 0, rounding_doubling_high_mul(result, factor), result)
    if integer_bits > 5:
        result = np.where(a < -(32 << fraction), 0, result)
    return np.where(a == 0, ONE, result)


def one_over_one_plus(a: Ints) -> Ints:
    """1 / (1 + a) for a in [0, 1], Q0 to Q0: three Newton-Raphson steps."""
    mul = rounding_doubling_high_mul
    half_denominator = half_sum(a, ONE)
    x = _C48_OVER_17 + mul(half_denominator, _C_MINUS_32_OVER_17)
    for _ in range(3):
        error = _ONE_Q2 - mul(half_denominator, x)
        x = x + shift_left(mul(x, error), 2)
    return shift_left(x, 1)


def one_minus_over_one_plus(a: Ints) -> Ints:
    """(1 - a) / (1 + a) for a in [0, 1], Q0 to Q0."""
    mul = rounding_doubling_high_mul
    half_denominator = half_sum(a, ONE)
    x = _C48_OVER_17 + mul(half_denominator, _C_MINUS_32_OVER_17)
    for _ in range(3):
        error = _ONE_Q2 - mul(half_denominator, x)
        x = x + shift_left(mul(x, error), 2)
    return shift_left(x - _ONE_Q2, 2)


def logistic(a: Ints, integer_bits: int) -> Ints:
    """1 / (1 + exp(-a)), Q<integer_bits> to Q0."""
    a = np.asarray(a, np.int64)
    positive = one_over_one_plus(exp_on_negative_values(-np.abs(a), integer_bits))
    result = np.where(a > 0, positive, ONE - positive)
    return np.where(a == 0, 1 << 30, result)


def tanh(a: Ints, integer_bits: int) -> Ints:
    """tanh(a), Q<integer_bits> to Q0."""
    a = np.asarray(a, np.int64)
    doubled = exp_on_negative_values(-np.abs(a), integer_bits + 1)
    positive = one_minus_over_one_plus(doubled)
    return np.where(a == 0, 0, np.where(a > 0, positive, -positive))
