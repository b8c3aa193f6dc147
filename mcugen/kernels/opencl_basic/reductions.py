"""Sums and softmax on OpenCL devices."""

from __future__ import annotations

from dataclasses import replace

from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Grid, Kernel, NDRange, Text, Tile
from mcugen.ir.types import images_of
from mcugen.kernels.opencl_basic.channel_windows import NEEDS, indexable
from mcugen.ops import _pool, _reduce, _reduce_sum, softmax

GROUP = 64
LANES = 8
_FLOAT_BYTES = 4


def _global(call: Call) -> Params:
    images, channels = images_of(call.output.shape), _reduce.channels(call)
    found = {n: v for n, v in _reduce_sum.global_params(call).items() if n not in ("row_pixels", "channels")}
    return {**found, "pixels": call.input(0).size // (images * channels), "channels": channels}


def _global_grid(call: Call, tile: Tile) -> NDRange:
    groups = -(-_reduce.channels(call) // LANES)
    return NDRange((groups * GROUP, images_of(call.output.shape)), (GROUP, 1), GROUP * _FLOAT_BYTES)


GLOBAL_SUM_F32 = Kernel(
    "mg_global_sum_f32__cl",
    Grid(_global_grid, halved=()),
    accepts=(_pool.float_data, _reduce.leaves_channels, indexable),
    params=_global,
    text=Text(lambda call: {"INT8": 0, "GROUP": GROUP, "LANES": LANES}, source="global_sum.cl"),
    needs=NEEDS,
)
GLOBAL_SUM_S8 = replace(
    GLOBAL_SUM_F32,
    symbol="mg_global_sum_s8__cl",
    form=replace(GLOBAL_SUM_F32.grid, halved=None),
    accepts=(_pool.int8_data, _reduce_sum.sums_fit, _reduce_sum.by_runtime, _reduce.leaves_channels, indexable),
    text=replace(GLOBAL_SUM_F32.text, variant=lambda call: {"INT8": 1, "GROUP": GROUP, "LANES": LANES}),
)
SUM_F32 = Kernel(
    "mg_sum_f32__cl",
    Grid(halved=()),
    accepts=(_pool.float_data, indexable),
    params=lambda call: {**_reduce_sum.whole_params(call), "total": call.output.size},
    text=Text(source="sum_f32.cl"),
    needs=NEEDS,
)


def _softmax_grid(call: Call, tile: Tile) -> NDRange:
    return NDRange((softmax.rows(call) * GROUP,), (GROUP,), GROUP * _FLOAT_BYTES)


SOFTMAX_F32 = Kernel(
    "mg_softmax_f32__cl",
    Grid(_softmax_grid, halved=()),
    accepts=(softmax.float_data, indexable),
    params=softmax.params_f32,
    in_place=(0,),
    text=Text(lambda call: {"GROUP": GROUP}, source="softmax_f32.cl"),
    needs=NEEDS,
)
SOFTMAX_S8 = Kernel(
    "mg_softmax_s8__cl",
    Grid(lambda call, tile: NDRange.each(softmax.rows(call))),
    accepts=(softmax.int8_to_int8, softmax.small_enough, indexable),
    params=lambda call: {**softmax.params_s8(call), "total": softmax.rows(call)},
    text=Text(source="softmax_s8.cl"),
    needs=NEEDS,
)
