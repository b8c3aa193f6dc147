"""Shared recipe of float kernels that compute output channels in blocks: their rules and their packed weights."""

from __future__ import annotations

import numpy as np

from mcugen.ir.call import Call
from mcugen.ops import _filter
from mcugen.ops._weighted import activation_of

BLOCK = 4
"""Output channels of a block."""
KINDS = {"NONE": 0, "RELU": 1, "RELU6": 2}


def covering(channels: int) -> np.ndarray:
    """Channel indices of a depthwise kernel's blocks.

    The last block ends with the last channel, and may overlap another.
    """
    starts = np.minimum(np.arange(0, channels, BLOCK), channels - BLOCK)
    return np.asarray((starts[:, None] + np.arange(BLOCK)).reshape(-1))


def four_channels(call: Call) -> bool:
    "there are at least four channels"
    return call.output.shape[-1] >= BLOCK


def known_activation(call: Call) -> bool:
    "the activation is NONE, RELU or RELU6"
    return activation_of(call) in KINDS


RULES = (_filter.float_data, _filter.constant_weights, known_activation)


def packed(w: np.ndarray, bias: np.ndarray, block: int = BLOCK) -> np.ndarray:
    """Blocks of channels: biases, then weights tap by tap; zeros beyond the last channel. w: [channels, taps]."""
    padded = np.zeros((-(-len(w) // block) * block, w.shape[1] + 1), np.float32)
    padded[: len(w), 0] = bias
    padded[: len(w), 1:] = w
    return padded.reshape(-1, block, w.shape[1] + 1).transpose(0, 2, 1).reshape(-1)


def halved(blocks: np.ndarray, taps: int, block: int = BLOCK) -> np.ndarray:
    """Blocks of `packed` as 32-bit words: each holds two float16 weights, or the bits of a float32 bias."""
    each = blocks.reshape(-1, 1 + taps, block)
    halves = each[:, 1:].astype("<f2").reshape(len(each), taps * block).view("<u4")
    words = np.concatenate([each[:, 0].astype(np.float32).view(np.uint32), halves], axis=1)
    return words.astype(np.uint32).reshape(-1)
