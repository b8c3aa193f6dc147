"""MatMulInteger and ConvInteger: int32 sums of products of bytes, from partial sums that are exact in float32."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.formats.onnx.operators import _computed
from mcugen.formats.operators import _images
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ops.add import Add
from mcugen.ops.batch_matmul import BatchMatmul
from mcugen.ops.cast import Cast
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.reshape import Reshape
from mcugen.ops.strided_slice import StridedSlice
from mcugen.ops.sub import Sub
from mcugen.ops.transpose import Transpose

_MOST_PRODUCTS = (1 << 24) // (255 * 255)
"""Most products of two bytes, minus their zero points, whose sum is exact in float32."""


def _centred(e: Expansion, k: int, zero_at: int, along: int) -> str:
    """Operand k as floats, minus its zero point.

    zero_at: index of the operand that has the zero point, or a zero point for each index of axis `along`
    """
    x = e.inputs[k]
    if x is None or e.type(x).dtype not in ("s8", "u8"):
        raise UnsupportedError("operands of integer products must be int8 or uint8")
    real = e.node(Cast("f32"), x)
    zero = e.inputs[zero_at] if zero_at < len(e.inputs) else None
    if zero is None:
        return real
    shape, zeros = e.type(x).shape, e.node(Cast("f32"), zero)
    if e.type(zeros).size > 1:
        if e.type(zeros).size != shape[along]:
            raise ShapeError(f"{e.type(zeros).size} zero points do not fit {list(shape)}")
        zeros = e.node(Reshape(tuple(d if j == along % len(shape) else 1 for j, d in enumerate(shape))), zeros)
    return e.node(Sub(), real, zeros)


def _part(e: Expansion, x: str, axis: int, first: int, count: int) -> str:
    """Indices [first, first + count) of an axis."""
    shape = e.type(x).shape
    at = axis % len(shape)
    if count == shape[at]:
        return x
    ranges = tuple((first, count, 1) if k == at else (0, d, 1) for k, d in enumerate(shape))
    return e.node(StridedSlice(ranges, tuple(n for _, n, _ in ranges)), x)


def _summed(e: Expansion, parts: Sequence[str]) -> str:
    """The int32 sum of float tensors of whole numbers."""
    total = e.node(Cast("s32"), parts[0])
    for part in parts[1:]:
        total = e.node(Add(), total, e.node(Cast("s32"), part))
    return total


def matmul(source: Source, e: Expansion) -> Sequence[str]:
    """y = (A - zero point of A) * (B - zero point of B), a matrix product in int32. Source: ONNX MatMulInteger-10."""
    a, b = _centred(e, 0, 2, -2), _centred(e, 1, 3, -1)
    depth = e.type(a).shape[-1]
    if min(len(e.type(a).shape), len(e.type(b).shape)) < 2 or e.type(b).shape[-2] != depth:
        raise UnsupportedError(f"a product of {list(e.type(a).shape)} and {list(e.type(b).shape)} is not supported")
    parts = []
    for first in range(0, depth, _MOST_PRODUCTS):
        count = min(_MOST_PRODUCTS, depth - first)
        parts.append(e.node(BatchMatmul(), _part(e, a, -1, first, count), _part(e, b, -2, first, count)))
    return [_summed(e, parts)]


def convolution(source: Source, e: Expansion) -> Sequence[str]:
    """A convolution of bytes minus their zero points, in int32. Source: ONNX ConvInteger-10."""
    x, w = _centred(e, 0, 2, 1), _centred(e, 1, 3, 0)
    image, weights, groups = e.type(x).shape, e.type(w).shape, source.attributes["group"]
    source.attributes.ignore("kernel_shape")  # repeats the weights' shape
    if len(image) < 3 or len(image) != len(weights) or groups < 1 or image[1] != weights[1] * groups:
        raise ShapeError(f"weights {list(weights)} in {groups} groups do not fit an image {list(image)}")
    window = _images.geometry(source.attributes, image, weights[2:])
    most = _MOST_PRODUCTS // int(np.prod(weights[2:]))
    if not window.fits() or most < 1 or (groups > 1 and weights[1] > most):
        raise UnsupportedError(f"weights {list(weights)} in {groups} groups are not supported")
    op, step, parts = Conv2D(window.stride, window.dilation, window.padding), min(most, weights[1]), []
    for first in range(0, weights[1], step):
        count = min(step, weights[1] - first)
        data = _images.to_last(e, x if groups > 1 else _part(e, x, 1, first, count))
        taps = _images.two_dimensional(e, _part(e, w, 1, first, count))
        if _computed.is_computed(e, (taps,)):
            bare = replace(window, padding=((0, 0), (0, 0)))
            data = _images.padded(e, data, window.padding)
            parts.append(_computed.convolution(e, data, taps, None, bare, groups))
        else:
            parts.append(e.node(op, data, e.node(Transpose((0, 2, 3, 1)), taps)))
    return [_images.to_first(e, _summed(e, parts), len(image))]


IMPORTS = (
    Import("onnx", "MatMulInteger", since=10, expand=matmul),
    Import("onnx", "ConvInteger", since=10, expand=convolution),
)
