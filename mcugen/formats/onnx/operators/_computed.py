"""Convolutions whose weights are not constant: a matrix of image patches times a matrix of weights."""

from __future__ import annotations

from collections.abc import Sequence

from mcugen.formats.onnx.operators._windows import joined, taps
from mcugen.formats.operators._images import Geometry
from mcugen.ir.imports import Expansion
from mcugen.ops.add import Add
from mcugen.ops.batch_matmul import BatchMatmul
from mcugen.ops.reshape import Reshape
from mcugen.ops.split import Split
from mcugen.ops.transpose import Transpose


def convolution(e: Expansion, x: str, weights: str, bias: str | None, window: Geometry, groups: int) -> str:
    """Convolution of an image x [N, H, W, C], already padded, with weights [O, C / groups, KH, KW]."""
    outputs, channels = e.type(weights).shape[:2]
    if groups == 1:
        y = _product(e, x, weights, window)
    else:
        parts = e.nodes(Split(3, (channels,) * groups), x)
        kernels = e.nodes(Split(0, (outputs // groups,) * groups), weights)
        y = joined(e, [_product(e, a, w, window) for a, w in zip(parts, kernels, strict=True)], 3)
    return y if bias is None else e.node(Add(), y, bias)


def _product(e: Expansion, x: str, weights: str, window: Geometry) -> str:
    patches = joined(e, taps(e, x, window), 3)
    n, h, w, size = e.type(patches).shape
    outputs = e.type(weights).shape[0]
    matrix = e.node(Reshape((outputs, size)), e.node(Transpose((0, 2, 3, 1)), weights))
    rows = e.node(Reshape((n * h * w, size)), patches)
    return e.node(Reshape((n, h, w, outputs)), e.node(BatchMatmul(False, True), rows, matrix))


def is_computed(e: Expansion, names: Sequence[str | None]) -> bool:
    """Whether any of these operands is present and not constant."""
    return any(name is not None and e.data(name) is None for name in names)
