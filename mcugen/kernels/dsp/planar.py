"""Depthwise convolution on planar rows, for cores with SMLAD: geometry, packing, and when its arithmetic is exact.

In a planar row the int16 elements of one channel are adjacent, so that a word holds two taps of a kernel row; see
planar_s8.h. The code is compiled for the geometry of a layer's rows, but serves any number of channels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from mcugen.ir.call import Call, Params, Rule
from mcugen.ir.fixed_point import wrap32
from mcugen.ir.kernel import Cost, Kernel, Ring, RowStorage, RowWindow, Text, Whole
from mcugen.kernels.dsp import scaling
from mcugen.kernels.dsp.planar_sizes import PlanarShape, line_of, shape_of
from mcugen.ops import _filter
from mcugen.ops._weighted import activation_of, rounds_once, row_window, window_of
from mcugen.ops._window import MAX_FIELD

MAX_REACH = 4092
"""Limit of the bytes of a channel's ring rows plus one more row, due to the offset of a load instruction."""
MAX_STRIDE = 3
SPREAD_CHANNELS = 16
"""Number of channels of a column that are converted together."""
MAX_COLUMN = 100
TERMS = ("inner", "spread", "slots")


def line_work(call: Call) -> dict[str, float]:
    s = line_of(call)
    return shape_work(call, s, s.instructions(signs(call)), RowWindow(1, 1, 1, 0, 1, 1))


def row_work(call: Call) -> dict[str, float]:
    s = shape_of(call)
    return shape_work(call, s, s.instructions(signs(call)), row_window(call), s.is_short)


def _blocks_work(call: Call) -> dict[str, float]:
    s = shape_of(call)
    return shape_work(call, s, s.blocks_instructions(signs(call)), row_window(call))


def shape_work(
    call: Call, s: PlanarShape, instructions: int, rows: RowWindow, is_short: bool = False
) -> dict[str, float]:
    """Cost terms: instructions that compute outputs, approximate instructions that convert rows to planar form, and
    ring rows that are searched for the first row.

    instructions: count for one output row of one channel.
    """
    images, groups = call.output.shape[0], -(-s.channels // 4)
    converted = images * rows.walked_rows
    by_fours = groups * (6 + 5.5 * s.seen if is_short else 32 + 6 * s.seen)
    return {
        "inner": images * rows.out_rows * s.channels * instructions,
        "spread": converted * (by_fours if s.channels >= 4 else 14 * s.columns * s.channels),
        "slots": images * rows.out_rows * rows.size,
    }


def _column_work(call: Call) -> dict[str, float]:
    """Cost terms of the kernel for images one pixel wide, which loads four words of taps at a time."""
    rows = row_window(call)
    images, words, channels = call.output.shape[0], _even(rows.size) // 2, call.output.shape[3]
    converted = images * rows.walked_rows
    return {
        "inner": call.output.size * (10 + signs(call) + words + 2 * -(-words // 4)),
        "spread": converted * (2 * channels + 4 * (channels // SPREAD_CHANNELS)),
        "slots": images * rows.out_rows * rows.size,
    }


def _column_code(call: Call) -> int:
    """Approximate code size in bytes of the kernel for this call."""
    channels, taps = call.output.shape[3], window_of(call).kernel[0]
    return 190 + 3 * taps + 80 * (channels >= SPREAD_CHANNELS) + 5 * (channels % SPREAD_CHANNELS)


def single_multiplier(call: Call) -> bool:
    "the depth multiplier is 1"
    return call.output.shape[3] == call.input(0).shape[3]


def one_pixel_wide(call: Call) -> bool:
    "images are one pixel wide"
    return call.input(0).shape[2] == 1 and call.output.shape[2] == 1


def one_image(call: Call) -> bool:
    "the batch is 1, and the output has more than one row"
    return call.input(0).shape[0] == 1 and call.output.shape[1] > 1


USUAL = (_filter.int8_outside, _filter.constant_weights, single_multiplier, scaling.doubled, scaling.scaled)


def _weights(call: Call) -> np.ndarray:
    """The weights as [height, width, channels]."""
    return np.asarray(call.constant(1)[0], np.int64)


def seen_weights(call: Call) -> np.ndarray:
    """The weights as [channels, taps], without the columns that only read padding."""
    s, w = shape_of(call), _weights(call)
    return np.asarray(w[:, s.first : s.first + s.width].reshape(-1, w.shape[2]).T)


def line_weights(call: Call) -> np.ndarray:
    """The weights [channels, taps] for images one pixel wide: one kernel column, and only the kernel rows that read the
    image."""
    s, w = line_of(call), _weights(call)
    column = shape_of(call).first
    return np.asarray(w[s.first : s.first + s.width, column].T)


def undilated(call: Call) -> bool:
    "the dilation is 1"
    return window_of(call).dilation == (1, 1)


def stepping(axis: int) -> Rule:
    def stepping(call: Call) -> bool:
        return window_of(call).stride[axis] <= MAX_STRIDE

    stepping.__doc__ = f"a {('vertical', 'horizontal')[axis]} stride of at most {MAX_STRIDE}"
    return stepping


def reachable(sizes: Callable[[Call], PlanarShape]) -> Rule:
    def reachable(call: Call) -> bool:
        "the converted rows of a channel and its weights each take less than 4 KB; there are at most 65535 channels"
        s = sizes(call)
        weights = s.height * s.parts * s.words * 4
        return max((s.height + 1) * s.columns * 2, weights) <= MAX_REACH and s.channels <= MAX_FIELD

    return reachable


def in_blocks(call: Call) -> bool:
    "a row is a whole number of blocks of at least 4 outputs"
    return shape_of(call).even_block > 0


def short(call: Call) -> bool:
    "the kernel has at most 100 rows, and a pixel at most 65535 channels"
    return window_of(call).kernel[0] <= MAX_COLUMN and call.input(0).shape[3] <= MAX_FIELD


def _ring(call: Call) -> RowStorage:
    """The int16 ring of converted input rows, stored as [channel][slot][column]; a slot holds one input row."""
    s = shape_of(call)
    return RowStorage("s16", s.columns * s.channels, s.columns)


def _column_ring(call: Call) -> RowStorage:
    """The int16 ring for images one pixel wide: the ring rows of a channel are adjacent, and their number is even."""
    channels, height = call.input(0).shape[3], window_of(call).kernel[0]
    return RowStorage("s16", -(-channels * _even(height) // height), 1)


def _line_bytes(call: Call) -> int:
    s = line_of(call)
    return -(-s.columns * s.channels * 2 // 16) * 16


def _even(n: int) -> int:
    return n + n % 2


def linear_of(call: Call) -> int:
    """MG_LINEAR: 1 if the sign of a sum matters, 2 if sums are rounded once, 3 if a float scales them, 4 if one shift
    serves all channels.
    """
    if scaling.one_shift(call):
        return 4
    return 1 + scaling.how_once(call) if rounds_once(call) else signs(call)


def signs(call: Call) -> int:
    """Instructions per output in addition to rounding, shift and clamp.

    1 if the sign of a sum matters; minus 1 if one instruction both shifts and clamps.
    """
    if scaling.one_shift(call):
        return -1
    return int(not rounds_once(call) and not scaling.clamps_at_zero_point(call, activation_of(call)))


def _variant(call: Call, s: PlanarShape) -> dict[str, int]:
    blocks, block, tail = s.blocks
    return {
        "h": s.height, "parts": s.parts, "taps": s.taps, "words": s.words, "s": s.stride,
        "blocks": blocks, "block": block, "tail": tail, "linear": linear_of(call),
        "shift": scaling.one_shift(call),
    }  # fmt: skip


def _blocks_variant(call: Call) -> Mapping[str, int]:
    s = shape_of(call)
    return {
        "h": s.height, "parts": s.parts, "taps": s.taps, "words": s.words, "s": s.stride,
        "block": s.even_block, "linear": linear_of(call), "shift": scaling.one_shift(call),
    }  # fmt: skip


def _row_variant(call: Call) -> Mapping[str, int]:
    """The sizes of planar outputs; `pad` and `in_w` are 0 unless rows are short."""
    s = shape_of(call)
    return {**_variant(call, s), "pad": s.is_short * s.pad, "in_w": s.is_short * s.seen}


def kept(call: Call, w: np.ndarray) -> np.ndarray:
    """Weights [channels, taps] as used in sums: zeros for channels whose output is the same for all inputs."""
    scale = scaling.scales_alike(call)
    return np.asarray(np.where(scale.constant, 0, scale.held(w.T)).T)


def _column_variant(call: Call) -> Mapping[str, int]:
    taps = window_of(call).kernel[0]
    clamps, shift = scaling.clamps(call, activation_of(call)), scaling.one_shift(call)
    return {"h": taps, "c": call.output.shape[3], "linear": linear_of(call), "shift": shift, "clamp": clamps}


def planar_params(call: Call, s: PlanarShape, w: np.ndarray, channels: int = 0) -> Params:
    """Fields of the C struct. w: the weights as [channels, taps]. channels: number per slice; 0: no slices."""
    packed = pack_weights(s, kept(call, w), turns=not channels)
    return {**_params(call, w, packed), **sizes_of(call, s, channels)}


def sizes_of(call: Call, s: PlanarShape, channels: int = 0) -> Params:
    """Fields of the C struct for the geometry and the clamp. channels: as in `planar_params`."""
    return {
        "clamps": scaling.clamp(call, activation_of(call))["clamps"],
        "stride": s.stride,
        "channels": s.channels,
        "slice": channels or s.channels,
        "columns": s.columns,
        "step": s.height * s.columns,
        "pad": s.pad,
        "in_w": s.seen,
        "outputs": s.out_width,
    }


def _column_params(call: Call) -> Params:
    w = seen_weights(call)
    return _params(call, w, pack_column(kept(call, w)))


def _params(call: Call, w: np.ndarray, packed: np.ndarray) -> Params:
    """Fields of the C struct. w: the weights as [channels, taps]. packed: the weights in the order the kernel reads
    them.
    """
    scale, clamp = scaling.scales_alike(call), scaling.clamp(call, activation_of(call))
    folded = np.where(scale.constant, 0, _filter.folded_bias(call, w.sum(axis=1)))
    finish = np.stack([wrap32(scale.held(folded)), scale.mult, scale.addend, scale.shift], axis=1)
    return {
        "weights": packed,
        "finish": finish.reshape(-1).astype(np.int32),
        "in_zero_point": call.input(0).zero_point,
        "out_min": clamp["low"],
        "out_max": clamp["high"],
    }


def pack_column(w: np.ndarray) -> np.ndarray:
    """Words of weights [channels, rows] of a column, for both alignments of the data.

    First the sequence w0 .. w(h-1), w0 .. w(h-1) as pairs, then the same sequence starting at w1.
    """
    twice = np.concatenate([w, w, w[:, :1]], axis=1)
    both = np.stack([twice[:, :-1], twice[:, 1:]], axis=1)
    return _words(both[:, :, 0::2], both[:, :, 1::2]).reshape(-1)


def pack_weights(s: PlanarShape, w: np.ndarray, *, turns: bool = True) -> np.ndarray:
    """Words of weights [channels, taps] in the order of reading: rows 0 .. h - 1, then 0 .. h - 2 if `turns`.

    turns: whether the first kernel row may be at any position of the ring.
    """
    padded = np.zeros((len(w), s.height, s.parts * s.taps), np.int64)
    padded[:, :, : s.width] = w.reshape(len(w), s.height, s.width)
    parts = padded.reshape(len(w), s.height * s.parts, s.taps)
    if s.stride % 2 == 0:
        even = np.pad(parts, ((0, 0), (0, 0), (0, s.taps % 2)))
        low, high = even[:, :, 0::2], even[:, :, 1::2]
    elif s.taps == 1:
        low, high = parts, np.zeros_like(parts)
    else:
        low, high = parts[:, :, :-1], parts[:, :, 1:]
    words = _words(low, high)
    return np.concatenate([words, words[:, : (s.height - 1) * s.parts * turns]], axis=1).reshape(-1)


def _words(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Words with two signed halfwords each."""
    return np.asarray(((low & 0xFFFF) | (high << 16)).astype(np.int32))


def _row_params(call: Call) -> Params:
    return planar_params(call, shape_of(call), seen_weights(call))


def _line_params(call: Call) -> Params:
    return planar_params(call, line_of(call), line_weights(call))


def _line_variant(call: Call) -> Mapping[str, int]:
    return _variant(call, line_of(call))


def row_code(call: Call) -> int:
    return round(shape_of(call).code(signs(call)) + shape_of(call).spreading)


def line_code(call: Call) -> int:
    return round(line_of(call).code(signs(call)))


def _blocks_code(call: Call) -> int:
    return round(shape_of(call).blocks_code(signs(call)))


NARROW = (*USUAL, undilated, one_pixel_wide)
PLANAR = Kernel(
    "mg_depthwise_conv2d_s8__planar",
    Ring(row_window, _ring),
    accepts=(*USUAL, undilated, stepping(1), reachable(shape_of)),
    params=_row_params,
    text=Text(_row_variant, helpers=("planar_s8.c",), struct="mg_planar_s8"),
    cost=Cost(row_work, TERMS, converting=("spread",), code=row_code),
    needs=scaling.DSP,
    sized=True,
    short="dw_planar",
)
COLUMN = replace(
    PLANAR,
    symbol="mg_depthwise_conv2d_s8__column",
    form=Ring(row_window, _column_ring),
    accepts=(*NARROW, short),
    params=_column_params,
    text=Text(_column_variant, struct="mg_depthwise_conv2d_s8__column"),
    cost=replace(PLANAR.cost, work=_column_work, code=_column_code),
    short="dw_column",
)
LINE = Kernel(
    "mg_depthwise_conv2d_s8__line",
    Whole(),
    accepts=(*NARROW, one_image, stepping(0), reachable(line_of)),
    params=_line_params,
    scratch=_line_bytes,
    text=Text(_line_variant, helpers=("planar_s8.c",), struct="mg_planar_s8"),
    cost=Cost(line_work, TERMS, code=line_code),
    needs=scaling.DSP,
    sized=True,
    short="dw_line",
)
BLOCKS = replace(
    PLANAR,
    symbol="mg_depthwise_conv2d_s8__planar_blocks",
    accepts=(*PLANAR.accepts, in_blocks),
    text=replace(PLANAR.text, variant=_blocks_variant),
    cost=replace(PLANAR.cost, work=_blocks_work, code=_blocks_code),
    short="dw_blocks",
)
KERNELS = (LINE, COLUMN, PLANAR, BLOCKS)
