"""Convolutions and fully connected layers with weights as bytes: four outputs for each input that is read.

For the goal `flash`: one source serves all layers, and constants take no more bytes than those of portable kernels. The
taps of a window are copied to scratch memory.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Cost, Kernel, Run, Text, Window
from mcugen.kernels.swar.columns import no_simd
from mcugen.kernels.swar.words import aligned
from mcugen.ops import _filter, _rounding
from mcugen.ops._weighted import (
    activation_of,
    four_bits,
    matrix,
    pixels,
    rounds_once,
    row_window,
    sums_fit,
    taps_of,
    window_of,
)
from mcugen.ops._window import fields

OUTPUTS = 4
"""Outputs that are computed together."""
LEAST_MACS = 512
"""Multiply-accumulates from which on the code of the kernel is worth its bytes."""


def needs_bytes(call: Call) -> bool:
    "there are at least 512 multiply-accumulates, and weights beyond -8 to 7"
    return call.op.macs(call) >= LEAST_MACS and not four_bits(call)


def scales_down_twice(call: Call) -> bool:
    "there are at least four outputs, scaled down and rounded twice"
    if not _filter.int8_data(call) or not _filter.constant_weights(call):
        return False
    if _rounding.is_stated(call) or rounds_once(call) or call.output.shape[-1] < OUTPUTS:
        return False
    return bool((_filter.multipliers(call, call.output.shape[-1])[1] < 0).all())


def _params(call: Call) -> Params:
    w = matrix(call)
    mult, shift = _filter.multipliers(call, len(w))
    alike = bool((mult == mult[0]).all() and (shift == shift[0]).all())
    return {
        "weights": w.astype(np.int8),
        "bias": _filter.folded_bias(call, w.sum(axis=1)).astype(np.int32),
        "mult": mult[:1] if alike else mult,
        "shift": shift[:1] if alike else shift,
        **_filter.clamp_fields(activation_of(call), call.output),
        "scale_stride": int(not alike),
        "taps": w.shape[1],
        "outputs": w.shape[0],
    }


def _window_params(call: Call) -> Params:
    x = call.input(0)
    return {**_params(call), **fields(window_of(call), x, call.output), "in_zero_point": x.zero_point}


def _work(call: Call) -> dict[str, float]:
    """The cost term: blocks of outputs."""
    channels = call.output.shape[-1]
    return {"blocks": float(call.output.size // channels * -(-channels // OUTPUTS))}


def _window_work(call: Call) -> dict[str, float]:
    """Cost terms of `_work`, pieces of rows that are copied (copies), and their bytes (copied)."""
    window, (images, height, width, _) = window_of(call), call.output.shape
    first, end = window.inside(call.input(0))
    pieces = (end - first) + (width - (end - first)) * (2 if window.dilation[1] == 1 else window.kernel[1])
    rows, copied = images * height, images * height * width * taps_of(call)
    return {**_work(call), "copies": float(rows * pieces * window.kernel[0]), "copied": float(copied)}


VECTOR = Kernel(
    "mg_fully_connected_s8__dots",
    Run(pixels, alone=True),
    accepts=(no_simd, _filter.int8_data, _filter.constant_weights, needs_bytes, sums_fit, scales_down_twice),
    params=_params,
    text=Text(source="dots_s8.c", struct="mg_dots_s8"),
    cost=Cost(_work, ("blocks",)),
    frugal=True,
    short="fc_dots",
)
"""A fully connected layer or 1x1 convolution."""

WINDOW = replace(
    VECTOR,
    symbol="mg_conv2d_s8__dots",
    form=Window(row_window, _filter.outside),
    params=_window_params,
    scratch=lambda call: aligned(taps_of(call)),
    cost=Cost(_window_work, ("blocks", "copies", "copied")),
    short="conv_dots",
)
"""Convolution in one group, with a window that slides over rows."""
