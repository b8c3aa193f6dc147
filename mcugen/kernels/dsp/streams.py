"""Packed constants for cores with SMLAD: words with the biases, weights and scaling of each block of channels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mcugen.ir.call import Call, Params, fact
from mcugen.kernels.dsp import nine, scaling
from mcugen.ops import _filter
from mcugen.ops._weighted import matrix

SWAPPED = (0, 2, 1, 3)
"""The order in which SXTB16 widens four bytes."""


def overlapped(w: np.ndarray) -> np.ndarray:
    """Weights [outputs, channels] in groups of four. The kernel reads an incomplete last group as the last four
    channels; the weights of channels that it reads a second time are 0."""
    whole, tail = divmod(w.shape[1], 4)
    if not tail:
        return w
    return np.concatenate([w[:, : 4 * whole], np.zeros((w.shape[0], 4 - tail), w.dtype), w[:, 4 * whole :]], axis=1)


def swapped(taps: np.ndarray) -> np.ndarray:
    """The array with its last axis reordered, in groups of four, to the order of widened data."""
    groups = taps.reshape(*taps.shape[:-1], -1, 2, 2)
    return groups.swapaxes(-1, -2).reshape(taps.shape)


def padded(taps: np.ndarray, length: int) -> np.ndarray:
    """The array with its last axis padded with zeros to `length`."""
    if taps.shape[-1] == length:
        return taps
    found = np.zeros((*taps.shape[:-1], length), taps.dtype)
    found[..., : taps.shape[-1]] = taps
    return found


@dataclass(frozen=True)
class Blocks:
    """Constants of blocks of channels: biases [blocks, size], weights [blocks, size or pairs, words], scaling [blocks,
    3 * size]."""

    biases: np.ndarray
    weights: np.ndarray
    scaling: np.ndarray


def blocks_of(
    call: Call, taps: np.ndarray, scales_of: scaling.ScalesOf, size: int, bits: int, sums: nine.Sums | None = None
) -> Blocks:
    """Constants of blocks of `size` channels. The last block is padded with zeros. Weights and biases of constant
    channels are 0.

    taps: weights [channels, taps] in the order of reading, with zeros inserted. bits: size of a weight. sums: for
    nine-bit weights, the layout of the sums of the data.
    """
    scale = scales_of(call)
    live = in_blocks(scale.held(taps.T).T if bits == 16 else taps, scale, size)
    shared = live if sums is None else sums.stored(live)
    weights = {16: words, 9: _composite, 8: _composite, 4: _nibbles}[bits](shared)
    return Blocks(_biases(call, scales_of, size, bits), weights, finish(call, scales_of, size))


def in_blocks(taps: np.ndarray, scale: scaling.ChannelScales, size: int) -> np.ndarray:
    """Weights [channels, taps] in blocks, [blocks, size, taps], with zeros for constant channels."""
    live = np.zeros((-(-len(taps) // size) * size, taps.shape[1]), taps.dtype)
    live[: len(taps)] = taps
    live[: len(taps)][scale.constant] = 0
    return live.reshape(-1, size, taps.shape[1])


def _composite(taps: np.ndarray) -> np.ndarray:
    """Weights [blocks, pairs, words]. Channels a and b share a halfword, a + 256 * b."""
    return words(taps[:, 0::2] + 256 * taps[:, 1::2])


def _nibbles(taps: np.ndarray) -> np.ndarray:
    """Weights [blocks, pairs, words]. Channels a and b share a byte, a + 16 * b. A word has four taps, in the order of
    widened data.
    """
    return swapped(taps[:, 0::2] + 16 * taps[:, 1::2]).astype("u1", order="C").view("<u4")


@fact
def folded(call: Call, scales_of: scaling.ScalesOf) -> np.ndarray:
    """The biases [channels] with folded zero points; 0 for constant channels."""
    return np.where(scales_of(call).constant, 0, _filter.folded_bias(call, matrix(call).sum(axis=1)))


@fact
def _biases(call: Call, scales_of: scaling.ScalesOf, size: int, bits: int) -> np.ndarray:
    return biases(folded(call, scales_of), scales_of(call), size, bits).reshape(-1, size)


@fact
def finish(call: Call, scales_of: scaling.ScalesOf, size: int) -> np.ndarray:
    """The scaling constants of blocks of channels: [blocks, 3 * size]."""
    scale = scales_of(call)
    found = np.stack([scale.mult, scale.addend, scale.shift])
    return padded(found, -(-scale.mult.size // size) * size).reshape(3, -1, size).swapaxes(0, 1).reshape(-1, 3 * size)


def biases(bias: np.ndarray, scale: scaling.ChannelScales, size: int, bits: int) -> np.ndarray:
    """Biases [..., channels] for weights of `bits` bits, filled up with zeros to whole blocks of `size` channels.

    For a pair of channels a and b, the stored biases are 16 * a and a + 16 * b with 4-bit weights, and a and a + 256 *
    b with 8-bit weights.
    """
    live = np.where(scale.constant, 0, scale.held(bias) if bits == 16 else bias)
    found = padded(live, -(-bias.shape[-1] // size) * size)
    if bits == 16:
        return found
    a, b, (once, times) = found[..., 0::2], found[..., 1::2], (16, 16) if bits == 4 else (1, 256)
    return np.stack([once * a, a + times * b], axis=-1).reshape(found.shape)


def stored(words: np.ndarray) -> np.ndarray:
    """Words as an int32 array. words: integers of any type, of which the lower 32 bits are taken."""
    return words.reshape(-1).astype(np.uint32).view(np.int32)


def stream(call: Call, taps: np.ndarray, *, bits: int, linear: int, sums: nine.Sums | None = None) -> Params:
    """Fields of the C struct: the `stream` of dsp_block_template.h, and its words up to the end of the last whole pair
    of channels (pairs_end) and in all (last).

    taps, bits, sums: see blocks_of. linear: as in the template.
    """
    blocks = blocks_of(call, taps, scaling.scales_alike if linear == 5 else scaling.scales, 2, bits, sums)
    body = blocks.weights.swapaxes(1, 2).reshape(len(blocks.weights), -1)
    finish = blocks.scaling
    if bits in scaling.COMPOSITE and linear in (0, 2):
        finish = scaling.wide(finish, once=linear == 2)
    lines = np.hstack([blocks.biases, body, finish[:, :4] if linear == 5 else finish])
    return {"stream": stored(lines), "pairs_end": len(taps) // 2 * lines.shape[1], "last": lines.size}


def words(halves: np.ndarray) -> np.ndarray:
    """Words of two halfwords each, the first in the lower half."""
    return halves.astype("<u2", order="C").view("<u4")
