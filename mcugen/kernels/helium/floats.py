"""Float kernels for cores with Helium: convolutions, depthwise convolutions, vectors and sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mcugen.ir.call import Call, Params
from mcugen.ir.fixed_point import INT_RANGE, activation_bounds
from mcugen.ir.kernel import Cost, Kernel, Run, Text, Window
from mcugen.ops import _elementwise, _filter, _float_blocks, _weighted, relu
from mcugen.ops._weighted import activation_of, half_weights, matrix, row_window, taps_of, window_of
from mcugen.ops._window import fields

NEEDS = frozenset({"mve_float"})
EIGHT, FOUR = 8, 4
"""Output channels of a block, and of the smaller block for the last channels."""
TERMS = ("placed", "blocks", "reads", "steps")
DEPTHWISE_TERMS = (
    *("slid", "slid_fours", "slid_steps"),
    *("placed", "ones", "fours", "rows", "one_taps", "four_taps"),
)


def starts_at_zero(call: Call) -> bool:
    "float data, and the lower bound is 0"
    return call.output.dtype == "f32" and relu.bounds_f32(call)[0] == 0


def no_subnormals(call: Call) -> bool:
    "every weight and bias is 0 or at least 2**-126 in magnitude"
    constants = [c for c in call.constants[1:] if c is not None]
    return all(bool(((c == 0) | (np.abs(c) >= np.finfo(np.float32).tiny)).all()) for c in constants)


def _params(call: Call) -> dict[str, Any]:
    w = matrix(call)
    bias = _filter.bias_of(call, len(w))
    whole = _eights(len(w)) * EIGHT
    parts = [_float_blocks.packed(w[:whole], bias[:whole], EIGHT), _float_blocks.packed(w[whole:], bias[whole:], FOUR)]
    return {"weights": np.concatenate(parts), "taps": w.shape[1], "outputs": len(w), **_bounds(call)}


def _half_params(call: Call) -> dict[str, Any]:
    """The fields of the C struct, with float16 weights."""
    fields, taps = _params(call), taps_of(call)
    eights = _eights(call.output.shape[-1]) * EIGHT * (1 + taps)
    whole, rest = fields["weights"][:eights], fields["weights"][eights:]
    words = [_float_blocks.halved(whole, taps, EIGHT), _float_blocks.halved(rest, taps, FOUR)]
    return {**fields, "weights": np.concatenate(words)}


def _eights(outputs: int) -> int:
    """Number of blocks of eight outputs. At most four outputs are left over."""
    return (outputs + EIGHT - FOUR - 1) // EIGHT


def _bits(low: float, high: float) -> dict[str, int]:
    """Bounds as the bits of floats; the least and largest integer if there is no bound. low: 0 or -inf."""
    lowest, highest = INT_RANGE["s32"]
    return {
        "low": 0 if low == 0 else lowest,
        "high": int(np.float32(high).view(np.int32)) if np.isfinite(high) else highest,
    }


def _bounds(call: Call) -> dict[str, int]:
    return _bits(*activation_bounds(activation_of(call)))


def _geometry(call: Call) -> dict[str, Any]:
    return fields(window_of(call), call.input(0), call.output, adjacent=False)


def _steps(pixels: int, channels: int) -> float:
    """Instructions per tap for a block of pixels and of 8 or 4 channels. One instruction reads two taps."""
    return pixels / 2 + channels / 4 * (1 + pixels)


def _work(call: Call, parts: Sequence[tuple[int, int, int]]) -> dict[str, float]:
    """Cost terms: blocks of pixels (placed), blocks of pixels and channels, contiguous runs of taps that these read
    (reads), and instructions for taps (steps).

    parts: (number of adjacent pixels, taps of each, contiguous runs of these taps).
    """
    outputs = call.output.shape[-1]
    eights, fours = _eights(outputs), int(outputs > _eights(outputs) * EIGHT)
    found = {"placed": 0.0, "blocks": 0.0, "reads": 0.0, "steps": 0.0}
    for pixels, taps, runs in parts:
        for size, count in _split(pixels):
            found["placed"] += count
            found["blocks"] += count * (eights + fours)
            found["reads"] += count * (eights + fours) * runs
            found["steps"] += count * taps * (eights * _steps(size, EIGHT) + fours * _steps(size, FOUR))
    return found


def _split(pixels: int) -> list[tuple[int, int]]:
    """(size, count) of the blocks that cover `pixels` pixels."""
    twos = 0 if pixels == 1 else -pixels % 3
    return [(3, (pixels - 2 * twos) // 3), (2, twos), (1, int(pixels == 1))]


def _row_work(call: Call) -> dict[str, float]:
    window = window_of(call)
    images, height, _, _ = call.output.shape
    channels = call.input(0).shape[3]
    parts = []
    for pixels, columns in _columns(call):
        runs = columns if window.dilation[1] > 1 else 1
        parts.append((pixels, window.kernel[0] * columns * channels, window.kernel[0] * runs))
    return {name: images * height * value for name, value in _work(call, parts).items()}


def _columns(call: Call) -> list[tuple[int, int]]:
    """(number of pixels, kernel columns inside the image) for parts of an output row. All inner pixels are one part."""
    x, window = call.input(0), window_of(call)
    first, end = window.inside(x, adjacent=False)
    pad = window.pad((x.shape[1], x.shape[2]))[1]

    def inside(at: int) -> int:
        columns = at * window.stride[1] - pad + np.arange(window.kernel[1]) * window.dilation[1]
        return int(((columns >= 0) & (columns < x.shape[2])).sum())

    beside = [(1, inside(at)) for at in range(call.output.shape[2]) if not first <= at < end]
    return [*beside, *([(end - first, window.kernel[1])] if end > first else [])]


def _depthwise_work(call: Call) -> dict[str, float]:
    """Cost terms of a call.

    slid, slid_fours, slid_steps  three-column kernels: blocks of four pixels, these times blocks of four channels, and
                                  instructions for taps
    placed                        other kernels: single pixels at the sides, and blocks of four pixels
    ones, fours                   single pixels, and blocks of four pixels, times blocks of four channels
    rows                          sum of `ones` and `fours`, times kernel rows
    one_taps, four_taps           `ones` and `fours`, each times taps
    """
    window, (images, height, width, channels) = window_of(call), call.output.shape
    rows, fours = images * height, -(-channels // FOUR)
    if window.kernel[1] == 3 and window.dilation[1] == 1 and window.stride[1] <= 2 and width >= 3:
        steps = _slid_steps(call)
        blocks = rows * len(steps)
        return {
            "slid": blocks,
            "slid_fours": blocks * fours,
            "slid_steps": rows * fours * window.kernel[0] * sum(steps),
        }
    found = dict.fromkeys(("placed", "ones", "fours", "rows", "one_taps", "four_taps"), 0.0)
    for pixels, columns in _columns(call):
        size = "one" if pixels < FOUR else "four"
        count = rows * (pixels if pixels < FOUR else -(-pixels // FOUR))
        found["placed"] += count
        found[f"{size}s"] += count * fours
        found["rows"] += count * fours * window.kernel[0]
        found[f"{size}_taps"] += count * fours * window.kernel[0] * columns
    return found


def _slid_steps(call: Call) -> list[int]:
    """Instructions for a kernel row of each four pixels: two per column, one per product, and 10 to 14 per row."""
    window, x, width = window_of(call), call.input(0).shape, call.output.shape[2]
    stride, pad = window.stride[1], window.pad((x[1], x[2]))[1]
    steps = []
    for first in range(0, width, FOUR):
        at = max(min(first, width - FOUR), 0) * stride - pad
        taps = at + np.arange(FOUR)[:, None] * stride + np.arange(window.kernel[1])
        inside = taps[(taps >= 0) & (taps < x[2])]
        steps.append(10 + 4 * (at < 0) + 2 * np.unique(inside).size + inside.size)
    return steps


def _run_work(call: Call) -> dict[str, float]:
    n = _weighted.pixels(call)
    return _work(call, [(n, taps_of(call), 1)]) if n else {}


def _window_params(call: Call) -> Params:
    return {**_params(call), **_geometry(call)}


def _half_window_params(call: Call) -> Params:
    return {**_half_params(call), **_geometry(call)}


def _depthwise_params(call: Call) -> Params:
    w = matrix(call)
    fours = _float_blocks.covering(len(w))
    weights = _float_blocks.packed(w[fours], _filter.bias_of(call, len(w))[fours])
    return {"weights": weights, **_bounds(call), **_geometry(call)}


def _clamp_params(call: Call) -> Params:
    return {**_bits(*relu.bounds_f32(call))}


def _elements(call: Call) -> int:
    return call.output.size


_RULES = (*_float_blocks.RULES, no_subnormals)
_STRUCT = "mg_conv2d_f32__mve"
_SOURCE = "conv2d_f32__mve.c"
_ELEMENTWISE = "mg_elementwise_f32__mve"

WINDOW = Kernel(
    "mg_conv2d_f32__mve",
    Window(row_window, _filter.outside),
    accepts=_RULES,
    params=_window_params,
    text=Text(source=_SOURCE, struct=_STRUCT),
    cost=Cost(_row_work, TERMS),
    needs=NEEDS,
)
"""Convolution in one group, with a window that slides over rows."""

RUN = Kernel(
    "mg_conv2d_f32__mve_pointwise",
    Run(_weighted.pixels),
    accepts=_RULES,
    params=_params,
    text=Text(source=_SOURCE, struct=_STRUCT),
    cost=Cost(_run_work, TERMS),
    needs=NEEDS,
)
"""1x1 convolution, or fully connected layer."""

_HALVES_SOURCE = "conv2d_f32__mve_halves.c"

HALF_WINDOW = replace(
    WINDOW,
    symbol="mg_conv2d_f32__mve_halves",
    params=_half_window_params,
    text=replace(WINDOW.text, source=_HALVES_SOURCE),
).ruled(half_weights)
HALF_RUN = replace(
    RUN,
    symbol="mg_conv2d_f32__mve_halves_pointwise",
    params=_half_params,
    text=replace(RUN.text, source=_HALVES_SOURCE),
).ruled(half_weights)
"""1x1 convolution, or fully connected layer, with float16 weights."""

DEPTHWISE = Kernel(
    "mg_depthwise_conv2d_f32__mve",
    Window(row_window, _filter.outside),
    accepts=(*_RULES, _float_blocks.four_channels),
    params=_depthwise_params,
    text=Text(struct="mg_depthwise_conv2d_f32__mve"),
    cost=Cost(_depthwise_work, DEPTHWISE_TERMS),
    needs=NEEDS,
)
"""Depthwise convolution, with a window that slides over rows."""

ADD = Kernel(
    "mg_add_f32__mve",
    Run(_elements),
    (_elementwise.of_type("f32"), _elementwise.equal_shapes, _float_blocks.known_activation),
    _bounds,
    in_place=(0, 1),
    text=Text(struct=_ELEMENTWISE),
    needs=NEEDS,
)
"""Sum of two tensors of one shape, element by element."""
SUB = replace(ADD, symbol="mg_sub_f32__mve")
MUL = replace(ADD, symbol="mg_mul_f32__mve")

CLAMP = Kernel(
    "mg_clamp_f32__mve",
    Run(_elements),
    (starts_at_zero,),
    _clamp_params,
    operands=(0,),
    in_place=(0,),
    text=Text(struct=_ELEMENTWISE),
    needs=NEEDS,
)
"""Clamp of each element between two bounds."""
