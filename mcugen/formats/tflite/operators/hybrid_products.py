"""BATCH_MATMUL of float data with constant int8 matrices: each row of the data is quantized at run time."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ops._hybrid import is_hybrid
from mcugen.ops.concatenation import Concatenation
from mcugen.ops.hybrid_conv2d import rows_times
from mcugen.ops.reshape import Reshape
from mcugen.ops.split import Split
from mcugen.ops.transpose import Transpose

_MOST = 64
"""Most constant matrices of one operator: each becomes a layer."""


def expand(source: Source, e: Expansion) -> Sequence[str]:
    """A layer for each constant matrix. Source: LiteRT batch_matmul.cc, EvalHybrid."""
    a, (x, b) = source.attributes, e.inputs[:2]
    symmetric, turned = not a["asymmetric_quantize_inputs"], (a["adj_x"], a["adj_y"])
    matrices = None if b is None else e.data(b)
    if x is None or b is None or min(len(e.type(k).shape) for k in (x, b)) < 2:
        raise ShapeError("a matrix product needs two matrices")
    if matrices is None:
        raise UnsupportedError("int8 matrices that are computed at run time are not supported with float data")
    data = _swapped(e, x) if turned[0] else x
    weights = matrices if turned[1] else np.swapaxes(matrices, -1, -2)
    batches, (rows, depth) = e.type(data).shape[:-2], e.type(data).shape[-2:]
    own = weights.shape[:-2]
    if weights.shape[-1] != depth:
        raise ShapeError(f"{list(e.type(data).shape)} does not fit matrices {list(weights.shape)}")
    count = math.prod(own)
    if count > 1 and batches != own:
        raise UnsupportedError(f"matrices in batches {list(own)} with float data in {list(batches)} are not supported")
    if count > _MOST:
        raise UnsupportedError(f"{count} matrices are not supported, only up to {_MOST}")
    quant = e.type(b).quant
    if quant is not None and quant.per_channel:
        raise UnsupportedError("matrices with several scales are not supported with float data")
    constants = [e.constant(w, quant) for w in weights.reshape(count, -1, depth)]
    parts = [rows_times(source, e, (part, w, None), symmetric=symmetric)
             for part, w in zip(_parts(e, data, count), constants, strict=True)]  # fmt: skip
    y = parts[0] if count == 1 else e.node(Concatenation(0), *parts)
    rank = max(len(batches), len(own))
    return [e.node(Reshape(((1,) * (rank - len(batches)) + batches) + (rows, weights.shape[-2])), y)]


def _swapped(e: Expansion, x: str) -> str:
    rank = len(e.type(x).shape)
    return e.node(Transpose((*range(rank - 2), rank - 1, rank - 2)), x)


def _parts(e: Expansion, x: str, count: int) -> Sequence[str]:
    """Names of `count` tensors [1, rows, depth] into which x is split; x itself if count is 1."""
    rows, depth = e.type(x).shape[-2:]
    return [x] if count == 1 else e.nodes(Split(0, (1,) * count), e.node(Reshape((count, rows, depth)), x))


IMPORTS = (Import("tflite", "BATCH_MATMUL", expand=expand, when=is_hybrid),)
