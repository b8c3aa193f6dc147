"""Sums of int8 tensors as one linear form, y = clamp((k_a * a + k_b * b + k) >> 21), exact for all 65,536 pairs (a, b).

The runtimes round three times: both scaled operands and the scaled sum. Integers k_a, k_b, k with the same results
nearly always exist. The search starts at the scales' ratios, derives k, and compares the results of all pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from mcugen.ir.call import Call, Params, Rule
from mcugen.ir.element import Element
from mcugen.ir.fixed_point import INT_RANGE, activation_range
from mcugen.ir.kernel import Kernel
from mcugen.ops import _elementwise, _pairs, _rounding, _sum

SHIFT = 21
_BYTES = np.arange(-128, 128, dtype=np.int64)
_FAR = 2**62
"""Stands for no limit of a sum."""

_STEPS = 24


@dataclass(frozen=True)
class Linear:
    """k_a, k_b and k. The addend k includes the rounding and all zero points."""

    a: int
    b: int
    addend: int


@dataclass(frozen=True)
class _Job:
    """The numbers that determine the stored result of each pair, as the key of the cached search.

    zeros: zero points of a, b and y. bounds: the activation's. ratios: scales of a and b, divided by the scale of y.
    """

    sum: _sum.RawSum
    zeros: tuple[int, int, int]
    bounds: tuple[int, int]
    ratios: tuple[float, float]

    def result(self) -> np.ndarray:
        """The value that the runtimes store, [256, 256], indexed by a + 128 and b + 128."""
        return np.asarray(np.clip(_sum.of_stored(self.sum, self.zeros, _BYTES[:, None], _BYTES[None, :]), *self.bounds))


def linear(call: Call, sign: int) -> Linear | None:
    """The linear form that gives a + sign * b with the rounding of the call; None if the search fails."""
    if _rounding.is_stated(call):
        return _search(_pairs.stated(call, sign))
    a, b, y = call.input(0), call.input(1), call.output
    ratios = (a.scale / y.scale, sign * b.scale / y.scale)
    bounds = activation_range(call.op.activation, y)
    return _search(_Job(_sum.constants(call, sign), (a.zero_point, b.zero_point, y.zero_point), bounds, ratios))


@cache
def _search(job: _Job | _pairs.Stated) -> Linear | None:
    """The linear form that gives the results of `job` for all pairs; None if _STEPS steps find no such form.

    Each step takes the two pairs whose demands on the addend conflict most, and adjusts k_a and k_b to satisfy both.
    """
    want = job.result()
    low, high = job.bounds
    limits = np.where(want > low, want << SHIFT, -_FAR), np.where(want < high, ((want + 1) << SHIFT) - 1, _FAR)
    factors = np.array(job.ratios) * 2**SHIFT
    if np.abs(factors).max() >= 2**31:
        return None
    for _ in range(_STEPS):
        a, b = (round(float(f)) for f in factors)
        least, most, apart = _addends(*limits, a, b)
        if least <= most:
            return _within_32_bits(a, b, (least + most) // 2)
        if not apart.any():
            return None
        factors += apart * max((least - most) * 1.25 / float(apart @ apart), 0.5 / float(np.abs(apart).max()))
    return None


def _addends(floor: np.ndarray, ceiling: np.ndarray, a: int, b: int) -> tuple[int, int, np.ndarray]:
    """(least, greatest) addend that all pairs allow, and the difference (a, b) of the two pairs that set these limits.

    No addend exists if least > greatest. floor, ceiling: limits of each sum, [256, 256]. A pair whose result is clamped
    limits the sum on one side only.
    """
    products = a * _BYTES[:, None] + b * _BYTES[None, :]
    least, most = floor - products, ceiling - products
    at = [np.unravel_index(v, products.shape) for v in (least.argmax(), most.argmin())]
    apart = np.array([float(_BYTES[i]) - float(_BYTES[j]) for i, j in zip(*at, strict=True)])
    return max(int(least.max()), -(2**40)), min(int(most.min()), 2**40), apart


def _within_32_bits(a: int, b: int, addend: int) -> Linear | None:
    """The linear form; None if addend + a * x or addend + a * x + b * y can overflow 32 bits."""
    first = a * _BYTES + addend
    ends = (a, b, addend, first.min(), first.max(), first.min() - 128 * abs(b), first.max() + 128 * abs(b))
    return Linear(a, b, addend) if all(-(2**31) <= end < 2**31 for end in ends) else None


def kernels(sign: int) -> tuple[Kernel, ...]:
    """The kernels of an addition (sign 1) or subtraction (-1) of int8 tensors."""
    return _elementwise.kernels("mg_linear_sum_s8", "s8", partial(_element, sign), (_exists(sign),))


def _element(sign: int, call: Call) -> Element:
    """The expression of one sum. It saturates to int8, and clamps only if the activation's range is narrower."""
    saturates = activation_range(call.op.activation, call.output) == INT_RANGE["s8"]
    return Element(
        f"mg_linear_{'saturated' if saturates else 'clamped'}(&form, a, b)",
        {"form": "mg_linear_form"},
        _params(sign),
        unroll=8 if saturates else 4,
        slow=not saturates,
        headers=("linear_form.h",),
    )


def _exists(sign: int) -> Rule:
    def exists(call: Call) -> bool:
        "one linear form rounds every pair of values as the runtime does"
        types = {call.input(0).dtype, call.input(1).dtype, call.output.dtype}
        return types == {"s8"} and linear(call, sign) is not None

    return exists


def _params(sign: int) -> Callable[[Call], Params]:
    def params(call: Call) -> Params:
        found = linear(call, sign)
        low, high = activation_range(call.op.activation, call.output)
        if found is None:
            return {}
        return {
            "form.a": found.a, "form.b": found.b, "form.addend": found.addend, "form.out_min": low,
            "form.out_max": high,
        }  # fmt: skip

    return params
