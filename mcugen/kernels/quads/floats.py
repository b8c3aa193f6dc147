"""Shared recipe of the float kernels on four pixels and four output channels: convolutions, 1x1 ones and vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from mcugen.call import Call, Params, Rule
from mcugen.kernel import Form, Kernel, RowWindow
from mcugen.ops import _filter, _float_blocks
from mcugen.ops._window import Window, fields

BLOCK = 4
"""Pixels, and output channels, of a block."""
VECTOR_BLOCK = 8
"""Outputs of a block of a vector."""
POINTER_BYTES = 8
"""Of a pointer on any machine that runs the code, the one that builds it among them."""
TERMS = ("placed", "blocks", "words")
SOURCE = "quads_f32.c"
STRUCT = "mg_quads_f32"
NEEDS = frozenset({"fpu"})


def window_kernel(
    symbol: str,
    matrix: _filter.Matrix,
    window: Callable[[Call], Window],
    rows: Callable[[Call], RowWindow],
    *rules: Rule,
) -> Kernel:
    """A kernel that slides a window over rows, of one group of channels."""

    def params(call: Call) -> Params:
        return {**_params(call, matrix), **_geometry(call, window(call))}

    return Kernel(
        symbol,
        Form.WINDOW,
        accepts=(*_float_blocks.RULES, *rules),
        params=params,
        scratch=lambda call: _window_scratch(call, window(call)),
        window=rows,
        outside=_filter.outside,
        work=lambda call: _row_work(call, window(call), matrix(call).shape[1]),
        terms=(*TERMS, "reads", "pointers"),
        needs=NEEDS,
        struct=STRUCT,
        source=SOURCE,
    )


def depthwise_kernel(
    symbol: str,
    matrix: _filter.Matrix,
    window: Callable[[Call], Window],
    rows: Callable[[Call], RowWindow],
    *rules: Rule,
) -> Kernel:
    """A kernel that slides a window over the rows of each channel by itself."""

    def params(call: Call) -> Params:
        w = matrix(call)
        quads = _float_blocks.covering(len(w))
        weights = _float_blocks.packed(w[quads], _filter.bias_of(call, len(w))[quads])
        return {**_params(call, matrix), "weights": weights, **_geometry(call, window(call))}

    return replace(
        window_kernel(symbol, matrix, window, rows, _float_blocks.four_channels, *rules),
        params=params,
    )


def run_kernel(symbol: str, matrix: _filter.Matrix, count: Callable[[Call], int], *rules: Rule) -> Kernel:
    """A kernel on pixels or vectors, each by itself."""

    def params(call: Call) -> Params:
        return _params(call, matrix)

    def scratch(call: Call) -> int:
        return _aligned(4 * call.output.shape[-1])

    return Kernel(
        symbol,
        Form.POINTWISE,
        accepts=(*_float_blocks.RULES, *rules),
        params=params,
        count=count,
        scratch=scratch,
        work=lambda call: _work(call, -(-count(call) // BLOCK), matrix(call).shape[1]),
        terms=TERMS,
        needs=NEEDS,
        struct=STRUCT,
        source=SOURCE,
    )


def vector_kernel(symbol: str, matrix: _filter.Matrix, count: Callable[[Call], int]) -> Kernel:
    """A kernel on vectors, eight outputs at a time."""

    def params(call: Call) -> Params:
        w = matrix(call)
        return {
            **_params(call, matrix),
            "weights": _float_blocks.packed(w, _filter.bias_of(call, len(w)), VECTOR_BLOCK),
        }

    def work(call: Call) -> dict[str, float]:
        blocks = count(call) * -(-call.output.shape[-1] // VECTOR_BLOCK)
        return {"blocks": blocks, "words": blocks * call.input(1).shape[-1]}

    return Kernel(
        symbol,
        Form.POINTWISE,
        accepts=_float_blocks.RULES,
        params=params,
        count=count,
        work=work,
        terms=("blocks", "words"),
        needs=NEEDS,
        struct=STRUCT,
        source=SOURCE,
    )


def _params(call: Call, matrix: _filter.Matrix) -> dict[str, Any]:
    w = matrix(call)
    kind = _float_blocks.KINDS[_float_blocks.activation(call)]
    return {
        "weights": _float_blocks.packed(w, _filter.bias_of(call, len(w))),
        "taps": w.shape[1],
        "outputs": len(w),
        "kind": kind,
        "out_max": 6.0 if kind == _float_blocks.KINDS["RELU6"] else 0.0,
    }


def _geometry(call: Call, window: Window) -> dict[str, Any]:
    x = call.input(0)
    return {"outside": np.zeros(x.shape[3], np.float32), **fields(window, x, call.output)}


def _work(call: Call, placed: int, taps: int) -> dict[str, float]:
    """Blocks of four pixels, those times blocks of four channels, and the words of weights in them."""
    blocks = placed * -(-call.output.shape[-1] // BLOCK)
    return {"placed": placed, "blocks": blocks, "words": blocks * taps}


def _row_work(call: Call, window: Window, taps: int) -> dict[str, float]:
    """The same; also the runs that are read at once: kernel rows where no column needs data beyond the row."""
    images, height, width, _ = call.output.shape
    across = -(-width // BLOCK)
    found = _work(call, images * height * across, taps)
    first, end = window.inside(call.input(0))
    inside = sum(first <= x and min(x + BLOCK, width) <= end for x in range(0, width, BLOCK)) / across
    runs = window.kernel[0] * (inside + (1 - inside) * window.kernel[1])
    return {**found, "reads": runs * found["blocks"], "pointers": runs * found["placed"]}


def _window_scratch(call: Call, window: Window) -> int:
    pointers = BLOCK * window.kernel[0] * window.kernel[1]
    return _aligned(pointers * POINTER_BYTES + 4 * call.output.shape[3])


def _aligned(nbytes: int) -> int:
    return -(-nbytes // 16) * 16
