"""Depthwise kernel for cores with Helium that computes two rows of a whole image at a time: one vector serves 2x2
outputs.
"""

from __future__ import annotations

import numpy as np

from mcugen.ir.call import Call, Params, Rule
from mcugen.ir.kernel import Cost, Kernel, Text, Whole
from mcugen.kernels.helium import packing, spread
from mcugen.kernels.helium.spread import WEAVE, WORDS
from mcugen.ops._weighted import matrix, window_of

LARGEST = 3
"""Largest number of kernel rows and columns, so that 2x2 windows fit 4x4 elements."""

TILE = 4
"""Number of adjacent outputs of each of two rows that are computed together."""

MOST_CHANNELS = 63
"""Largest number of channels of a slice, so that a load reaches the words of two pixels."""

MOST_BYTES = 2**16
"""The reach of 16-bit offsets, in bytes."""

TERMS = (*packing.FINISH_TERMS, "far_blocks", "tails", "channel_rows", "woven", "slices")


def is_small(call: Call) -> bool:
    "the kernel is at most 3x3, undilated, with a stride of 1x1 or 2x2"
    window = window_of(call)
    if window.stride not in ((1, 1), (2, 2)) or max(window.kernel) > LARGEST:
        return False
    return all(d == 1 or k == 1 for d, k in zip(window.dilation, window.kernel, strict=True))


def is_image(call: Call) -> bool:
    "one image of at least 2 rows of 4 outputs; rows have at least 16 elements, within reach of 16-bit offsets"
    x, y = call.input(0).shape, call.output.shape
    large = y[1] > 1 and y[2] >= TILE and _columns(call) * x[3] >= packing.LANES
    return bool(x[0] == 1 and large and max((y[2] + TILE) * y[3], _words(call)) < MOST_BYTES)


def is_padded_little(call: Call) -> bool:
    "there is at most one row of padding above, and output rows are no longer than input rows"
    x, y = call.input(0).shape, call.output.shape
    return window_of(call).pad((x[1], x[2]))[0] <= 1 and y[2] <= x[2]


def divides(call: Call) -> bool:
    "there are at most 63 channels, or they divide into slices of 17 to 63"
    return _slice(call) > 0


def _slice(call: Call) -> int:
    """Number of channels that are interleaved together: the largest suitable divisor of all channels; 0 if there is
    none.
    """
    channels = call.input(0).shape[3]
    if channels <= MOST_CHANNELS:
        return channels
    return max((n for n in range(packing.LANES + 1, MOST_CHANNELS + 1) if channels % n == 0), default=0)


def _columns(call: Call) -> int:
    """Number of input columns that windows read."""
    window, x, y = window_of(call), call.input(0).shape, call.output.shape
    needed = (y[2] - 1) * window.stride[1] + window.kernel[1] - window.pad((x[1], x[2]))[1]
    return min(x[2], needed)


def _words(call: Call) -> int:
    """Bytes of the interleaved words of two output rows with a stride of 1, of one output row with a stride of 2."""
    stride = window_of(call).stride[1]
    return WEAVE * _slice(call) * ((call.output.shape[2] - 1) * stride + WORDS)


def scratch(call: Call) -> int:
    x, y = call.input(0).shape, call.output.shape
    aside = 2 * y[2] * y[3] * (y[1] % 2)
    kept = _kept(call) * (1 if _slice(call) == x[3] else 2)
    return window_of(call).stride[0] * _words(call) + _columns(call) * x[3] + kept + aside


def _kept(call: Call) -> int:
    """Bytes of the input row that is saved before the result overwrites it; 0 if none is saved."""
    window, x = window_of(call), call.input(0).shape
    return x[2] * x[3] * int(window.stride[0] == 1 and window.pad((x[1], x[2]))[0] == 1)


def variant(call: Call) -> dict[str, int]:
    return {
        "channels": call.input(0).shape[3],
        "slice": _slice(call),
        "width": call.output.shape[2],
        "stride": window_of(call).stride[1],
        "finish": packing.finish_of(call) or 0,
    }


def work(call: Call) -> dict[str, float]:
    """Cost terms: blocks of 4x2 outputs, remainders of rows (tails), channels of two rows, and interleaved vectors
    (woven)."""
    y, stride = call.output.shape, window_of(call).stride[1]
    pairs, rest = -(-y[1] // 2), y[2] % TILE
    channels = pairs * y[3]
    slices = channels // _slice(call)
    blocks = channels * (y[2] // TILE + (rest == TILE - 1))
    pixel = _slice(call) / packing.LANES if _slice(call) == y[3] else -(-_slice(call) // packing.LANES)
    return {
        **packing.finish_work(call, blocks),
        "far_blocks": blocks * (stride - 1),
        "tails": channels * (0 < rest < TILE - 1),
        "channel_rows": channels,
        "woven": slices * stride * _columns(call) * pixel,
        "slices": slices,
    }


def _stream(call: Call) -> np.ndarray:
    w, kernel = matrix(call), window_of(call).kernel
    words = spread.words_of(w, *kernel).reshape(len(w), kernel[1], WEAVE)
    rest = packing.finishing(call, w, np.arange(len(w))[:, None]).reshape(len(w), 3)
    taps = np.pad(words, ((0, 0), (1, WORDS - kernel[1]), (0, 0))).reshape(len(w), -1).astype(np.int8)
    return np.concatenate([np.ascontiguousarray(rest).view(np.int8), taps], axis=1).reshape(-1)


def _places(call: Call) -> np.ndarray:
    """Byte offsets for the C struct: of a window's words, of the outputs in the remainder of two rows, and of the
    outputs of a block."""
    (_, _, width, channels), rest = call.output.shape, call.output.shape[2] % TILE
    words = np.arange(WORDS) * WEAVE * _slice(call)
    left = np.array([[0, (rest == 2) * channels]]) + np.array([[0], [width * channels]])
    block = np.arange(TILE) * channels + np.array([[0], [width * channels]])
    parts = [words.astype("<u4"), left.reshape(-1).astype("<u4"), block.reshape(-1).astype("<u2")]
    return np.concatenate([part.view(np.int8) for part in parts])


def params(call: Call) -> Params:
    window, x, y = window_of(call), call.input(0), call.output
    low, high = packing.output_range(call)
    above, left = window.pad((x.shape[1], x.shape[2]))
    return {
        "stream": _stream(call),
        "places": _places(call),
        "out_zero_point": y.zero_point,
        "out_min": low,
        "out_max": high,
        "in_zero_point": x.zero_point,
        "in_h": x.shape[1],
        "in_row": x.shape[2] * x.shape[3],
        "out_h": y.shape[1],
        "columns": _columns(call),
        "above": above,
        "left": left,
        "reused": _kept(call),
    }


def kernel(*rules: Rule) -> Kernel:
    """The kernel mg_depthwise_conv2d_s8__mve_squares. rules: rules of the operator."""
    return Kernel(
        "mg_depthwise_conv2d_s8__mve_squares",
        Whole(),
        (*rules, is_small, divides, is_image, is_padded_little),
        params=params,
        operands=(0,),
        scratch=scratch,
        in_place=(0,),
        text=Text(variant, struct="mg_depthwise_conv2d_s8__mve_squares"),
        cost=Cost(work, TERMS),
        needs=packing.NEEDS,
        short="dw_mve_squares",
    )
