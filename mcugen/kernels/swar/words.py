"""Shared parts of the kernels that pack two channels into a word: convolutions, 1x1 convolutions and vectors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mcugen.ir.call import Call, Params, fact
from mcugen.ir.kernel import Cost, Kernel, Run, Text, Window
from mcugen.kernels.swar import channel_pairs
from mcugen.ops import _filter, _rounding
from mcugen.ops._weighted import activation_of, matrix, pixels, row_window, taps_of, window_of
from mcugen.ops._window import fields

SOURCE = "swar_s8.c"
STRUCT = "mg_swar_s8"
PIXELS = 4
"""Largest number of pixels of a block. Cores with few registers use blocks of two."""
POINTER_BYTES = 8
"""Size of the largest pointer among the machines that run the code, including the build machine."""
ROOMS = (9, 15, 27)
"""Numbers of taps for which a kernel without scratch can keep pointers on the stack."""
GROUP = 1.7
"""Estimated cost of a group, relative to a tap. A fit cannot separate the two costs, because the counts grow together.
"""
TERMS = tuple(f"{size}_{what}" for size in ("two", "four") for what in ("blocks", "inner"))
ROW_TERMS = (*TERMS, *(f"{size}_{what}" for size in ("two", "four") for what in ("copied", "runs")))


def narrow(call: Call) -> bool:
    "no weight exceeds 256 in magnitude"
    if not _filter.int8_outside(call) or not _filter.constant_weights(call):
        return False
    return bool(np.abs(call.constant(1).astype(np.int64)).max(initial=0) <= channel_pairs.LANE)


def requantizes(call: Call) -> bool:
    "sums stay below 2^23, and the multipliers scale them down"
    if not narrow(call) or not _rounding.is_scaled(call):
        return False
    return bool(channels_of(call).parts.all())


def three_parts(call: Call) -> bool:
    "sums stay below 2^21, and the multipliers scale them down"
    if not narrow(call) or not _rounding.is_scaled(call):
        return False
    return bool((channels_of(call).parts == 3).all())


@fact
def channels_of(call: Call) -> channel_pairs.Channels:
    """The output channels, for calls of int8 data with constant weights."""
    return channel_pairs.channels(call, matrix(call), activation_of(call))


@fact
def _params(call: Call) -> dict[str, Any]:
    return dict(channel_pairs.fields(call, channels_of(call), activation_of(call)))


def _window_params(call: Call) -> Params:
    return {**_params(call), **_geometry(call)}


def _depthwise_params(call: Call) -> Params:
    lanes = channel_pairs.lane_fields(call, channels_of(call), activation_of(call))
    return {**lanes, **_geometry(call, adjacent=False)}


def _scratch(call: Call) -> int:
    return aligned(PIXELS * taps_of(call))


def _pointed_taps(call: Call) -> int:
    """Number of pointers to the taps of a depthwise convolution: the taps, rounded up to a multiple of three."""
    return -(-taps_of(call) // 3) * 3


def few_taps(call: Call) -> bool:
    "the window has at most 27 taps"
    return _pointed_taps(call) <= ROOMS[-1]


def _room(call: Call) -> dict[str, int]:
    """The number of taps with pointers on the stack."""
    return {"room": next(room for room in ROOMS if _pointed_taps(call) <= room)}


def _depthwise_scratch(call: Call) -> int:
    return aligned(2 * _pointed_taps(call) * POINTER_BYTES)


def _run_work(call: Call) -> dict[str, float]:
    return _work(call, 1, pixels(call))


def _depthwise_work(call: Call) -> dict[str, float]:
    """Cost terms: blocks of two pixels; blocks times channels (lanes), and `lanes` times groups of three taps (threes).

    Cores with the code for 3x3 windows along rows have further terms. For layers that this code computes: outputs
    (walked) and channels of output rows (walks); for other layers: lanes and threes, as apart_lanes and apart_threes.
    """
    blocks, channels = _blocks(call)["blocks"], call.output.shape[3]
    found = {"blocks": blocks, "lanes": blocks * channels, "threes": _work_threes(call, blocks)}
    if _walks(call):
        rows = call.output.shape[0] * call.output.shape[1]
        return {**found, "walked": call.output.size, "walks": rows * channels}
    return {**found, "apart_lanes": found["lanes"], "apart_threes": found["threes"]}


def _walks(call: Call) -> bool:
    """Whether the kernel uses its code for 3x3 windows along rows: see mg_swar_walks."""
    window, x = window_of(call), call.input(0).shape
    usual = window.kernel == (3, 3) and window.dilation[1] == 1
    return usual and (window.stride[1] == 1 or (window.stride[1] == 2 and window.pad((x[1], x[2]))[1] <= 1))


def _work_threes(call: Call, blocks: float) -> float:
    """Groups of three taps in all blocks and channels."""
    taps = call.input(1).size // call.output.shape[3]
    return blocks * call.output.shape[3] * -(-taps // 3)


def _work(call: Call, rows: int, width: int) -> dict[str, float]:
    """Cost terms, for blocks of two pixels and of four (on some cores): blocks; for each block, words and groups of all
    pairs of channels (inner)."""
    w = matrix(call)
    inner = GROUP * channel_pairs.groups(w) + -(-len(w) // 2) * w.shape[1]
    found: dict[str, float] = {}
    for size, name in ((2, "two"), (PIXELS, "four")):
        blocks = rows * -(-width // size)
        found |= {f"{name}_blocks": blocks, f"{name}_inner": blocks * inner}
    return found


def _row_work(call: Call) -> dict[str, float]:
    """Cost terms of `_work`, bytes copied to patches (copied), and the contiguous runs of these (runs)."""
    window = window_of(call)
    images, height, width, _ = call.output.shape
    first, end = window.inside(call.input(0))
    found = _work(call, images * height, width)
    inside = max(end - first, 0) / width
    runs = window.kernel[0] * (inside + (1 - inside) * window.kernel[1])
    taps = taps_of(call)
    copied = {"two_copied": 2 * taps * found["two_blocks"], "four_copied": 4 * taps * found["four_blocks"]}
    return {**found, **copied, "two_runs": runs * found["two_blocks"], "four_runs": runs * found["four_blocks"]}


def _blocks(call: Call) -> dict[str, float]:
    images, height, width, _ = call.output.shape
    return {"blocks": float(images * height * -(-width // 2))}


def _geometry(call: Call, adjacent: bool = True) -> dict[str, Any]:
    x = call.input(0)
    outside = np.full(x.shape[3], x.zero_point, np.int8)
    return {"outside": outside, **fields(window_of(call), x, call.output, adjacent=adjacent)}


def aligned(nbytes: int) -> int:
    return -(-nbytes // 16) * 16


RUN = Kernel(
    "mg_conv2d_s8__swar_pointwise",
    Run(pixels),
    accepts=(_filter.int8_outside, _filter.constant_weights, narrow, requantizes),
    params=_params,
    scratch=_scratch,
    text=Text(source=SOURCE, struct=STRUCT),
    cost=Cost(_run_work, TERMS),
    widened=True,
)
"""1x1 convolution, or fully connected layer."""

WINDOW = Kernel(
    "mg_conv2d_s8__swar",
    Window(row_window, _filter.outside),
    accepts=RUN.accepts,
    params=_window_params,
    scratch=_scratch,
    text=Text(source=SOURCE, struct=STRUCT),
    cost=Cost(_row_work, ROW_TERMS),
    widened=True,
)
"""Convolution in one group, with a window that slides over rows."""

DEPTHWISE = replace(
    WINDOW,
    symbol="mg_depthwise_conv2d_s8__swar",
    accepts=(_filter.int8_outside, _filter.constant_weights, narrow, three_parts),
    params=_depthwise_params,
    scratch=_depthwise_scratch,
    text=Text(lambda call: {"room": 0}, struct=STRUCT),
    cost=Cost(_depthwise_work, ("blocks", "lanes", "threes", "apart_lanes", "apart_threes", "walked", "walks")),
    short="dw_swar",
)
"""Depthwise convolution, with a window that slides over rows."""

DEPTHWISE_DIRECT = replace(
    DEPTHWISE,
    symbol="mg_depthwise_conv2d_s8__swar_direct",
    accepts=(*DEPTHWISE.accepts, few_taps),
    scratch=lambda call: 0,
    text=replace(DEPTHWISE.text, variant=_room),
    short="dw_swar_direct",
)
"""Depthwise convolution without scratch, with a window that slides over rows."""
