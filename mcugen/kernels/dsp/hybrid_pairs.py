"""Convolutions of float data with int8 weights on cores with SMLAD and floats: three pixels times two channels."""

from __future__ import annotations

from typing import Any

import numpy as np

from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Cost, Kernel, Text, Whole
from mcugen.ops import _hybrid

_PIXELS, _CHANNELS, _TAPS = 3, 2, 8
"""Output pixels and channels of a block; the taps of a pixel are filled up to a multiple of _TAPS."""
_LARGEST_WEIGHT, _LARGEST_DATA, _LARGEST_SUM = 127, 255, 2**23
_ORDER = (0, 2, 1, 3)
"""The taps of two words, from the lower half of the first on."""


def paired_channels(call: Call) -> bool:
    "one group, and an even number of output channels"
    return call.input(0).shape[3] == call.input(3).shape[3] and call.output.shape[3] % _CHANNELS == 0


def narrow_sums(call: Call) -> bool:
    "no weight is -128, and sums stay within 23 bits"
    w = call.constant(3)
    return int(w.min(initial=0)) >= -_LARGEST_WEIGHT and _sums(w) < _LARGEST_SUM


def _sums(w: np.ndarray) -> int:
    """The largest sum of magnitudes of an output channel's products."""
    return int(np.abs(w.astype(np.int64)).reshape(len(w), -1).sum(axis=1).max()) * _LARGEST_DATA


def _taps(call: Call) -> int:
    """Taps of a pixel, with those that fill the last words."""
    taps = int(np.prod(call.input(3).shape[1:]))
    return -(-taps // _TAPS) * _TAPS


def _params(call: Call) -> Params:
    fields: dict[str, Any] = _hybrid.weight_fields(call, call.constant(3), call.op.activation)
    outputs, taps = call.output.shape[3], _taps(call)
    w = np.zeros((outputs, taps), np.int32)
    flat = call.constant(3).reshape(outputs, -1)
    w[:, : flat.shape[1]] = flat
    both = (w[::_CHANNELS] + 256 * w[1::_CHANNELS]).astype("<i2")
    words = both.reshape(len(both), -1, len(_ORDER))[..., _ORDER].reshape(len(both), -1).view("<u4")
    finish = np.stack([fields[name][k::_CHANNELS] for name in ("scale", "bias") for k in range(_CHANNELS)], axis=1)
    return {
        "stream": np.concatenate([words, finish.astype("<f4").view("<u4")], axis=1).astype(np.uint32).reshape(-1),
        **_hybrid.geometry(call, call.op.window(call.input(3).shape)),
        "words": taps // 2,
        "twice": int(call.op.twice),
        "relu": int(fields["out_min"] == 0),
        "capped": int(np.isfinite(fields["out_max"])),
        "reach": float(_LARGEST_SUM * np.abs(fields["scale"]).max()),
        "out_min": fields["out_min"],
        "out_max": fields["out_max"],
    }


def _scratch(call: Call) -> int:
    """Bytes of the taps of three pixels as int16, and of a pixel as int8."""
    return _taps(call) * (2 * _PIXELS + 1)


def _work(call: Call) -> dict[str, float]:
    """Cost terms: blocks of three pixels and two channels, words of weights that they read, kernel rows that
    are gathered (reads), and words of all pixels (gathered)."""
    images, height, width, channels = call.output.shape
    placed = images * (-(-height * width // _PIXELS) if height * width >= _PIXELS else height * width)
    blocks, words = placed * channels // _CHANNELS, _taps(call) // 2
    pixels = placed * _PIXELS
    return {
        "blocks": blocks,
        "words": blocks * words,
        "reads": _hybrid.gathered_rows(call, _taps(call)),
        "gathered": pixels * words,
    }


CONV = Kernel(
    "mg_hybrid_conv2d__dsp",
    Whole(),
    (_hybrid.constant_weights, paired_channels, _hybrid.adjacent_columns, narrow_sums, _hybrid.plain_results),
    _params,
    operands=(0, 1, 2),
    scratch=_scratch,
    text=Text(struct="mg_hybrid_conv2d__dsp"),
    cost=Cost(_work, ("blocks", "words", "reads", "gathered")),
    needs=frozenset({"dsp", "fpu"}),
)
