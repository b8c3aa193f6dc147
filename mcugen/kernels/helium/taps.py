"""Depthwise kernel for cores with Helium that reads the input's rows in place, through a table with a pointer per tap.

It multiplies bytes of 16 channels at a time, and adds the products of two taps in 16 bits.
"""

from __future__ import annotations

import numpy as np

from mcugen.ir.call import Call, Params, Rule
from mcugen.ir.kernel import Cost, Kernel, Text, Window
from mcugen.kernels.helium import packing
from mcugen.ops import _filter
from mcugen.ops._weighted import matrix, row_window, window_of

BLOCK = packing.LANES
"""Channels that are computed together."""

MOST_SUM = 2**15 - 1
"""Largest sum of the products of two taps."""

ORDER = np.arange(BLOCK).reshape(4, 4).T[[0, 2, 1, 3]].reshape(-1)
"""Order in memory of the 32-bit sums of a block's channels."""

HALVES = np.arange(BLOCK).reshape(-1, 2).T.reshape(-1)
"""Order in memory of the 16-bit numbers of a block's channels."""

WALKED = (*packing.FINISH_TERMS, "tap_vectors", "narrow_vectors", "pairs", "entered", "placed", "moves", "moved")
"""Cost terms that `walked` counts."""


def _picked(call: Call) -> np.ndarray:
    """[blocks, BLOCK] indices of channels. The last block ends with the last channel, and may repeat earlier ones."""
    channels = call.output.shape[3]
    starts = np.minimum(np.arange(0, channels, BLOCK), max(channels - BLOCK, 0))
    return np.asarray((starts[:, None] + np.arange(BLOCK)) % channels)


def together(call: Call) -> int:
    """Number of adjacent pixels that are computed together."""
    return max(BLOCK // call.output.shape[3], 1) if window_of(call).stride[1] == 1 else 1


def largest(call: Call) -> np.ndarray:
    """The largest magnitude of the data minus the zero point, [channels, 1]."""
    x, found = call.input(0), call.range_of(0)
    if found is None:
        return np.full((x.shape[3], 1), 128)
    most = np.maximum(np.maximum(-found.low, found.high), abs(x.zero_point))
    return np.asarray(np.broadcast_to(most, x.shape[3]))[:, None]


def one_to_one(call: Call) -> bool:
    "each input channel has one output channel"
    return call.input(0).shape[3] == call.output.shape[3]


def pairs_fit(call: Call) -> bool:
    "sums of the products of two consecutive taps of the window fit 16 bits"
    if not _filter.int8_data(call) or not _filter.constant_weights(call) or not one_to_one(call):
        return False
    sizes = np.abs(matrix(call)) * largest(call)
    return bool(np.add.reduceat(sizes, np.arange(0, sizes.shape[1], 2), axis=1).max() <= MOST_SUM)


def stream(call: Call, down: int | None = None) -> np.ndarray:
    """The packed blocks of weights. down: a common right shift to 16 bits; if given, the remaining shifts are 16-bit
    numbers.
    """
    w, picked = matrix(call), _picked(call)
    finishing = packing.finishing(call, w, picked)
    bias, mult, shift = finishing[..., ORDER].astype("<i4").transpose(1, 0, 2)
    if down is not None:
        shift = (finishing[:, 2, HALVES] + down).astype("<i2")
    weights = w[picked].transpose(0, 2, 1).astype(np.int8).reshape(len(picked), -1)
    parts = (np.ascontiguousarray(part).view(np.int8) for part in (bias, weights, mult, shift))
    return np.concatenate(list(parts), axis=1).reshape(-1)


def scratch(call: Call) -> int:
    """Bytes of the table of pointers to the taps, 4 bytes each, with room for four pointers in the last row."""
    h, w = window_of(call).kernel
    return 16 * -(-((h - 1) * w + max(w, 4)) // 4)


def variant(call: Call) -> dict[str, int]:
    return {"finish": packing.finish_of(call) or 0, "narrow": int(call.output.shape[3] < BLOCK)}


def inside(call: Call, axis: int) -> int:
    """Number of output rows (axis 0) or output columns (axis 1) whose windows are inside the image along that axis."""
    window, x, y = window_of(call), call.input(0).shape, call.output.shape
    first = np.arange(y[1 + axis]) * window.stride[axis] - window.pad((x[1], x[2]))[axis]
    return int(((first >= 0) & (first + window.extent(axis) <= x[1 + axis])).sum())


def walked(call: Call, rows: int, outer: int, singles: int = 0) -> dict[str, float]:
    """Cost terms of output rows whose taps are read through a table of pointers.

    rows: number of these rows. outer: number of them whose windows reach above or below the image. singles: number of
    other rows; of these, only pixels whose windows reach beyond the row are counted.

    tap_vectors     vectors of products
    narrow_vectors  vectors of products with masked lanes
    pairs           pairs of taps
    entered         how often the table is filled
    placed          pointers stored in the table
    moves           steps to the next pixel that do not fill the table
    moved           vectors of pointers that such steps advance
    """
    y, (h, w) = call.output.shape, window_of(call).kernel
    across = inside(call, 1)
    full, rest = divmod(across, together(call))
    alone = y[2] - across + (rest > 0)
    entered = rows * (alone + (full > 0)) + singles * alone
    moves = rows * max(full - 1, 0)
    pixels, blocks = entered + moves, -(-y[3] // BLOCK)
    return {
        "tap_vectors": pixels * blocks * h * w,
        "narrow_vectors": pixels * h * w * (y[3] < BLOCK),
        "pairs": pixels * blocks * -(-h * w // 2),
        "entered": entered,
        "placed": entered * h * w,
        "moves": moves,
        "moved": outer * max(full - 1, 0) * -(-h * w // 4),
        **packing.finish_work(call, pixels * blocks),
    }


def outer_rows(call: Call) -> int:
    """Number of output rows whose windows reach above or below the image."""
    return call.output.shape[0] * (call.output.shape[1] - inside(call, 0))


def work(call: Call) -> dict[str, float]:
    """The cost terms of `walked` for all rows."""
    y = call.output.shape
    return walked(call, y[0] * y[1], outer_rows(call))


def params(call: Call) -> Params:
    window, x, y = window_of(call), call.input(0), call.output
    low, high = packing.output_range(call)
    return {
        "stream": stream(call),
        "outside": np.full(max(x.shape[3], BLOCK), x.zero_point, np.int8),
        "channels": x.shape[3],
        "out_zero_point": y.zero_point,
        "out_min": low,
        "out_max": high,
        "kernel_h": window.kernel[0],
        "kernel_w": window.kernel[1],
        "together": together(call),
        "in_w": x.shape[2],
        "out_w": y.shape[2],
        "left": window.pad((x.shape[1], x.shape[2]))[1],
        "stride": window.stride[1],
        "dilation": window.dilation[1],
    }


def kernel(*rules: Rule) -> Kernel:
    """The kernel mg_depthwise_conv2d_s8__mve_taps. rules: rules of the operator."""
    return Kernel(
        "mg_depthwise_conv2d_s8__mve_taps",
        Window(row_window),
        (*rules, pairs_fit),
        params=params,
        scratch=scratch,
        text=Text(variant, struct="mg_depthwise_conv2d_s8__mve_taps"),
        cost=Cost(work, WALKED),
        needs=packing.NEEDS,
        short="dw_mve_taps",
    )
