"""Pooling and depthwise convolution on OpenCL devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import RESULT, Grid, Kernel, NDRange, Text, Tile
from mcugen.ops import _filter, _pool, _rounding, average_pool_2d
from mcugen.ops._activation import float_clamp_fields
from mcugen.ops._weighted import activation_of, matrix, rounds_once, sums_fit, window_of
from mcugen.ops.average_pool_2d import FLIP, by_runtime
from mcugen.ops.average_pool_2d import sums_fit as pool_sums_fit

NEEDS = frozenset({"cl12"})
MAX_TAPS = 49
"""Largest window whose taps a work-item keeps in registers."""
BLOCKS = ((1, 1), (1, 2), (1, 4), (2, 2), (2, 4))
"""Rows and columns of depthwise results per work-item."""


def indexable(call: Call) -> bool:
    "tensors have less than 2^31 elements"
    return max(t.size for t in (*call.inputs, *call.outputs) if t is not None) < 2**31


def few_taps(call: Call) -> bool:
    "the window has at most 49 taps"
    kernel = window_of(call).kernel
    return kernel[0] * kernel[1] <= MAX_TAPS


def _run(call: Call) -> int:
    return 4 if call.output.shape[3] % 4 == 0 and _multiplier(call) == 1 else 1


def _multiplier(call: Call) -> int:
    return call.output.shape[3] // call.input(0).shape[3]


def _geometry(call: Call) -> dict[str, Any]:
    window, x, y = window_of(call), call.input(0).shape, call.output.shape
    pad = window.pad((x[1], x[2]))
    return {
        "in_h": x[1],
        "in_w": x[2],
        "out_h": y[1],
        "out_w": y[2],
        "dilation_h": window.dilation[0],
        "dilation_w": window.dilation[1],
        "pad_h": pad[0],
        "pad_w": pad[1],
        "channels": y[3],
        "images": y[0],
    }


def of_floats(call: Call, w: np.ndarray) -> Params:
    """The fields of a float convolution. w: weights [channels, taps], which are stored as [taps, channels]."""
    bias = _filter.bias_of(call, len(w)).astype(np.float32)
    taps = np.ascontiguousarray(w.T.astype(np.float32))
    return {"weights": taps, "bias": bias, **float_clamp_fields(call, activation_of(call))}


def of_bytes(call: Call, w: np.ndarray, once: bool) -> Params:
    """The fields of an int8 convolution. w: weights [channels, taps], which are stored as [taps, channels]. once:
    whether sums are scaled with one rounding."""
    fields: dict[str, Any] = {
        "weights": np.ascontiguousarray(w.T.astype(np.int8)),
        "bias": _filter.wrap_bias(call, _filter.folded_bias(call, w.sum(axis=1))),
        "in_zero_point": call.input(0).zero_point,
    }
    if _rounding.is_stated(call):
        return fields | _rounding.grid_fields(_rounding.fields(call, activation_of(call)))
    mult, shift = _filter.multipliers(call, len(w))
    fields |= {"mult": mult.astype(np.int32), "shift": shift.astype(np.int32), "rounding": int(once)}
    return fields | _filter.clamp_fields(activation_of(call), call.output)


def depthwise_f32(call: Call) -> Params:
    return {**of_floats(call, matrix(call)), **_geometry(call)}


def depthwise_s8(call: Call) -> Params:
    return {**of_bytes(call, matrix(call), rounds_once(call)), **_geometry(call)}


def _depthwise_sizes(call: Call) -> dict[str, int]:
    window = window_of(call)
    return {
        "KERNEL_H": window.kernel[0],
        "KERNEL_W": window.kernel[1],
        "STRIDE_H": window.stride[0],
        "STRIDE_W": window.stride[1],
        "VEC": _run(call),
        "INT8": int(call.input(0).dtype == "s8"),
        "LINE": int(_rounding.is_stated(call)),
        "MULTIPLIER": _multiplier(call),
    }


def _depthwise_tiles(call: Call) -> Sequence[Tile]:
    """Blocks of pixels per work-item: larger blocks share what they read, if taps are adjacent."""
    window, y = window_of(call), call.output.shape
    taps = window.kernel[0] * window.kernel[1]
    near = window.dilation == (1, 1) and taps > 1
    found = [b for b in BLOCKS if b == (1, 1) or (near and b[0] <= y[1] and b[1] <= y[2] and b[0] * b[1] * taps <= 80)]
    return [{"ROWS": rows, "COLUMNS": columns} for rows, columns in found]


def _depthwise_grid(call: Call, tile: Tile) -> NDRange:
    images, rows, columns, channels = call.output.shape
    blocks = images * -(-rows // tile["ROWS"]) * -(-columns // tile["COLUMNS"])
    return NDRange.each(blocks * channels // _run(call))


DEPTHWISE_F32 = Kernel(
    "mg_depthwise_f32__cl",
    Grid(_depthwise_grid, tiles=_depthwise_tiles, halved=("weights",), pitched=(0, RESULT)),
    accepts=(_filter.float_data, _filter.constant_weights, few_taps, indexable),
    params=depthwise_f32,
    operands=(0,),
    text=Text(_depthwise_sizes, source="depthwise.cl"),
    needs=NEEDS,
)
DEPTHWISE_S8 = replace(
    DEPTHWISE_F32,
    symbol="mg_depthwise_s8__cl",
    form=replace(DEPTHWISE_F32.grid, halved=None),
    accepts=(_filter.int8_data, _filter.constant_weights, _rounding.runtime_or_line, sums_fit, few_taps, indexable),
    params=depthwise_s8,
)


def _pool_run(call: Call) -> int:
    return 4 if call.output.shape[3] % 4 == 0 else 1


def _pool_sizes(call: Call, *, largest: bool) -> dict[str, int]:
    return {"LARGEST": int(largest), "INT8": int(call.input(0).dtype == "s8"), "VEC": _pool_run(call)}


def _pool_params(call: Call) -> dict[str, Any]:
    found = {**_pool.geometry(call), **_pool.clamp(call)}
    return {**found, "out_h": call.output.shape[1], "total": call.output.size // _pool_run(call)}


def _average_s8(call: Call) -> Params:
    return {**_pool_params(call), "offset": FLIP if getattr(call.op, "flipped_u8", False) else 0}


def _average_line(call: Call) -> Params:
    """Parameters with one linear scaling for each number of taps that a window can have inside the image."""
    found = average_pool_2d.params_line(call)
    counts = {name: found[name] for name in ("min_rows", "min_columns", "pitch")}
    return {**_pool_params(call), **counts, **_rounding.grid_fields(found)}


AVERAGE_F32 = Kernel(
    "mg_average_pool_f32__cl",
    Grid(lambda call, tile: NDRange.each(call.output.size // _pool_run(call)), halved=(), pitched=(0, RESULT)),
    accepts=(_pool.float_data, indexable),
    params=_pool_params,
    text=Text(partial(_pool_sizes, largest=False), source="pool.cl"),
    needs=NEEDS,
)
AVERAGE_S8 = replace(
    AVERAGE_F32,
    symbol="mg_average_pool_s8__cl",
    form=replace(AVERAGE_F32.grid, halved=None),
    accepts=(_pool.int8_data, by_runtime, pool_sums_fit, indexable),
    params=_average_s8,
)
AVERAGE_LINE_S8 = replace(
    AVERAGE_S8,
    symbol="mg_average_pool_s8__line_cl",
    accepts=(_pool.int8_data, average_pool_2d.has_lines, pool_sums_fit, indexable),
    params=_average_line,
    text=replace(AVERAGE_S8.text, variant=lambda call: {**_pool_sizes(call, largest=False), "LINE": 1}),
)
MAX_F32 = replace(
    AVERAGE_F32,
    symbol="mg_max_pool_f32__cl",
    text=replace(AVERAGE_F32.text, variant=partial(_pool_sizes, largest=True)),
)
MAX_S8 = replace(MAX_F32, symbol="mg_max_pool_s8__cl", form=AVERAGE_S8.form, accepts=(_pool.int8_data, indexable))
