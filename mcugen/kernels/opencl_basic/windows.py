"""Pooling and convolution of single channels on OpenCL devices."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mcugen.call import Call, Params
from mcugen.kernel import Form, Grid, Kernel, Tile
from mcugen.numeric import activation_bounds
from mcugen.ops import _filter, _pool, _rounding
from mcugen.ops._weighted import activation_of, matrix, rounds_once, sums_fit, window_of
from mcugen.ops.average_pool_2d import FLIP, by_runtime
from mcugen.ops.average_pool_2d import sums_fit as pool_sums_fit

NEEDS = frozenset({"cl12"})
MAX_TAPS = 49
"""Largest window whose taps a work-item keeps in registers."""


def indexable(call: Call) -> bool:
    "tensors have less than 2^31 elements"
    return max(t.size for t in (*call.inputs, *call.outputs) if t is not None) < 2**31


def few_taps(call: Call) -> bool:
    "the window has at most 49 taps"
    kernel = window_of(call).kernel
    return kernel[0] * kernel[1] <= MAX_TAPS


def runtime_rounds(call: Call) -> bool:
    "the runtime rounds"
    return not _rounding.is_stated(call)


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
        "stride_h": window.stride[0],
        "stride_w": window.stride[1],
        "dilation_h": window.dilation[0],
        "dilation_w": window.dilation[1],
        "pad_h": pad[0],
        "pad_w": pad[1],
        "channels": y[3],
        "total": call.output.size // _run(call),
    }


def depthwise_f32(call: Call) -> Params:
    low, high = activation_bounds(activation_of(call))
    w = matrix(call)
    bias = _filter.bias_of(call, len(w)).astype(np.float32)
    taps = np.ascontiguousarray(w.T.astype(np.float32))
    return {"weights": taps, "bias": bias, "out_min": low, "out_max": high, **_geometry(call)}


def depthwise_s8(call: Call) -> Params:
    w = matrix(call)
    mult, shift = _filter.multipliers(call, len(w))
    return {
        "weights": np.ascontiguousarray(w.T.astype(np.int8)),
        "bias": _filter.wrap_bias(call, _filter.folded_bias(call, w.sum(axis=1))),
        "mult": mult.astype(np.int32),
        "shift": shift.astype(np.int32),
        "in_zero_point": call.input(0).zero_point,
        "rounding": int(rounds_once(call)),
        **_filter.clamp_fields(activation_of(call), call.output),
        **_geometry(call),
    }


def _depthwise_sizes(call: Call) -> dict[str, int]:
    kernel = window_of(call).kernel
    is_int8 = call.input(0).dtype == "s8"
    sizes = {"KERNEL_H": kernel[0], "KERNEL_W": kernel[1], "VEC": _run(call), "INT8": int(is_int8)}
    return {**sizes, "MULTIPLIER": _multiplier(call)}


DEPTHWISE_F32 = Kernel(
    "mg_depthwise_f32__cl",
    Form.GRID,
    accepts=(_filter.float_data, _filter.constant_weights, few_taps, indexable),
    params=depthwise_f32,
    operands=(0,),
    variant=_depthwise_sizes,
    grid=lambda call, tile: Grid.each(call.output.size // _run(call)),
    needs=NEEDS,
    source="depthwise.cl",
)
DEPTHWISE_S8 = replace(
    DEPTHWISE_F32,
    symbol="mg_depthwise_s8__cl",
    accepts=(_filter.int8_data, _filter.constant_weights, runtime_rounds, sums_fit, few_taps, indexable),
    params=depthwise_s8,
)


def _pool_params(call: Call) -> dict[str, Any]:
    found = {**_pool.geometry(call), **_pool.clamp(call)}
    return {**found, "out_h": call.output.shape[1], "total": call.output.size}


def _average_s8(call: Call) -> Params:
    return {**_pool_params(call), "offset": FLIP if getattr(call.op, "flipped_u8", False) else 0}


def _whole(call: Call, tile: Tile) -> Grid:
    return Grid.each(call.output.size)


AVERAGE_F32 = Kernel(
    "mg_average_pool_f32__cl",
    Form.GRID,
    accepts=(_pool.float_data, indexable),
    params=_pool_params,
    variant=lambda call: {"LARGEST": 0, "INT8": 0},
    grid=_whole,
    needs=NEEDS,
    source="pool.cl",
)
AVERAGE_S8 = replace(
    AVERAGE_F32,
    symbol="mg_average_pool_s8__cl",
    accepts=(_pool.int8_data, by_runtime, pool_sums_fit, indexable),
    params=_average_s8,
    variant=lambda call: {"LARGEST": 0, "INT8": 1},
)
MAX_F32 = replace(AVERAGE_F32, symbol="mg_max_pool_f32__cl", variant=lambda call: {"LARGEST": 1, "INT8": 0})
MAX_S8 = replace(
    MAX_F32,
    symbol="mg_max_pool_s8__cl",
    accepts=(_pool.int8_data, indexable),
    variant=lambda call: {"LARGEST": 1, "INT8": 1},
)
