"""Functions of int16 data as the runtimes compute them: interpolated tables, and square roots."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache

import numpy as np

from mcugen.ir.call import Call
from mcugen.oracle import byte_tables
from mcugen.oracle.fixed import Ints, each, int64, scaled_twice
from mcugen.oracle.gemmlowp import inverse_root as inverse_root_of
from mcugen.oracle.quantized import Multiplier
from mcugen.oracle.rational import binary32, exact
from mcugen.oracle.rational import multiplier as multiplier_of

_LEAST, _MOST = -(1 << 15), (1 << 15) - 1
_KEPT = 20
_DIGITS = 50


def interpolated(call: Call, x: np.ndarray) -> np.ndarray:
    """Linear interpolation in the table of a Curve."""
    return in_table(table(call), x)


def in_table(entries: Ints, x: np.ndarray) -> np.ndarray:
    """Linear interpolation in a table; differences and sums wrap to 16 bits. Source: common.h, LUTLookup."""
    wide = int64(x)
    base = entries[256 + (wide >> 7)]
    slope = (entries[257 + (wide >> 7)] - base).astype(np.int16).astype(np.int64)
    return np.asarray((base + ((slope * (wide & 127) + 64) >> 7)).astype(np.int16))


def table(call: Call) -> Ints:
    """The table of 513 entries for the function `call.op.function`."""
    return _table(call.op.function, call.input(0).scale, call.output.scale)


@cache
def table_of(function: Callable[[np.ndarray], np.ndarray], x_scale: float, y_scale: float) -> Ints:
    """The table of a function on float32, whose values are limited to what y can store; NaN is the least."""
    x, y = binary32(exact(x_scale)), binary32(exact(y_scale))
    least, most = binary32(_LEAST * y), binary32(_MOST * y)

    met: dict[Fraction, Fraction] = {}

    def asked(v: Fraction) -> Fraction:
        return met.setdefault(v, Fraction(0))

    def of(v: Fraction) -> Fraction:
        return met[v]

    span, scale = (binary32(_LEAST * x), binary32(_MOST * x)), binary32((1 << 16) / binary32(most - least))
    byte_tables.interpolated(asked, span, scale, binary32)
    points = np.array([float(v) for v in met], np.float32)
    with np.errstate(all="ignore"):
        values = np.nan_to_num(np.asarray(function(points), np.float32), nan=-np.inf).tolist()
    limits = float(least), float(most)
    met = {v: exact(min(max(y, limits[0]), limits[1])) for v, y in zip(met, values, strict=True)}
    return byte_tables.interpolated(of, span, scale, binary32)


@cache
def _table(function: str, x_scale: float, y_scale: float) -> Ints:
    x, y = binary32(exact(x_scale)), binary32(exact(y_scale))
    least, most = binary32(_LEAST * y), binary32(_MOST * y)

    def of(v: Fraction) -> Fraction:
        if function == "log":
            return _log(v) if v > 0 else least
        if function == "rsqrt":
            return binary32(1 / _root(v)) if v > 0 else most
        return {"exp": _exp, "gelu": _gelu, "gelu_by_tanh": _gelu_by_tanh}[function](v)

    span = (binary32(_LEAST * x), binary32(_MOST * x))
    return byte_tables.interpolated(of, span, binary32((1 << 16) / binary32(most - least)), binary32)


def _exp(x: Fraction) -> Fraction:
    return binary32(byte_tables.exp(x))


def _log(x: Fraction) -> Fraction:
    with localcontext(prec=_DIGITS):
        return binary32(Fraction((Decimal(x.numerator) / Decimal(x.denominator)).ln()))


def _root(x: Fraction) -> Fraction:
    with localcontext(prec=_DIGITS):
        return binary32(Fraction((Decimal(x.numerator) / Decimal(x.denominator)).sqrt()))


def _gelu(x: Fraction) -> Fraction:
    inner = binary32(x * binary32(exact(-math.sqrt(0.5))))
    return binary32(binary32(x / 2) * binary32(exact(math.erfc(inner))))


def _gelu_by_tanh(x: Fraction) -> Fraction:
    cube = binary32(binary32(binary32(binary32(exact(0.044715)) * x) * x) * x)
    inner = binary32(binary32(exact(math.sqrt(2.0 / math.pi))) * binary32(x + cube))
    return binary32(binary32(x / 2) * binary32(1 + byte_tables.float_tanh(inner)))


def multiplier(call: Call) -> Multiplier:
    """(mult, shift) that scale 1 / sqrt(stored x) to steps of the result. Source: SetRsqrtOutputMultiplier."""
    return multiplier_of(exact(1.0 / (math.sqrt(call.input(0).scale) * call.output.scale)))


def inverse_root(call: Call, x: np.ndarray) -> np.ndarray:
    """The stored 1 / sqrt(x); the largest int16 for x <= 0. Source: elementwise.cc, RsqrtEvalQuantized."""
    mult, shift = multiplier(call)

    def stored(v: int) -> int:
        if v <= 0:
            return _MOST
        root, at = inverse_root_of(v)
        kept = scaled_twice(np.array([1]), root, at + _KEPT)
        return min(int(scaled_twice(kept, mult, shift - _KEPT)[0]), _MOST)

    return each(x, stored)


def square_root(call: Call, x: np.ndarray) -> np.ndarray:
    """The stored sqrt(x), computed in float32 and truncated; 0 for x < 0. Source: elementwise.cc, SqrtEvalQuantized."""
    x_scale, y_scale = (binary32(exact(t.scale)) for t in (call.input(0), call.output))

    def stored(v: int) -> int:
        if v <= 0:
            return 0
        return min(math.floor(binary32(binary32(_root(binary32(x_scale * v))) / y_scale)), _MOST)

    return each(x, stored)
