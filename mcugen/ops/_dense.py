"""Shared recipe of operators that the kernels mg_conv2d_<type> compute: CONV_2D, and operators that reduce to it."""

from __future__ import annotations

import numpy as np

from mcugen.ir.call import Call, Params
from mcugen.ops import _filter
from mcugen.ops._window import SlidingWindow, edge_pixels, fields

BLOCK = 2
"""The number of output channels whose weights are interleaved."""


def dense_fields(call: Call, w: np.ndarray, window: SlidingWindow, activation: str, groups: int = 1) -> Params:
    """The parameters of mg_conv2d_<type> for weights w [outputs, taps], zero points removed."""
    packed = np.concatenate([_filter.interleave(part, BLOCK) for part in np.split(w, groups)])
    return {
        **_filter.weight_fields(call, packed, w, activation),
        **fields(window, call.input(0), call.output, groups=groups),
        "groups": groups,
        "group_in_c": call.input(0).shape[3] // groups,
        "group_out_c": call.output.shape[3] // groups,
    }


def patch_bytes(call: Call) -> int:
    """Scratch in bytes: the taps of two output pixels, copied together if they are not adjacent in memory."""
    w, x = call.input(1), call.input(0)
    taps = w.size // call.output.shape[3]
    return 2 * taps * x.np_dtype.itemsize


GATHERING = ("copies", "copied")


def gathering(call: Call, window: SlidingWindow, groups: int = 1) -> dict[str, float]:
    """Cost terms of gathering taps. copies: number of copies; copied: number of elements that they copy."""
    pieces = edge_pixels(window, call.input(0), call.output, groups=groups) * window.kernel[0] * window.kernel[1]
    return {"copies": pieces * groups, "copied": pieces * call.input(0).shape[3]}
