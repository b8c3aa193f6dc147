"""int8 Helium kernels for sums and differences: by a linear formula if that gives the same bits, else with a table for
the operand of the smaller scale.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mcugen.errors import InternalError
from mcugen.ir.call import Call, Params, fact
from mcugen.ir.fixed_point import activation_range
from mcugen.ir.kernel import Kernel, Run, Text
from mcugen.kernels.helium import packing
from mcugen.ops import _elementwise, _pairs, _sum
from mcugen.ops.sub import Sub

POINT = 22
"""Fraction bits of the factors of the linear formula."""

ROUNDED = 2**15 + 2**21
"""The rounding addends of two shifts, by 16 and by 6 bits."""

NEAR = 4
"""Largest distance of the tried factors from the ratios of the scales, in units of 2**-POINT."""

_FAR = 2**62
"""A result that sets no limit to the addend, since the clamp gives it."""


@dataclass(frozen=True)
class ScaledSum:
    """y = (first * a + second * b + addend + ROUNDED) >> POINT, before the clamp."""

    first: int
    second: int
    addend: int


@fact
def line_of(call: Call) -> ScaledSum | None:
    """The linear formula that gives the runtime's results for all pairs of values in 32 bits; None if there is none."""
    if call.output.dtype != "s8":
        return None
    sign, stored = _sign(call), np.arange(-128, 128, dtype=np.int64)
    zeros = (call.input(0).zero_point, call.input(1).zero_point, call.output.zero_point)
    a, b = stored[:, None], stored[None, :]
    low, high = activation_range(call.op.activation, call.output)
    results = np.clip(_sum.of_stored(_sum.constants(call, sign), zeros, a, b), low, high)
    ratios = np.array([call.input(k).scale / call.output.scale * 2**POINT for k in (0, 1)])
    if ratios.sum() * 128 > 2**31:
        return None
    centre, near = np.rint(ratios).astype(np.int64), range(-NEAR, NEAR + 1)
    exact = (results << POINT) - ROUNDED
    above_low, below_high = np.where(results > low, exact, -_FAR), np.where(results < high, exact, _FAR)
    for i, j in sorted(((i, j) for i in near for j in near), key=lambda step: max(map(abs, step))):
        first, second = int(centre[0]) + i, sign * (int(centre[1]) + j)
        products = first * a + second * b
        least = int((above_low - products).max(initial=-(2**30)))
        most = int((below_high - products).min(initial=2**30)) + 2**POINT - 1
        addend = (least + most) // 2
        if least <= most and 128 * (abs(first) + abs(second)) + abs(addend) < 2**31:
            return ScaledSum(first, second, addend)
    return None


def is_line(call: Call) -> bool:
    "a linear formula of both operands gives the runtime's result for all pairs of values"
    return line_of(call) is not None


def _line_params(call: Call) -> Params:
    found = line_of(call)
    if found is None:
        raise InternalError(f"{call.op}: its kernel was chosen, but no linear formula gives the results")
    low, high = activation_range(call.op.activation, call.output)
    return {"first": found.first, "second": found.second, "addend": found.addend, "out_min": low, "out_max": high}


def _line_variant(call: Call) -> dict[str, int]:
    return {"clamp": int(activation_range(call.op.activation, call.output) != (-128, 127))}


def shifts(call: Call) -> bool:
    "the result is scaled by less than one half"
    return call.output.dtype == "s8" and _sum.constants(call, _sign(call)).y[1] < 0


def _sign(call: Call) -> int:
    return -1 if isinstance(call.op, Sub) else 1


def _elements(call: Call) -> int:
    return call.output.size


def _params(call: Call) -> Params:
    sign = _sign(call)
    c = _sum.constants(call, sign)
    out = _sum.applied(c.y)
    low, high = activation_range(call.op.activation, call.output)
    wide = 0 if c.a == (2**30, 0) else 1
    signs = (1, sign)
    factor = signs[wide] << (c.left - 1)
    stored = np.arange(256, dtype=np.uint8).view(np.int8).astype(np.int64)
    narrow = _sum.scaled(stored - call.input(1 - wide).zero_point, c.left, c.b if wide == 0 else c.a)
    return {
        "narrow_terms": (signs[1 - wide] * narrow - call.input(wide).zero_point * factor).astype(np.int32),
        "wide_factor": factor,
        "out_mult": out[0],
        "out_shift": -out[1],
        "out_zero_point": call.output.zero_point,
        "out_min": low,
        "out_max": high,
        "narrow_first": int(wide == 1),
    }


LINE = Kernel(
    "mg_add_s8__mve_line",
    Run(_elements),
    (_elementwise.of_type("s8"), _elementwise.equal_shapes, _pairs.by_runtime, is_line),
    _line_params,
    in_place=(0, 1),
    text=Text(_line_variant, struct="mg_add_s8__mve_line"),
    needs=packing.NEEDS,
    short="add_mve_line",
)
"""Sums and differences by a linear formula."""

SUM = Kernel(
    "mg_add_s8__mve",
    Run(_elements),
    (_elementwise.of_type("s8"), _elementwise.equal_shapes, _pairs.by_runtime, shifts),
    _params,
    in_place=(0, 1),
    text=Text(struct="mg_add_s8__mve"),
    needs=packing.NEEDS,
)
"""Sums and differences."""
