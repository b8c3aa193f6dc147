"""Quotients of quantized tensors, as DIV of the runtimes computes them."""

from __future__ import annotations

import numpy as np

from mcugen.ir.call import Call
from mcugen.oracle import gemmlowp
from mcugen.oracle.fixed import each, int64
from mcugen.oracle.quantized import Multiplier, activated, bounds, centred
from mcugen.oracle.rational import binary32, exact, multiplier, quotient

_BITS = 31


def divided(call: Call, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The stored result of a / b. Source: reference_ops::Div, DivElementwise; div.cc, OpData."""
    y, scale = call.output, _multiplier(call)
    over, by = np.broadcast_arrays(centred(a, call.input(0)), centred(b, call.input(1)))
    pairs = int64(over) * (1 << 20) + (int64(by) + (1 << 19))
    steps = each(pairs, lambda v: _steps(v >> 20, (v & ((1 << 20) - 1)) - (1 << 19), scale))
    return activated(steps + y.zero_point, call.op.activation, y)


def scaling(call: Call) -> dict[str, object]:
    """Parameters of a quantized division: the fixed-point multiplier for scale_a / (scale_b * scale_y), and the clamp
    of the activation.
    """
    return {"scale": _multiplier(call), "bounds": bounds(call.op.activation, call.output)}


def _multiplier(call: Call) -> Multiplier:
    a, b, y = (binary32(exact(t.scale)) for t in (call.input(0), call.input(1), call.output))
    return multiplier(binary32(quotient(a, binary32(b * y))))


def _steps(a: int, b: int, scale: Multiplier) -> int:
    """A quotient in steps of the result; 0 for a divisor of 0.

    RoundingDivideByPOT is undefined for exponents above 31. Here the exponent is taken modulo 32, and 1 is added unless
    the number is negative, as on 64-bit processors.
    """
    if b == 0:
        return 0
    top = a if b > 0 else -a
    inverse, shifted = gemmlowp.reciprocal(abs(b), _BITS)
    spare = _BITS - (top if top >= 0 else ~top).bit_length()
    right = shifted + spare - scale[1]
    scaled = gemmlowp.product(gemmlowp.product(top << spare, inverse), scale[0])
    if right > _BITS:
        return (scaled >> (right & _BITS)) + int(scaled >= 0)
    return gemmlowp.divided(scaled, right)
