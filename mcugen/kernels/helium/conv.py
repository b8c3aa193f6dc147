"""Convolution kernels for cores with Helium: they read padded rows in place, or patches gathered from these rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from mcugen.errors import InternalError
from mcugen.ir.call import Call, Params, Rule
from mcugen.ir.kernel import Cost, Kernel, Ring, RowStorage, Text
from mcugen.kernels.helium import packing
from mcugen.ops import _filter
from mcugen.ops._weighted import matrix, row_window, sums_fit, window_of
from mcugen.ops._window import MAX_FIELD, SlidingWindow

BYTE_OFFSET = 127
WORD_OFFSET = 508
"""Largest offset in bytes of a load of bytes, and of a load of words."""

MAX_ROWS = 3
"""Largest number of kernel rows. Each has a pointer in a register."""

MAX_PATCH_STEPS = 63

EIGHTS = 8
"""Number of outputs of two pixels that are computed together, if it divides the number of outputs."""

MOST_STEPS = 18
"""Largest number of steps for eight outputs at a time, which unroll the code of the steps twice."""
TERMS = (*packing.VECTOR_TERMS, *packing.FINISH_TERMS, "four_blocks", "pairs", "pair_steps", "gathered")


@dataclass(frozen=True)
class Rows:
    """The layout of the padded rows that a kernel reads. A step is a vector of 16 taps.

    channels   channels of a stored pixel
    pixel      bytes from one output's window to the next, or from patch to patch
    steps      steps per kernel row, or per patch
    words      whether words are loaded
    run, runs  length and number of the runs of adjacent taps per kernel row in a patch
    gap        bytes between runs
    stride     bytes from one output's window to the next in a row
    """

    channels: int
    pixel: int
    steps: int
    words: int
    run: int = 0
    runs: int = 0
    gap: int = 0
    stride: int = 0

    @property
    def is_patch(self) -> bool:
        return self.run > 0


def _direct(call: Call, window: SlidingWindow) -> Rows | None:
    """The layout of rows that are read in place; None if load offsets do not reach all elements of two windows."""
    if window.kernel[0] > MAX_ROWS or (window.dilation[1] > 1 and window.kernel[1] > 1):
        return None
    c = call.input(0).shape[3]
    for channels, words, reach in ((c, 0, BYTE_OFFSET), (-(-c // 4) * 4, 1, WORD_OFFSET)):
        steps = -(-window.kernel[1] * channels // packing.LANES)
        pixel = window.stride[1] * channels
        if (steps - 1) * packing.LANES + pixel <= reach:
            return Rows(channels, pixel, steps, words)
    return None


def _patches(call: Call, window: SlidingWindow) -> Rows | None:
    """The layout of rows gathered into patches; None if a patch is beyond the reach of a load."""
    c = call.input(0).shape[3]
    spread = window.dilation[1] > 1
    runs = window.kernel[1] if spread else 1
    run = c * window.kernel[1] // runs
    taps = window.kernel[0] * window.kernel[1] * c
    steps = -(-taps // packing.LANES)
    stored = taps - run + -(-run // packing.LANES) * packing.LANES
    pixel = -(-max(stored, steps * packing.LANES) // 4) * 4
    stride = window.stride[1] * c
    spans = window.extent(1) * c  # a gap that left padding does not cover
    if steps > MAX_PATCH_STEPS or run > BYTE_OFFSET or stride > BYTE_OFFSET * 8 or spans > MAX_FIELD:
        return None
    return Rows(c, pixel, steps, 1, run, runs, window.dilation[1] * c, stride)


def _instructions(rows: Rows | None, kernel_rows: int, outputs: int) -> float:
    """Estimated instructions per pixel; infinite if `rows` is None."""
    if rows is None:
        return float("inf")
    blocks = -(-outputs // packing.BLOCK)
    if rows.is_patch:
        return 7.0 * rows.steps * blocks + kernel_rows * rows.runs * (1 + 2 * -(-rows.run // packing.LANES))
    return 7.0 * rows.steps * kernel_rows * blocks


def best(call: Call, window: SlidingWindow) -> Rows | None:
    """The cheaper of the two layouts; None if neither is possible."""
    outputs = call.output.shape[3]
    direct = _direct(call, window) if _filter.int8_data(call) else None  # outliers are handled only by patches
    ways = [direct, _patches(call, window)]
    return min(ways, key=lambda rows: _instructions(rows, window.kernel[0], outputs))


def has_block(call: Call) -> bool:
    "there are at least 4 output channels"
    return call.output.shape[-1] >= packing.BLOCK


def rows_of(call: Call) -> Rows | None:
    return best(call, window_of(call))


def chosen(call: Call) -> Rows:
    found = rows_of(call)
    if found is None:
        raise InternalError(f"{call.op}: its kernel was chosen, but can read neither rows nor patches")
    return found


def reads_rows(call: Call) -> bool:
    "kernel rows, at most 3, are read in place, which costs less than gathering them"
    rows = rows_of(call)
    return rows is not None and not rows.is_patch


def gathers(call: Call) -> bool:
    "patches of at most 1008 elements are gathered, which costs less than reading kernel rows in place"
    rows = rows_of(call)
    return rows is not None and rows.is_patch


def _patch_reach(rows: Rows) -> int:
    """Elements from the start of a patch's first run to the end of the vectors of its last run."""
    return rows.gap * (rows.runs - 1) + -(-rows.run // packing.LANES) * packing.LANES


def ring(call: Call) -> RowStorage:
    rows, window, x, y = chosen(call), window_of(call), call.input(0), call.output
    reach = rows.steps * packing.LANES if not rows.is_patch else _patch_reach(rows)
    stride = rows.stride if rows.is_patch else rows.pixel
    last = max(y.shape[2] - 1, 1) * stride + reach
    return RowStorage("s8", -(-max(last, window.pad((x.shape[1], x.shape[2]))[1] * rows.channels) // 16) * 16)


def by_eights(call: Call) -> bool:
    "the number of outputs is a multiple of 8, and an output has at most 18 steps"
    return call.output.shape[3] % EIGHTS == 0 and rows_of(call) is not None and _steps(call) <= MOST_STEPS


def _steps(call: Call) -> int:
    """Steps of an output."""
    rows = chosen(call)
    return rows.steps * (1 if rows.is_patch else window_of(call).kernel[0])


def scratch(call: Call) -> int:
    return max(call.output.shape[2], 2) * chosen(call).pixel + packing.LANES


def variant(call: Call, *, eights: bool | None = None) -> dict[str, int]:
    """Constants of the C template.

    eights: whether eight outputs (four channels of two pixels) are computed at a time, with part of the pixels' data in
    registers; None: if possible.
    """
    rows, kernel_rows = chosen(call), window_of(call).kernel[0]
    sizes = {"rows": kernel_rows, "steps": rows.steps, "pixel": rows.pixel, "finish": packing.finish_of(call) or 0}
    sizes["eights"] = int(by_eights(call) if eights is None else eights)
    if rows.is_patch:
        taken = {"runs": rows.runs, "run": rows.run, "gap": rows.gap, "stride": rows.stride}
        return sizes | taken | {"alone": int(_is_alone(call))}
    return sizes | {"words": rows.words}


def _is_alone(call: Call) -> bool:
    """Whether the last patch of a row is computed alone: if eight outputs are computed at a time and the number of
    pixels is odd."""
    columns = call.output.shape[2]
    return chosen(call).is_patch and by_eights(call) and columns % 2 == 1 and columns > 1


def code(call: Call, *, eights: bool) -> int:
    """Code bytes of the kernel that reads rows in place, with all steps unrolled."""
    return 600 + 114 * _steps(call) if eights else 456 + 57 * _steps(call)


def patch_code(call: Call) -> int:
    """Code bytes of the kernel that reads patches, with all steps unrolled."""
    alone = (140 + 64 * _steps(call)) * _is_alone(call)
    return 560 + 112 * _steps(call) + alone if by_eights(call) else 530 + 56 * _steps(call)


def work(call: Call) -> dict[str, float]:
    """Cost terms: pairs of pixels, blocks of a pair and four outputs, blocks computed four outputs at a time
    (four_blocks), steps of blocks (pair_steps), and gathered vectors."""
    rows, y, kernel_rows = chosen(call), call.output.shape, window_of(call).kernel[0]
    pairs = y[0] * y[1] * (y[2] // 2 + y[2] % 2 * (0.7 if _is_alone(call) else 1))
    blocks = pairs * -(-y[3] // packing.BLOCK)
    vectors = kernel_rows * rows.runs * -(-rows.run // packing.LANES)
    return {
        **packing.vector_work(call, kernel_rows),
        "pairs": pairs,
        **packing.finish_work(call, blocks),
        "four_blocks": blocks * (not rows.is_patch or not by_eights(call)),
        "pair_steps": blocks * _steps(call),
        "gathered": y[0] * y[1] * y[2] * vectors,
    }


def outputs(call: Call) -> Params:
    """Sizes of an output row, its zero point and limits, and the input's zero point."""
    y, (low, high) = call.output, packing.output_range(call)
    return {
        "out_w": y.shape[2],
        "out_c": y.shape[3],
        "out_zero_point": y.zero_point,
        "out_min": low,
        "out_max": high,
        "in_zero_point": call.input(0).zero_point,
    }


def params(call: Call, *, eights: bool | None = None) -> Params:
    rows, window, x = chosen(call), window_of(call), call.input(0)
    w = matrix(call)
    taps = _taps(w, rows, window, x.shape[3])
    turned = by_eights(call) if eights is None else eights
    picked = packing.eights_of(call.output.shape[3]) if turned else None
    return {
        "stream": packing.stream(call, w, taps, list(range(taps.shape[1] // packing.LANES)), picked),
        **outputs(call),
        "in_w": x.shape[2],
        "in_c": x.shape[3],
        "row_c": rows.channels,
        "left_bytes": window.pad((x.shape[1], x.shape[2]))[1] * rows.channels,
        "row_bytes": ring(call).length,
    }


def _taps(w: np.ndarray, rows: Rows, window: SlidingWindow, c: int) -> np.ndarray:
    """[channels, steps * LANES] weights in the order of the steps."""
    if rows.is_patch:
        return packing.padded(w)
    cells = packing.padded(w.reshape(w.shape[0], *window.kernel, c), rows.channels)[..., : rows.channels]
    return packing.padded(cells.reshape(w.shape[0], window.kernel[0], -1)).reshape(w.shape[0], -1)


def kernels(*rules: Rule) -> tuple[Kernel, ...]:
    """The kernels mg_conv2d_s8__mve, .._eights and .._patches. rules: rules of the operator."""
    first = (_filter.int8_data, *rules, _filter.constant_weights, has_block)
    direct = (*first, reads_rows, packing.finishes, sums_fit)
    rows = replace(
        MODEL,
        accepts=direct,
        params=partial(params, eights=False),
        text=replace(MODEL.text, variant=partial(variant, eights=False)),
        cost=replace(MODEL.cost, code=partial(code, eights=False)),
    )
    eights = replace(
        MODEL,
        symbol=f"{MODEL.symbol}_eights",
        accepts=(*direct, by_eights),
        params=partial(params, eights=True),
        text=replace(MODEL.text, variant=partial(variant, eights=True)),
        cost=replace(MODEL.cost, code=partial(code, eights=True)),
        short="conv_mve_eights",
    )
    gathered = (*first, gathers, packing.finishes, sums_fit)
    return (
        rows,
        eights,
        replace(
            MODEL,
            symbol=f"{MODEL.symbol}_patches",
            accepts=gathered,
            scratch=scratch,
            cost=replace(MODEL.cost, code=patch_code),
            short="conv_mve_patch",
        ),
    )


MODEL = Kernel(
    "mg_conv2d_s8__mve",
    Ring(row_window, ring),
    params=params,
    text=Text(variant, struct="mg_conv2d_s8__mve"),
    cost=Cost(work, TERMS),
    needs=packing.NEEDS,
    short="conv_mve",
)
