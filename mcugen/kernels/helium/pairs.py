"""Convolutions with little memory: the taps of two pixels are gathered, then all outputs of both are computed."""

from __future__ import annotations

from dataclasses import replace

from mcugen.ir.call import Call, Params, Rule
from mcugen.ir.kernel import Cost, Kernel, Window
from mcugen.kernels.helium import conv, packing, shared
from mcugen.ops import _filter
from mcugen.ops._weighted import matrix, row_window, sums_fit, taps_of, window_of
from mcugen.ops._window import MAX_FIELD

CODE_BYTES = 1488

TERMS = (
    *packing.VECTOR_TERMS,
    "pairs",
    "blocks",
    "pair_steps",
    "alone_blocks",
    "alone_steps",
    "runs",
    "edges",
    "copies",
    "gathered",
)


def _steps(call: Call) -> int:
    return -(-taps_of(call) // packing.LANES)


def fields_fit(call: Call) -> bool:
    "no patch is longer than 65535 bytes"
    height, width = window_of(call).kernel
    return height * width * call.input(0).shape[3] + packing.LANES <= MAX_FIELD


def scratch(call: Call) -> int:
    return 2 * _steps(call) * packing.LANES


def code(call: Call) -> int:
    return CODE_BYTES


def _of_a_row(call: Call) -> tuple[int, int]:
    """(runs, edges) of an output row.

    runs: calls for pairs of pixels: one for all pairs inside the image, one for each other pair. edges: windows that
    reach beyond the sides and are gathered one by one.
    """
    window, x, left = window_of(call), call.input(0).shape, call.output.shape[2]
    reach, column = window.extent(1) - 1 + window.stride[1], -window.pad((x[1], x[2]))[1]
    runs, edges, apart = 0, left % 2, 2 * window.stride[1]
    while left > 1:
        is_within = column >= 0 and column + reach < x[2]
        pairs = min((x[2] - column - reach - 1) // apart + 1, left // 2) if is_within and window.dilation[1] == 1 else 1
        runs, edges = runs + 1, edges + 2 * (not is_within)
        column, left = column + apart * pairs, left - 2 * pairs
    return runs, edges


def work(call: Call) -> dict[str, float]:
    """Cost terms: pairs of pixels; blocks of four outputs of a pair or of a single pixel (alone_blocks), and their
    steps; calls (runs), windows beyond the sides (edges), copied runs of taps (copies), and vectors of these
    (gathered)."""
    y, channels, window = call.output.shape, call.input(0).shape[3], window_of(call)
    (pairs, alone), blocks = (y[0] * y[1] * n for n in divmod(y[2], 2)), -(-y[3] // packing.BLOCK)
    pieces = window.kernel[1] if window.dilation[1] > 1 else 1
    nbytes = window.kernel[1] // pieces * channels
    copies = y[0] * y[1] * -(-y[2] // 2) * window.kernel[0] * pieces
    runs, edges = _of_a_row(call)
    return {
        **packing.vector_work(call, window.kernel[0]),
        "pairs": pairs,
        "blocks": pairs * blocks,
        "pair_steps": pairs * blocks * _steps(call),
        "alone_blocks": alone * blocks,
        "alone_steps": alone * blocks * _steps(call),
        "runs": y[0] * y[1] * runs,
        "edges": y[0] * y[1] * edges,
        "copies": copies,
        "gathered": copies * -(-nbytes // packing.LANES),
    }


def params(call: Call) -> Params:
    w, window, x = matrix(call), window_of(call), call.input(0)
    return {
        "stream": packing.stream(call, w, packing.padded(w), list(range(_steps(call)))),
        **conv.outputs(call),
        "steps": _steps(call),
        "kernel_h": window.kernel[0],
        "kernel_w": window.kernel[1],
        "in_c": x.shape[3],
        "in_w": x.shape[2],
        "stride": window.stride[1],
        "dilation": window.dilation[1],
        "left": window.pad((x.shape[1], x.shape[2]))[1],
    }


def kernel(*rules: Rule) -> Kernel:
    """The kernel mg_conv2d_s8__mve_pairs. rules: rules of the operator."""
    fitting = (conv.has_block, fields_fit, packing.finishes, sums_fit)
    return replace(
        shared.MODEL,
        symbol="mg_conv2d_s8__mve_pairs",
        form=Window(row_window),
        accepts=(_filter.int8_data, *rules, _filter.constant_weights, *fitting),
        params=params,
        scratch=scratch,
        text=replace(shared.MODEL.text, struct="mg_conv2d_s8__mve_pairs"),
        cost=Cost(work, TERMS, code=code),
        short="conv_mve_pairs",
    )
