"""Sums and differences of quantized tensors, as ADD and SUB of the runtimes compute them."""

from __future__ import annotations

from decimal import Decimal, localcontext
from functools import cache

import numpy as np

from mcugen.errors import UnsupportedError
from mcugen.ir.call import Call
from mcugen.oracle.fixed import Ints, divided, high_product, scaled_twice
from mcugen.oracle.quantized import Multiplier, activated, bounds, centred, is_tflm
from mcugen.oracle.rational import binary32, binary64, exact, multiplier, quotient

_TOLERANCE = Decimal("0.001")


def added(call: Call, sign: int, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The stored result of a + sign * b. Source: add.h, sub.h, AddElementwise, SubElementwise."""
    types = (call.input(0), call.input(1), call.output)
    first, second, y = centred(a, types[0]), centred(b, types[1]), types[2]
    powers = _powers(call)
    if powers is not None:
        total = _added_by_shifts(first, sign * second, powers)
    else:
        left = 15 if y.dtype == "s16" else 20
        scale_a, scale_b, scale_y = _multipliers(*(t.scale for t in types), left)
        total = scaled_twice(_scaled(first << left, scale_a) + sign * _scaled(second << left, scale_b), *scale_y)
    return activated(total + y.zero_point, call.op.activation, y)


def scaling(call: Call) -> dict[str, object]:
    """The multipliers of both operands and of the sum, and the clamp, by name; empty for tensors without scales.

    A plain shift is written as a left shift by one and a multiplier of one half.
    """
    y = call.output
    if y.dtype not in ("s8", "u8", "s16"):
        return {}
    clamp, powers, left = {"bounds": bounds(call.op.activation, y)}, _powers(call), 15 if y.dtype == "s16" else 20
    if powers is not None:
        shifts = [(1 << 30, exponent - powers[2]) for exponent in powers[:2]]
        return {"left": 1, "a": shifts[0], "b": shifts[1], "y": (1 << 30, 1), **clamp}
    a, b, total = _multipliers(call.input(0).scale, call.input(1).scale, y.scale, left)
    return {"left": left, "a": a, "b": b, "y": total, **clamp}


def _scaled(x: Ints, scale: Multiplier) -> Ints:
    """MultiplyByQuantizedMultiplierSmallerThanOneExp."""
    return divided(high_product(x, scale[0]), -scale[1])


@cache
def _multipliers(a: float, b: float, y: float, left: int) -> tuple[Multiplier, Multiplier, Multiplier]:
    """(mult, shift) of both operands, to a common fine scale, and of the sum, from that to the result's scale.

    Source: add.cc, sub_common.cc, Prepare.
    """
    scales = [binary32(exact(v)) for v in (a, b)]
    twice = 2 * max(scales)
    last = multiplier(binary64(quotient(twice, binary64((1 << left) * binary32(exact(y))))))
    if last[1] > 0:
        raise UnsupportedError(f"the result's scale {y:.3g} is too fine for the operands' scales")
    first, second = (multiplier(binary64(quotient(v, twice))) for v in scales)
    return first, second, last


def _powers(call: Call) -> tuple[int, int, int] | None:
    """The exponents of a, b and y if LiteRT treats their int16 scales as powers of two; else None."""
    types = (call.input(0), call.input(1), call.output)
    if is_tflm(call) or call.output.dtype != "s16" or not call.op.power_of_two or any(t.zero_point for t in types):
        return None
    found = [exponent_near(t.scale) for t in types]
    a, b, y = found
    return None if a is None or b is None or y is None else (a, b, y)


@cache
def exponent_near(scale: float) -> int | None:
    """The exponent of a scale whose log2 is within 0.001 of an integer; else None.

    Source: quantization_util.cc, CheckedLog2.
    """
    with localcontext(prec=30):
        logarithm = Decimal(float(binary32(exact(scale)))).ln() / Decimal(2).ln()
        whole = round(logarithm)
        return whole if abs(logarithm - whole) < _TOLERANCE else None


def _added_by_shifts(a: Ints, b: Ints, powers: tuple[int, int, int]) -> Ints:
    """The sum of operands that are shifted to the result's scale. Source: add.h, Add (int16).

    Raises UnsupportedError unless the larger scale of the operands is the result's.
    """
    if max(powers[:2]) != powers[2]:
        raise UnsupportedError("int16 with power-of-two scales needs the larger operand's scale to be the result's")
    total = divided(a, powers[2] - powers[0]) + divided(b, powers[2] - powers[1])
    return np.asarray(np.clip(total, -32768, 32767))
