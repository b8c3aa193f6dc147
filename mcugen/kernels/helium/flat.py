"""Convolutions of images with short rows: the outputs of several rows are computed as one row, from rows interleaved as
in woven.py.
"""

from __future__ import annotations

from dataclasses import replace

from mcugen.ir.call import Call, Rule
from mcugen.ir.kernel import Cost, Kernel, Whole
from mcugen.kernels.helium import packing, woven
from mcugen.kernels.helium.conv import has_block
from mcugen.ops import _filter
from mcugen.ops._weighted import sums_fit, window_of

TERMS = (
    *packing.FINISH_TERMS,
    "pairs",
    "fours",
    "four_steps",
    "rows_taken",
    "woven_rows",
    "chunks",
    "taps",
    "split",
)

MOST_BAND = 72
"""Limit of the outputs per channel that are computed as one row, so that their taps take little memory."""

BEGUN = 0.6
"""Cost of starting a row, relative to a group of four outputs."""


def _band(call: Call) -> int:
    """The number of rows that are computed as one: the fastest choice within MOST_BAND."""
    _, height, width, _ = call.output.shape
    bands = range(1, max(min(height, MOST_BAND // width), 1) + 1)
    return min(bands, key=lambda rows: -(-height // rows) * (-(-rows * width // woven.PIXELS) + BEGUN))


def in_bands(call: Call) -> bool:
    "one image of at most 36 output columns and 84 output channels; a band of rows has at least 8 pixels"
    x, y = call.input(0).shape, call.output.shape
    return x[0] == 1 and y[2] <= MOST_BAND // 2 and _pixels(call) in woven.WIDTHS and y[3] <= woven.MOST_OUTPUTS


def _pixels(call: Call) -> int:
    """Number of outputs per channel that are computed as one row."""
    return _band(call) * call.output.shape[2]


def _taps(call: Call) -> int:
    return window_of(call).kernel[1] * woven.woven_of(call).column


def _scratch(call: Call) -> int:
    found, blocks = woven.woven_of(call), -(-_pixels(call) // woven.PIXELS)
    vectors = found.steps * packing.LANES
    reach = (call.output.shape[2] - 1) * found.pixel + vectors
    return 2 * blocks * woven.PAIR_BYTES + (woven.PIXELS * blocks - 1) * _taps(call) + vectors + reach


def _variant(call: Call) -> dict[str, int]:
    x, y, window = call.input(0).shape, call.output.shape, window_of(call)
    return {
        **woven.variant(call),
        "width": _pixels(call),
        "pixel": _taps(call),
        "across": y[2],
        "step": woven.woven_of(call).pixel,
        "height": y[1],
        "stride": window.stride[0],
        "apart": window.dilation[0],
        "band": _band(call),
        "above": window.pad((x[1], x[2]))[0],
        "in_height": x[1],
        "in_row": x[2] * x[3],
    }


def _work(call: Call) -> dict[str, float]:
    """Cost terms of `woven.work` for bands of rows; output rows (rows_taken), interleaved rows (woven_rows), and copied
    vectors of taps (taps)."""
    x, y, found, pairs = call.input(0).shape, call.output.shape, woven.woven_of(call), len(woven.pairs_of(call))
    bands = -(-y[1] // _band(call))
    blocks, rows = bands * -(-_pixels(call) // woven.PIXELS), bands * _band(call)
    woven_rows = rows * window_of(call).kernel[0]
    return {
        **packing.finish_work(call, blocks * (pairs // 2)),
        "pairs": bands * pairs,
        "fours": pairs * blocks,
        "four_steps": pairs * blocks * found.steps,
        "rows_taken": rows,
        "woven_rows": woven_rows,
        "chunks": woven_rows * x[2] * x[3] / found.chunk * found.vectors,
        "taps": rows * y[2] * found.steps,
        "split": blocks * int(woven.split_of(call).sum()),
    }


def kernel(*rules: Rule) -> Kernel:
    """The kernel mg_conv2d_s8__mve_woven_flat. rules: rules of the operator."""
    base = woven.kernel(*rules)
    fitting = (woven.is_woven, in_bands, packing.finishes, sums_fit, woven.narrows)
    return replace(
        base,
        symbol=f"{base.symbol}_flat",
        form=Whole(),
        accepts=(_filter.int8_outside, *rules, woven.pays, woven.in_two, has_block, *fitting),
        operands=(0,),
        scratch=_scratch,
        text=replace(base.text, variant=_variant),
        cost=Cost(_work, TERMS, code=woven.code),
        short="conv_mve_flat",
    )
