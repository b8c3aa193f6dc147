"""Depthwise kernel for cores with Helium that reads taps in place, for windows inside the image.

The code is compiled for each layer, with the offsets of taps as constants, so that no pointers are read.
Outputs at the sides of the image are computed as in `taps`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mcugen.ir.call import Call, Params, Rule, fact
from mcugen.ir.kernel import Cost, Kernel
from mcugen.kernels.helium import packing, taps, woven
from mcugen.ops._weighted import matrix, window_of

MOST_ROWS = 5
"""Largest number of kernel rows. Each has a pointer in a register."""

MOST_TAPS = 27
"""Largest number of taps, so that a load reaches the bias behind a block's weights."""

MOST_APART = 127
"""Largest distance in bytes between taps of a row, which is the step of a load with write-back."""

MOST_SKIPPED = 4095
"""Largest number of bytes skipped between adjacent windows, which is the constant of an addition."""

FINISH_BYTES = (0, 72, 104, 8, 40, 80)
"""For each of packing.FINISHES, additional code bytes compared with the first."""

TERMS = (*taps.WALKED, "near_rows", "near_pixels", "near_moves", "near_vectors", "near_taps", "near_sums")


def _apart(call: Call) -> int:
    return window_of(call).dilation[1] * call.input(0).shape[3]


def is_near(call: Call) -> bool:
    "the kernel has at most 5 rows and 27 taps, and the taps of a row are at most 127 bytes apart"
    rows, columns = window_of(call).kernel
    return rows <= MOST_ROWS and rows * columns <= MOST_TAPS and _apart(call) <= MOST_APART


def steps_near(call: Call) -> bool:
    "adjacent windows skip at most 4095 bytes of a row"
    return (window_of(call).stride[1] - 1) * call.output.shape[3] <= MOST_SKIPPED


def fills_vectors(call: Call) -> bool:
    "there are at least 16 channels, or 1, 2, 4 or 8 with a stride of 1"
    return taps.together(call) * call.output.shape[3] >= taps.BLOCK


def has_inside(call: Call) -> bool:
    "a row has enough adjacent windows inside the image to fill a vector"
    return taps.inside(call, 0) > 0 and taps.inside(call, 1) >= taps.together(call)


@fact
def lasts_of(call: Call) -> tuple[int, ...]:
    """The last tap of each 16-bit sum. A sum has as many consecutive taps as fit int16 for all possible data."""
    sizes = np.abs(matrix(call)) * taps.largest(call)
    lasts, begin = [], 0
    for tap in range(1, sizes.shape[1]):
        if sizes[:, begin : tap + 1].sum(axis=1).max() > taps.MOST_SUM:
            lasts.append(tap - 1)
            begin = tap
    return (*lasts, sizes.shape[1] - 1)


def variant(call: Call) -> dict[str, int]:
    window = window_of(call)
    return {
        "rows": window.kernel[0],
        "columns": window.kernel[1],
        "apart": _apart(call),
        "channels": call.output.shape[3],
        "stride": window.stride[1],
        "lasts": sum(1 << tap for tap in lasts_of(call)),
        "down": woven.down_of(call) or 0,
        "finish": packing.finish_of(call) or 0,
    }


def work(call: Call) -> dict[str, float]:
    """Cost terms of `taps.walked` at the sides of the image. Inside it: output rows, pixels, moves of row pointers,
    vectors of channels, and these vectors' taps and 16-bit sums."""
    y, (h, w), outer = call.output.shape, window_of(call).kernel, taps.outer_rows(call)
    rows = y[0] * y[1] - outer
    pixels = rows * (taps.inside(call, 1) // taps.together(call))
    vectors = pixels * -(-y[3] // taps.BLOCK)
    found = taps.walked(call, outer, outer, rows)
    return {
        **found,
        **packing.finish_work(call, found["blocks"] + vectors),
        "near_rows": rows,
        "near_pixels": pixels,
        "near_moves": pixels * h * (window_of(call).stride[1] > 1),
        "near_vectors": vectors,
        "near_taps": vectors * h * w,
        "near_sums": vectors * len(lasts_of(call)),
    }


def code(call: Call) -> int:
    """Code size in bytes of the kernel for this call."""
    window, channels, lasts = window_of(call), call.output.shape[3], lasts_of(call)
    (rows, columns), sums, first = window.kernel, len(lasts), lasts[0]
    adding = 16 * sums + 24 * first + 28 * (rows * columns - sums - first) + 32 * sums - 16
    several = 12 * (channels > taps.BLOCK) + (12 + 4 * rows) * (channels > taps.BLOCK and channels % taps.BLOCK > 0)
    moving = 4 * rows * ((window.stride[1] > 1) + ((columns - 1) * _apart(call) > MOST_APART + taps.BLOCK))
    narrow = 88 * (channels < taps.BLOCK)
    return 1052 + adding + several + moving + narrow + FINISH_BYTES[packing.finish_of(call) or 0]


def params(call: Call) -> Params:
    return {**taps.params(call), "stream": taps.stream(call, woven.down_of(call) or 0)}


def kernel(*rules: Rule) -> Kernel:
    """The kernel mg_depthwise_conv2d_s8__mve_near. rules: rules of the operator."""
    base = taps.kernel(*rules)
    return replace(
        base,
        symbol="mg_depthwise_conv2d_s8__mve_near",
        accepts=(*base.accepts, is_near, steps_near, fills_vectors, has_inside, woven.narrows),
        params=params,
        text=replace(base.text, variant=variant),
        cost=Cost(work, TERMS, code=code),
        short="dw_mve_near",
    )
