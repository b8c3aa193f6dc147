"""Convolutions that pack two channels into a word and read int8 rows in place, two pixels at a time.

The taps of windows that reach beyond a row are gathered in the memory of outputs that are not computed yet, or in
scratch if the row's outputs have no room for them. Taps stay signed. Taps that are contiguous in memory form a run,
and each group of taps lies in one run. The constants of a layer are one stream of 32-bit words:

    per pair of channels    initial value of both sums, initial value of the upper sum, number of groups of the first
                            run
        per group           start word, whose lower 6 bits are 61 - 2 * n for n taps; n words
        between runs        NEXT + 64 * number of groups of the next run
        end                 END + 64 * kind, the sum of LINEAR, SINGLE, FOUR and FULL
        per channel         multiplier, shift and rounding as in channel_pairs.py

The two sums in a word do not overlap, as in channel_pairs.py, for x in [-128, 127].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mcugen.ir.call import Call, Params
from mcugen.ir.fixed_point import activation_range
from mcugen.ir.kernel import Cost, Kernel, Run, Text, Window
from mcugen.kernels.swar import channel_pairs
from mcugen.kernels.swar.words import GROUP, aligned, channels_of
from mcugen.kernels.swar.words import RUN as PATCHED
from mcugen.ops import _filter
from mcugen.ops._weighted import activation_of, matrix, pixels, row_window, taps_of, window_of
from mcugen.ops._window import fields

SOURCE = "swar_direct.c"
STRUCT = "mg_swar_direct"
PIXELS = 2
"""Pixels that are computed together."""
MOST_RUNS = 16
"""Largest number of runs (contiguous taps) per pixel. Their addresses are on the stack."""
NEXT, END = 0, 2
CODES = 64
"""Number of values of the lower 6 bits of a start word."""
TERMS = ("blocks", "inner", "runs")


def _runs(call: Call) -> tuple[int, int]:
    """(number of runs in a kernel row, number of taps in a run). The taps of a run are contiguous in memory."""
    window, channels = window_of(call), call.input(0).shape[3]
    count = window.kernel[1] if window.dilation[1] > 1 else 1
    return count, window.kernel[1] // count * channels


def few_runs(call: Call) -> bool:
    "the window has at most 16 runs of contiguous taps"
    return window_of(call).kernel[0] * _runs(call)[0] <= MOST_RUNS


def _words(call: Call, run: int) -> list[int]:
    """The packed constants of a layer, as in the table above. run: number of contiguous taps."""
    made = channels_of(call)
    w, stream = made.weights, list[int]()
    for pair in channel_pairs.pairs(call, made, made.signed_bias, np.where(w > 0, 128 * w, -127 * w)):
        stream += [*_sums(pair, run), END + CODES * pair.kind, *pair.ends]
    return stream


def _sums(pair: channel_pairs.Pair, run: int) -> list[int]:
    """The words of a pair before its end: initial values, then start words and weights of the groups of each run."""
    (sizes0, sizes1), (least0, least1) = pair.sizes, pair.before
    runs: list[list[tuple[int, int, int, int]]] = []
    for k in range(0, len(sizes0), run):
        parts = [(k + a, k + b) for a, b in channel_pairs.split(sizes0[k : k + run], sizes1[k : k + run])]
        runs.append([(a, b, *_start(least0[b] - least0[a], least1[b] - least1[a], b - a)) for a, b in parts])
    lower_start = pair.bias[0] - sum(s0 for groups in runs for _, _, s0, _ in groups)
    upper_start = pair.bias[1] - sum(s1 for groups in runs for _, _, _, s1 in groups)
    found = [channel_pairs.u32(lower_start + (upper_start << 16)), channel_pairs.u32(upper_start), len(runs[0])]
    for k, groups in enumerate(runs):
        if k > 0:
            found.append(NEXT + CODES * len(groups))
        for a, b, s0, s1 in groups:
            found.append(channel_pairs.u32(s0 + (s1 << 16)))
            found += pair.words[a:b]
    return found


def _start(lower: int, upper: int, taps: int) -> tuple[int, int]:
    """(lower, upper) start values of a group, which keep both sums in their halves of the word. The lower 6 bits of the
    lower value encode the number of taps.

    lower, upper: the largest amount by which the group can lower each sum.
    """
    return lower + (CODES - 3 - 2 * taps - lower) % CODES, upper - 32768


def _shared(call: Call, run: int) -> dict[str, Any]:
    (outputs, taps), (least, most) = matrix(call).shape, activation_range(activation_of(call), call.output)
    return {
        "stream": np.array(_words(call, run), np.uint32),
        "pairs": (outputs + 1) // 2,
        "taps": taps,
        "outputs": outputs,
        "out_min": least,
        "out_span": most - least,
    }


def _params(call: Call) -> Params:
    return _shared(call, taps_of(call))


def patches_of(call: Call) -> int:
    """Number of edge columns computed at a time (0 to 2) whose taps fit in the memory of the inner columns' outputs.

    0: the taps need scratch memory. Inner columns need no padding and are written after the edges. A single edge column
    is computed together with an inner column, whose outputs must not overlap the taps.
    """
    first, end = window_of(call).inside(call.input(0), adjacent=False)
    outputs, taps = call.output.shape[3], taps_of(call)
    if 2 * taps <= (end - first) * outputs and taps <= (end - first - 1) * outputs:
        return PIXELS
    return int(taps <= (end - first) * outputs)


def _window_params(call: Call) -> Params:
    window, x, (runs, run) = window_of(call), call.input(0), _runs(call)
    geometry = fields(window, x, call.output, adjacent=False)
    places = {"run_length": run, "runs": runs, "run_stride": window.dilation[1] * x.shape[3], "outside": x.zero_point}
    places["patches"] = patches_of(call)
    return {**_shared(call, run), **geometry, **places}


def _scratch(call: Call) -> int:
    """Bytes of scratch for the gathered taps of two columns; 0 if the taps fit in the memory of the outputs."""
    return 0 if patches_of(call) else aligned(PIXELS * taps_of(call))


def _work(call: Call, blocks: int, run: int) -> dict[str, float]:
    """Cost terms: blocks of pixels; for each block, words and groups of all pairs of channels (inner), and runs."""
    w = matrix(call)
    pairs, runs = -(-len(w) // 2), w.shape[1] // run
    groups = sum(channel_pairs.groups(w[:, k : k + run]) for k in range(0, w.shape[1], run))
    counts = {"blocks": 1, "inner": GROUP * groups + pairs * w.shape[1], "runs": pairs * runs}
    return {name: float(blocks * count) for name, count in counts.items()}


def _run_work(call: Call) -> dict[str, float]:
    return _work(call, -(-pixels(call) // PIXELS), taps_of(call))


def _row_work(call: Call) -> dict[str, float]:
    """Cost terms of `_work`, gathered pieces of rows (copies), and their bytes (copied)."""
    window, x, (images, height, width, _) = window_of(call), call.input(0), call.output.shape
    first, end = window.inside(x, adjacent=False)
    edges = width - (end - first)
    copies = images * height * edges * window.kernel[0] * window.kernel[1]
    blocks = edges - (end - first) // -PIXELS if patches_of(call) == 1 else -(-width // PIXELS)
    found = _work(call, images * height * blocks, _runs(call)[1])
    return {**found, "copies": float(copies), "copied": float(copies * x.shape[3])}


POINTWISE = Kernel(
    "mg_conv2d_s8__swar_direct_pointwise",
    Run(pixels),
    accepts=PATCHED.accepts,
    params=_params,
    text=Text(source=SOURCE, struct=STRUCT),
    cost=Cost(_run_work, TERMS),
    widened=True,
    short="cswd_pointwise",
)
"""1x1 convolution."""

WINDOW = Kernel(
    "mg_conv2d_s8__swar_direct",
    Window(row_window, _filter.outside),
    accepts=(*PATCHED.accepts, few_runs),
    params=_window_params,
    scratch=_scratch,
    text=Text(source=SOURCE, struct=STRUCT),
    cost=Cost(_row_work, (*TERMS, "copies", "copied")),
    widened=True,
    short="cswd",
)
"""Convolution in one group, with a window that slides over rows."""
