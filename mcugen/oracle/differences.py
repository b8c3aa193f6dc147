"""Squared differences of quantized tensors, as SQUARED_DIFFERENCE of the runtimes computes them."""

from __future__ import annotations

import numpy as np

from mcugen.ir.call import Call
from mcugen.oracle.fixed import Ints, divided, high_product, scaled_twice
from mcugen.oracle.quantized import Multiplier, activated, bounds, centred
from mcugen.oracle.rational import binary32, binary64, exact, multiplier, quotient

_LEFT = {"s8": 7, "s16": 0}


def squared(call: Call, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The stored result of (a - b)^2. Source: squared_difference.cc, SquaredDifference (int8, int16)."""
    y = call.output
    first, second, last = _multipliers(call)
    apart = _scaled(centred(a, call.input(0)), y.dtype, first) - _scaled(centred(b, call.input(1)), y.dtype, second)
    return activated(scaled_twice(apart * apart, *last) + y.zero_point, "NONE", y)


def scaling(call: Call) -> dict[str, object]:
    """The multipliers of both operands and of the square, and the clamp; empty for tensors without scales."""
    if call.output.dtype not in _LEFT:
        return {}
    a, b, y = _multipliers(call)
    return {"a": a, "b": b, "y": y, "bounds": bounds("NONE", call.output)}


def _scaled(x: Ints, dtype: str, scale: Multiplier) -> Ints:
    """MultiplyByQuantizedMultiplierSmallerThanOneExp."""
    return divided(high_product(x << _LEFT[dtype], scale[0]), -scale[1])


def _multipliers(call: Call) -> tuple[Multiplier, Multiplier, Multiplier]:
    """(mult, shift) of both operands, and of the square of their difference. Source: PrepareQuantized."""
    a, b, y = (binary32(exact(t.scale)) for t in (call.input(0), call.input(1), call.output))
    twice = 2 * max(a, b)
    last = quotient(binary64(twice * twice), (1 << 2 * _LEFT[call.output.dtype]) * y)
    first, second, third = (multiplier(binary64(v)) for v in (quotient(a, twice), quotient(b, twice), last))
    return first, second, third
