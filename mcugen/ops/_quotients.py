"""Quotients of two int8 tensors, rounded once: each divisor has proved requantization constants (see line.h)."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np

from mcugen.ir import requantize_proof
from mcugen.ir.call import Call, Params
from mcugen.ir.element import Element
from mcugen.ir.fixed_point import activation_range
from mcugen.ir.ranges import Range
from mcugen.ir.requantize_proof import LinearRounding
from mcugen.ir.types import TensorType
from mcugen.ops import _rounding

_LARGEST = 255
_STEEPEST = Fraction(512)
"""Largest slope used: with it, one step of the dividend already exceeds all int8 results."""


def lines(call: Call) -> LinearRounding | None:
    """The constants of line.h for each divisor that can occur, in increasing order; None if a divisor has none."""
    least, most = _divisors(call)
    b, y = call.input(1), call.output
    scales = tuple(_rounding.scale_of(t.scale) for t in (call.input(0), b, y))
    low, high = (v - y.zero_point for v in activation_range(call.op.activation, y))
    return _lines(scales, (least - b.zero_point, most - b.zero_point), (low, high), abs(y.zero_point))


def _divisors(call: Call) -> tuple[int, int]:
    known: Range | None = call.range_of(1)
    return call.input(1).limits if known is None else known.hull


@cache
def _lines(
    scales: tuple[Fraction, ...], divisors: tuple[int, int], span: tuple[int, int], margin: int
) -> LinearRounding | None:
    a, b, y = scales
    sizes = [abs(d) for d in range(divisors[0], divisors[1] + 1)]
    slopes = [min(a / (b * y * d), _STEEPEST) if d else _STEEPEST for d in sizes]
    ends = np.full(len(slopes), _LARGEST, np.int64)
    return requantize_proof.line(requantize_proof.exact(slopes, [Fraction(0)] * len(slopes), span, -ends, ends), margin)


def has_lines(call: Call) -> bool:
    "the operator states how it rounds; a multiplication, a shift and few exceptions per divisor give these results"
    return _rounding.is_stated(call) and call.output.dtype == "s8" and lines(call) is not None


def _params(call: Call) -> Params:
    found, y = lines(call), call.output
    if found is None:
        return {}
    zeros = {"a_zero": call.input(0).zero_point, "b_zero": call.input(1).zero_point}
    least = {"least": _divisors(call)[0], "none": _undefined(call, y)}
    return {**_rounding.line_fields(found, y, call.op.activation, "even"), **zeros, **least}


def _undefined(call: Call, y: TensorType) -> int:
    return activation_range(call.op.activation, y)[0]


ELEMENT = Element(
    "a == a_zero && b == b_zero ? none"
    " : mg_line_at(&line, (uint32_t)(b - least), b < b_zero ? a_zero - a : a - a_zero)",
    {"line": "mg_line", "a_zero": "int32_t", "b_zero": "int32_t", "least": "int32_t", "none": "int32_t"},
    _params,
    slow=True,
    headers=("line.h",),
)
"""The expression of a quotient: the dividend, negated if the divisor is negative, times the divisor's constants."""
