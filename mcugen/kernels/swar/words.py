"""Shared recipe of the kernels on words of two channels: convolutions, 1x1 convolutions and vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import numpy as np

from mcugen.call import Call, Params, Rule
from mcugen.kernel import Form, Kernel, RowWindow
from mcugen.kernels.swar import packing
from mcugen.ops import _filter
from mcugen.ops._window import Window, fields

SOURCE = "swar_s8.c"
STRUCT = "mg_swar_s8"
PIXELS = 4
"""Of a block, at most: a core with few registers takes two."""
POINTER_BYTES = 8
"""Of a pointer on any machine that runs the code, the one that builds it among them."""
TERMS = tuple(f"{size}_{what}" for size in ("two", "four") for what in ("blocks", "groups", "words"))
ROW_TERMS = (*TERMS, *(f"{size}_{what}" for size in ("two", "four") for what in ("copied", "runs")))


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
        accepts=(*_rules(matrix), *rules),
        params=params,
        scratch=_scratch(matrix),
        window=rows,
        outside=_filter.outside,
        work=lambda call: _row_work(call, matrix, window(call)),
        terms=ROW_TERMS,
        widened=True,
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

    def exact(call: Call) -> bool:
        "sums stay below 2^21, and the multipliers scale them down"
        if not _filter.int8_data(call) or not _filter.constant_weights(call):
            return False
        activation = _activation(call)
        return packing.in_three_parts(call, packing.channels(call, matrix(call), activation), activation)

    def params(call: Call) -> Params:
        activation = _activation(call)
        lanes = packing.lane_fields(call, packing.channels(call, matrix(call), activation), activation)
        return {**lanes, **_geometry(call, window(call), adjacent=False)}

    def scratch(call: Call) -> int:
        taps = -(-matrix(call).shape[1] // 3) * 3
        return _aligned(2 * taps * POINTER_BYTES + call.output.shape[3])

    def work(call: Call) -> dict[str, float]:
        blocks = _blocks(call)["blocks"]
        return {"blocks": blocks, "lanes": blocks * call.output.shape[3], "threes": _work_threes(call, blocks)}

    made = window_kernel(symbol, matrix, window, rows)
    made = replace(made, accepts=(*made.accepts[:2], exact, *rules), params=params, scratch=scratch)
    return replace(made, work=work, terms=("blocks", "lanes", "threes"))


def run_kernel(symbol: str, matrix: _filter.Matrix, count: Callable[[Call], int], *rules: Rule) -> Kernel:
    """A kernel on pixels or vectors, each by itself."""

    def params(call: Call) -> Params:
        return _params(call, matrix)

    return Kernel(
        symbol,
        Form.POINTWISE,
        accepts=(*_rules(matrix), *rules),
        params=params,
        count=count,
        scratch=_scratch(matrix),
        work=lambda call: _work(call, matrix, 1, count(call)),
        terms=TERMS,
        widened=True,
        struct=STRUCT,
        source=SOURCE,
    )


def _rules(matrix: _filter.Matrix) -> tuple[Rule, ...]:
    return _filter.int8_data, _filter.constant_weights, _requantizes(matrix)


def _requantizes(matrix: _filter.Matrix) -> Rule:
    def exact(call: Call) -> bool:
        "sums stay below 2^23, and the multipliers scale them down"
        if not _filter.int8_data(call) or not _filter.constant_weights(call):
            return False
        activation = _activation(call)
        return packing.requantizes(call, packing.channels(call, matrix(call), activation), activation)

    return exact


def _params(call: Call, matrix: _filter.Matrix) -> dict[str, Any]:
    activation = _activation(call)
    return dict(packing.fields(call, packing.channels(call, matrix(call), activation), activation))


def _activation(call: Call) -> str:
    return cast(str, cast(Any, call.op).activation)


def _scratch(matrix: _filter.Matrix) -> Callable[[Call], int]:
    def nbytes(call: Call) -> int:
        outputs = call.output.shape[-1]
        return _aligned(PIXELS * (call.input(1).size // outputs) + outputs)

    return nbytes


def _work_threes(call: Call, blocks: float) -> float:
    """Of taps, in all lanes."""
    taps = call.input(1).size // call.output.shape[3]
    return blocks * call.output.shape[3] * -(-taps // 3)


def _work(call: Call, matrix: _filter.Matrix, rows: int, width: int) -> dict[str, float]:
    """Rows of pixels in blocks of two, or of four on some cores; groups and words of pairs of channels in them."""
    w = matrix(call)
    groups, words = packing.groups(w), -(-len(w) // 2) * w.shape[1]
    found: dict[str, float] = {}
    for size, name in ((2, "two"), (PIXELS, "four")):
        blocks = rows * -(-width // size)
        found |= {f"{name}_blocks": blocks, f"{name}_groups": blocks * groups, f"{name}_words": blocks * words}
    return found


def _row_work(call: Call, matrix: _filter.Matrix, window: Window) -> dict[str, float]:
    """The same; also bytes of patches, and runs of such that are copied at once."""
    images, height, width, _ = call.output.shape
    first, end = window.inside(call.input(0))
    found = _work(call, matrix, images * height, width)
    inside = max(end - first, 0) / width
    runs = window.kernel[0] * (inside + (1 - inside) * window.kernel[1])
    taps = matrix(call).shape[1]
    copied = {"two_copied": 2 * taps * found["two_blocks"], "four_copied": 4 * taps * found["four_blocks"]}
    return {**found, **copied, "two_runs": runs * found["two_blocks"], "four_runs": runs * found["four_blocks"]}


def _blocks(call: Call) -> dict[str, float]:
    images, height, width, _ = call.output.shape
    return {"blocks": float(images * height * -(-width // 2))}


def _geometry(call: Call, window: Window, adjacent: bool = True) -> dict[str, Any]:
    x = call.input(0)
    outside = np.full(x.shape[3], x.zero_point, np.int8)
    return {"outside": outside, **fields(window, x, call.output, adjacent=adjacent)}


def _aligned(nbytes: int) -> int:
    return -(-nbytes // 16) * 16
