"""Functions of gemmlowp on single fixed-point numbers, in Python integers.

"Q<k>" means an int32 with k integer bits and 31 - k fractional bits.
Source: gemmlowp fixedpoint/fixedpoint.h.
"""

from __future__ import annotations

_LEAST, _MOST = -(1 << 31), (1 << 31) - 1
_EXP_STEPS = {  # e: exp(-2**e) in Q0
    -2: 1672461947, -1: 1302514674, 0: 790015084, 1: 290630308, 2: 39332535, 3: 720401, 4: 242,
}  # fmt: skip
_EXP_OF_MINUS_EIGHTH = 1895147668
_THIRD = 715827883
_48_OVER_17, _MINUS_32_OVER_17 = 1515870810, -1010580540  # Q2


def product(a: int, b: int) -> int:
    """SaturatingRoundingDoublingHighMul."""
    if a == b == _LEAST:
        return _MOST
    total = a * b + ((1 << 30) if a * b >= 0 else 1 - (1 << 30))
    return total >> 31 if total >= 0 else -(-total >> 31)


def divided(x: int, exponent: int) -> int:
    """RoundingDivideByPOT: to the nearest, halves away from zero."""
    size = (abs(x) + ((1 << exponent) >> 1)) >> exponent
    return size if x >= 0 else -size


def saturated(x: int) -> int:
    return max(_LEAST, min(_MOST, x))


def half_sum(a: int, b: int) -> int:
    """RoundingHalfSum: halves away from zero."""
    total = a + b
    return (total + 1) // 2 if total >= 0 else -((1 - total) // 2)


def exp_on_interval(a: int) -> int:
    """exp of a number from -1/4 to 0, Q0: a series of fourth order around -1/8."""
    x = a + (1 << 28)
    x2 = product(x, x)
    x3, x4 = product(x2, x), product(x2, x2)
    sum_3_4 = product(divided(x4, 2) + x3, _THIRD)
    return _EXP_OF_MINUS_EIGHTH + product(_EXP_OF_MINUS_EIGHTH, x + divided(sum_3_4 + x2, 1))


def exp_on_negative(a: int, integer_bits: int) -> int:
    """exp(a) for a <= 0, Q<integer_bits> to Q0."""
    if a == 0:
        return _MOST
    fraction = 31 - integer_bits
    if integer_bits > 5 and a < -(1 << (fraction + 5)):
        return 0
    quarter = 1 << (fraction - 2)
    nearby = a % quarter - quarter
    result = exp_on_interval(saturated(nearby << integer_bits))
    for exponent, factor in _EXP_STEPS.items():
        if integer_bits > exponent and (nearby - a) >> (fraction + exponent) & 1:
            result = product(result, factor)
    return result


def _newton(a: int) -> int:
    """2 / (1 + a) for a from 0 to 1, Q0 to Q2, by three Newton steps."""
    half = half_sum(a, _MOST)
    x = _48_OVER_17 + product(half, _MINUS_32_OVER_17)
    for _ in range(3):
        x += saturated(product(x, (1 << 29) - product(half, x)) << 2)
    return x


def one_over_one_plus(a: int) -> int:
    """1 / (1 + a) for a from 0 to 1, Q0."""
    return saturated(_newton(a) << 1)


def logistic(a: int, integer_bits: int) -> int:
    """1 / (1 + exp(-a)), Q<integer_bits> to Q0."""
    if a == 0:
        return 1 << 30
    above = one_over_one_plus(exp_on_negative(-abs(a), integer_bits))
    return above if a > 0 else _MOST - above


def tanh(a: int, integer_bits: int) -> int:
    """tanh(a), Q<integer_bits> to Q0: (1 - e) / (1 + e) with e = exp(-2 * |a|)."""
    if a == 0:
        return 0
    e = exp_on_negative(-abs(a), integer_bits + 1)
    size = saturated((_newton(e) - (1 << 29)) << 2)
    return size if a > 0 else -size


def reciprocal(x: int, integer_bits: int) -> tuple[int, int]:
    """(r, bits) with 1 / x about r * 2**-bits, for x > 0 in Q<integer_bits>; r is in Q0. Source: GetReciprocal."""
    headroom = 32 - x.bit_length()
    return one_over_one_plus((x << headroom) - (1 << 31)), integer_bits - headroom


_LOG_2, _ROOT_OF_HALF, _FOURTH_ROOT_OF_HALF = 1488522236, 1518500250, 1805811301  # Q0
_ALPHA_N, _ALPHA_D, _ALPHA_I, _ALPHA_F = 117049297, 127690142, 1057819769, 638450708  # Q0


def logarithm(x: int, from_bits: int, to_bits: int) -> int:
    """log(x) for x >= 1, Q<from_bits> to Q<to_bits>. Source: TensorFlow Lite, internal/common.h."""
    bits = to_bits + 1
    headroom = 31 - x.bit_length()
    r_a = saturated(product(saturated(x << headroom), _ROOT_OF_HALF) << 1)
    power_a = saturated((from_bits - headroom - 1) << (31 - bits)) + divided(1 << 29, bits)
    room = 31 - product(x, _ROOT_OF_HALF).bit_length()
    r_b = saturated(x << room)
    power_b = saturated((from_bits - room) << (31 - bits)) - divided(1 << 29, bits)
    r, power = min(r_a, r_b), max(power_a, power_b)
    p, q = half_sum(r, _FOURTH_ROOT_OF_HALF), 2 * (r - _FOURTH_ROOT_OF_HALF)
    square = product(q, q)
    above = product(q, r) + product(product(q, square), _ALPHA_N)
    below = product(p, _ALPHA_I + q + product(_ALPHA_D, square)) + product(_ALPHA_F, q)
    return saturated((product(power, _LOG_2) + product(divided(above, bits), one_over_one_plus(below))) << 1)


def inverse_root(total: int) -> tuple[int, int]:
    """(mult, shift) of 1 / sqrt(total) by five Newton steps; of 1 for total 0. Source:
    GetInvSqrtQuantizedMultiplierExp.
    """
    if total <= 1:
        return 2**31 - 1, 0
    shift = 11
    while total >= 1 << 29:
        total //= 4
        shift += 1
    pairs = (31 - total.bit_length()) // 2 - 1
    shift -= pairs
    total <<= 2 * pairs
    half, x = divided(total >> 1, 1), 1 << 28
    for _ in range(5):
        cube = saturated(product(product(x, x), x) << 6)
        step = product((1 << 28) + (1 << 27), x) - product(half, cube)
        x = saturated(step << 3)
    root = product(x, _ROOT_OF_HALF)
    return (root << -shift, 0) if shift < 0 else (root, -shift)
