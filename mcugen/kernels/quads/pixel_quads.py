"""Shared parts of the float kernels for four pixels times four channels: convolutions, 1x1 convolutions and vectors."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Cost, Kernel, Run, Text, Window
from mcugen.ops import _filter, _float_blocks
from mcugen.ops._weighted import activation_of, half_weights, matrix, pixels, row_window, taps_of, window_of
from mcugen.ops._window import fields

BLOCK = 4
"""Number of pixels and of output channels in a block."""
VECTOR_BLOCK = 8
"""Outputs in a block of a fully connected layer."""
POINTER_BYTES = 8
"""Size of the largest pointer among the machines that run the code, including the build machine."""
TERMS = ("placed", "blocks", "words")
SOURCE = "quads_f32.c"
STRUCT = "mg_quads_f32"
NEEDS = frozenset({"fpu"})


def _params(call: Call) -> dict[str, Any]:
    w = matrix(call)
    kind = _float_blocks.KINDS[activation_of(call)]
    return {
        "weights": _float_blocks.packed(w, _filter.bias_of(call, len(w))),
        "taps": w.shape[1],
        "outputs": len(w),
        "kind": kind,
        "out_max": 6.0 if kind == _float_blocks.KINDS["RELU6"] else 0.0,
    }


def _geometry(call: Call) -> dict[str, Any]:
    x = call.input(0)
    return {"outside": np.zeros(x.shape[3], np.float32), **fields(window_of(call), x, call.output)}


def _work(call: Call, placed: int, taps: int) -> dict[str, float]:
    """Cost terms: blocks of four pixels (placed), blocks of four pixels and four channels, and words of weights that
    these read."""
    blocks = placed * -(-call.output.shape[-1] // BLOCK)
    return {"placed": placed, "blocks": blocks, "words": blocks * taps}


def _row_work(call: Call) -> dict[str, float]:
    """Cost terms of `_work`, contiguous reads of taps per block (reads) and pointers to them (pointers).

    A kernel row is one read if all columns of the block are inside the image row; else each kernel column is one.
    """
    window, (images, height, width, _) = window_of(call), call.output.shape
    across = -(-width // BLOCK)
    found = _work(call, images * height * across, taps_of(call))
    first, end = window.inside(call.input(0))
    inside = sum(first <= x and min(x + BLOCK, width) <= end for x in range(0, width, BLOCK)) / across
    runs = window.kernel[0] * (inside + (1 - inside) * window.kernel[1])
    return {**found, "reads": runs * found["blocks"], "pointers": runs * found["placed"]}


def _window_scratch(call: Call) -> int:
    kernel = window_of(call).kernel
    pointers = BLOCK * kernel[0] * kernel[1]
    return _aligned(pointers * POINTER_BYTES + 4 * call.output.shape[3])


def _window_params(call: Call) -> Params:
    return {**_params(call), **_geometry(call)}


def _depthwise_params(call: Call) -> Params:
    w = matrix(call)
    quads = _float_blocks.covering(len(w))
    weights = _float_blocks.packed(w[quads], _filter.bias_of(call, len(w))[quads])
    return {**_params(call), "weights": weights, **_geometry(call)}


def _run_scratch(call: Call) -> int:
    return _aligned(4 * call.output.shape[-1])


def _run_work(call: Call) -> dict[str, float]:
    return _work(call, -(-pixels(call) // BLOCK), taps_of(call))


def _vector_params(call: Call) -> Params:
    w = matrix(call)
    return {**_params(call), "weights": _float_blocks.packed(w, _filter.bias_of(call, len(w)), VECTOR_BLOCK)}


def _vector_work(call: Call) -> dict[str, float]:
    """Cost terms: blocks of eight outputs, words of weights that they read, and clamped outputs (bounded)."""
    blocks = pixels(call) * -(-call.output.shape[-1] // VECTOR_BLOCK)
    bounded = call.output.size if activation_of(call) != "NONE" else 0
    return {"blocks": blocks, "words": blocks * call.input(1).shape[-1], "bounded": bounded}


def _aligned(nbytes: int) -> int:
    return -(-nbytes // 16) * 16


WINDOW = Kernel(
    "mg_conv2d_f32__quads",
    Window(row_window, _filter.outside),
    accepts=_float_blocks.RULES,
    params=_window_params,
    scratch=_window_scratch,
    text=Text(source=SOURCE, struct=STRUCT),
    cost=Cost(_row_work, (*TERMS, "reads", "pointers")),
    needs=NEEDS,
)
"""Convolution in one group, with a window that slides over rows."""

DEPTHWISE = replace(
    WINDOW,
    symbol="mg_depthwise_conv2d_f32__quads",
    accepts=(*_float_blocks.RULES, _float_blocks.four_channels),
    params=_depthwise_params,
)
"""Depthwise convolution, with a window that slides over rows."""

RUN = Kernel(
    "mg_conv2d_f32__quads_pointwise",
    Run(pixels),
    accepts=_float_blocks.RULES,
    params=_params,
    scratch=_run_scratch,
    text=Text(source=SOURCE, struct=STRUCT),
    cost=Cost(_run_work, TERMS),
    needs=NEEDS,
)
"""1x1 convolution."""

VECTOR = replace(
    RUN,
    symbol="mg_fully_connected_f32__eights",
    params=_vector_params,
    scratch=None,
    cost=Cost(_vector_work, ("blocks", "words", "bounded")),
)
"""Fully connected layer, eight outputs at a time."""


def _in_halves(kernel: Kernel) -> Kernel:
    """The variant of a kernel with float16 weights."""
    contract, _, form = kernel.symbol.partition("__")
    how, *rest = form.split("_")
    symbol = f"{contract}__{'_'.join([how, 'halves', *rest])}"
    made = replace(
        kernel, symbol=symbol, params=partial(_halved, kernel), text=replace(kernel.text, source="quads_halves.c")
    )
    return made.ruled(half_weights)


def _halved(kernel: Kernel, call: Call) -> Params:
    """The fields of a kernel with float16 weights."""
    fields = kernel.params(call) if kernel.params else {}
    block = VECTOR_BLOCK if "__eights" in kernel.symbol else BLOCK
    words = _float_blocks.halved(np.asarray(fields["weights"]), taps_of(call), block)
    return {**fields, "weights": words}


HALVES = {kernel: _in_halves(kernel) for kernel in (WINDOW, DEPTHWISE, RUN, VECTOR)}
"""Kernel -> its variant with float16 weights."""
