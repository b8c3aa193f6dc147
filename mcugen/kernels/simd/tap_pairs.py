"""Depthwise convolutions in vectors: 16 channels and two taps at a time, on rows of int16 or of bytes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mcugen.ir.call import Call, Params, Rule, fact
from mcugen.ir.kernel import Cost, Kernel, Ring, RowStorage, Text
from mcugen.kernels.simd import block_scales
from mcugen.ops import _filter
from mcugen.ops._weighted import matrix, pixels, row_window, window_of
from mcugen.ops.depthwise_conv2d import one_output_each

MOST_PAIRS = 64
"""Most pairs of taps: each tap has a pointer on the stack."""

MOST_ROWS = 256
TERMS = ("tiles", "pairs")
_ORDER = np.array([0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15])
"""The order of the channels of a block in the packed weights."""


@dataclass(frozen=True)
class Lanes:
    """A row of results as pixels of channels.

    times: pixels of the image that are taken as one, so that 16 channels are computed together
    step: elements from a pixel's first column to the next pixel's
    """

    pixels: int
    channels: int
    times: int
    step: int


@fact
def lanes_of(call: Call) -> Lanes:
    """The pixels of a row; several of few channels are taken as one if the window moves by single columns."""
    width, channels = call.output.shape[2], call.output.shape[3]
    stride = window_of(call).stride[1]
    times = block_scales.LANES // channels if block_scales.LANES % channels == 0 and stride == 1 else 1
    times = times if width % times == 0 else 1
    return Lanes(width // times, channels * times, times, stride * channels * times)


def _pairs(call: Call) -> int:
    kernel = window_of(call).kernel
    return -(-kernel[0] * kernel[1] // 2)


def few_taps(call: Call) -> bool:
    "the window has at most 128 taps"
    return _pairs(call) <= MOST_PAIRS and window_of(call).kernel[0] <= MOST_ROWS


def taps(call: Call) -> np.ndarray:
    """For each tap its row, and from bit 8 on its elements from the first column; an even number of them."""
    window, channels = window_of(call), call.input(0).shape[3]
    rows, columns = np.divmod(np.arange(window.kernel[0] * window.kernel[1]), window.kernel[1])
    found = rows + (columns * window.dilation[1] * channels << 8)
    return np.pad(found, (0, found.size % 2), mode="edge").astype(np.uint32)


def _weights(call: Call) -> np.ndarray:
    """The weights as [tiles, 16, pairs, 2]."""
    w = np.tile(matrix(call), (lanes_of(call).times, 1))
    w = block_scales.filled(np.pad(w, ((0, 0), (0, w.shape[1] % 2))))
    return w.reshape(-1, block_scales.LANES, w.shape[1] // 2, 2)


def _before(call: Call) -> int:
    """Elements of a stored row in front of the image."""
    x = call.input(0).shape
    return window_of(call).pad((x[1], x[2]))[1] * x[3]


def row_len(call: Call) -> int:
    """Elements of a stored row, with those that are read beyond the last channel."""
    x, found, window = call.input(0).shape, lanes_of(call), window_of(call)
    last = (found.pixels - 1) * found.step + (window.extent(1) - 1) * x[3]
    return max(_before(call) + x[2] * x[3], last + block_scales.blocks(found.channels) * block_scales.LANES)


def _params(call: Call) -> Params:
    """The parameters of rows of int16, from which the zero point is taken."""
    weights = _weights(call)[:, _ORDER].transpose(0, 2, 1, 3)
    return _params_with(call, weights.astype(np.int16), 0)


def _byte_params(call: Call) -> Params:
    """The parameters of rows of bytes; the biases take the zero point back."""
    weights = _weights(call).transpose(0, 2, 3, 1)
    return _params_with(call, weights.astype(np.int8), call.input(0).zero_point)


def _params_with(call: Call, weights: np.ndarray, offset: int) -> Params:
    x, found = call.input(0), lanes_of(call)
    scale = block_scales.fields(call, offset)
    repeated = {name: _repeated(call, scale[name]) for name in ("bias", "mult", "right")}
    return {
        "weights": weights.reshape(-1),
        "taps": taps(call),
        **{f"scale.{name}": value for name, value in (scale | repeated).items()},
        "in_len": x.shape[2] * x.shape[3],
        "before": _before(call),
        "row_len": row_len(call),
        "pairs": _pairs(call),
        "step": found.step,
        "pixels": found.pixels,
        "channels": found.channels,
        "tiles": block_scales.blocks(found.channels),
        "zero_point": x.zero_point,
    }


def _repeated(call: Call, values: object) -> np.ndarray:
    """Constants per channel, for all channels of a pixel."""
    own = np.asarray(values)[: call.output.shape[3]]
    return block_scales.filled(np.tile(own, lanes_of(call).times), with_value=1)


def _work(call: Call) -> dict[str, float]:
    """Cost terms: blocks of channels of all pixels, and pairs of taps in these."""
    found = lanes_of(call)
    tiles = pixels(call) // found.times * block_scales.blocks(found.channels)
    return {"tiles": tiles, "pairs": tiles * _pairs(call)}


def depthwise(how: str) -> Kernel:
    """The kernel that uses a set of vector operations. how: its feature."""
    return Kernel(
        f"mg_depthwise_conv2d_s8__{how}",
        Ring(row_window, lambda call: RowStorage("s16", row_len(call))),
        (_filter.int8_outside, _filter.constant_weights, one_output_each, few_taps, block_scales.scales_down),
        _params,
        text=Text(struct="mg_simd_depthwise"),
        cost=Cost(_work, TERMS),
        needs=frozenset({how}),
        short=f"dw_{how}",
    )


def depthwise_bytes(how: str, *rules: Rule) -> Kernel:
    """The kernel for int8 weights whose rows are the bytes of the image. how: its feature. rules: further ones."""
    return Kernel(
        f"mg_depthwise_conv2d_s8__{how}_bytes",
        Ring(row_window, lambda call: RowStorage("s8", row_len(call))),
        (_filter.int8_data, _filter.constant_weights, one_output_each, few_taps, block_scales.scales_down, *rules),
        _byte_params,
        text=Text(struct="mg_simd_depthwise"),
        cost=Cost(_work, TERMS),
        needs=frozenset({how}),
        short=f"dw_{how}_bytes",
    )
