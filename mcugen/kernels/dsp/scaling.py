"""Requantization in kernels for cores with SMLAD: constants, and proofs that the results are exact.

Sums are kept doubled. One SMMLAR then does the runtimes' high multiplication, and its addend includes the rounding and
the zero point (dsp_requantize.h). The proofs use the actual weights of each channel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from mcugen.errors import InternalError
from mcugen.ir.alike import trait
from mcugen.ir.call import Call, Params, Rule, fact
from mcugen.ir.fixed_point import (
    activation_range,
    multiply_double_rounding,
    multiply_single_rounding,
    rounding_doubling_high_mul,
)
from mcugen.kernels.dsp import nine
from mcugen.ops import _filter, _rounding
from mcugen.ops._weighted import activation_of, four_bits, matrix, rounds_once

DSP = frozenset({"dsp"})
FPU = frozenset({"fpu"})
COMPOSITE = (8, 9)
"""Weight sizes in bits for which the weights of two channels share a halfword."""

ALIKE = (12, 8, 16, 4, 20)
"""Right shifts that are tried as the common shift of all channels, in this order."""

_LARGEST_SUM = 2**30
_LARGEST_WEIGHT = 2**14
_LARGEST_COMPOSITE = 2**23
_LARGEST_NIBBLES = 2**26
_LEAST_FACTOR = 2.0**-100


@dataclass(frozen=True)
class ChannelScales:
    """y = (round(2 * sum * mult / 2**32) + addend - (1 if sum < 0)) >> shift, per channel, as int64.

    proved    channels whose y equals the runtime's result for every possible sum
    constant  channels whose output is the same for all sums; their weights and bias are left out
    is_float  whether mult is a float32, see dsp_requantize.h
    left      if not None: sums are multiplied by 2**left and rounded down, and all shifts are equal to `alike`
    """

    mult: np.ndarray
    addend: np.ndarray
    shift: np.ndarray
    proved: np.ndarray
    constant: np.ndarray
    is_float: bool = False
    left: np.ndarray | None = None

    @property
    def alike(self) -> int:
        """The common shift of all channels; 0 if shifts differ."""
        return 0 if self.left is None else int(self.shift[0])

    def held(self, values: np.ndarray) -> np.ndarray:
        """Weights or biases multiplied by the factor by which sums are enlarged. The last axis is the channels."""
        return values * 2 if self.left is None else values << (1 + self.left)


ScalesOf = Callable[[Call], ChannelScales]
"""A function that computes the scaling constants of a call, such as `scales`."""


def unrolled(call: Call, most: int, each: int, besides: int) -> int:
    """Largest number of groups to unroll, at most `most`, so that the loop fits the core's loop buffer.

    each: bytes of code per group. besides: other bytes of the loop.
    """
    return most if call.loop_bytes is None else max(min(most, (call.loop_bytes - besides) // each), 1)


@fact
def sums(call: Call) -> tuple[np.ndarray, np.ndarray]:
    """The least and the greatest sum of each channel, with its bias."""
    found = call.accumulators
    if found is None:
        raise InternalError(f"{call.op}: the bounds of its sums are unknown, but its kernel needs them")
    return found.low, found.high


@fact
def scales(call: Call) -> ChannelScales:
    """Requantization constants for doubled sums, with the rounding of the call."""
    if _rounding.is_stated(call):
        return _scales_stated(call)
    ends = sums(call)
    return _scales(call, ends, multiply_double_rounding)


@fact
def scales_once(call: Call) -> ChannelScales:
    """Requantization constants for operators that round once: the high word of the product, without further rounding.

    The result is wrong only for a negative sum whose product with mult is a multiple of 2**31.
    """
    ends = sums(call)
    found = _scales(call, ends, multiply_single_rounding)
    divides = found.mult & -found.mult
    return replace(found, proved=found.proved & (found.constant | (-ends[0] * divides < 2**31)))


@fact
def scales_alike(call: Call) -> ChannelScales:
    """Like `scales`, but with one shift for all channels if that gives the same results."""
    found, once = scales(call), how_once(call)
    if once == 2 or not (once or clamps_at_zero_point(call, activation_of(call))):
        return found
    fitting = (_shifted_alike(call, found, shift) for shift in ALIKE)
    return next((each for each in fitting if each.proved.all()), found)


@trait
def one_shift(call: Call) -> int:
    """The common shift of all channels; 0 if there is none."""
    return scales_alike(call).alike


def _shifted_alike(call: Call, found: ChannelScales, shift: int) -> ChannelScales:
    """The constants for a common shift. If results are rounded twice, the first rounding keeps one or more additional
    bits.
    """
    once, live = how_once(call), ~found.constant
    left = np.where(live, shift - found.shift, 0)
    fits = (left >= (0 if once else 1)) & (left <= 7)
    at = np.where(fits & live, left, 0)
    addend = (found.addend << at) + (0 if once else (np.int64(1) << at) >> 1)
    most = np.abs(matrix(call).astype(np.int64)).max(axis=1, initial=0)
    fits &= (most << (1 + at) < 2**15) & (largest(call) << (1 + at) < 2**31) & (np.abs(addend) < 2**31)
    for end in sums(call):
        fits &= np.abs(((np.where(fits, end, 0) << (1 + at)) * found.mult >> 32) + addend) < 2**31
    return replace(
        found,
        addend=np.where(live, addend, found.addend >> 1 << shift),
        shift=np.full_like(found.shift, shift),
        proved=found.proved & (found.constant | fits),
        left=at,
    )


def _scales_stated(call: Call) -> ChannelScales:
    """Requantization constants of operators with a `rounding` attribute: fixed-point if that is proved exact, else
    floats.
    """
    found = _scales_fixed(call)
    return found if found.proved.all() or not call.features >= FPU else _scales_float(call, found.constant)


def _scales_float(call: Call, constant: np.ndarray) -> ChannelScales:
    """Scaling by float32 factors, halved because sums are doubled."""
    factor, proved = _rounding.floats(call, str(call.op.activation))
    zero, ends = call.output.zero_point, np.abs(np.stack(sums(call))).max(axis=0)
    fits = proved & (ends * factor.astype(np.float64) < _LARGEST_SUM) & (factor > _LEAST_FACTOR)
    values = _rounding.stairs(call, str(call.op.activation)).at(sums(call)[0])
    return ChannelScales(
        mult=np.where(constant, 0, (factor / 2).astype(np.float32).view(np.int32)).astype(np.int64),
        addend=np.where(constant, np.clip(values + zero, -128, 127), zero),
        shift=np.zeros(factor.size, np.int64),
        proved=constant | fits,
        constant=constant,
        is_float=True,
    )


@trait
def how_once(call: Call) -> int:
    """1 if results are rounded once, 2 if they are scaled by a float, else 0."""
    return int(rounds_once(call)) + scales(call).is_float


def _scales_fixed(call: Call) -> ChannelScales:
    """Fixed-point constants of operators with a `rounding` attribute, and for which channels they are proved exact."""
    activation, zero, ends = str(call.op.activation), call.output.zero_point, sums(call)
    found, steps = _rounding.scaled(call, activation), _rounding.stairs(call, activation)
    values = [steps.at(end) for end in ends]
    constant = (values[0] == values[1]) & (ends[0] >= -(2**31)) & (ends[1] < 2**31)
    addend = (np.int64(1) << (found.right - 1)) + (np.int64(zero) << found.right)
    fits = found.proved & (np.abs(addend) < 2**31)
    for end in ends:
        high = (np.clip(end, -(2**31), 2**31) * found.mult >> 31) + addend
        fits &= (high > -(2**31)) & (high < 2**31 - 1)
    return ChannelScales(
        mult=np.where(constant, 0, found.mult),
        addend=np.where(constant, 2 * np.clip(values[0] + zero, -128, 127) + 1, addend),
        shift=np.where(constant, 1, found.right),
        proved=constant | fits,
        constant=constant,
    )


def _scales(call: Call, ends: tuple[np.ndarray, np.ndarray], multiply: Callable[..., np.ndarray]) -> ChannelScales:
    mult, shift = (v.astype(np.int64) for v in _filter.multipliers(call, ends[0].size))
    zero, right = call.output.zero_point, -shift
    both = np.stack(ends)
    values = np.asarray(multiply(both, mult, shift))
    constant = (values[0] == values[1]) & ((right >= 0) | (ends[0] == ends[1]))
    constant &= (ends[0] >= -(2**31)) & (ends[1] < 2**31)
    unshifted = multiply is multiply_double_rounding and clamps_at_zero_point(call, activation_of(call))
    fits = (right >= (0 if unshifted else 1)) & (right <= 22)  # SMMLAR alone rounds a sum that is not shifted
    at = np.where(fits, right, 1)
    addend = ((np.int64(1) << at) >> 1) + (np.int64(zero) << at)
    high = rounding_doubling_high_mul(both, mult) + addend
    fits &= (np.abs(high) < 2**31).all(axis=0)
    fixed = 2 * np.clip(values[0] + zero, -128, 127) + 1
    return ChannelScales(
        mult=np.where(constant, 0, mult),
        addend=np.where(constant, fixed, addend),
        shift=np.where(constant, 1, at),
        proved=constant | fits,
        constant=constant,
    )


@trait
def clamps_at_zero_point(call: Call, activation: str) -> bool:
    """Whether all outputs are at or above the zero point, so that the rounding of negative sums does not matter."""
    return activation_range(activation, call.output)[0] >= call.output.zero_point


@fact
def clamp(call: Call, activation: str) -> Params:
    """Bounds `low` and `high` of outputs, and whether they are narrower than int8."""
    low, high = activation_range(activation, call.output)
    return {"low": low, "high": high, "clamps": int((low, high) != (-128, 127))}


CLAMP_TERMS = ("clamped",)


@trait
def clamps(call: Call, activation: str) -> int:
    """1 if results are clamped to a range narrower than int8, else 0."""
    return int(clamp(call, activation)["clamps"])


def clamp_work(call: Call, activation: str) -> dict[str, float]:
    """Cost term: outputs that need a separate clamp."""
    return {"clamped": call.output.size * float(clamps(call, activation))}


def is_int8(call: Call) -> bool:
    """Whether the call has int8 data and constant weights, as proofs require."""
    return _filter.int8_outside(call) and _filter.constant_weights(call)


@fact
def largest(call: Call) -> np.ndarray:
    """The greatest magnitude of each channel's sum; 0 for channels with a constant output."""
    low, high = sums(call)
    return np.where(scales(call).constant, 0, np.maximum(-low, high))


def doubled(call: Call) -> bool:
    "no sum of products reaches 2^30, and no weight 2^14"
    if not is_int8(call) or np.abs(call.constant(1).astype(np.int64)).max(initial=0) >= _LARGEST_WEIGHT:
        return False
    return below_limit(call)


def below_limit(call: Call) -> bool:
    "no sum of products reaches 2^30"
    return bool(largest(call).max(initial=0) < _LARGEST_SUM)


def scaled(call: Call) -> bool:
    "each channel is constant, or scaled by a right shift of at most 22 without overflow, or (with an FPU) by a float"
    return is_int8(call) and bool(scales(call).proved.all())


def composite(call: Call) -> bool:
    "weights lie between -127 and 127, and no sum of an odd channel reaches 2^23"
    if not is_int8(call):
        return False
    most, w = largest(call)[1::2].max(initial=0), call.constant(1)
    return bool(w.min(initial=0) >= -127 and w.max(initial=0) <= 127 and most < _LARGEST_COMPOSITE)


def nibbles(call: Call) -> bool:
    "all weights are from -8 to 7, and from -7 in odd channels; no sum reaches 2^26"
    if not four_bits(call) or largest(call).max(initial=0) >= _LARGEST_NIBBLES:
        return False
    return bool(matrix(call)[1::2].min(initial=0) >= -7)


def nine_bits(call: Call) -> bool:
    "weights are int16, the weights of each channel and 0 span at most 255, and no sum of an odd channel reaches 2^23"
    return _filter.int8_data_wide_weights(call) and _are_narrow(call)


def nine_bits_or_eight(call: Call) -> bool:
    "weights are int16 or include -128; a channel's weights and 0 span at most 255; sums of odd channels are below 2^23"
    return is_int8(call) and (matrix(call).min(initial=0) < -127 or not _filter.int8_data(call)) and _are_narrow(call)


def _are_narrow(call: Call) -> bool:
    if not _filter.constant_weights(call) or largest(call)[1::2].max(initial=0) >= _LARGEST_COMPOSITE:
        return False
    return nine.is_narrow(matrix(call))


PROOFS: Mapping[int, tuple[Rule, ...]] = {16: (), 9: (nine_bits,), 8: (composite,), 4: (nibbles,)}
"""Bits of a weight in the stream -> further rules for the call."""


@trait
def fit_wide(call: Call) -> bool:
    """Whether the addends of odd channels, and sums with them, still fit with seven more bits (see `wide`)."""
    scale, ends = scales(call), sums(call)
    mult, addend = scale.mult[1::2], 128 * scale.addend[1::2] + 64
    sums_wide = [((256 * end[1::2] * mult) >> 32) + addend for end in ends]
    return all(bool((np.abs(v) < 2**31).all()) for v in (addend, *sums_wide))


def wide(scaling: np.ndarray, *, once: bool = False) -> np.ndarray:
    """The scaling of pairs of channels, with seven more bits for odd channels: see dsp_requantize.h."""
    found = scaling.copy()
    found[:, 3] = 128 * scaling[:, 3] + (0 if once else 64)
    found[:, 5] = scaling[:, 5] + 7
    return found
