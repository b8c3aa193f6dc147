"""Convolutions and fully connected layers on floats: 16 output channels and up to 12 pixels at a time."""

from __future__ import annotations

import numpy as np

from mcugen.ir.call import Call, Param, Params
from mcugen.ir.kernel import Kernel, Ring, RowStorage, Run, Text
from mcugen.kernels.simd import block_scales, byte_dots
from mcugen.kernels.simd.byte_dots import Segments, vector_segments, window_segments
from mcugen.ops import _filter
from mcugen.ops._activation import float_clamp_fields
from mcugen.ops._weighted import activation_of, matrix, pixels, row_window, taps_of

NEEDS = frozenset({"fma"})
HELPERS = ("simd_dense_f32.c",)

BLOCK_BYTES = 32768
"""Bytes of vectors that are multiplied with all weights before the next ones."""

LEAST_BLOCK = 48
"""Fewest vectors of these; a multiple of all tiles."""

RULES = (_filter.float_data, _filter.constant_weights)


def tiles(w: np.ndarray) -> np.ndarray:
    """Weights [outputs, taps] as [blocks, taps, 16]."""
    return block_scales.filled(w).reshape(-1, block_scales.LANES, w.shape[1]).transpose(0, 2, 1)


def dense_fields(name: str, w: np.ndarray, bias: np.ndarray | None, found: Segments, block: int) -> dict[str, Param]:
    """The fields of mg_simd_floats without its clamp. name: of the member. bias: None if other sums are added."""
    fields: dict[str, Param] = {
        "weights": tiles(w).astype(np.float32).reshape(-1),
        "kernel_h": found.rows,
        "segments": found.count,
        "gap": found.gap,
        "taps": found.taps,
        "step": found.step,
        "tiles": block_scales.blocks(len(w)),
        "out_c": len(w),
        "block": block,
    }
    given = {} if bias is None else {"bias": block_scales.filled(bias).astype(np.float32)}
    return {f"{name}.{key}": value for key, value in (fields | given).items()}


def block_of(vectors: int, taps: int) -> int:
    """Vectors of `taps` elements that are computed together, of so many."""
    return max(min(vectors, max(LEAST_BLOCK, BLOCK_BYTES // 4 // max(taps, 1) // LEAST_BLOCK * LEAST_BLOCK)), 1)


def _fields(call: Call, found: Segments, block: int) -> dict[str, Param]:
    w = matrix(call)
    clamp = float_clamp_fields(call, activation_of(call))
    fields = dense_fields("dense", w, _filter.bias_of(call, len(w)), found, block)
    return fields | {f"dense.{name}": value for name, value in clamp.items()}


def _row_len(call: Call) -> int:
    """Elements of a stored row."""
    x, found = call.input(0).shape, window_segments(call)
    last = (call.output.shape[2] - 1) * found.step + (found.count - 1) * found.gap + found.taps
    return max(byte_dots.before(call) + x[2] * x[3], last)


def _window_params(call: Call) -> Params:
    x = call.input(0).shape
    return {
        **_fields(call, window_segments(call), max(call.output.shape[2], 1)),
        "in_len": x[2] * x[3],
        "before": byte_dots.before(call),
        "row_len": _row_len(call),
        "out_w": call.output.shape[2],
    }


def _vector_params(call: Call) -> Params:
    return _fields(call, vector_segments(call), block_of(pixels(call), taps_of(call)))


WINDOW = Kernel(
    "mg_conv2d_f32__fma",
    Ring(row_window, lambda call: RowStorage("f32", _row_len(call))),
    RULES,
    _window_params,
    text=Text(struct="mg_simd_conv_f32", helpers=HELPERS),
    needs=NEEDS,
)
"""Convolution in one group, with a window that slides over rows."""

VECTORS = Kernel(
    "mg_fully_connected_f32__fma",
    Run(pixels),
    RULES,
    _vector_params,
    text=Text(struct="mg_simd_vectors_f32", helpers=HELPERS),
    needs=NEEDS,
    short="fc_f32_fma",
)
"""1x1 convolution, or fully connected layer."""
