"""Convolutions of images with few channels: rows are interleaved ("woven") so that the taps of a pixel are adjacent.

A row takes two passes. The first computes the sums of two outputs at a time, whose weights stay in registers. The
second scales four outputs of four pixels at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mcugen.ir.call import Call, Params, Rule, fact
from mcugen.ir.kernel import Cost, Kernel, Text, Window
from mcugen.kernels.helium import packing
from mcugen.kernels.helium.conv import has_block
from mcugen.ops import _filter, _rounding
from mcugen.ops._weighted import matrix, row_window, sums_fit, window_of
from mcugen.ops.conv2d import is_pointwise

PIXELS = 4
"""Pixels that are computed together."""

PAIR_BYTES = 32
"""Bytes of the sums of two outputs of four pixels."""

MOST_STEPS = 3
"""Largest number of steps for which the weights of two outputs stay in registers."""

MOST_PLACE = 255
"""Largest offset in a vector of byte offsets."""

MOST_OUTPUTS = 84
"""Largest number of outputs per pixel, so that one base register reaches the outputs of four pixels."""

TWICE_OUTPUTS = 36
"""Largest number of outputs per pixel for which one base register reaches the outputs of eight pixels."""

FOUR_BYTES = (96, 160, 192, 96, 112, 176)
"""For each of packing.FINISHES, code bytes that scale the sums of four pixels."""

MOST_PIXEL = 127
"""Largest step of a load with write-back."""

WIDTHS = range(8, 509)
"""Outputs per row for which keeping weights in registers is faster, and an addition reaches the sums of a pair."""

MOST_NARROW = 2.0**15 - 3
"""Largest magnitude of sums that are narrowed to int16: its limit minus the largest rounding addend."""

LARGEST = 254
"""Largest sum of two int8 of the same sign."""

TERMS = (*packing.FINISH_TERMS, "pairs", "fours", "four_steps", "chunks", "rests", "woven_rows", "copied", "split")


@dataclass(frozen=True)
class Woven:
    """Sizes of interleaved rows, in bytes.

    column: an interleaved column. pixel: from one window to the next. chunk: bytes interleaved at a time. steps: number
    of vectors of taps per window.
    """

    column: int
    pixel: int
    chunk: int
    steps: int

    @property
    def vectors(self) -> int:
        return -(-self.chunk // packing.LANES)


def woven_of(call: Call) -> Woven:
    window, c = window_of(call), call.input(0).shape[3]
    column = window.kernel[0] * c
    whole = next((n for n in (packing.LANES, 3 * packing.LANES) if n % c == 0), 0)
    chunk = whole or packing.LANES // c * c
    return Woven(column, window.stride[1] * column, chunk, -(-window.kernel[1] * column // packing.LANES))


def places_of(call: Call) -> np.ndarray:
    """The destination of each byte of a chunk's vectors."""
    found, c = woven_of(call), call.input(0).shape[3]
    at = np.arange(found.vectors * packing.LANES)
    return at // c * found.column + at % c


def is_woven(call: Call) -> bool:
    "at most 16 input channels and 48 taps, in adjacent columns, within reach of a vector of byte offsets"
    window, c = window_of(call), call.input(0).shape[3]
    if c > packing.LANES or (window.dilation[1] > 1 and window.kernel[1] > 1):
        return False
    found = woven_of(call)
    return found.steps <= MOST_STEPS and found.pixel <= MOST_PIXEL and places_of(call).max() <= MOST_PLACE


def pays(call: Call) -> bool:
    "the kernel is larger than 1x1, has a stride or weights beyond int8 (dense kernels need no memory for sums)"
    return not _filter.int8_data(call) or not is_pointwise(call)


def in_rows(call: Call) -> bool:
    "output rows have 8 to 508 pixels of at most 84 channels"
    y = call.output.shape
    return y[2] in WIDTHS and y[3] <= MOST_OUTPUTS


def in_two(call: Call) -> bool:
    "weights are within -256 to 254; a weight beyond int8 is split into two"
    if not _filter.constant_weights(call):
        return False
    w = matrix(call)
    return bool(w.min(initial=0) >= -LARGEST - 2 and w.max(initial=0) <= LARGEST)


@fact
def down_of(call: Call) -> int | None:
    """The right shift common to all outputs, after which sums fit 16 bits; None if they may not."""
    finish, sums = packing.finish_of(call), call.accumulators
    if finish is None or sums is None:
        return None
    largest = np.maximum(-sums.low, sums.high).astype(np.float64)
    if finish == 5:
        factor = _rounding.floats(call, str(call.op.activation))[0]
        return 0 if (largest * factor).max() < MOST_NARROW else None
    mult, shift = _filter.multipliers(call, len(largest))
    down = min(max(int(-shift.max()) - 1, 0), packing.LANES)
    narrow = (largest * mult / 2.0**31).max() < MOST_NARROW * 2.0**down
    return down if narrow and shift.max() <= 0 else None


def narrows(call: Call) -> bool:
    "sums fit 16 bits after the right shift that all outputs have in common"
    return down_of(call) is not None


def _blocks(call: Call) -> int:
    """Number of groups of four pixels in a row."""
    return -(-call.output.shape[2] // PIXELS)


@fact
def pairs_of(call: Call) -> np.ndarray:
    """[pairs, 2] indices of outputs whose sums are computed together: of each four outputs, 0 and 2, then 1 and 3."""
    outputs = call.output.shape[3]
    starts = np.minimum(np.arange(0, outputs, packing.BLOCK), outputs - packing.BLOCK)
    return np.asarray((starts[:, None, None] + np.array([[0, 2], [1, 3]])).reshape(-1, 2))


@fact
def split_of(call: Call) -> np.ndarray:
    """A mask of the pairs with weights beyond int8."""
    w = matrix(call)
    return np.asarray(((w.min(axis=1) < -128) | (w.max(axis=1) > 127))[pairs_of(call)].any(axis=1))


def taps_of(call: Call) -> np.ndarray:
    """Weights [channels, steps * LANES] in the order of the interleaved taps."""
    w, (h, width), c = matrix(call), window_of(call).kernel, call.input(0).shape[3]
    return packing.padded(w.reshape(-1, h, width, c).transpose(0, 2, 1, 3).reshape(w.shape[0], -1))


def _stream(call: Call) -> np.ndarray:
    """Weights int8 [2, steps, LANES] of each pair. If a pair has weights beyond int8, a second array follows, to be
    added."""
    parts = []
    for pair, split in zip(taps_of(call)[pairs_of(call)], split_of(call), strict=True):
        parts += [pair - (pair >> 1), pair >> 1] if split else [pair]
    return np.stack(parts).astype(np.int8).reshape(-1)


def _finish(call: Call) -> np.ndarray:
    found = packing.finishing(call, matrix(call), pairs_of(call).reshape(-1, packing.BLOCK))  # [fours, 3, 4]
    shifts = np.ascontiguousarray(found[:, 2] + (down_of(call) or 0)).astype(np.int16).view(np.int32)
    return np.concatenate([shifts, found[:, 0], found[:, 1]], axis=1).reshape(-1).astype(np.int32)


def _all_places(call: Call) -> np.ndarray:
    """Destinations of the bytes of a row and of two times 16 outputs, then the mask of the pairs with weights beyond
    int8."""
    lanes = np.arange(2 * packing.LANES)
    stored = lanes // packing.BLOCK * call.output.shape[3] + lanes % packing.BLOCK
    split = split_of(call)
    return np.concatenate([places_of(call), stored % 256, split[: len(split) * int(split.any())]]).astype(np.uint8)


def _used(call: Call) -> int:
    """Number of bytes of an input row that windows read."""
    x = call.input(0).shape
    return min(x[2], _columns(call) - _left(call)) * x[3]


def _left(call: Call) -> int:
    x = call.input(0).shape
    return window_of(call).pad((x[1], x[2]))[1]


def _columns(call: Call) -> int:
    """Number of columns from the first column of the first window to the last column of the last window."""
    window = window_of(call)
    return (call.output.shape[2] - 1) * window.stride[1] + window.kernel[1]


def scratch(call: Call) -> int:
    found, blocks = woven_of(call), _blocks(call)
    reach = (blocks * PIXELS - 1) * found.pixel + found.steps * packing.LANES
    return 2 * blocks * PAIR_BYTES + max(reach, _columns(call) * found.column)


def variant(call: Call) -> dict[str, int]:
    found, window = woven_of(call), window_of(call)
    return {
        "finish": packing.finish_of(call) or 0,
        "width": call.output.shape[2],
        "outputs": call.output.shape[3],
        "steps": found.steps,
        "taps": window.kernel[1] * found.column,
        "rows": window.kernel[0],
        "channels": call.input(0).shape[3],
        "pixel": found.pixel,
        "used": _used(call),
        "left": _left(call),
        "columns": _columns(call),
        "chunk": found.chunk,
        "down": down_of(call) or 0,
        "split": int(split_of(call).any()),
    }


def params(call: Call) -> Params:
    y, (low, high) = call.output, packing.output_range(call)
    return {
        "stream": _stream(call),
        "finish": _finish(call),
        "places": _all_places(call),
        "out_zero_point": y.zero_point,
        "out_min": low,
        "out_max": high,
        "in_zero_point": call.input(0).zero_point,
    }


def work(call: Call) -> dict[str, float]:
    """Cost terms of a call.

    blocks, ...             blocks of outputs: see `packing.finish_work`
    pairs, fours            pairs of outputs, per row and per four pixels
    four_steps              steps of `fours`
    chunks, rests, copied   vectors that are interleaved in whole chunks, in the rest of a row, or copied
    woven_rows              rows that are interleaved one by one
    split                   `fours` whose pairs have weights beyond int8
    """
    y, found, pairs = call.output.shape, woven_of(call), len(pairs_of(call))
    rows, blocks, height = y[0] * y[1], _blocks(call), window_of(call).kernel[0]
    return {
        **packing.finish_work(call, rows * blocks * (pairs // 2)),
        "pairs": rows * pairs,
        "fours": rows * pairs * blocks,
        "four_steps": rows * pairs * blocks * found.steps,
        "chunks": rows * height * _used(call) / found.chunk * found.vectors * (height > 1),
        "rests": rows * height * -(-_used(call) % found.chunk // packing.LANES) * (height > 1),
        "woven_rows": rows * height * (height not in (1, 3)),
        "copied": rows * _used(call) / packing.LANES * (height == 1),
        "split": rows * blocks * int(split_of(call).sum()),
    }


def code(call: Call) -> int:
    """Code size in bytes of the kernel for this call."""
    width, outputs, height = call.output.shape[2], call.output.shape[3], window_of(call).kernel[0]
    fours = 2 * (width // 8 > 0) + width // 4 % 2 if outputs <= TWICE_OUTPUTS else 1
    steps, split = woven_of(call).steps, int(split_of(call).any())
    weaving = 130 * (height > 1) + 98 * (height == 3)
    four = FOUR_BYTES[packing.finish_of(call) or 0]
    return 268 + 192 * steps + four * (fours + (width % 4 > 0)) + weaving + split * (60 + 48 * steps)


def kernel(*rules: Rule) -> Kernel:
    """The kernel mg_conv2d_s8__mve_woven. rules: rules of the operator."""
    return Kernel(
        "mg_conv2d_s8__mve_woven",
        Window(row_window),
        (_filter.int8_outside, *rules, pays, in_two, has_block, is_woven, in_rows, packing.finishes, sums_fit, narrows),
        params=params,
        scratch=scratch,
        text=Text(variant, struct="mg_conv2d_s8__mve_woven"),
        cost=Cost(work, TERMS, code=code),
        needs=packing.NEEDS,
        short="conv_mve_woven",
    )
