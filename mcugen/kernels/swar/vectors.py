"""Fully connected layers on words of two channels: four words, that is eight outputs, for each element read.

The stream of a layer is read once per vector, from front to back. Outputs come in blocks of eight, those with like
sums of weights together, so that their groups of taps end together:

    per block               number of groups; the sums to begin with, for each pair of outputs those of both and of the
                            upper one
        per group           start word of each pair, then n + 65536 * (4 + 20 * (LONGEST - n)), n being the number of
                            taps; then for each tap, the last one first, a word of each pair
        end                 number of outputs, kind: LINEAR and FOUR, added; then three words 0
        per output          multiplier in three or four parts, shift and rounding as in `packing`; index of the output

Sums of a group stay apart as in `packing`. The upper half of n's word is where the code of LONGEST taps, 20 bytes each,
is entered. Kernels without scratch read taps as they are, signed: sums begin elsewhere, and the code has 22 bytes each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from mcugen.call import Call, Params
from mcugen.kernel import Kernel
from mcugen.kernels.swar import packing
from mcugen.kernels.swar.words import RUN, aligned, channels_of
from mcugen.numeric import activation_range
from mcugen.ops._weighted import activation_of, matrix, pixels

BLOCK = 8
"""Outputs of a block."""
LANE = 257
"""Most that the weights of an output add up to in a group, taken absolute: 255 * 257 < 65536."""
LONGEST = 32
"""Most taps of a group."""
_SKIPPED_BYTES = {False: 20, True: 22}
"""Whether taps are signed -> bytes of code of a tap."""
_LINEAR, _FOUR = packing.LINEAR, packing.FOUR


def _params(call: Call, *, signed: bool) -> Params:
    made, activation = channels_of(call), activation_of(call)
    least, most = activation_range(activation, call.output)
    return {
        "stream": np.array(list(_words(call, made, signed)), np.uint32),
        "blocks": -(-len(made) // BLOCK),
        "out_min": least,
        "out_span": most - least,
        "taps": made[0].weights.size,
        "outputs": len(made),
    }


def _words(call: Call, made: list[packing.Channel], signed: bool) -> Iterator[int]:
    weights = np.stack([c.live[0] for c in made])
    order = _order(weights)
    least, offset = activation_range(activation_of(call), call.output)[0], packing.offset_of(call, activation_of(call))
    common = _LINEAR if packing.is_linear(call, offset) else 0
    for rows, ends in zip(_blocks(weights[order]), _ends(weights), strict=True):
        block = [made[k] for k in order[:BLOCK]]
        yield from _block(rows, ends, [packing.signed_bias(c) if signed else c.live[1] for c in block], signed)
        parts = max(packing.parts_of(c, offset) if c.constant is None else 3 for c in block)
        yield from (len(block), common + (_FOUR if parts == 4 else 0), 0, 0, 0)
        for k, c in zip(order[:BLOCK], block, strict=True):
            yield from packing.ending(c, offset, least, parts)
            yield int(k)
        order = order[BLOCK:]


def _block(w: np.ndarray, ends: list[int], bias: list[int], signed: bool) -> Iterator[int]:
    """The first sums and the groups of a block with weights w [BLOCK, taps]."""
    parts = [w[:, first:end] for first, end in zip([0, *ends], ends, strict=False)]
    below, above = (127, 128) if signed else (255, 0)
    sizes = [(np.maximum(-part, 0).sum(axis=1), np.maximum(part, 0).sum(axis=1)) for part in parts]
    least = np.stack([below * negative + above * positive for negative, positive in sizes])
    starts = least - np.array([0, 32768] * (BLOCK // 2))
    sums = np.pad(np.array(bias, np.int64), (0, BLOCK - len(bias))) - starts.sum(axis=0)
    yield len(parts)
    for lower, upper in sums.reshape(-1, 2).tolist():
        yield from (packing.u32(lower + (upper << 16)), packing.u32(upper))
    for part, start in zip(parts, starts, strict=True):
        n = part.shape[1]
        yield from _paired(start)
        yield n + ((4 + _SKIPPED_BYTES[signed] * (LONGEST - n)) << 16)
        yield from _paired(part.T[::-1])


def _paired(values: np.ndarray) -> list[int]:
    """Pairs of the last axis as words."""
    return packing.words_of(values[..., 0::2].reshape(-1), values[..., 1::2].reshape(-1))


def _order(w: np.ndarray) -> np.ndarray:
    """The outputs, those with the largest weights first."""
    return np.argsort(-np.abs(w).sum(axis=1), kind="stable")


def _blocks(w: np.ndarray) -> np.ndarray:
    """Weights [outputs, taps] as [blocks, BLOCK, taps]."""
    return np.pad(w, ((0, -len(w) % BLOCK), (0, 0))).reshape(-1, BLOCK, w.shape[1])


def _ends(w: np.ndarray) -> list[list[int]]:
    """For each block of the outputs in order, where its groups of taps end, each as long as it can be."""
    taps = np.abs(_blocks(w[_order(w)])).transpose(2, 0, 1)
    sums, length = np.zeros(taps.shape[1:], np.int64), np.zeros(taps.shape[1], np.int64)
    ends: list[list[int]] = [[] for _ in length]
    for k, tap in enumerate(taps):
        full = ((sums + tap).max(axis=1) > LANE) | (length == LONGEST)
        for block in np.flatnonzero(full):
            ends[block].append(k)
        sums[full], length[full] = 0, 0
        sums += tap
        length += 1
    return [[*found, len(taps)] for found in ends]


def _work(call: Call) -> dict[str, float]:
    """Blocks of outputs, groups of taps and taps in them, of all vectors."""
    w = matrix(call).astype(np.int64)
    blocks = -(-len(w) // BLOCK)
    groups = sum(len(ends) for ends in _ends(w))
    found = {"blocks": blocks, "groups": groups, "words": blocks * w.shape[1]}
    return {name: float(pixels(call) * value) for name, value in found.items()}


def _scratch(call: Call) -> int:
    return aligned(matrix(call).shape[1])


VECTOR: Kernel = replace(
    RUN,
    symbol="mg_fully_connected_s8__swar",
    params=partial(_params, signed=False),
    scratch=_scratch,
    work=_work,
    terms=("blocks", "groups", "words"),
    struct="mg_swar_vector_s8",
    source="",
    short="fc_swar",
)
"""A fully connected layer."""

DIRECT: Kernel = replace(
    VECTOR,
    symbol="mg_fully_connected_s8__swar_direct",
    params=partial(_params, signed=True),
    scratch=None,
    alone=True,
    short="fc_swar_direct",
)
"""A fully connected layer, or a convolution of single pixels, whose taps are read as they are."""
