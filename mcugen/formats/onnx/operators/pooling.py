"""MaxPool, AveragePool, LpPool and their global forms, over channels-first signals, images and volumes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.formats.onnx.operators import _volumes, _windows
from mcugen.formats.operators import _images
from mcugen.formats.operators.elements import is_plain
from mcugen.ir.imports import Attributes, Expansion, Import, Source
from mcugen.ir.op import Widths
from mcugen.ops.abs import Abs
from mcugen.ops.arithmetic import Arithmetic
from mcugen.ops.average_pool_2d import AveragePool2D
from mcugen.ops.max_pool_2d import MaxPool2D
from mcugen.ops.mean import Mean
from mcugen.ops.mul import Mul
from mcugen.ops.reduce_max import ReduceMax
from mcugen.ops.sqrt import Sqrt
from mcugen.ops.square import Square
from mcugen.ops.sum import Sum

MAX_EXPONENT = 16
_NONE = ((0, 0), (0, 0))
Pooled = Callable[[Expansion, str, _images.Geometry, Widths], str]
"""A function that pools images [N, H, W, C] by a window. It also gets the padding that the file states."""


def max_pool(source: Source, e: Expansion) -> Sequence[str]:
    """The largest element of each window inside the image, and its index. Source: ONNX MaxPool-12."""
    by_columns = source.attributes["storage_order"]  # only affects the indices
    x, shape, kernel = _operand(source, e)
    if source.results < 2:
        return [_pooled(_largest, source.attributes, e, x, kernel)]
    if len(shape) > 4:
        raise UnsupportedError("indices of volumes are not supported")
    window, image = _window(source.attributes, shape, kernel), _images.to_last(e, x)
    if min(width for pair in window.padding for width in pair) < 0:
        raise UnsupportedError("indices with negative pads are not supported")
    y, at = _windows.largest_and_place(e, image, window, by_columns=bool(by_columns) and len(shape) == 4)
    return [_images.to_first(e, y, len(shape)), _images.to_first(e, at, len(shape))]


def _largest(e: Expansion, x: str, window: _images.Geometry, stated: Widths) -> str:
    if window.dilation == (1, 1) and window.fits() and not is_plain(e.type(x)):
        return e.node(MaxPool2D(window.kernel, window.stride, window.padding), x)
    return _windows.largest(e, x, window)


def average_pool(source: Source, e: Expansion) -> Sequence[str]:
    """The mean of each window, without padding or with its zeros (count_include_pad). Source: ONNX AveragePool-19."""
    x, _, kernel = _operand(source, e)
    pool = _mean_with_zeros if source.attributes["count_include_pad"] else _mean
    return [_pooled(pool, source.attributes, e, x, kernel)]


def _mean_with_zeros(e: Expansion, x: str, window: _images.Geometry, stated: Widths) -> str:
    rest = [(p[0] - q[0], p[1] - q[1]) for p, q in zip(window.padding, stated, strict=True)]
    padded = _images.padded(e, x, stated)
    return _mean(e, padded, replace(window, padding=(rest[0], rest[1])), _NONE)


def _mean(e: Expansion, x: str, window: _images.Geometry, stated: Widths) -> str:
    if window.dilation == (1, 1) and window.fits():
        return e.node(AveragePool2D(window.kernel, window.stride, window.padding), x)
    total, size = _windows.total(e, x, window), e.type(x).shape[1:3]
    counts = np.outer(*(_windows.counts(window, d, size[d]) for d in (0, 1)))
    if (counts == 0).any():
        raise UnsupportedError(f"padding {window.padding} leaves windows without any element")
    factors = (1.0 / counts).astype(np.float32).reshape(1, *counts.shape, 1)
    return e.node(Mul(), total, e.constant(factors))


def lp_pool(source: Source, e: Expansion) -> Sequence[str]:
    """(sum over each window of |x|^p)^(1/p). Source: ONNX LpPool-18."""
    x, _, kernel = _operand(source, e)
    p = _exponent(source)
    powers = e.node(Square(), x) if p == 2 else _power(e, e.node(Abs(), x), p)
    y = _pooled(lambda e, x, window, stated: _windows.total(e, x, window), source.attributes, e, powers, kernel)
    return [e.node(Sqrt(), y) if p == 2 else _power(e, y, 1 / p)]


def _exponent(source: Source) -> int:
    p = int(source.attributes["p"])
    if not 1 <= p <= MAX_EXPONENT:
        raise ShapeError(f"p = {p} is not supported; it must be from 1 to {MAX_EXPONENT}")
    return p


def _power(e: Expansion, x: str, p: float) -> str:
    return x if p == 1 else e.node(Arithmetic("pow"), x, e.constant(np.array(p, np.float32)))


def _pooled(pool: Pooled, a: Attributes, e: Expansion, x: str, kernel: Sequence[int]) -> str:
    """Signals, images or volumes pooled by `pool`; volumes first in their planes, then along the depth."""
    shape = e.type(x).shape
    if len(shape) <= 4:
        stated, window = _images.geometry(a, shape, kernel, pools=True).padding, _window(a, shape, kernel)
        image = _windows.cut(e, _images.to_last(e, x), window.padding)
        y = pool(e, image, replace(window, padding=_added(window.padding)), _added(stated))
        return _images.to_first(e, y, len(shape))
    if len(shape) != 5:
        raise UnsupportedError(f"{len(shape) - 2} spatial axes are not supported, 1 to 3 are")
    planes, depth = _volumes.part(a, (1, 2)), _volumes.part(a, (0,))
    flat = _volumes.volumes(e, _pooled(pool, planes, e, _volumes.slices(e, x), kernel[1:]), shape[0])
    size = e.type(flat).shape[3:]
    return _volumes.deep(e, _pooled(pool, depth, e, _volumes.columns(e, flat), (kernel[0], 1)), size)


def _added(padding: Widths) -> Widths:
    """The padding with negative widths set to 0."""
    (above, below), (left, right) = padding
    return (max(above, 0), max(below, 0)), (max(left, 0), max(right, 0))


def global_average(source: Source, e: Expansion) -> Sequence[str]:
    """The mean over all spatial axes, which stay with size 1. Source: ONNX GlobalAveragePool-1."""
    return [e.node(Mean(_spatial(e), keep_dims=True), e.inputs[0])]


def global_max(source: Source, e: Expansion) -> Sequence[str]:
    """The maximum over all spatial axes, which stay with size 1. Source: ONNX GlobalMaxPool-1."""
    return [e.node(ReduceMax(_spatial(e), keep_dims=True), e.inputs[0])]


def global_lp(source: Source, e: Expansion) -> Sequence[str]:
    """The norm over all spatial axes, which stay with size 1. Source: ONNX GlobalLpPool-2."""
    p = _exponent(source)
    powers = _power(e, e.node(Abs(), e.inputs[0]), p)
    return [_power(e, e.node(Sum(_spatial(e), keep_dims=True), powers), 1 / p)]


def _spatial(e: Expansion) -> tuple[int, ...]:
    rank = len(e.type(str(e.inputs[0])).shape)
    if rank < 3:
        raise ShapeError(f"an image has three axes or more, not {rank}")
    return tuple(range(2, rank))


def _operand(source: Source, e: Expansion) -> tuple[str, tuple[int, ...], Sequence[int]]:
    """The data, its shape, and kernel_shape."""
    x = e.inputs[0]
    shape = () if x is None else e.type(x).shape
    kernel = source.attributes["kernel_shape"]
    if x is None or len(shape) < 3 or not kernel or len(kernel) != len(shape) - 2:
        raise ShapeError(f"a window {kernel} does not fit an image {list(shape)}")
    return x, shape, kernel


def _window(a: Attributes, shape: tuple[int, ...], kernel: Sequence[int]) -> _images.Geometry:
    """The window, with padding changed so that the number of results is rounded as ceil_mode states."""
    window = _images.geometry(a, shape, kernel, pools=True)
    size = shape[2:] if len(shape) == 4 else (1, shape[2])
    rounded = _images.rounded_up if a["ceil_mode"] else _images.reached
    return rounded(window, (size[0], size[1]))


IMPORTS = (
    Import("onnx", "MaxPool", expand=max_pool),
    Import("onnx", "AveragePool", expand=average_pool),
    Import("onnx", "LpPool", expand=lp_pool),
    Import("onnx", "GlobalAveragePool", expand=global_average),
    Import("onnx", "GlobalMaxPool", expand=global_max),
    Import("onnx", "GlobalLpPool", expand=global_lp),
)
