"""Shared recipe of the float kernels on four pixels and four output channels: convolutions, 1x1 ones and vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import numpy as np

from mcugen.op import Call, Form, Kernel, Params, RowWindow, Rule
from mcugen.ops import _filter
from mcugen.ops._window import Window, fields

BLOCK = 4
"""Pixels, and output channels, of a block."""
POINTER_BYTES = 8
"""Of a pointer on any machine that runs the code, the one that builds it among them."""
KINDS = {"NONE": 0, "RELU": 1, "RELU6": 2}
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
        accepts=(*_RULES, *rules),
        params=params,
        scratch=lambda call: _window_scratch(call, window(call)),
        window=rows,
        outside=_filter.outside,
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
        quads = _covering(len(w))
        packed = _packed(w[quads], _filter.bias_of(call, len(w))[quads])
        return {**_params(call, matrix), "weights": packed, **_geometry(call, window(call))}

    return replace(
        window_kernel(symbol, matrix, window, rows, four_channels, *rules),
        params=params,
    )


def _covering(channels: int) -> np.ndarray:
    """Channels of the quads of a depthwise kernel: the last one ends with the last channel."""
    starts = np.minimum(np.arange(0, channels, BLOCK), channels - BLOCK)
    return np.asarray((starts[:, None] + np.arange(BLOCK)).reshape(-1))


def four_channels(call: Call) -> bool:
    "there are at least four channels"
    return call.output.shape[-1] >= BLOCK


def run_kernel(symbol: str, matrix: _filter.Matrix, count: Callable[[Call], int], *rules: Rule) -> Kernel:
    """A kernel on pixels or vectors, each by itself."""

    def params(call: Call) -> Params:
        return _params(call, matrix)

    def scratch(call: Call) -> int:
        return _aligned(4 * call.output.shape[-1])

    return Kernel(
        symbol,
        Form.POINTWISE,
        accepts=(*_RULES, *rules),
        params=params,
        count=count,
        scratch=scratch,
        needs=NEEDS,
        struct=STRUCT,
        source=SOURCE,
    )


def known_activation(call: Call) -> bool:
    "outputs have no bounds, or start at 0"
    return _activation(call) in KINDS


_RULES = (_filter.float_data, _filter.constant_weights, known_activation)


def _params(call: Call, matrix: _filter.Matrix) -> dict[str, Any]:
    w = matrix(call)
    kind = KINDS[_activation(call)]
    return {
        "weights": _packed(w, _filter.bias_of(call, len(w))),
        "taps": w.shape[1],
        "outputs": len(w),
        "kind": kind,
        "out_max": 6.0 if kind == KINDS["RELU6"] else 0.0,
    }


def _packed(w: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """Quads of channels: biases, then weights tap by tap; zeros beyond the last channel."""
    padded = np.zeros((-(-len(w) // BLOCK) * BLOCK, w.shape[1] + 1), np.float32)
    padded[: len(w), 0] = bias
    padded[: len(w), 1:] = w
    return padded.reshape(-1, BLOCK, w.shape[1] + 1).transpose(0, 2, 1).reshape(-1)


def _geometry(call: Call, window: Window) -> dict[str, Any]:
    x = call.input(0)
    return {"outside": np.zeros(x.shape[3], np.float32), **fields(window, x, call.output)}


def _window_scratch(call: Call, window: Window) -> int:
    pointers = BLOCK * window.kernel[0] * window.kernel[1]
    return _aligned(pointers * POINTER_BYTES + 4 * call.output.shape[3])


def _aligned(nbytes: int) -> int:
    return -(-nbytes // 16) * 16


def _activation(call: Call) -> str:
    return cast(str, cast(Any, call.op).activation)
