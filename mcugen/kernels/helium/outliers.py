"""Helium kernels for weights that do not fit int8 in a few channels: legacy uint8 weights minus their zero point.

Usually only a few channels, the outliers, have weights that need the ninth bit. Dense kernels compute all channels with
weights clipped to int8, and then compute the outliers again. Depthwise kernels: see `spread`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mcugen.ir.call import Call, Params, Rule
from mcugen.ir.kernel import Cost, Kernel, Text
from mcugen.kernels.helium import conv, dense, packing, shared
from mcugen.ops import _filter
from mcugen.ops._weighted import matrix, pixels, sums_fit

LARGEST = 255
"""Largest magnitude of a weight 2 * a + b, with a = w >> 1 and b = w & 1."""

TERMS = ("outliers", "outlier_vectors")

CODE_BYTES = 500
"""Additional code bytes for outliers."""


def few_bits(call: Call) -> bool:
    "all weights are within -255 to 255"
    return _filter.constant_weights(call) and bool(np.abs(matrix(call)).max(initial=0) <= LARGEST)


def _rows(w: np.ndarray) -> np.ndarray:
    """Indices of the channels of weights [channels, taps] that do not fit int8."""
    return np.flatnonzero((w.min(axis=1) < -128) | (w.max(axis=1) > 127))


def _fields(call: Call, base: Params) -> Params:
    w = matrix(call)
    rows = _rows(w)
    halves = packing.padded(w[rows] >> 1)
    parts = np.stack([halves, packing.padded(w[rows] & 1)], axis=1)  # w = 2 * (w >> 1) + (w & 1)
    vectors = parts.reshape(len(rows), 2, parts.shape[2] // packing.LANES, packing.LANES).swapaxes(1, 2)
    words = np.ascontiguousarray(vectors.astype(np.int8)).view(np.int32).reshape(len(rows), parts.shape[2] // 2)
    heads = packing.finishing(call, w, np.arange(w.shape[0])[:, None])[rows, :, 0]
    stream = np.concatenate([rows[:, None].astype(np.int32), heads, words], axis=1)
    return {
        **{f"base.{name}": value for name, value in base.items()},
        "outliers.stream": stream.reshape(-1).astype(np.int32),
        "outliers.count": len(rows),
        "outliers.length": w.shape[1],
    }


def _work(call: Call) -> dict[str, float]:
    """Cost terms: outputs of outlier channels, and their vectors of 16 taps."""
    w = matrix(call)
    outputs = float(pixels(call) * len(_rows(w)))
    return {"outliers": outputs, "outlier_vectors": outputs * -(-w.shape[1] // packing.LANES)}


def _dense_variant(call: Call) -> dict[str, int]:
    return {"finish": packing.finish_of(call) or 0, "long": int(dense.is_long(call))}


_TYPES = (_filter.int8_data_wide_weights, _filter.constant_weights, few_bits)


def vectors(*rules: Rule) -> Kernel:
    """The kernel for 1x1 convolutions and fully connected layers. rules: rules of the operator."""
    return replace(
        dense.MODEL,
        symbol="mg_dense_s8__mve_outliers",
        accepts=(*_TYPES, *rules, packing.finishes, sums_fit),
        params=lambda call: _fields(call, dense.params(call)),
        text=Text(_dense_variant, struct="mg_dense_s8__mve_outliers"),
        cost=Cost(lambda call: {**dense.work(call), **_work(call)}, (*packing.VECTOR_TERMS, *dense.TERMS, *TERMS)),
        short="fc_mve_out",
    )


def patches(*rules: Rule) -> Kernel:
    """The kernel for convolutions. rules: rules of the operator."""
    return replace(
        conv.MODEL,
        symbol="mg_conv2d_s8__mve_patches_outliers",
        accepts=(*_TYPES, *rules, conv.has_block, conv.gathers, packing.finishes, sums_fit),
        params=lambda call: _fields(call, conv.params(call)),
        scratch=conv.scratch,
        text=replace(conv.MODEL.text, struct="mg_conv2d_s8__mve_outliers"),
        cost=Cost(lambda call: {**conv.work(call), **_work(call)}, (*conv.TERMS, *TERMS)),
        short="conv_mve_out",
    )


def shared_patches(*rules: Rule) -> Kernel:
    """The kernel for convolutions whose one function serves all sizes. rules: rules of the operator."""
    return replace(
        shared.MODEL,
        symbol="mg_conv2d_s8__mve_shared_outliers",
        accepts=(*_TYPES, *rules, *shared.FITTING),
        params=lambda call: _fields(call, shared.params(call)),
        text=replace(shared.MODEL.text, struct="mg_conv2d_s8__mve_shared_outliers"),
        cost=Cost(
            lambda call: {**shared.work(call), **_work(call)},
            (*shared.TERMS, *TERMS),
            code=lambda _: shared.CODE_BYTES + CODE_BYTES,
        ),
        short="conv_mve_sh_out",
    )
