"""Normalizations that ONNX does not define by simpler operators, or by needlessly many."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.formats.operators.elements import operands
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ops.add import Add
from mcugen.ops.arithmetic import Arithmetic
from mcugen.ops.div import Div
from mcugen.ops.mean import Mean
from mcugen.ops.mul import Mul
from mcugen.ops.pad import Pad
from mcugen.ops.reshape import Reshape
from mcugen.ops.sqrt import Sqrt
from mcugen.ops.square import Square
from mcugen.ops.strided_slice import StridedSlice
from mcugen.ops.sub import Sub

MAX_TAPS = 64
_DEFAULT_AXES = (0, 2, 3)
"""Default axes of MeanVarianceNormalization."""


def instance(source: Source, e: Expansion) -> Sequence[str]:
    """(x - mean) / sqrt(var + epsilon) * scale + bias, by image and channel. Source: ONNX InstanceNormalization-22."""
    x, scale, bias = operands(e, 3)
    shape = e.type(x).shape
    if len(shape) < 3 or any(e.type(name).shape != (shape[1],) for name in (scale, bias)):
        raise ShapeError(f"scales and biases do not fit data {list(shape)}")
    normal = standardized(e, x, tuple(range(2, len(shape))), source.attributes["epsilon"])
    spread = (shape[1], *(1,) * (len(shape) - 2))
    factor, addend = (e.node(Reshape(spread), name) for name in (scale, bias))
    return [e.node(Add(), e.node(Mul(), normal, factor), addend)]


def standardized(e: Expansion, x: str, axes: tuple[int, ...], epsilon: float) -> str:
    """(x - mean) / sqrt(variance + epsilon) over axes."""
    centred = e.node(Sub(), x, e.node(Mean(axes, True), x))
    variance = e.node(Mean(axes, True), e.node(Square(), centred))
    spread = e.node(Sqrt(), e.node(Add(), variance, e.constant(np.array(epsilon, np.float32))))
    return e.node(Div(), centred, spread)


def mean_variance(source: Source, e: Expansion) -> Sequence[str]:
    """(x - mean) / standard deviation over axes; NaN if all elements are equal.

    Like ONNX Runtime, this ignores default axes beyond the rank, and does not add the 1e-9 that ONNX adds to the
    standard deviation.
    Source: ONNX MeanVarianceNormalization-13; onnxruntime, mean_variance_normalization.cc.
    """
    (x,), stated = operands(e, 1), source.attributes["axes"]
    rank = len(e.type(x).shape)
    axes = tuple(k for k in stated if k < rank) if tuple(stated) == _DEFAULT_AXES else tuple(stated)
    if not axes or not all(-rank <= k < rank for k in axes):
        raise ShapeError(f"axes {list(axes)} are not axes of rank {rank}")
    chosen = tuple(sorted({k % rank for k in axes}))
    centred = e.node(Sub(), x, e.node(Mean(chosen, True), x))
    deviation = e.node(Sqrt(), e.node(Mean(chosen, True), e.node(Square(), centred)))
    return [e.node(Div(), centred, deviation)]


def local_response(source: Source, e: Expansion) -> Sequence[str]:
    """x / (bias + alpha / size * sum of squares of the `size` nearest channels)^beta. Source: ONNX LRN-13."""
    (x,), a = operands(e, 1), source.attributes
    shape, size = e.type(x).shape, a["size"]
    if len(shape) < 2 or not 1 <= size <= MAX_TAPS:
        raise UnsupportedError(f"normalizing {list(shape)} over {size} channels is not supported")
    before = (size - 1) // 2
    none = ((0, 0),) * (len(shape) - 2)
    squares = e.node(Pad(((0, 0), (before, size - 1 - before), *none)), e.node(Square(), x))
    total = ""
    for k in range(size):
        ranges = ((0, shape[0], 1), (k, shape[1], 1), *((0, d, 1) for d in shape[2:]))
        part = e.node(StridedSlice(ranges, shape), squares)
        total = e.node(Add(), total, part) if total else part
    alpha, beta, bias = (e.constant(np.array(v, np.float32)) for v in (a["alpha"] / size, a["beta"], a["bias"]))
    divisor = e.node(Arithmetic("pow"), e.node(Add(), e.node(Mul(), total, alpha), bias), beta)
    return [e.node(Div(), x, divisor)]


def skipped(centred: bool, source: Source, e: Expansion) -> Sequence[str]:
    """A layer norm (centred) or RMS norm of x + skip + bias: (y, mean, 1 / deviation, the sum).

    Source: com.microsoft SkipLayerNormalization-1, SkipSimplifiedLayerNormalization-1.
    """
    x, skip, gamma = operands(e, 3)
    beta, bias = [*([None] if not centred else []), *e.inputs[3:], None, None][:2]
    total = e.node(Add(), x, skip)
    total = total if bias is None else e.node(Add(), total, bias)
    axes = (len(e.type(total).shape) - 1,)
    mean = e.node(Mean(axes, True), total)
    d = e.node(Sub(), total, mean) if centred else total
    variance = e.node(Mean(axes, True), e.node(Square(), d))
    epsilon = e.constant(np.array(source.attributes.get("epsilon", 1e-12), np.float32))
    deviation = e.node(Sqrt(), e.node(Add(), variance, epsilon))
    y = e.node(Mul(), e.node(Div(), d, deviation), gamma)
    one = e.constant(np.array(1.0, np.float32))
    return [y if beta is None else e.node(Add(), y, beta), mean, e.node(Div(), one, deviation), total]


IMPORTS = (
    Import("onnx", "com.microsoft:SkipLayerNormalization", expand=partial(skipped, True)),
    Import("onnx", "com.microsoft:SkipSimplifiedLayerNormalization", expand=partial(skipped, False)),
    Import("onnx", "InstanceNormalization", expand=instance),
    Import("onnx", "LRN", expand=local_response),
    Import("onnx", "MeanVarianceNormalization", expand=mean_variance),
)
