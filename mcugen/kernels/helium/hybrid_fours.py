"""Convolutions of float data with int8 weights on cores with Helium: four output channels of a pixel at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Cost, Kernel, Text, Whole
from mcugen.kernels.helium.packing import BLOCK, FLOATS, LANES
from mcugen.ops import _hybrid

_LEAST = 1e-30
"""Scales and biases from here on never give sums that Helium takes for 0, unless they are 0."""
_LARGEST_PRODUCT = 127 * 255


def in_fours(call: Call) -> bool:
    "one group, and a number of output channels that 4 divides"
    return call.input(0).shape[3] == call.input(3).shape[3] and call.output.shape[3] % BLOCK == 0


def not_tiny(call: Call) -> bool:
    "every scale of weights is at least 1e-30, and every bias is 0 or at least 1e-30 in magnitude"
    bias = np.abs(call.constant(4)) if call.has(4) else np.zeros(1)
    scales = _hybrid.weight_scales(call, call.output.shape[3])
    return bool((scales >= _LEAST).all() and ((bias == 0) | (bias >= _LEAST)).all())


def _steps(call: Call) -> int:
    """Groups of 16 taps of a pixel."""
    return -(-int(np.prod(call.input(3).shape[1:])) // LANES)


def _params(call: Call) -> Params:
    fields: dict[str, Any] = _hybrid.weight_fields(call, call.constant(3), call.op.activation)
    outputs, steps = call.output.shape[3], _steps(call)
    flat = call.constant(3).reshape(outputs, -1)
    w = np.zeros((outputs, steps * LANES), np.int8)
    w[:, : flat.shape[1]] = flat
    blocks = w.reshape(-1, BLOCK, steps, LANES).swapaxes(1, 2)
    return {
        **fields,
        "weights": np.ascontiguousarray(blocks).reshape(-1),
        "sums": flat.astype(np.int64).sum(axis=1).astype(np.int32),
        **_hybrid.geometry(call, call.op.window(call.input(3).shape)),
        "steps": steps,
        "twice": int(call.op.twice),
        "relu": int(fields["out_min"] == 0),
        "capped": int(np.isfinite(fields["out_max"])),
        "least": float(fields["scale"].min()),
        "reach": float(_LARGEST_PRODUCT * flat.shape[1] * np.abs(fields["scale"]).max()),
    }


def _scratch(call: Call) -> int:
    """Bytes of two numbers for each output channel, and of the taps of a pixel."""
    return 8 * call.output.shape[3] + LANES * _steps(call)


def _work(call: Call) -> dict[str, float]:
    """Cost terms: channels of images (started), pixels (placed), these times blocks of four channels, vectors of taps
    that blocks read (words), and kernel rows that are gathered (reads)."""
    images, height, width, channels = call.output.shape
    placed = images * height * width
    blocks = placed * channels // BLOCK
    reads = _hybrid.gathered_rows(call, LANES * _steps(call))
    words = blocks * _steps(call)
    return {"started": images * channels, "placed": placed, "blocks": blocks, "words": words, "reads": reads}


CONV = Kernel(
    "mg_hybrid_conv2d__mve",
    Whole(),
    (
        _hybrid.constant_weights,
        _hybrid.sums_fit,
        in_fours,
        _hybrid.adjacent_columns,
        _hybrid.plain_results,
        not_tiny,
    ),
    _params,
    operands=(0, 1, 2),
    scratch=_scratch,
    text=Text(struct="mg_hybrid_conv2d__mve"),
    cost=Cost(_work, ("started", "placed", "blocks", "words", "reads")),
    needs=FLOATS,
)
