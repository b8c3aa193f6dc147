"""Look-up tables of the runtimes, and functions of single bytes that the runtimes compute in float32.

Exponentials are computed with 50 digits and rounded once. A good C library nearly always gives the same float.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache

import numpy as np

from mcugen.ir.call import Call
from mcugen.oracle.fixed import Ints, each
from mcugen.oracle.quantized import ends
from mcugen.oracle.rational import binary32, binary64, nearest, quotient, scale_of

Function = Callable[[Fraction], Fraction]
Rounding = Callable[[Fraction], Fraction]
_DIGITS = 50
_FAR = 1000
"""Magnitude of x beyond which exp(x) is 0 or infinite in float64 too."""


def exp(x: Fraction) -> Fraction:
    """e**x to 50 digits, for x up to 1000; 0 for x below -1000."""
    if x < -_FAR:
        return Fraction(0)
    with localcontext(prec=_DIGITS):
        return Fraction((Decimal(x.numerator) / Decimal(x.denominator)).exp())


def float_logistic(x: Fraction) -> Fraction:
    """1 / (1 + exp(-x)) in float32."""
    if -x > _FAR or exp(-x) >= 1 << 128:
        return Fraction(0)
    return binary32(1 / binary32(1 + binary32(exp(-x))))


def float_tanh(x: Fraction) -> Fraction:
    """tanh(x), rounded to float32."""
    e = exp(-2 * abs(x))
    size = binary32((1 - e) / (1 + e))
    return size if x >= 0 else -size


def of_bytes(call: Call, x: np.ndarray, function: Function) -> np.ndarray:
    """A float32 function applied to stored bytes, with stored results. Source: common.h, LUTPopulateInt8."""
    a, y = call.input(0), call.output
    scale, inverse = scale_of(a), binary32(quotient(Fraction(1), scale_of(y)))
    least, most = ends(y)

    def stored(v: int) -> int:
        real = function(binary32(scale * (v - a.zero_point)))
        return max(least, min(most, nearest(binary32(real * inverse)) + y.zero_point))

    return each(x, stored)


@cache
def sigmoid() -> Ints:
    """sigmoid(i / 24) for i < 256 with 16 bits of fraction, shifted by half of the interpolation error.

    The error of linear interpolation between points h apart is at most h * h * f'' / 8. The last entry is the largest
    value, 65535. Source: common.h, sigmoid_table_uint16.
    """
    h = Fraction(1, 24)
    entries = []
    for i in range(255):
        s = 1 / (1 + exp(-i * h))
        curvature = s * (1 - s) * (1 - 2 * s)
        entries.append(nearest((1 << 16) * (s - h * h * curvature / 16)))
    return np.array([*entries, 65535], np.int64)


@cache
def softmax_tables(tflm: bool) -> tuple[Ints, Ints]:
    """Tables of exp on [-10, 0] and of 1 / (1 + x) on [0, 1], in Q0.15, for int16 indices: 513 entries each.

    TFLM rounds each operation to float32, LiteRT to float64. Source: softmax_common.cc, activations.cc.
    """
    rounded = binary32 if tflm else binary64
    step = rounded(rounded(Fraction(2)) / 65535)
    scale = rounded((1 << 16) / rounded(rounded(32767 * step) - rounded(-32768 * step)))
    low = rounded(rounded(Fraction(10) / 65535) * -65535)
    high = rounded(rounded(Fraction(1) / 65535) * 65535)
    return (
        interpolated(lambda x: rounded(exp(x)), (low, Fraction(0)), scale, rounded),
        interpolated(lambda x: rounded(1 / rounded(1 + x)), (Fraction(0), high), scale, rounded),
    )


def interpolated(function: Function, span: tuple[Fraction, Fraction], scale: Fraction, rounded: Rounding) -> Ints:
    """Table of 513 entries for a function over a span.

    Each of the first 512 entries is shifted by half of the interpolation error in the middle between it and the next.

    Source: common.h, LUTPopulateInt16.
    """
    low, high = span
    step = rounded((high - low) / 512)

    def sample(x: Fraction) -> Fraction:
        return rounded(function(x) * scale)

    def at(i: int) -> Fraction:
        return rounded(low + rounded(i * step))

    entries = []
    for i in range(512):
        here = nearest(sample(at(i)))
        between = nearest(rounded(rounded(sample(at(i + 1)) + here) / 2))
        error = between - nearest(sample(rounded(at(i) + rounded(step / 2))))
        entries.append(here - nearest(Fraction(error, 2)))
    return np.array([max(-32768, min(32767, v)) for v in (*entries, nearest(sample(high)))], np.int64)


def softmax_lift(classes: int, scale: Fraction) -> Fraction:
    """Number that QLinearSoftmax adds to all differences, in steps of the input, so that exponentials nearly fill
    float32.

    Source: onnxruntime contrib_ops/cpu/quantization/qlinear_softmax.cc.
    """
    largest = Decimal((1 << 128) - (1 << 104))
    with localcontext(prec=_DIGITS):
        room = (largest / classes).ln() - 5
    return binary64(max(binary64(Fraction(room)), Fraction(0)) / scale)


def look_up(table: Ints, x: Ints) -> Ints:
    """Entries of an interpolated table at int16 values x. Source: common.h, LUTLookup."""
    index, offset = 256 + (x >> 7), x & 0x7F
    base = table[index]
    return np.asarray(base + (((table[index + 1] - base) * offset + 64) >> 7))
