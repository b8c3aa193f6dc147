"""Conv: convolutions of channels-first images and signals, dense, in groups or of single channels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mcugen.decompositions import _images
from mcugen.errors import ShapeError
from mcugen.imports import Expansion, Import, Source
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from mcugen.ops.transpose import Transpose
from mcugen.types import Shape


def expand(source: Source, e: Expansion) -> Sequence[str]:
    """y[n, o, i, j] = b[o] + sum of w[o, c, kh, kw] * x[n, c, i*s+kh*d-p, ...]. Source: ONNX Conv-11."""
    x, w, *rest = e.inputs
    if x is None or w is None:
        raise ShapeError("a convolution needs data and weights")
    image, weights = e.type(x).shape, e.type(w).shape
    _check(source, image, weights)
    window = _images.geometry(source.attributes, image, weights[2:])
    data = _images.to_last(e, x)
    if not window.fits():
        data = _images.padded(e, data, window.padding)
        window = replace(window, padding=((0, 0), (0, 0)))
    groups = source.attributes["group"]
    kernel = _images.two_dimensional(e, w)
    single = groups == image[1] > 1
    kind = DepthwiseConv2D if single else Conv2D
    taps = e.node(Transpose((1, 2, 3, 0) if single else (0, 2, 3, 1)), kernel)
    y = e.node(kind(window.stride, window.dilation, window.padding), data, taps, *rest[:1])
    return [_images.to_first(e, y, len(image))]


def _check(source: Source, image: Shape, weights: Shape) -> None:
    """Raise ShapeError for weights that do not fit the image, the groups or the stated kernel."""
    groups, stated = source.attributes["group"], source.attributes["kernel_shape"]
    if len(image) < 3 or len(image) != len(weights) or groups < 1:
        raise ShapeError(f"weights {list(weights)} in {groups} groups do not fit an image {list(image)}")
    if image[1] != weights[1] * groups or weights[0] % groups:
        raise ShapeError(f"weights {list(weights)} do not divide {image[1]} channels into {groups} groups")
    if stated and tuple(stated) != weights[2:]:
        raise ShapeError(f"kernel_shape {list(stated)} is not that of weights {list(weights)}")


IMPORTS = (Import("onnx", "Conv", expand=expand),)
