"""Depthwise convolutions on floats: 16 channels and four pixels at a time."""

from __future__ import annotations

import numpy as np

from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Kernel, Ring, RowStorage, Text
from mcugen.kernels.simd import block_scales, byte_dots, tap_pairs
from mcugen.kernels.simd.float_tiles import NEEDS, RULES, tiles
from mcugen.ops import _filter
from mcugen.ops._activation import float_clamp_fields
from mcugen.ops._weighted import activation_of, matrix, row_window
from mcugen.ops.depthwise_conv2d import one_output_each


def _params(call: Call) -> Params:
    x, found, w = call.input(0).shape, tap_pairs.lanes_of(call), matrix(call)
    return {
        "weights": tiles(np.tile(w, (found.times, 1))).astype(np.float32).reshape(-1),
        "bias": block_scales.filled(np.tile(_filter.bias_of(call, len(w)), found.times)).astype(np.float32),
        "taps": tap_pairs.taps(call)[: w.shape[1]],
        **float_clamp_fields(call, activation_of(call)),
        "in_len": x[2] * x[3],
        "before": byte_dots.before(call),
        "row_len": tap_pairs.row_len(call),
        "count": w.shape[1],
        "step": found.step,
        "pixels": found.pixels,
        "channels": found.channels,
        "tiles": block_scales.blocks(found.channels),
    }


DEPTHWISE = Kernel(
    "mg_depthwise_conv2d_f32__fma",
    Ring(row_window, lambda call: RowStorage("f32", tap_pairs.row_len(call))),
    (*RULES, one_output_each, tap_pairs.few_taps),
    _params,
    text=Text(struct="mg_simd_depthwise_f32"),
    needs=NEEDS,
    short="dw_f32_fma",
)
