"""Shared recipe of kernels for cores with SMLAD: what their sums and scales must keep to, and their weight streams.

Sums are held doubled, so that one SMMLAR with a free addend is the runtimes' high multiplication, and the addend takes
the rounding and the zero point (dsp_requantize.h). All of it is proved here, per channel, from the actual weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mcugen.errors import InternalError
from mcugen.numeric import activation_range, multiply_double_rounding, rounding_doubling_high_mul
from mcugen.op import Call, Params
from mcugen.ops import _filter

DSP = frozenset({"dsp"})
SWAPPED = (0, 2, 1, 3)
"""The order in which SXTB16 widens four bytes."""

_LARGEST_SUM = 2**30
_LARGEST_COMPOSITE = 2**23


@dataclass(frozen=True)
class Scales:
    """y = (round(2 * sum * mult / 2**32) + addend, less 1 where the sum is negative) >> shift; int64, per channel.

    proved: channels where that is what the runtimes compute, for every sum that can come. constant: those whose output
    is the same for all; their weights and bias are left out.
    """

    mult: np.ndarray
    addend: np.ndarray
    shift: np.ndarray
    proved: np.ndarray
    constant: np.ndarray


def sums(call: Call) -> tuple[np.ndarray, np.ndarray]:
    """The least and the greatest sum of each channel, bias included."""
    found = call.op.accumulators(call)
    if found is None:
        raise InternalError(f"no bounds of the sums of {call.op}")
    return found.low, found.high


def scales(call: Call) -> Scales:
    """What turns doubled sums into outputs."""
    ends = sums(call)
    mult, shift = (v.astype(np.int64) for v in _filter.multipliers(call, ends[0].size))
    zero, right = call.output.zero_point, -shift
    values = [multiply_double_rounding(end, mult, shift) for end in ends]
    constant = (values[0] == values[1]) & ((right >= 0) | (ends[0] == ends[1]))
    fits = (right >= 1) & (right <= 22)
    at = np.where(fits, right, 1)
    addend = (np.int64(1) << (at - 1)) + (np.int64(zero) << at)
    for end in ends:
        high = rounding_doubling_high_mul(end, mult) + addend
        fits &= (high > -(2**31)) & (high < 2**31)
    fixed = 2 * np.clip(values[0] + zero, -128, 127) + 1
    return Scales(
        mult=np.where(constant, 0, mult),
        addend=np.where(constant, fixed, addend),
        shift=np.where(constant, 1, at),
        proved=constant | fits,
        constant=constant,
    )


def clamps_at_zero_point(call: Call, activation: str) -> bool:
    """Whether no output is below the zero point, so that how negative sums are rounded does not matter."""
    return activation_range(activation, call.output)[0] >= call.output.zero_point


def clamp(call: Call, activation: str) -> Params:
    """low, high and whether they are less than int8."""
    low, high = activation_range(activation, call.output)
    return {"low": low, "high": high, "clamps": int((low, high) != (-128, 127))}


def is_int8(call: Call) -> bool:
    """Whether there is anything to prove: int8 data with constant int8 weights."""
    return _filter.int8_data(call) and _filter.constant_weights(call)


def _largest(call: Call) -> np.ndarray:
    """The greatest magnitude of each channel's sum, 0 where it does not matter."""
    low, high = sums(call)
    return np.where(scales(call).constant, 0, np.maximum(-low, high))


def doubled(call: Call) -> bool:
    "no sum of products reaches 2^30"
    return is_int8(call) and bool(_largest(call).max(initial=0) < _LARGEST_SUM)


def scaled(call: Call) -> bool:
    "every channel is scaled by a shift to the right, of at most 22, with no overflow, or is constant"
    return is_int8(call) and bool(scales(call).proved.all())


def composite(call: Call) -> bool:
    "no weight is -128, and no sum of an odd channel reaches 2^23"
    if not is_int8(call):
        return False
    largest = _largest(call)[1::2].max(initial=0)
    return bool(call.constant(1).min(initial=0) >= -127 and largest < _LARGEST_COMPOSITE)


def swapped(taps: np.ndarray) -> np.ndarray:
    """The last axis, in groups of four, in the order of widened data."""
    groups = taps.reshape(*taps.shape[:-1], -1, 4)
    return np.asarray(groups[..., SWAPPED].reshape(taps.shape))


def padded(taps: np.ndarray, length: int) -> np.ndarray:
    """The last axis filled up with zeros to `length`."""
    return np.pad(taps, [(0, 0)] * (taps.ndim - 1) + [(0, length - taps.shape[-1])])


def stream(call: Call, w: np.ndarray, taps: np.ndarray, *, is_composite: bool) -> Params:
    """The `stream` of dsp_block_template.h, and the words up to the last whole pair of channels and to the end.

    w: [channels, taps], zero points removed; taps: the same in the order of reading, with zeros put in.
    """
    channels = w.shape[0]
    even = channels + channels % 2
    scale = scales(call)
    folded = np.where(scale.constant, 0, _filter.folded_bias(call, w.sum(axis=1)))
    columns = [folded, scale.mult, scale.addend, scale.shift]
    bias, *scaling = (padded(column, even).reshape(-1, 2) for column in columns)
    pairs = padded(np.where(scale.constant, 0, taps.T), even).T.reshape(even // 2, 2, -1)
    head, body = (_composite if is_composite else _doubled)(bias, pairs)
    words = np.concatenate([head, body, *scaling], axis=1)
    stored = (words.reshape(-1) & 0xFFFFFFFF).astype(np.uint32).view(np.int32)
    return {"stream": stored, "whole": channels // 2 * words.shape[1], "last": stored.size}


def _doubled(bias: np.ndarray, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return 2 * bias, _words(2 * pairs).transpose(0, 2, 1).reshape(len(pairs), -1)


def _composite(bias: np.ndarray, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    both = np.stack([bias[:, 0], bias[:, 0] + 256 * bias[:, 1]], axis=1)
    return both, _words(pairs[:, 0] + 256 * pairs[:, 1])


def _words(halves: np.ndarray) -> np.ndarray:
    """Two halfwords to a word, the first in the lower half."""
    return np.asarray((halves[..., 0::2] & 0xFFFF) | ((halves[..., 1::2] & 0xFFFF) << 16))
