"""Sum and difference of quantized tensors: both operands are scaled to a common fine scale, added, and rescaled."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from mcugen.errors import UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.element import Element
from mcugen.ir.fixed_point import (
    activation_bounds,
    activation_range,
    multiply_double_rounding,
    quantize_multiplier,
    rounding_divide_by_pot,
)
from mcugen.ir.op import Scaling
from mcugen.ir.quant_rule import OWN, Scales

_LEFT_SHIFT = {"s8": 20, "u8": 20, "s16": 15}
Multiplier = tuple[int, int]


@dataclass(frozen=True)
class RawSum:
    """raw = scale_a((a - zero_a) << left) + sign * scale_b((b - zero_b) << left); y = scale_y(raw) + zero_y.

    a, b, y: (mult, shift) of scale_a, scale_b and scale_y. Each of the three multiplications rounds.
    """

    left: int
    a: Multiplier
    b: Multiplier
    y: Multiplier
    sign: int


def constants(call: Call, sign: int) -> RawSum:
    """The multipliers of an addition (sign 1) or subtraction (-1).

    Source: add.cc, sub.cc, sub_common.cc (float scales, double arithmetic).
    """
    if powers_of_two(call):
        return _shifts(call, sign)
    a, b, y = (float(np.float32(t.scale)) for t in (call.input(0), call.input(1), call.output))
    twice = 2.0 * max(a, b)
    left = _LEFT_SHIFT[call.output.dtype]
    pairs = [quantize_multiplier(v) for v in (a / twice, b / twice, twice / ((1 << left) * y))]
    if pairs[2][1] > 0:
        raise UnsupportedError(f"the result's scale {call.output.scale:.3g} is too fine for the operands' scales")
    return RawSum(left, pairs[0], pairs[1], pairs[2], sign)


def scales(call: Call, sign: int) -> Scales:
    """The rule for quantization: the result has its own scale; in x + constant, x that is clamped does not matter."""
    found = [c for c in call.constants if c is not None]
    low, high = activation_bounds(call.op.activation)
    if len(found) != 1 or found[0].size != 1 or (sign < 0 and call.constants[0] is not None):
        return OWN
    constant = sign * float(found[0].reshape(-1)[0])
    return replace(OWN, matters=(low - constant, high - constant))


def scaling(call: Call, sign: int) -> Scaling:
    """The multipliers of operands and sum, and the bounds of the activation; {} for types without scales."""
    if call.output.dtype not in _LEFT_SHIFT:
        return {}
    c = constants(call, sign)
    return {"left": c.left, "a": c.a, "b": c.b, "y": c.y, "bounds": activation_range(call.op.activation, call.output)}


def powers_of_two(call: Call) -> bool:
    """Whether LiteRT takes its int16 path that only shifts.

    It does if all scales are powers of two, all zero points are 0, and the operator has `power_of_two`.
    """
    types = (call.input(0), call.input(1), call.output)
    if call.reference == "tflm" or call.output.dtype != "s16" or not call.op.power_of_two:
        return False
    return all(t.zero_point == 0 and _log2(t.scale) is not None for t in types)


def _log2(scale: float) -> int | None:
    """The exponent of a scale that is a power of two within the runtime's tolerance. Source: CheckedLog2."""
    exponent = np.log2(np.float32(scale))
    whole = int(np.round(exponent))
    return whole if abs(float(exponent) - whole) < 1e-3 else None


def without_shifts(call: Call, runtime: str) -> str:
    """Why LiteRT refuses to add or subtract with power-of-two scales; "" if it does not refuse.

    Its kernel shifts only the operand with the smaller scale. Source: add.cc and sub.cc, Prepare.
    """
    seen = replace(call, reference=runtime)
    if runtime == "tflm" or not powers_of_two(seen) or _are_shifted(seen):
        return ""
    return "no kernel for int16 with power-of-two scales unless the result has the larger operand scale"


def _are_shifted(call: Call) -> bool:
    a, b, y = (_log2(t.scale) for t in (call.input(0), call.input(1), call.output))
    return max(a or 0, b or 0) == y


def _shifts(call: Call, sign: int) -> RawSum:
    """The multipliers for power-of-two scales: each shifts left by one, then multiplies by 1/2 (2**30), exactly."""
    a, b, y = (_log2(t.scale) or 0 for t in (call.input(0), call.input(1), call.output))
    if max(a, b) != y:
        raise UnsupportedError(
            "with int16 and power-of-two scales the result must have the larger of the operands' scales"
        )
    return RawSum(1, (2**30, a - y), (2**30, b - y), (2**30, 1), sign)


def of_stored(c: RawSum, zeros: tuple[int, int, int], a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The sum of stored int64 values before the clamp. zeros: the zero points of a, b and the result."""
    first, second = scaled(a - zeros[0], c.left, c.a), scaled(b - zeros[1], c.left, c.b)
    return multiply_double_rounding(first + c.sign * second, *c.y) + zeros[2]


def scaled(x: np.ndarray, left: int, multiplier: Multiplier) -> np.ndarray:
    """x, an operand minus its zero point, at the common fine scale."""
    mult, shift = multiplier
    high = multiply_double_rounding(x << left, mult, 0)
    return rounding_divide_by_pot(high, -shift)


def applied(multiplier: Multiplier) -> Multiplier:
    """The multiplier as C applies it. Right shifts beyond 30 become a factor 0: all magnitudes are below 2**30."""
    return multiplier if multiplier[1] >= -30 else (0, -1)


def element(sign: int) -> Element:
    """The expression of a sum (sign 1) or difference (-1). Its operand a is the one with the larger scale."""
    return Element(
        "mg_sum_of(&sum, a, b)", {"sum": "mg_sum"}, partial(params, sign=sign), swapped=_wide_second, headers=("sum.h",)
    )


def _wide_second(call: Call) -> bool:
    return constants(call, 1).a != (2**30, 0)


def params(call: Call, sign: int) -> Params:
    """The fields of mg_sum. The operand with the larger scale has the exact multiplier 1/2, so it is only shifted."""
    c = constants(call, sign)
    low, high = activation_range(call.op.activation, call.output)
    wide = int(_wide_second(call))
    narrow, out = applied(c.b if wide == 0 else c.a), applied(c.y)
    doubled = c.y == (2**30, 1)  # instead of a left shift by one after the sum, both addends are doubled
    signs = (1 + doubled, c.sign * (1 + doubled))
    return {
        "sum.wide_zero_point": call.input(wide).zero_point,
        "sum.narrow_zero_point": call.input(1 - wide).zero_point,
        "sum.wide_factor": signs[wide] << (c.left - 1),
        "sum.narrow_mult": narrow[0],
        "sum.narrow_shift": -narrow[1],
        "sum.narrow_factor": signs[1 - wide],
        "sum.left_shift": c.left,
        "sum.out_mult": out[0],
        "sum.out_shift": 0 if doubled else -out[1],
        "sum.out_zero_point": call.output.zero_point,
        "sum.out_min": low,
        "sum.out_max": high,
    }
