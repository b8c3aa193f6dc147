"""Packing of weights for cores without SIMD: two output channels in one multiplication.

A word holds the weights of two channels, w0 + 65536 * w1. Added up over a group of taps u * word, u = q + 128, both
sums stay apart as long as the weights of a group, taken absolute, add up to at most LANE in each channel: then
start + sum of u * w0 lies in [0, 65535] and start + sum of u * w1 in [-32768, 32767], start being the group's own.
The stream of a layer is read once per block of pixels, from front to back:

    per pair of channels    start of both sums, start of the upper sums, number of groups
        per group           start word, of which the lower 5 bits are the number n of taps; n words
        end                 16 + kind: LINEAR, SINGLE, FOUR and FULL, added
        per channel         multiplier in three parts (11, 10, 10 bits) or in four (7, 8, 8, 8), the lowest first;
                            then shift and rounding with three parts, rounding and shift with four

LINEAR: outputs may lie below the zero point. FULL: they span all of int8. SINGLE: the last channel of an odd number, in
the upper half of its words. Requantization is one exact floor((acc * mult + rounding) / 2^shift): the two roundings of
gemmlowp are floors one within the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mcugen.call import Call, Param, Params
from mcugen.numeric import activation_range, multiply_double_rounding
from mcugen.ops import _filter
from mcugen.ops._weighted import rounds_once

LANE = 256
"""Most that the weights of a group add up to, taken absolute: 255 * 256 + 31 < 65536."""
LONGEST = 12
"""Most taps of a group: the code of the kernels has a block for each number."""
LINEAR, SINGLE, FOUR, FULL = 1, 2, 4, 8
INT32 = 2**31


@dataclass(frozen=True)
class Channel:
    """Weights [taps], bias with all zero points folded for u = q + 128, and how the sum becomes the output.

    once: rounded once, else twice as gemmlowp does.
    """

    weights: np.ndarray
    bias: int
    mult: int
    right: int
    constant: int | None
    once: bool = False

    @cached_property
    def interval(self) -> tuple[int, int]:
        """The least and the largest sum."""
        low, high = _intervals(self.weights, np.int64(self.bias))
        return int(low), int(high)

    @property
    def live(self) -> tuple[np.ndarray, int]:
        """Weights and bias, zeros where the output is always the same."""
        return (self.weights, self.bias) if self.constant is None else (np.zeros_like(self.weights), 0)


def signed_bias(c: Channel) -> int:
    """The bias where the sum is of stored values, not of u."""
    weights, bias = c.live
    return bias + 128 * int(weights.sum())


def _intervals(w: np.ndarray, bias: np.ndarray | np.int64) -> np.ndarray:
    """The least and the largest sum of each row of weights: int64, [2] and the shape of the bias."""
    return np.stack([bias + 255 * np.minimum(w, 0).sum(axis=-1), bias + 255 * np.maximum(w, 0).sum(axis=-1)])


def channels(call: Call, w: np.ndarray, activation: str) -> list[Channel]:
    """The channels of weights w [channels, taps]. Those whose output is always the same lose weights and bias."""
    w = w.astype(np.int64)
    bias = _filter.folded_bias(call, w.sum(axis=1)) - 128 * w.sum(axis=1)
    mult, shift = (v.astype(np.int64) for v in _filter.multipliers(call, len(w)))
    ends, once = _intervals(w, bias), rounds_once(call)
    if once:
        scaled = (ends * mult + (np.int64(1) << (30 - shift))) >> (31 - shift)
    else:
        scaled = multiply_double_rounding(ends, mult, shift)
    outputs = np.clip(scaled + call.output.zero_point, *activation_range(activation, call.output))
    same = (outputs[0] == outputs[1]) & (np.abs(ends).max(axis=0) < INT32)
    return [
        Channel(row, b, m, -s, value if is_constant else None, once)
        for row, b, m, s, value, is_constant in zip(
            w, *(v.tolist() for v in (bias, mult, shift, outputs[0], same)), strict=True
        )
    ]


def requantizes(call: Call, made: list[Channel], activation: str) -> bool:
    """Whether every channel's requantization fits the instructions: shifts to the right, sums and results in range."""
    offset = offset_of(call, activation)
    return all(c.constant is not None or parts_of(c, offset) for c in made)


def is_linear(call: Call, offset: int) -> bool:
    """Whether negative sums that do not clamp round away from zero."""
    return offset > 0 and not rounds_once(call)


def offset_of(call: Call, activation: str) -> int:
    """The zero point of the output above its least value."""
    return call.output.zero_point - activation_range(activation, call.output)[0]


def parts_of(c: Channel, offset: int) -> int:
    """In how many parts the multiplier has to be taken: 3, 4, or 0 where neither is exact."""
    if not (0 if c.once or offset == 0 else 1) <= c.right <= 16:
        return 0
    largest = max(abs(end) for end in c.interval)
    for parts, bits, low in ((3, 21, 20), (4, 23, 24)):
        rounding = _addend(c, offset, low)
        results = [(end * c.mult >> low) + rounding for end in c.interval]
        fits = all(-INT32 <= r < INT32 for r in results) and rounding < INT32
        if largest < 1 << bits and fits:
            return parts
    return 0


def _addend(c: Channel, offset: int, low: int) -> int:
    """Half a unit of each rounding, and the zero point, after the product lost its `low` lowest bits."""
    first = 0 if c.once or c.right == 0 else 1 << (30 - low)
    return first + (1 << (30 + c.right - low)) + (offset << (31 + c.right - low))


def fields(call: Call, made: list[Channel], activation: str) -> Params:
    """The parameters that all these kernels share."""
    least, most = activation_range(activation, call.output)
    return {
        "stream": np.array(list(_words(call, made, activation)), np.uint32),
        "pairs": (len(made) + 1) // 2,
        "taps": made[0].weights.size,
        "outputs": len(made),
        "kind": 0,
        "out_min": least,
        "out_span": most - least,
    }


def lane_fields(call: Call, made: list[Channel], activation: str) -> Params:
    """The parameters of the depthwise kernel, whose sums are of x itself; taps are padded to a multiple of three."""
    taps = -(-made[0].weights.size // 3) * 3
    words: list[int] = []
    (least, most), offset = activation_range(activation, call.output), offset_of(call, activation)
    for c in made:
        w = c.live[0]
        words += [u32(signed_bias(c)), *(u32(int(v)) for v in np.pad(w, (0, taps - w.size)))]
        words += ending(c, offset, least, 3)
    stream: dict[str, Param] = {
        "stream": np.array(words, np.uint32),
        "taps": taps,
        "kind": int(is_linear(call, offset)) + 2 * int(most - least == 255),
    }
    return {**fields(call, made, activation), **stream}


def groups(w: np.ndarray) -> float:
    """About how many groups the words of weights w [channels, taps] are."""
    sums = np.abs(w.astype(np.int64)).sum(axis=1)
    pairs = np.maximum(sums[0::2], np.append(sums[1::2], 0)[: len(sums[0::2])])
    return float(np.maximum(pairs / (LANE - 32), w.shape[1] / LONGEST).sum() + pairs.size / 2)


def in_three_parts(call: Call, made: list[Channel], activation: str) -> bool:
    """Whether every channel's multiplier may be taken in three parts."""
    return all(c.constant is not None or parts_of(c, offset_of(call, activation)) == 3 for c in made)


@dataclass(frozen=True)
class Pair:
    """Two channels that are computed together, the lower one without weights where it is none.

    ends: the constants of its channels in the stream
    """

    lower: Channel
    upper: Channel
    kind: int
    ends: list[int]


def pairs(call: Call, made: list[Channel], activation: str) -> Iterator[Pair]:
    """The channels two by two, the last one of an odd number alone."""
    offset = offset_of(call, activation)
    least, most = activation_range(activation, call.output)
    common = (LINEAR if is_linear(call, offset) else 0) + (FULL if most - least == 255 else 0)
    for first, second in zip(made[0::2], [*made[1::2], None], strict=False):
        pair = [c for c in (first, second) if c is not None]
        parts = max(parts_of(c, offset) if c.constant is None else 3 for c in pair)
        kind = common + (SINGLE if second is None else 0) + (FOUR if parts == 4 else 0)
        none = Channel(np.zeros_like(first.weights), 0, 0, 1, 0)
        ends = [word for c in pair for word in ending(c, offset, least, parts)]
        yield Pair(*((none, first) if second is None else (first, second)), kind, ends)


def _words(call: Call, made: list[Channel], activation: str) -> Iterator[int]:
    for pair in pairs(call, made, activation):
        yield from _sums(pair.lower, pair.upper)
        yield 16 + pair.kind
        yield from pair.ends


def _sums(lower: Channel, upper: Channel) -> Iterator[int]:
    """The head of a pair and its groups of words."""
    w0, w1 = (c.live[0] for c in (lower, upper))
    groups, words = list(split(w0, w1)), words_of(w0, w1)
    least0, least1 = (sums_before(255 * np.maximum(-w, 0)) for w in (w0, w1))
    starts = [_start(least0[b] - least0[a], least1[b] - least1[a], b - a) for a, b in groups]
    upper_start = upper.live[1] - sum(s[1] for s in starts)
    yield u32(lower.live[1] - sum(s[0] for s in starts) + (upper_start << 16))
    yield u32(upper_start)
    yield len(groups)
    for (a, b), (s0, s1) in zip(groups, starts, strict=True):
        yield u32(s0 + (s1 << 16))
        yield from words[a:b]


def words_of(w0: np.ndarray, w1: np.ndarray) -> list[int]:
    """The words of values of two channels, the first in the lower halves."""
    words: list[int] = ((w0 + (w1 << 16)) & 0xFFFFFFFF).tolist()
    return words


def sums_before(values: np.ndarray) -> list[int]:
    """Of each value the sum of those before it, then that of all."""
    return [0, *np.cumsum(values).tolist()]


def split(w0: np.ndarray, w1: np.ndarray) -> Iterator[tuple[int, int]]:
    """[first, end) of the groups, each as long as it can be."""
    first = lower = upper = 0
    for k, (v0, v1) in enumerate(zip(np.abs(w0).tolist(), np.abs(w1).tolist(), strict=True)):
        lower, upper = lower + v0, upper + v1
        if k - first == LONGEST or lower > LANE or upper > LANE:
            yield first, k
            first, lower, upper = k, v0, v1
    yield first, w0.size


def _start(lower: int, upper: int, taps: int) -> tuple[int, int]:
    """Where the sums of a group start so that they stay within their halves; the lower carries the number of taps.

    lower, upper: how far below zero the sums can come
    """
    return lower + (taps - lower) % 32, upper - 32768


def ending(c: Channel, offset: int, least: int, parts: int) -> Iterator[int]:
    bits, low = (10, 20) if parts == 3 else (8, 24)
    mask = (1 << bits) - 1
    if c.constant is None:
        mult, shift, rounding = c.mult, 31 + c.right - low, _addend(c, offset, low)
    else:
        mult, shift, rounding = 0, 32 - low, (c.constant - least) << (32 - low)
    yield from (mult >> bits * k & mask for k in range(parts - 1))
    yield mult >> low
    yield from (shift, u32(rounding)) if parts == 3 else (u32(rounding), shift)


def u32(value: int) -> int:
    return value % 2**32
