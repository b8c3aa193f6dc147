"""Fully connected layers that pack two channels into a word: four words, that is eight outputs, for each element read.

The stream of a layer is read once per vector, from front to back. A block has eight outputs with similar sums of
absolute weights, so that their groups of taps end together:

    per block               number of groups; per pair of outputs the initial value of both sums, then of the upper sum
        per group           start word of each pair; n + 65536 * (4 + 20 * (LONGEST - n)) for n taps; then, for
                            each tap, the last one first, a word of each pair
        end                 number of outputs; kind, the sum of LINEAR and FOUR; three words of 0
        per output          multiplier in three or four parts, shift and rounding as in channel_pairs.py; index of the
                            output

The two sums in a word do not overlap, as in channel_pairs.py. The upper half of n's word is the offset at which the
unrolled code of LONGEST taps, 20 bytes each, is entered. Kernels without scratch read signed taps: their sums have
other start values, and their code has 22 bytes per tap.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from mcugen.ir.call import Call, Params, fact
from mcugen.ir.fixed_point import activation_range
from mcugen.ir.kernel import Cost, Kernel, Run, Text
from mcugen.kernels.swar import channel_pairs
from mcugen.kernels.swar.words import RUN, aligned, channels_of
from mcugen.ops._weighted import activation_of, matrix, pixels, taps_of

BLOCK = 8
"""Number of outputs in a block."""
LANE = 257
"""Largest sum of an output's absolute weights in a group: 255 * 257 < 65536."""
LONGEST = 32
"""Largest number of taps of a group."""
_SKIPPED_BYTES = {False: 20, True: 22}
"""Whether taps are signed -> bytes of code of a tap."""
_LINEAR, _FOUR = channel_pairs.LINEAR, channel_pairs.FOUR


def _params(call: Call, *, signed: bool) -> Params:
    (outputs, taps), (least, most) = matrix(call).shape, activation_range(activation_of(call), call.output)
    return {
        "stream": np.array(_words(call, channels_of(call), signed), np.uint32),
        "blocks": -(-outputs // BLOCK),
        "out_min": least,
        "out_span": most - least,
        "taps": taps,
        "outputs": outputs,
    }


def _words(call: Call, made: channel_pairs.Channels, signed: bool) -> list[int]:
    order, bias = _order(made.weights), made.signed_bias if signed else made.bias
    common = _LINEAR if channel_pairs.is_linear(call, made.offset) else 0
    stream: list[int] = []
    biases = _blocks(bias[order, None])[..., 0]
    for k, (rows, ends) in enumerate(zip(_blocks(made.weights[order]), _live_ends(call), strict=True)):
        block = order[k * BLOCK : (k + 1) * BLOCK]
        parts = int(made.parts[block].max())
        stream += _block(rows, ends, biases[k], signed)
        stream += [len(block), common + (_FOUR if parts == 4 else 0), 0, 0, 0]
        stream += [word for at in block.tolist() for word in (*made.ends[parts][at], at)]
    return stream


def _block(w: np.ndarray, ends: list[int], bias: np.ndarray, signed: bool) -> list[int]:
    """The initial sums and the groups of a block with weights w [BLOCK, taps] and biases [BLOCK]."""
    below, above = (127, 128) if signed else (255, 0)
    before = channel_pairs.sums_before(np.where(w > 0, above * w, -below * w))
    firsts, taps = [0, *ends[:-1]], w.shape[1]
    starts = (before[:, ends] - before[:, firsts]).T - np.array([0, 32768] * (BLOCK // 2))
    sums = bias - starts.sum(axis=0)
    heads, words = _paired(starts).tolist(), _paired(w.T[::-1]).reshape(-1).tolist()
    found = [len(ends), *np.stack([_paired(sums), sums[1::2].astype(np.uint32)], axis=1).reshape(-1).tolist()]
    for first, end, head in zip(firsts, ends, heads, strict=True):
        n = end - first
        found += [*head, n + ((4 + _SKIPPED_BYTES[signed] * (LONGEST - n)) << 16)]
        found += words[(taps - end) * BLOCK // 2 : (taps - first) * BLOCK // 2]
    return found


def _paired(values: np.ndarray) -> np.ndarray:
    """Words that each hold two adjacent values of the last axis."""
    return channel_pairs.words_of(values[..., 0::2], values[..., 1::2])


def _order(w: np.ndarray) -> np.ndarray:
    """The order of the outputs: largest weights first."""
    return np.argsort(-np.abs(w).sum(axis=1), kind="stable")


def _blocks(w: np.ndarray) -> np.ndarray:
    """Weights [outputs, taps] as [blocks, BLOCK, taps]."""
    found = np.zeros((len(w) + -len(w) % BLOCK, w.shape[1]), w.dtype)
    found[: len(w)] = w
    return found.reshape(-1, BLOCK, w.shape[1])


def _ends(w: np.ndarray) -> list[list[int]]:
    """The ends of the groups of taps of each block of outputs; groups are as long as possible."""
    taps = np.abs(_blocks(w[_order(w)])).transpose(2, 0, 1)
    sums, first = np.zeros(taps.shape[1:], np.int64), np.zeros(taps.shape[1], np.int64)
    ends: list[list[int]] = [[] for _ in first]
    for k, tap in enumerate(taps):
        sums += tap
        full = np.flatnonzero((sums.max(axis=1) > LANE) | (first == k - LONGEST))
        if full.size:
            sums[full], first[full] = tap[full], k
            for block in full:
                ends[block].append(k)
    return [[*found, len(taps)] for found in ends]


@fact
def _live_ends(call: Call) -> list[list[int]]:
    """The ends of the groups of taps. The weights of channels with a constant output count as 0."""
    return _ends(channels_of(call).weights)


def _work(call: Call) -> dict[str, float]:
    """Cost terms of all vectors: blocks of outputs, their groups of taps, and taps (words)."""
    w = matrix(call).astype(np.int64)
    blocks = -(-len(w) // BLOCK)
    groups = sum(len(ends) for ends in _ends(w))
    found = {"blocks": blocks, "groups": groups, "words": blocks * w.shape[1]}
    return {name: float(pixels(call) * value) for name, value in found.items()}


def _scratch(call: Call) -> int:
    return aligned(taps_of(call))


VECTOR: Kernel = replace(
    RUN,
    symbol="mg_fully_connected_s8__swar",
    params=partial(_params, signed=False),
    scratch=_scratch,
    text=Text(struct="mg_swar_vector_s8"),
    cost=Cost(_work, ("blocks", "groups", "words")),
    short="fc_swar",
)
"""A fully connected layer."""

DIRECT: Kernel = replace(
    VECTOR,
    symbol="mg_fully_connected_s8__swar_direct",
    form=Run(pixels, alone=True),
    params=partial(_params, signed=True),
    scratch=None,
    short="fc_swar_direct",
)
"""A fully connected layer or 1x1 convolution that reads signed taps in place."""
