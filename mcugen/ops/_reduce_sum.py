"""Shared recipe of MEAN and SUM: sums, requantization and kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from mcugen.ir.call import Call, Params
from mcugen.ir.fixed_point import INT_RANGE, multiply_double_rounding, quantize_multiplier
from mcugen.ir.kernel import Accumulate, Kernel, Whole
from mcugen.ir.op import Example, Scaling
from mcugen.ir.quant_rule import OWN, Scales
from mcugen.ir.ranges import Range, whole
from mcugen.ir.requantize_proof import LinearRounding
from mcugen.ops import _pool, _reduce, _rounding
from mcugen.oracle import mean_and_sum, once

_LARGEST = {"s8": 1 << 8, "u8": 1 << 8, "s16": 1 << 16}


def divisor(call: Call) -> int:
    """The divisor of the sum: the number of reduced elements for a mean, else 1."""
    return _reduce.elements(call) if isinstance(call.op, ReducedSum) and call.op.divides else 1


def multiplier(call: Call) -> tuple[int, int]:
    """(mult, shift) for scale_x / scale_y / divisor. As in the runtime, mult is rounded first and then divided.

    Source: kernels/internal/reference/reduce.h, QuantizedMeanOrSum.
    """
    x, y = np.float64(np.float32(call.input(0).scale)), np.float64(np.float32(call.output.scale))
    mult, shift = quantize_multiplier(float(x / y))
    n = divisor(call)
    extra = min(n.bit_length() - 1, 32, 31 + shift)
    return (mult << extra) // n, shift - extra


def bounds(call: Call) -> tuple[Range | None, ...]:
    """Bounds of the result: the requantized least and largest sum; the type's range if an intermediate may wrap."""
    x, y = _reduce.operand_range(call), call.output
    if x is None or _rounding.is_stated(call):
        return (None if x is None else whole(y),)
    mult, shift = multiplier(call)
    ends = [_reduce.elements(call) * (v - call.input(0).zero_point) for v in (x.low, x.high)]
    if any((np.abs(end) << max(shift, 0)).max() >= 2**31 for end in ends) or not sums_fit(call):
        return (whole(y),)
    low, high = (np.clip(multiply_double_rounding(e, mult, shift) + y.zero_point, *INT_RANGE[y.dtype]) for e in ends)
    return (Range(low, high),)


def sums_fit(call: Call) -> bool:
    "all sums stay within 32 bits"
    return _reduce.elements(call) * _LARGEST.get(call.input(0).dtype, 1) < 2**31


def _outputs(call: Call) -> Params:
    if _rounding.is_stated(call):
        return _line_fields(call)
    if call.output.is_float:
        return {"divisor": float(divisor(call))}
    mult, shift = multiplier(call)
    return {
        "mult": mult,
        "shift": shift,
        "in_zero_point_sum": call.input(0).zero_point * _reduce.elements(call),
        "out_zero_point": call.output.zero_point,
    }


def whole_params(call: Call) -> Params:
    return {**_reduce.walk(call), **_outputs(call)}


def global_params(call: Call) -> Params:
    return {**_outputs(call), "channels": _reduce.channels(call), "row_pixels": _reduce.row_pixels(call)}


def _line(call: Call) -> LinearRounding | None:
    """The proved constants (see line.h) for sums of stored integers minus zero points; None if there are none."""
    x, y, n = call.input(0), call.output, divisor(call)
    if _rounding.rounding_of(call) == "single":
        divided = np.float32(np.float32(y.scale) * np.float32(n))
        slope = _rounding.scale_of(float(np.float32(x.scale) / divided))
    else:
        slope = _rounding.scale_of(x.scale) / _rounding.scale_of(y.scale) / n
    low, high = (_reduce.elements(call) * (v - x.zero_point) for v in x.limits)
    sums = Range(np.array([low], np.int64), np.array([high], np.int64))
    steps = _rounding.steps_of(_rounding.rounding_of(call), (slope,), (Fraction(0),), y, "NONE", sums)
    return _rounding.line(steps, abs(y.zero_point))


def has_line(call: Call) -> bool:
    "the operator states how it rounds; a multiplication, a shift and few exceptions give these results"
    return _rounding.is_stated(call) and _line(call) is not None


def by_runtime(call: Call) -> bool:
    "the operator leaves rounding to the runtime"
    return not _rounding.is_stated(call)


def _line_fields(call: Call) -> Params:
    found, before = _line(call), call.input(0).zero_point * _reduce.elements(call)
    if found is None:
        return {}
    return _rounding.line_fields(found, call.output, "NONE", _rounding.rounding_of(call), before)


def sums_bytes(call: Call) -> int:
    """Scratch in bytes: one 32-bit sum per channel."""
    return 4 * _reduce.channels(call)


_Types = tuple[tuple[str, tuple[Callable[[Call], bool], ...]], ...]
_TYPES: _Types = (
    ("s8", (_pool.int8_data, sums_fit, by_runtime)),
    ("s16", (_pool.int16_data, sums_fit, by_runtime)),
    ("f32", (_pool.float_data,)),
)
_LINES: _Types = (("s8_line", (_pool.int8_data, sums_fit, has_line)),)


def _kernels(types: _Types) -> tuple[Kernel, ...]:
    return tuple(kernel for dtype, rules in types for kernel in _of_type(dtype, rules))


def _of_type(dtype: str, rules: tuple[Callable[[Call], bool], ...]) -> tuple[Kernel, Kernel]:
    """The kernels of one element type: for images reduced over height and width, and for any axes."""
    whole_image = Kernel(
        f"mg_reduce_sum_{dtype}__global",
        Accumulate(),
        accepts=(*rules, _reduce.leaves_channels),
        params=global_params,
        scratch=sums_bytes,
    )
    return whole_image, Kernel(f"mg_reduce_sum_{dtype}", Whole(), accepts=rules, params=whole_params)


def stated(examples: Sequence[Example], how: str) -> list[Example]:
    """The int8 examples, with the operator's field `rounding` set to `how`."""
    found = (e for e in examples if e.inputs[0] is not None and e.inputs[0].dtype == "s8")
    return [replace(e, op=replace(e.op, rounding=how)) for e in found]  # type: ignore[call-arg]


KERNELS = (*_kernels(_LINES), *_kernels(_TYPES))


class ReducedSum(_reduce.Reduction):
    """Base of MEAN and SUM, which have a field `rounding`. divides: whether it is MEAN."""

    divides: ClassVar[bool]
    kernels = KERNELS

    def quantized(self, call: Call) -> Scales:
        return OWN

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        if _rounding.is_stated(call):
            axes = self.chosen(x.ndim)
            count = np.array(np.prod([x.shape[k] for k in axes]))
            sums = x.astype(np.int64).sum(axis=axes)
            return once.averaged(call, sums, count, "NONE") if self.divides else once.summed(call, sums, int(count))
        return mean_and_sum.summed(call, x, self.chosen(x.ndim), mean=self.divides)

    def scaling(self, call: Call) -> Scaling:
        return {} if call.output.is_float or _rounding.is_stated(call) else {"scale": multiplier(call)}

    def scaling_q(self, call: Call) -> Scaling:
        axes = self.chosen(len(call.input(0).shape))
        is_other = call.output.is_float or _rounding.is_stated(call)
        return {} if is_other else {"scale": mean_and_sum.multiplier(call, axes, mean=self.divides)}

    def bounds(self, call: Call) -> tuple[Range | None, ...]:
        return bounds(call)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return _reduce.examples(cls, rescaled=True)
