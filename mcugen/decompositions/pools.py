"""MaxPool, AveragePool and their global forms, over channels-first images and signals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mcugen.decompositions import _images
from mcugen.errors import ShapeError, UnsupportedError
from mcugen.imports import Expansion, Import, Source
from mcugen.ops.average_pool_2d import AveragePool2D
from mcugen.ops.max_pool_2d import MaxPool2D
from mcugen.ops.mean import Mean
from mcugen.ops.reduce_max import ReduceMax


def max_pool(source: Source, e: Expansion) -> Sequence[str]:
    """The largest element of each window inside the image. Source: ONNX MaxPool-12."""
    source.attributes["storage_order"]  # only of the indices, which are a second result
    x, shape, window = _window(source, e)
    if window.dilation != (1, 1):
        raise UnsupportedError("dilated pooling is not supported")
    if not window.fits():
        raise UnsupportedError(f"padding {window.padding} as wide as a window of {window.kernel} is not supported")
    y = e.node(MaxPool2D(window.kernel, window.stride, window.padding), x)
    return [_images.to_first(e, y, len(shape))]


def average_pool(source: Source, e: Expansion) -> Sequence[str]:
    """The mean of each window, of the elements inside the image or with the padding's zeros. Source: AveragePool-19."""
    x, shape, window = _window(source, e)
    if window.dilation != (1, 1):
        raise UnsupportedError("dilated pooling is not supported")
    if source.attributes["count_include_pad"]:
        stated = replace(_images.geometry(source.attributes, shape, source.attributes["kernel_shape"])).padding
        x = _images.padded(e, x, stated)
        rest = [(a[0] - b[0], a[1] - b[1]) for a, b in zip(window.padding, stated, strict=True)]
        window = replace(window, padding=(rest[0], rest[1]))
    if not window.fits():
        raise UnsupportedError(f"padding {window.padding} as wide as a window of {window.kernel} is not supported")
    y = e.node(AveragePool2D(window.kernel, window.stride, window.padding), x)
    return [_images.to_first(e, y, len(shape))]


def global_average(source: Source, e: Expansion) -> Sequence[str]:
    """The mean over all spatial axes, which stay with size 1. Source: ONNX GlobalAveragePool-1."""
    return [e.node(Mean(_spatial(e), keep_dims=True), e.inputs[0])]


def global_max(source: Source, e: Expansion) -> Sequence[str]:
    """The maximum over all spatial axes, which stay with size 1. Source: ONNX GlobalMaxPool-1."""
    return [e.node(ReduceMax(_spatial(e), keep_dims=True), e.inputs[0])]


def _spatial(e: Expansion) -> tuple[int, ...]:
    rank = len(e.type(str(e.inputs[0])).shape)
    if rank < 3:
        raise ShapeError(f"an image has three axes or more, not {rank}")
    return tuple(range(2, rank))


def _window(source: Source, e: Expansion) -> tuple[str, tuple[int, ...], _images.Geometry]:
    """The image with its channels last, its shape in the format, and the window, rounded as ceil_mode states."""
    x = e.inputs[0]
    shape = () if x is None else e.type(x).shape
    kernel = source.attributes["kernel_shape"]
    if x is None or len(shape) < 3 or not kernel or len(kernel) != len(shape) - 2:
        raise ShapeError(f"a window {kernel} does not fit an image {list(shape)}")
    window = _images.geometry(source.attributes, shape, kernel)
    if source.attributes["ceil_mode"]:
        size = shape[2:] if len(shape) == 4 else (1, shape[2])
        window = _images.rounded_up(window, (size[0], size[1]))
    return _images.to_last(e, x), shape, window


IMPORTS = (
    Import("onnx", "MaxPool", expand=max_pool),
    Import("onnx", "AveragePool", expand=average_pool),
    Import("onnx", "GlobalAveragePool", expand=global_average),
    Import("onnx", "GlobalMaxPool", expand=global_max),
)
