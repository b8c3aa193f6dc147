"""Packing of weights for cores without SIMD: two output channels in one multiplication.

A word holds the weights of two channels, w0 + 65536 * w1. The products u * word of a group of taps are added, with
u = q + 128. The sums of both channels do not overlap if the absolute weights of each add up to at most LANE in the
group, and the group has a suitable start value: start + sum of u * w0 is then in [0, 65535], and start + sum of
u * w1 in [-32768, 32767]. The constants of a layer are one stream of 32-bit
words, which is read from front to back once per block of pixels:

    per pair of channels    initial value of both sums, initial value of the upper sum, number of groups
        per group           start word, whose lower 5 bits are the number n of taps; n words
        end                 16 + kind, the sum of LINEAR, SINGLE, FOUR and FULL
        per channel         multiplier in three parts (11, 10, 10 bits) or in four (7, 8, 8, 8), the lowest first;
                            then shift and rounding with three parts, rounding and shift with four

LINEAR: outputs may be below the zero point. FULL: the outputs' range is all of int8. SINGLE: the pair has only one
channel, the last of an odd number, in the upper half of its words. FOUR: multipliers have four parts. Requantization is
floor((acc * mult + rounding) / 2^shift), which is exact because the two roundings of gemmlowp are nested floors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mcugen.ir.call import Call, Param, Params
from mcugen.ir.fixed_point import activation_range, multiply_double_rounding
from mcugen.ops import _filter
from mcugen.ops._weighted import activation_of, rounds_once

LANE = 256
"""Largest sum of absolute weights in a group: 255 * 256 + 31 < 65536."""
LONGEST = 12
"""Largest number of taps of a group. The code of the kernels has a block for each number."""
LINEAR, SINGLE, FOUR, FULL = 1, 2, 4, 8
INT32 = 2**31
_MOST_RIGHT = 16
"""Largest right shift."""


@dataclass(frozen=True)
class Channels:
    """The channels of a layer. The weights and biases of channels with a constant output are 0.

    weights   [channels, taps]
    bias      biases for u = q + 128, with all zero points folded in
    once      whether results are rounded once; else twice, as in gemmlowp
    constant  whether the output is always `value`
    least     least output of all channels
    offset    the output's zero point minus `least`
    parts     number of parts of the multiplier: 3 or 4; 0 if neither is exact
    """

    weights: np.ndarray
    bias: np.ndarray
    mult: np.ndarray
    right: np.ndarray
    once: bool
    constant: np.ndarray
    value: np.ndarray
    least: int
    offset: int
    parts: np.ndarray

    @property
    def signed_bias(self) -> np.ndarray:
        """The bias for sums of products with q in place of u."""
        return np.asarray(self.bias + 128 * self.weights.sum(axis=1))

    @cached_property
    def ends(self) -> Mapping[int, list[list[int]]]:
        """Number of parts of the multiplier -> multiplier, shift and rounding of each channel, as words."""
        return {parts: self._ends(parts).tolist() for parts in set(self.parts.tolist())}

    def _ends(self, parts: int) -> np.ndarray:
        bits, low = (10, 20) if parts == 3 else (8, 24)
        mult = np.where(self.constant, 0, self.mult)
        shift = np.where(self.constant, 32 - low, 31 + self.right - low)
        fixed = (self.value - self.least) << (32 - low)
        rounding = np.where(self.constant, fixed, _addend(self.right, self.offset, low, once=self.once))
        lowest = [mult >> bits * k & ((1 << bits) - 1) for k in range(parts - 1)]
        last = [shift, rounding] if parts == 3 else [rounding, shift]
        return np.stack([*lowest, mult >> low, *last], axis=1).astype(np.uint32)


def channels(call: Call, w: np.ndarray, activation: str) -> Channels:
    """Weights, biases and scaling of a layer's channels. w: its weights [channels, taps]."""
    w = w.astype(np.int64, copy=False)
    sums = w.sum(axis=1)
    bias = _filter.folded_bias(call, sums) - 128 * sums
    ends = np.stack([bias + 255 * np.minimum(w, 0).sum(axis=1), bias + 255 * np.maximum(w, 0).sum(axis=1)])
    return scaled_sums(call, activation, ends, w, bias)


def scaled_sums(call: Call, activation: str, ends: np.ndarray, w: np.ndarray, bias: np.ndarray) -> Channels:
    """`channels` with weights w, biases, and sums from ends[0] to ends[1], with ends [2, channels]."""
    least, most = activation_range(activation, call.output)
    mult, shift = (v.astype(np.int64) for v in _filter.multipliers(call, len(w)))
    once, offset = rounds_once(call), offset_of(call, activation)
    if once:
        scaled = (ends * mult + (np.int64(1) << (30 - shift))) >> (31 - shift)
    else:
        scaled = multiply_double_rounding(ends, mult, shift)
    outputs = np.clip(scaled + call.output.zero_point, least, most)
    constant = (outputs[0] == outputs[1]) & (np.abs(ends).max(axis=0) < INT32)
    parts = np.where(constant, 3, _parts(ends, mult, -shift, offset, once=once))
    return Channels(
        np.where(constant[:, None], 0, w), np.where(constant, 0, bias), mult, -shift, once, constant, outputs[0], least,
        offset, parts,
    )  # fmt: skip


def is_linear(call: Call, offset: int) -> bool:
    """Whether negative sums are rounded differently from positive ones: halves away from zero."""
    return offset > 0 and not rounds_once(call)


def offset_of(call: Call, activation: str) -> int:
    """The output's zero point minus its least value."""
    return call.output.zero_point - activation_range(activation, call.output)[0]


def _parts(ends: np.ndarray, mult: np.ndarray, right: np.ndarray, offset: int, *, once: bool) -> np.ndarray:
    """`Channels.parts` for sums from ends[0] to ends[1], with ends [2, channels]."""
    found, largest = np.zeros_like(mult), np.abs(ends).max(axis=0)
    shifts = (right >= (0 if once or offset == 0 else 1)) & (right <= _MOST_RIGHT)
    for parts, bits, low in ((4, 23, 24), (3, 21, 20)):
        rounding = _addend(right, offset, low, once=once)
        results = (np.clip(ends, -(1 << bits), 1 << bits) * mult >> low) + rounding
        fits = ((results >= -INT32) & (results < INT32)).all(axis=0) & (rounding < INT32)
        found[shifts & (largest < 1 << bits) & fits] = parts
    return found


def _addend(right: np.ndarray, offset: int, low: int, *, once: bool) -> np.ndarray:
    """The addend before the last shift: half a unit of each rounding and the zero point, for products without their
    `low` lowest bits."""
    at = np.clip(right, 0, _MOST_RIGHT) + (31 - low)
    half, whole = np.int64(1) << (at - 1), np.int64(offset) << at
    return np.asarray(half + whole + np.where(once | (right == 0), 0, 1 << (30 - low)))


def fields(call: Call, made: Channels, activation: str) -> Params:
    """The parameters of the kernels for convolutions: packed constants and sizes."""
    return {"stream": np.array(_words(call, made), np.uint32), **_sizes(call, made, activation)}


def _sizes(call: Call, made: Channels, activation: str) -> Params:
    least, most = activation_range(activation, call.output)
    outputs, taps = made.weights.shape
    return {
        "pairs": (outputs + 1) // 2,
        "taps": taps,
        "outputs": outputs,
        "kind": 0,
        "out_min": least,
        "out_span": most - least,
    }


def lane_fields(call: Call, made: Channels, activation: str) -> Params:
    """The parameters of the depthwise kernel, whose sums use x instead of x + 128. Taps are padded to a multiple of
    three."""
    least, most = activation_range(activation, call.output)
    w = np.pad(made.weights, ((0, 0), (0, -made.weights.shape[1] % 3)))
    stream: dict[str, Param] = {
        "stream": np.hstack([made.signed_bias[:, None], w, np.array(made.ends[3])]).reshape(-1).astype(np.uint32)
    }
    kind = int(is_linear(call, made.offset)) + 2 * int(most - least == 255)
    return {**stream, **_sizes(call, made, activation), "taps": w.shape[1], "kind": kind}


def groups(w: np.ndarray) -> float:
    """Estimated number of groups of taps, over all pairs of channels. w: weights [channels, taps]."""
    sums = np.abs(w.astype(np.int64)).sum(axis=1)
    pairs = np.maximum(sums[0::2], np.append(sums[1::2], 0)[: len(sums[0::2])])
    return float(np.maximum(pairs / (LANE - 32), w.shape[1] / LONGEST).sum() + pairs.size / 2)


@dataclass(frozen=True)
class Pair:
    """Two channels that are computed together. If the number of channels is odd, the last pair has only the
    channel in the upper half of its words.

    words   packed weights of both channels, one word per tap
    sizes   absolute weights of each channel
    before  for each channel and tap: the largest amount by which all earlier taps can lower the sum; last: all taps
    ends    multiplier, shift and rounding of both channels, as words
    """

    bias: list[int]
    words: list[int]
    sizes: list[list[int]]
    before: list[list[int]]
    kind: int
    ends: list[int]


def pairs(call: Call, made: Channels, bias: np.ndarray, below: np.ndarray) -> Iterator[Pair]:
    """The channels in pairs. below: [channels, taps] the largest amount by which each tap can lower the sum."""
    least, most = activation_range(activation_of(call), call.output)
    common = (LINEAR if is_linear(call, made.offset) else 0) + (FULL if most - least == 255 else 0)
    w, biases = _two_by_two(made.weights), _two_by_two(bias)
    words, sizes = words_of(w[:, 0], w[:, 1]), np.abs(w)
    before, all_parts = sums_before(_two_by_two(below)), made.parts.tolist()
    for k in range(len(w)):
        both = slice(2 * k, 2 * k + 2)
        parts = max(all_parts[both])
        kind = common + (SINGLE if len(all_parts[both]) == 1 else 0) + (FOUR if parts == 4 else 0)
        ends = [word for end in made.ends[parts][both] for word in end]
        yield Pair(biases[k].tolist(), words[k].tolist(), sizes[k].tolist(), before[k].tolist(), kind, ends)


def _two_by_two(values: np.ndarray) -> np.ndarray:
    """Values of channels [channels, ...] grouped by pairs [pairs, 2, ...]."""
    if len(values) % 2:
        values = np.concatenate([values[:-1], np.zeros_like(values[:1]), values[-1:]])
    return values.reshape(-1, 2, *values.shape[1:])


def _words(call: Call, made: Channels) -> list[int]:
    stream: list[int] = []
    for pair in pairs(call, made, made.bias, 255 * np.maximum(-made.weights, 0)):
        stream += [*_sums(pair), 16 + pair.kind, *pair.ends]
    return stream


def _sums(pair: Pair) -> list[int]:
    """The first words of a pair: initial values and number of groups, then start word and weights of each group."""
    groups, (least0, least1) = list(split(*pair.sizes)), pair.before
    starts = [_start(least0[b] - least0[a], least1[b] - least1[a], b - a) for a, b in groups]
    upper_start = pair.bias[1] - sum(s[1] for s in starts)
    found = [u32(pair.bias[0] - sum(s[0] for s in starts) + (upper_start << 16)), u32(upper_start), len(groups)]
    for (a, b), (s0, s1) in zip(groups, starts, strict=True):
        found.append(u32(s0 + (s1 << 16)))
        found += pair.words[a:b]
    return found


def words_of(w0: np.ndarray, w1: np.ndarray) -> np.ndarray:
    """Words that hold the values of two channels, the first in the lower half."""
    return np.asarray(w0 + (w1 << 16)).astype(np.uint32)


def sums_before(values: np.ndarray) -> np.ndarray:
    """Running sums along the last axis: for each value the sum of all values before it, then the total."""
    found = np.zeros((*values.shape[:-1], values.shape[-1] + 1), np.int64)
    np.cumsum(values, axis=-1, out=found[..., 1:])
    return found


def split(lower: list[int], upper: list[int]) -> Iterator[tuple[int, int]]:
    """Ranges [first, end) of the groups of taps, each as long as possible. lower, upper: absolute weights of both
    channels."""
    first = low = high = 0
    for k, (v0, v1) in enumerate(zip(lower, upper, strict=True)):
        low, high = low + v0, high + v1
        if k - first == LONGEST or low > LANE or high > LANE:
            yield first, k
            first, low, high = k, v0, v1
    yield first, len(lower)


def _start(lower: int, upper: int, taps: int) -> tuple[int, int]:
    """(lower, upper) start values of a group, which keep both sums in their halves of the word. The lower 5 bits of the
    first hold the number of taps.

    lower, upper: the largest amount by which the group can lower each sum.
    """
    return lower + (taps - lower) % 32, upper - 32768


def u32(value: int) -> int:
    return value % 2**32
