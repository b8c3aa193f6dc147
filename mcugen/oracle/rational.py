"""Rational numbers, and their roundings to float32, float64, whole numbers and fixed-point multipliers."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

from mcugen.errors import QuantizationError
from mcugen.ir.types import TensorType

_DAMAGED = "quantize the model again: its scales are damaged"


@cache
def exact(value: float) -> Fraction:
    """A finite floating-point number as a rational. Raises QuantizationError for infinities and NaN."""
    if not math.isfinite(value):
        raise QuantizationError(f"a scale or a parameter is {value}: it must be finite", hint=_DAMAGED)
    return Fraction(value)


def scale_of(t: TensorType) -> Fraction:
    """The scale of a tensor quantized as a whole, as the float32 that runtimes store."""
    return binary32(exact(t.scale))


def quotient(a: Fraction, b: Fraction) -> Fraction:
    """a / b. Raises QuantizationError for a divisor of 0."""
    if b == 0:
        raise QuantizationError("a result has the scale 0", hint=_DAMAGED)
    return a / b


def binary32(x: Fraction) -> Fraction:
    """The float32 nearest to x, ties to even. Raises QuantizationError beyond the largest float32."""
    if x.denominator.bit_count() == 1 and x.denominator.bit_length() <= 127 and x.numerator.bit_length() <= 24:
        return x  # x is a float32 already
    return _binary(x, 24, -126)


def binary64(x: Fraction) -> Fraction:
    """The float64 nearest to x, ties to even. Raises QuantizationError beyond the largest float64."""
    try:
        return Fraction(x.numerator / x.denominator)  # Python divides integers with one rounding, ties to even.
    except OverflowError:
        raise QuantizationError(f"the scales make a number of about 2**{exponent_of(x)}", hint=_DAMAGED) from None


def _binary(x: Fraction, digits: int, least: int) -> Fraction:
    """IEEE 754 rounding to nearest even. digits: bits of the significand. least: exponent of the smallest normal
    number.
    """
    unit = power(max(exponent_of(x), least) - digits + 1)
    rounded = round(x / unit) * unit
    if abs(rounded) >= power(2 - least):
        raise QuantizationError(f"the scales make a number of about 2**{exponent_of(x)}", hint=_DAMAGED)
    return rounded


def power(exponent: int) -> Fraction:
    """2**exponent."""
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def exponent_of(x: Fraction) -> int:
    """The greatest e with 2**e <= |x|; 0 for 0."""
    if x == 0:
        return 0
    size, divisor = abs(x.numerator), x.denominator
    e = size.bit_length() - divisor.bit_length()
    return e if divisor << max(e, 0) <= size << max(-e, 0) else e - 1


def nearest(x: Fraction) -> int:
    """The integer nearest to x, ties away from 0: C's `round`."""
    size = (2 * abs(x.numerator) + x.denominator) // (2 * x.denominator)
    return size if x >= 0 else -size


def multiplier(real: Fraction) -> tuple[int, int]:
    """(mult, shift) of a real multiplier >= 0: about mult * 2**(shift - 31), with 31 significant bits in mult.

    Numbers below 2**-32 become 0. Numbers above 2**30 become the largest multiplier, as in runtimes that round once;
    other runtimes would shift bits out of their registers. Source: quantization_util.cc, QuantizeMultiplier.
    """
    if real == 0:
        return 0, 0
    shift = exponent_of(real) + 1
    mult = nearest(Fraction(real.numerator << max(31 - shift, 0), real.denominator << max(shift - 31, 0)))
    if mult == 1 << 31:
        mult, shift = 1 << 30, shift + 1
    if shift > 30:
        return (1 << 31) - 1, 30
    return (mult, shift) if shift >= -31 else (0, 0)
