"""Convolutions and fully connected layers as products of matrices: parameters, tiles and launches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mcugen.ir.call import Call, Params, fact
from mcugen.ir.kernel import RESULT, Grid, Kernel, NDRange, Text, Tile
from mcugen.ops import _filter, _rounding
from mcugen.ops._activation import float_clamp_fields
from mcugen.ops._residual import ResidualConv2D
from mcugen.ops._scaled import ScaledConv2D
from mcugen.ops._weighted import activation_of, matrix, pixels, rounds_once, sums_fit, window_of
from mcugen.ops._window import SlidingWindow
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.fully_connected import single_rounding_fits

NEEDS = frozenset({"cl12", "fence"})
EXACT_FLOAT = 2**24
"""Limit below which sums of integers are exact in float32."""
LARGEST = 2**31 - 1
MAX_SPLIT_TILES = 1024
"""Largest number of tiles of a launch whose taps are split. Each tile has a counter of finished parts, its ticket."""
SHORTEST = 16
"""Fewest taps of a tile."""
SPLITS = (2, 3, 4, 6, 8, 12, 16)
FLOAT_BYTES = 4

BLOCKS: tuple[tuple[int, int, int, int, int, int, int], ...] = (
    (192, 128, 8, 8, 8, 1, 8),
    (128, 128, 8, 8, 8, 1, 8),
    (96, 128, 8, 8, 8, 1, 8),
    (64, 128, 8, 8, 8, 1, 8),
    (128, 64, 16, 8, 4, 1, 16),
    (128, 32, 16, 8, 4, 2, 16),
    (64, 64, 16, 4, 4, 1, 16),
    (64, 64, 8, 8, 8, 4, 8),
    (64, 32, 16, 4, 4, 2, 16),
    (64, 16, 16, 4, 4, 4, 16),
    (32, 64, 16, 4, 4, 2, 16),
    (32, 32, 16, 4, 4, 4, 16),
    (32, 32, 8, 4, 4, 8, 8),
    (16, 64, 16, 4, 4, 4, 16),
    (32, 32, 16, 4, 4, 1, 2),
    (16, 64, 16, 4, 4, 1, 2),
    (16, 16, 16, 4, 4, 4, 2),
    (16, 16, 8, 4, 4, 1, 2),
)
"""BM, BN, BK, TM, TN, SK, UNROLL of the tiles; see matmul_tiled.cl."""
NAMES = ("BM", "BN", "BK", "TM", "TN", "SK", "UNROLL")


def is_point(call: Call) -> bool:
    """Whether the taps of an output are the channels of one pixel, or vector."""
    if not isinstance(call.op, Conv2D):
        return True
    w, x = window_of(call), call.input(0)
    return w.kernel == (1, 1) and w.stride == (1, 1) and not w.leaves(x.shape)


def taps(call: Call) -> int:
    """Taps of an output."""
    return call.input(1).size // call.input(1).shape[0]


def is_loose(call: Call) -> bool:
    """Whether int8 taps are read as words although pixels may be unaligned."""
    return call.input(0).dtype == "s8" and is_point(call) and taps(call) % 4 != 0


def vector_width(call: Call) -> int:
    """Number of adjacent taps that are read at once."""
    run = taps(call) if is_point(call) else call.input(0).shape[3]
    return 4 if run % 4 == 0 or is_loose(call) else 1


def indexable(call: Call) -> bool:
    "tensors have less than 2^31 elements, and images less than 2^15 rows and columns"
    small = max(call.input(0).size, call.output.size, call.input(1).size) <= LARGEST
    return small and (is_point(call) or max(call.input(0).shape[1:3]) < 2**15)


def in_runs(call: Call) -> tuple[int, ...]:
    """The tensors that may be stored as runs with a pitch: the result, and operand 0 if the taps of an output are
    contiguous."""
    return (0, RESULT) if isinstance(call.op, Conv2D) and is_point(call) else (RESULT,)


def is_point_f32(call: Call) -> bool:
    "the window is one pixel"
    return is_point(call)


def one_vector(call: Call) -> bool:
    "there is one vector, or one pixel of a 1x1 convolution"
    return pixels(call) == 1 and is_point(call)


def not_widened(call: Call) -> bool:
    "results are as wide as the data"
    return not getattr(call.op, "widen", False)


@fact
def weights(call: Call) -> np.ndarray:
    """The weights as [taps, channels], channels padded with zeros to a multiple of four."""
    w = matrix(call).T
    return np.pad(w, ((0, 0), (0, -w.shape[1] % 4)))


def table(call: Call) -> np.ndarray:
    """Table int32 of an output's taps, per vector of channels: offset from the first tap, then row | column << 16."""
    w: SlidingWindow = window_of(call)
    width, channels, step = call.input(0).shape[2], call.input(0).shape[3], vector_width(call)
    axes = (
        np.arange(w.kernel[0]) * w.dilation[0],
        np.arange(w.kernel[1]) * w.dilation[1],
        np.arange(0, channels, step),
    )
    y, x, c = np.meshgrid(*axes, indexing="ij")
    return np.stack([(y * width + x) * channels + c, y | x << 16], -1).reshape(-1).astype(np.int32)


def _geometry(call: Call) -> dict[str, Any]:
    channels = call.input(1).shape[0]
    found: dict[str, Any] = {
        "pixels": pixels(call),
        "channels": channels,
        "pitch": channels + -channels % 4,
        "taps": taps(call),
    }
    if not isinstance(call.op, Conv2D):
        return {**found, "pitch_in0": taps(call)}
    if is_point(call):
        return found
    window, x, y = window_of(call), call.input(0).shape, call.output.shape
    pad = window.pad((x[1], x[2]))
    return found | {
        "table": table(call),
        "in_h": x[1],
        "in_w": x[2],
        "out_h": y[1],
        "out_w": y[2],
        "stride_h": window.stride[0],
        "stride_w": window.stride[1],
        "pad_h": pad[0],
        "pad_w": pad[1],
    }


def _padded(values: np.ndarray, dtype: type[np.generic]) -> np.ndarray:
    """The values of the channels, padded with zeros to a multiple of four."""
    return np.pad(values, (0, -values.size % 4)).astype(dtype)


def params_f32(call: Call) -> Params:
    bias = _filter.bias_of(call, call.input(1).shape[0])
    return {
        "weights": weights(call).astype(np.float32),
        "bias": _padded(bias, np.float32),
        **float_clamp_fields(call, activation_of(call)),
        **_geometry(call),
    }


def params_s8(call: Call) -> Params:
    w = weights(call)
    channels = call.input(1).shape[0]
    bias = _filter.wrap_bias(call, _filter.folded_bias(call, matrix(call).sum(axis=1)))
    fields: dict[str, Any] = {
        "weights": w.astype(np.int8),
        "bias": _padded(bias, np.int32),
        "in_zero_point": call.input(0).zero_point,
        **_geometry(call),
    }
    if _rounding.is_stated(call):
        return fields | _rounding.grid_fields(_rounding.fields(call, activation_of(call)), w.shape[1])
    mult, shift = _filter.multipliers(call, channels)
    fields |= {"mult": _padded(mult, np.int32), "shift": _padded(shift, np.int32), "rounding": int(rounds_once(call))}
    return fields | _filter.clamp_fields(activation_of(call), call.output)


@fact
def _exact_in_float(call: Call) -> bool:
    """Whether all sums of products, in any order, are exact in float32."""
    return bool((128 * np.abs(matrix(call)).sum(axis=1)).max(initial=0) < EXACT_FLOAT)


def _constants(call: Call) -> dict[str, int]:
    is_int8 = call.input(0).dtype == "s8"
    return {
        "POINT": int(is_point(call)),
        "VEC": vector_width(call),
        "INT8": int(is_int8),
        "INT_SUMS": int(is_int8 and not _exact_in_float(call)),
        "LOOSE": int(is_loose(call)),
        "LINE": int(_rounding.is_stated(call)),
        "SPLIT": 0,
        "PAIR": 0,
        "FLIP_A": 0,
        "FLIP_B": 0,
        "RESIDUAL": int(isinstance(call.op, ResidualConv2D)),
        "SCALED": int(isinstance(call.op, ScaledConv2D)),
    }


def variant(call: Call) -> dict[str, int]:
    """The constants of the kernel text that depend on the call."""
    return _constants(call)


def split_variant(call: Call) -> dict[str, int]:
    """The constants of `variant` for a kernel that splits taps over work-groups."""
    return {**_constants(call), "SPLIT": 1}


def _groups(call: Call, tile: Tile) -> tuple[int, int]:
    return -(-pixels(call) // tile["BM"]), -(-call.input(1).shape[0] // tile["BN"])


def grid(call: Call, tile: Tile) -> NDRange:
    across, down = _groups(call, tile)
    threads = tile["BM"] // tile["TM"] * (tile["BN"] // tile["TN"]) * tile["SK"]
    stage = tile["BK"] * (tile["BM"] + 4 + tile["BN"])
    local = max(2 * tile["SK"] * stage, tile["SK"] // 2 * tile["BM"] * tile["BN"])
    padded = across * tile["BM"] * down * tile["BN"] / (pixels(call) * call.input(1).shape[0])
    reuse = 1.0 + 24.0 / (tile["TM"] * tile["TN"])
    launch = (across * threads, down, tile["SPLITS"])
    return NDRange(launch, (threads, 1, 1), local * FLOAT_BYTES + 16, padded * reuse)


def tiles(call: Call) -> Sequence[Tile]:
    """The blocks with at least 40 % of useful work, and all blocks of at most 1,024 results. Blocks that need far more
    taps than there are, are left out."""
    found = [dict(zip(NAMES, block, strict=True)) for block in BLOCKS]
    longest = max(2 * taps(call), SHORTEST)
    fitting = [tile for tile in found if _is_full(call, tile) and tile["BK"] * tile["SK"] <= longest]
    return [{**tile, "SPLITS": 1} for tile in fitting]


def split_tiles(call: Call) -> Sequence[Tile]:
    """Tiles with the taps split over work-groups, if each part has at least one tile of taps."""
    return [
        {**tile, "SPLITS": splits}
        for tile in tiles(call)
        for splits in SPLITS
        if splits * tile["BK"] * tile["SK"] <= taps(call) and np.prod(_groups(call, tile)) <= MAX_SPLIT_TILES
    ]


def _is_full(call: Call, tile: Tile) -> bool:
    across, down = _groups(call, tile)
    share = pixels(call) * call.input(1).shape[0] / (across * tile["BM"] * down * tile["BN"])
    return share >= 0.4 or tile["BM"] * tile["BN"] <= 1024


def parts_bytes(call: Call, tile: Tile) -> int:
    """Bytes of the partial sums of all parts."""
    across, down = _groups(call, tile)
    return across * down * tile["BM"] * tile["BN"] * tile["SPLITS"] * FLOAT_BYTES


def _with_tickets(params: Any) -> Any:
    return lambda call: {**params(call), "tickets": np.zeros(MAX_SPLIT_TILES, np.int32)}


F32 = Kernel(
    "mg_matmul_f32__tiled",
    Grid(grid, tiles=tiles, halved=("weights",), pitched=in_runs),
    accepts=(_filter.float_data, _filter.constant_weights, indexable),
    params=params_f32,
    operands=(0,),
    text=Text(variant, source="matmul_tiled.cl"),
    needs=frozenset({"cl12"}),
)
"""Product without split taps: a work-group sums all taps of its outputs."""
S8 = replace(
    F32,
    symbol="mg_matmul_s8__tiled",
    form=replace(F32.grid, halved=None),
    accepts=(
        _filter.int8_data,
        _filter.constant_weights,
        not_widened,
        _rounding.runtime_or_line,
        sums_fit,
        single_rounding_fits,
        indexable,
    ),
    params=params_s8,
)
SPLIT_F32 = replace(
    F32,
    symbol="mg_matmul_f32__split",
    form=replace(F32.grid, tiles=split_tiles, room=parts_bytes),
    params=_with_tickets(params_f32),
    text=replace(F32.text, variant=split_variant),
    needs=NEEDS,
)
"""Product with split taps: the last work-group, after a fence, adds the partial sums."""
RESIDUAL = tuple(
    replace(kernel, symbol=f"{kernel.symbol}_sum", accepts=(indexable,), operands=(0, 3)) for kernel in (F32, SPLIT_F32)
)
"""Product with another tensor added. The rules come from the pass that makes the operator."""


def scaled_params(call: Call) -> Params:
    first = float_clamp_fields(call, call.op.first)
    scale, shift = (np.asarray(call.constants[k], np.float32) for k in (3, 4))
    ends = {"in_min": first["out_min"], "in_max": first["out_max"]}
    return {**params_f32(call), "scale": scale, "shift": shift, **ends}


SCALED = tuple(
    replace(kernel, symbol=f"{kernel.symbol}_scaled", accepts=(indexable, is_point_f32), params=params)
    for kernel, params in ((F32, scaled_params), (SPLIT_F32, _with_tickets(scaled_params)))
)
"""Product of input channels that are scaled, shifted and clamped first. The rules come from the pass that makes the
operator.
"""
SPLIT_S8 = replace(
    SPLIT_F32,
    symbol="mg_matmul_s8__split",
    form=replace(SPLIT_F32.grid, halved=None),
    accepts=S8.accepts,
    params=_with_tickets(params_s8),
)


def vector_params(call: Call) -> Params:
    return {name: value for name, value in params_f32(call).items() if name not in ("pitch_in0", "pixels")}


def vector_grid(call: Call, tile: Tile) -> NDRange:
    groups = -(-call.input(1).shape[0] // (4 * tile["LANES"]))
    return NDRange((groups * tile["GROUP"],), (tile["GROUP"],), 4 * FLOAT_BYTES * tile["GROUP"])


VECTOR = Kernel(
    "mg_vector_f32__tiled",
    Grid(
        vector_grid,
        tiles=lambda call: [{"LANES": lanes, "GROUP": group} for group in (256, 64) for lanes in (2, 8)],
        halved=("weights",),
    ),
    accepts=(_filter.float_data, _filter.constant_weights, indexable, one_vector),
    params=vector_params,
    operands=(0,),
    text=Text(lambda call: {"PAIR": 0, "ALONG": 0, "FLIP": 0}, source="vector_f32.cl"),
    needs=frozenset({"cl12"}),
)
"""Matrix times one vector; memory bandwidth of the weights limits its speed."""
