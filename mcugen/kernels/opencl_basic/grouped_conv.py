"""Grouped and transposed convolutions on OpenCL devices, one result per work-item."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import RESULT, Grid, Kernel, Text
from mcugen.kernels.opencl_basic.channel_windows import NEEDS, indexable, of_bytes, of_floats
from mcugen.ops import _filter, _rounding, transpose_conv
from mcugen.ops._weighted import matrix, rounds_once, sums_fit, window_of
from mcugen.ops.conv2d import groups_of
from mcugen.ops.transpose_conv import TransposeConv


def several_groups(call: Call) -> bool:
    "the convolution has more than one group"
    return groups_of(call) > 1


def _is_transposed(call: Call) -> bool:
    return isinstance(call.op, TransposeConv)


def _weights(call: Call) -> np.ndarray:
    """The weights as [channels, taps of a group], zero points removed."""
    return transpose_conv.matrix(call) if _is_transposed(call) else matrix(call)


def _geometry(call: Call) -> dict[str, Any]:
    op, x, y, w = call.op, call.input(0).shape, call.output.shape, call.input(1).shape
    if isinstance(op, TransposeConv):
        pad, dilation, stride = op.pad(w), (1, 1), op.stride
    else:
        window = window_of(call)
        pad, dilation, stride = window.pad((x[1], x[2])), window.dilation, window.stride
    pairs = {"in": x[1:3], "out": y[1:3], "stride": stride, "dilation": dilation, "pad": pad, "kernel": w[1:3]}
    sizes = {f"{name}_{axis}": pair[k] for name, pair in pairs.items() for k, axis in enumerate("hw")}
    groups = x[3] // w[3]
    return {**sizes, "group_in": w[3], "group_out": w[0] // groups, "channels": w[0], "total": call.output.size}


def params_f32(call: Call) -> Params:
    return {**of_floats(call, _weights(call)), **_geometry(call)}


def params_s8(call: Call) -> Params:
    once = not _is_transposed(call) and rounds_once(call)
    return {**of_bytes(call, _weights(call), once), **_geometry(call)}


def _sizes(call: Call) -> dict[str, int]:
    return {
        "INT8": int(not call.output.is_float),
        "LINE": int(_rounding.is_stated(call)),
        "TRANSPOSED": int(_is_transposed(call)),
    }


GROUPED_F32 = Kernel(
    "mg_direct_f32__cl",
    Grid(halved=("weights",), pitched=(0, RESULT)),
    accepts=(_filter.float_data, _filter.constant_weights, several_groups, indexable),
    params=params_f32,
    operands=(0,),
    text=Text(_sizes, source="direct.cl"),
    needs=NEEDS,
)
GROUPED_S8 = replace(
    GROUPED_F32,
    symbol="mg_direct_s8__cl",
    form=replace(GROUPED_F32.grid, halved=None),
    accepts=(
        _filter.int8_data,
        _filter.constant_weights,
        _rounding.runtime_or_line,
        sums_fit,
        several_groups,
        indexable,
    ),
    params=params_s8,
)
TRANSPOSED = (
    replace(
        GROUPED_F32,
        symbol="mg_transposed_f32__cl",
        accepts=(_filter.float_data, _filter.constant_weights, indexable),
    ),
    replace(
        GROUPED_S8,
        symbol="mg_transposed_s8__cl",
        accepts=(
            _filter.int8_data,
            _filter.constant_weights,
            _rounding.runtime_or_line,
            transpose_conv.sums_fit,
            indexable,
        ),
    ),
)
