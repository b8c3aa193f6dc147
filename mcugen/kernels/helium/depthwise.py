"""Depthwise kernels for cores with Helium: bytes of four rows are interleaved into words, so that one vector
multiply-add covers a whole window.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mcugen.errors import InternalError
from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Cost, Kernel, Ring, RowStorage, Text, Whole, Window
from mcugen.kernels.helium import near, packing, spread, squares, taps
from mcugen.kernels.helium.spread import WEAVE, WORDS
from mcugen.kernels.helium.taps import one_to_one
from mcugen.ops import _filter
from mcugen.ops._weighted import matrix, row_window, sums_fit, window_of

BLOCK = 8
"""Number of channels that are computed together."""

MOST_ROW = 9000
"""Largest number of elements of a row from which 8 are gathered at a time, with 16-bit offsets."""

MOST_WOVEN = 2**16
"""Limit of the bytes of a row's interleaved words, in the kernel that computes one channel at a time."""

SLICE_BYTES = 512
"""Limit of the interleaved bytes of a slice of more than 16 channels, for images one pixel wide."""

LEAST_ROWS = 12
"""Least number of outputs of a column for which gathering the column is faster."""

MOST_CHANNELS = 63
"""Largest number of channels in the kernel that computes one at a time, so that a load reaches the words of two pixels.
"""


def blocks_of(channels: int) -> np.ndarray:
    """[blocks, BLOCK] indices of channels. The last block repeats earlier channels if necessary."""
    starts = np.minimum(np.arange(0, channels, BLOCK), max(channels - BLOCK, 0))
    return np.asarray(starts[:, None] + np.arange(BLOCK))


def fits(call: Call) -> bool:
    "the window has at most 4 words of 4 rows: 4x4, 8x2 or 16x1"
    h, w = window_of(call).kernel
    return -(-h // WEAVE) * w <= WORDS


def is_column(call: Call) -> bool:
    "one image with at least 12 output rows; the kernel is one column of at most 16 rows, with a stride of at most 16"
    window, x, y = window_of(call), call.input(0).shape, call.output.shape
    if window.kernel[1] != 1 or window.stride[1] != 1 or (window.dilation[0] != 1 and window.kernel[0] != 1):
        return False
    fits = window.kernel[0] <= packing.LANES and window.stride[0] <= packing.LANES and x[2] * x[3] <= MOST_ROW
    return bool(fits and x[0] == 1 and x[1] >= BLOCK and y[1] >= LEAST_ROWS)


def work(call: Call) -> dict[str, float]:
    """Cost terms: blocks of eight channels of a pixel (eights), and interleaved vectors (woven)."""
    y = call.output.shape
    weaves = -(-window_of(call).kernel[0] // WEAVE)
    return {
        **packing.vector_work(call, window_of(call).kernel[0]),
        "eights": y[0] * y[1] * y[2] * -(-y[3] // BLOCK),
        "woven": y[0] * y[1] * weaves * ring(call).length / packing.LANES,
    }


def wide_work(call: Call) -> dict[str, float]:
    """Cost terms: blocks of eight pixels of a channel, counted once more if the stride is 2 (far_blocks), channels of
    output rows (channel_rows), and interleaved vectors (woven)."""
    y, stride = call.output.shape, window_of(call).stride[1]
    blocks = y[0] * y[1] * y[3] * -(-y[2] // BLOCK)
    return {
        **packing.vector_work(call, window_of(call).kernel[0]),
        **packing.finish_work(call, blocks),
        "far_blocks": blocks * (stride - 1),
        "channel_rows": y[0] * y[1] * y[3],
        "woven": y[0] * y[1] * ring(call).length / packing.LANES,
    }


def _column_work(call: Call) -> dict[str, float]:
    """Cost terms: columns of single channels (series), their gathered blocks of eight elements, and their blocks of
    outputs."""
    x, y = call.input(0).shape, call.output.shape
    series = x[2] * x[3]
    blocks = packing.finish_work(call, series * -(-y[1] // BLOCK))
    return {"series": series, "gathered": series * -(-x[1] // BLOCK), **blocks}


def _series(call: Call) -> int:
    """Number of elements of a padded column, including all elements that vectors of 16 read."""
    window, x, y = window_of(call), call.input(0).shape, call.output.shape
    above = window.pad((x[1], x[2]))[0]
    return max((y[1] - 1) * window.stride[0] + packing.LANES, above + x[1])


def _column_params(call: Call) -> Params:
    x, y, w = call.input(0), call.output, matrix(call)
    low, high = packing.output_range(call)
    rest = packing.finishing(call, w, np.arange(w.shape[0])[:, None]).reshape(w.shape[0], 3)
    taps = packing.padded(w).astype(np.int8)
    return {
        "stream": np.concatenate([np.ascontiguousarray(rest).view(np.int8), taps], axis=1).reshape(-1),
        "row_c": x.shape[2] * x.shape[3],
        "out_zero_point": y.zero_point,
        "out_min": low,
        "out_max": high,
        "in_zero_point": x.zero_point,
        "in_h": x.shape[1],
        "out_h": y.shape[1],
        "channels": x.shape[3],
        "above": window_of(call).pad((x.shape[1], x.shape[2]))[0],
        "length": _series(call),
    }


def is_wide(call: Call) -> bool:
    "the window is at most 4x4 (undilated 4x3 with a stride of 1); rows are long, and at most 64 KB when interleaved"
    window, c, width = window_of(call), call.input(0).shape[3], call.output.shape[2]
    stride = window.stride[1]
    if window.kernel[0] > WEAVE or stride > 2 or c > MOST_CHANNELS or width < BLOCK:
        return False
    if window.kernel[1] > (3 if stride == 1 else WORDS) or (stride == 1 and window.extent(1) > window.kernel[1]):
        return False
    if WEAVE * stride * c * width > MOST_WOVEN:
        return False
    by_channel = (-(-width // BLOCK) * (27 + 4 * stride) + 12) * c / width
    return by_channel < -(-c // BLOCK) * 46 + 9


def variant(call: Call) -> dict[str, int]:
    x, y = call.input(0), call.output
    return {
        "channels": x.shape[3],
        "width": y.shape[2],
        "stride": window_of(call).stride[1],
        "finish": packing.finish_of(call) or 0,
    }


def wide_params(call: Call) -> Params:
    channels, row_bytes = call.input(0).shape[3], ring(call).length
    free = {f"word_{k}": k * channels * WEAVE for k in range(window_of(call).kernel[1], WORDS)}
    return {**_params(call, _wide_stream(call), channels, row_bytes), **free}


def _wide_stream(call: Call) -> np.ndarray:
    w, window, found = matrix(call), window_of(call), spread.spread(call, columns=False)
    if found is None:
        raise InternalError(f"{call.op}: its kernel was chosen, but its weights do not fit int8")
    words = found[0]
    rest = packing.finishing(call, w, np.arange(w.shape[0])[:, None]).reshape(w.shape[0], 3)
    parts = [np.ascontiguousarray(rest).view(np.int8), words.astype(np.int8)]
    if window.stride[1] == 1:
        parts.append(np.roll(words, WEAVE, axis=1).astype(np.int8))
    return np.concatenate(parts, axis=1).reshape(-1)


def ring(call: Call) -> RowStorage:
    window, x, y = window_of(call), call.input(0), call.output
    columns = (y.shape[2] - 1) * window.stride[1] + window.extent(1)
    return RowStorage("s8", -(-columns * x.shape[3] // packing.LANES) * packing.LANES)


def scratch(call: Call) -> int:
    weaves = -(-window_of(call).kernel[0] // WEAVE)
    beyond = max(BLOCK, 3 * call.input(0).shape[3])  # words that are read where weights are zero
    return weaves * WEAVE * ring(call).length + WEAVE * beyond


def params(call: Call) -> Params:
    channels = call.input(0).shape[3]
    return _params(call, _stream(call, blocks_of(channels)), channels, ring(call).length)


def _params(call: Call, stream: np.ndarray, woven: int, row_bytes: int) -> Params:
    """Fields of the C struct. woven: number of channels that are interleaved together. row_bytes: bytes of a padded row
    of these channels."""
    window, x, y = window_of(call), call.input(0), call.output
    low, high = packing.output_range(call)
    channels = x.shape[3]
    return {
        "stream": stream,
        "out_w": y.shape[2],
        "channels": channels,
        "out_zero_point": y.zero_point,
        "out_min": low,
        "out_max": high,
        "in_zero_point": x.zero_point,
        "in_bytes": x.shape[2] * channels,
        "left_bytes": window.pad((x.shape[1], x.shape[2]))[1] * channels,
        "row_bytes": row_bytes,
        "step_bytes": window.stride[1] * woven * WEAVE,
        **{f"word_{k}": at for k, at in enumerate(_words_at(call, woven, row_bytes))},
        "kernel_h": window.kernel[0],
        "kernel_w": window.kernel[1],
        "slice": woven,
    }


def _words_at(call: Call, channels: int, row_bytes: int) -> list[int]:
    """Offset in bytes of each word of the first window in the interleaved words. Unused words may have any offset."""
    h, width = window_of(call).kernel
    word = channels * WEAVE
    column = window_of(call).dilation[1] * word
    used = -(-h // WEAVE) * width
    at = [k // width * WEAVE * row_bytes + k % width * column for k in range(used)]
    return at + [at[spread.free_column(call)]] * (WORDS - used)


def _stream(call: Call, picked: np.ndarray) -> np.ndarray:
    """The `stream` of depthwise_conv2d_s8__mve.h. picked: [blocks, BLOCK] indices of channels."""
    w, found = matrix(call), spread.spread(call)
    if found is None:
        raise InternalError(f"{call.op}: its kernel was chosen, but its weights do not fit int8")
    there = picked < w.shape[0]
    lanes = np.where(there[..., None], found[0][np.minimum(picked, w.shape[0] - 1)], 0).astype(np.int8)
    rest = packing.finishing(call, w, np.minimum(picked, w.shape[0] - 1))  # [blocks, 3, BLOCK]
    rest = np.ascontiguousarray(rest.reshape(len(picked), 3, -1, 2).transpose(0, 1, 3, 2))
    return np.concatenate(
        [lanes.reshape(len(picked), -1), rest.reshape(len(picked), -1).view(np.int8)], axis=1
    ).reshape(-1)


def in_slices(call: Call) -> bool:
    "there are more than 16 channels"
    return call.input(0).shape[3] > packing.LANES


def _slice(call: Call) -> int:
    """Number of channels per slice."""
    x = call.input(0).shape
    most = SLICE_BYTES // _slice_words(call) // packing.LANES if x[2] == 1 else 1
    vectors = x[3] // packing.LANES
    return -(-vectors // -(-vectors // max(most, 1))) * packing.LANES


def _slice_starts(call: Call) -> np.ndarray:
    """The first channel of each slice. The last two slices may overlap."""
    channels = call.input(0).shape[3]
    return np.minimum(np.arange(0, channels, _slice(call)), channels - _slice(call))


def _slice_columns(call: Call) -> int:
    window = window_of(call)
    return (call.output.shape[2] - 1) * window.stride[1] + window.extent(1)


def _slice_words(call: Call) -> int:
    """Bytes of a channel's interleaved rows."""
    return -(-window_of(call).kernel[0] // WEAVE) * WEAVE * _slice_columns(call)


def _slices_scratch(call: Call) -> int:
    return _slice_words(call) * _slice(call) + packing.LANES


def _slices_params(call: Call) -> Params:
    channels = _slice(call)
    starts = _slice_starts(call)[:, None, None] + np.arange(0, channels, BLOCK)[:, None] + np.arange(BLOCK)
    stream = _stream(call, starts.reshape(-1, BLOCK))
    return _params(call, stream, channels, _slice_columns(call) * channels)


def _slices_work(call: Call) -> dict[str, float]:
    """Cost terms: blocks of eight channels, interleaved vectors (woven), slices, and their groups of four rows."""
    x, y = call.input(0).shape, call.output.shape
    weaves = -(-window_of(call).kernel[0] // WEAVE)
    rows, slices = y[0] * y[1], len(_slice_starts(call))
    channels = slices * _slice(call)
    return {
        **packing.finish_work(call, rows * y[2] * channels // BLOCK),
        "woven": rows * weaves * x[2] * channels // packing.LANES,
        "slices": rows * slices,
        "groups": rows * slices * weaves,
    }


def _slices_variant(call: Call) -> dict[str, int]:
    return {"finish": packing.finish_of(call) or 0}


def _column_variant(call: Call) -> dict[str, int]:
    return {"stride": window_of(call).stride[0], "finish": packing.finish_of(call) or 0}


_RULES = (_filter.int8_data, _filter.constant_weights, one_to_one)
_SPREAD = (_filter.int8_outside, *_RULES[1:])
MODEL = Kernel(
    "mg_depthwise_conv2d_s8__mve",
    Ring(row_window, ring),
    scratch=scratch,
    text=Text(struct="mg_depthwise_conv2d_s8__mve"),
    cost=Cost(work, (*packing.VECTOR_TERMS, "eights", "woven")),
    needs=packing.NEEDS,
)
WIDE = replace(
    MODEL,
    symbol=f"{MODEL.symbol}_wide",
    accepts=(*_SPREAD, is_wide, spread.spreads_rows, packing.finishes, sums_fit),
    params=wide_params,
    text=replace(MODEL.text, variant=variant),
    cost=Cost(wide_work, (*packing.VECTOR_TERMS, *packing.FINISH_TERMS, "far_blocks", "channel_rows", "woven")),
    short="dw_mve_wide",
)
SLICES = replace(
    MODEL,
    symbol=f"{MODEL.symbol}_slices",
    form=Window(row_window),
    accepts=(*_SPREAD, fits, in_slices, spread.spreads, packing.finishes, sums_fit),
    params=_slices_params,
    scratch=_slices_scratch,
    text=replace(MODEL.text, variant=_slices_variant),
    cost=Cost(_slices_work, (*packing.FINISH_TERMS, "woven", "slices", "groups")),
    short="dw_mve_slices",
)
COLUMNS = Kernel(
    "mg_depthwise_conv2d_s8__mve_columns",
    Whole(),
    (*_RULES, is_column, packing.finishes, sums_fit),
    params=_column_params,
    operands=(0,),
    scratch=_series,
    text=Text(_column_variant, struct="mg_depthwise_conv2d_s8__mve_columns"),
    cost=Cost(_column_work, ("series", "gathered", *packing.FINISH_TERMS)),
    needs=packing.NEEDS,
    short="dw_mve_columns",
)
KERNELS = (
    COLUMNS,
    WIDE,
    *(
        replace(
            MODEL,
            symbol=f"{MODEL.symbol}{finish}",
            accepts=(*_SPREAD, fits, spread.spreads, finishes, sums_fit),
            params=params,
        )
        for finish, finishes in packing.FINISHES
    ),
    squares.kernel(*_RULES, packing.finishes, sums_fit),
    SLICES,
    near.kernel(*_RULES, packing.finishes, sums_fit),
    taps.kernel(*_RULES, packing.finishes, sums_fit),
)
"""The depthwise kernels for int8, in order of preference."""
