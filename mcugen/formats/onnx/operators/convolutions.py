"""Conv: convolutions of channels-first signals, images and volumes, dense, grouped or depthwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mcugen.errors import ShapeError
from mcugen.formats.onnx.operators import _computed, _volumes
from mcugen.formats.operators import _images
from mcugen.ir.imports import Attributes, Expansion, Import, Source
from mcugen.ir.types import Shape
from mcugen.ops.add import Add
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from mcugen.ops.pad import Pad
from mcugen.ops.reshape import Reshape
from mcugen.ops.strided_slice import StridedSlice
from mcugen.ops.transpose import Transpose


def expand(source: Source, e: Expansion) -> Sequence[str]:
    """y[n, o, i, j] = b[o] + sum of w[o, c, kh, kw] * x[n, c, i*s+kh*d-p, ...]. Source: ONNX Conv-11."""
    x, w, *rest = e.inputs
    if x is None or w is None:
        raise ShapeError("a convolution needs data and weights")
    check(source.attributes, e.type(x).shape, e.type(w).shape)
    return [convolution(e, source.attributes, x, w, rest[0] if rest else None)]


def convolution(e: Expansion, a: Attributes, x: str, w: str, bias: str | None) -> str:
    """A convolution of data [N, C, ...] with one to three spatial axes. a: attributes of Conv."""
    if len(e.type(x).shape) == 5:
        return _of_volumes(e, a, x, w, bias)
    image, weights, groups = e.type(x).shape, e.type(w).shape, a["group"]
    window = _images.geometry(a, image, weights[2:])
    data, kernel = _images.to_last(e, x), _images.two_dimensional(e, w)
    if not window.fits() or _computed.is_computed(e, (w, bias)):
        data = _images.padded(e, data, window.padding)
        window = replace(window, padding=((0, 0), (0, 0)))
    if _computed.is_computed(e, (w, bias)):
        return _images.to_first(e, _computed.convolution(e, data, kernel, bias, window, groups), len(image))
    single = groups == image[1] > 1
    kind = DepthwiseConv2D if single else Conv2D
    taps = e.node(Transpose((1, 2, 3, 0) if single else (0, 2, 3, 1)), kernel)
    y = e.node(kind(window.stride, window.dilation, window.padding), data, taps, *([] if bias is None else [bias]))
    return _images.to_first(e, y, len(image))


def _of_volumes(e: Expansion, a: Attributes, x: str, w: str, bias: str | None) -> str:
    """A convolution of volumes: 2-D convolutions of slices, summed over the kernel's depth."""
    shape, weights = e.type(x).shape, e.type(w).shape
    line = _images.geometry(_volumes.part(a, (0,)), (*shape[:3], 1), (weights[2], 1))
    before, after = line.padding[0]
    data = e.node(Pad(((0, 0), (0, 0), (before, after), (0, 0), (0, 0))), x) if before or after else x
    size = e.type(data).shape
    count = (size[2] - line.extent(0)) // line.stride[0] + 1
    planes, total = _volumes.part(a, (1, 2)), ""
    for k in range(weights[2]):
        ranges = [(0, d, 1) for d in size]
        ranges[2] = (k * line.dilation[0], count, line.stride[0])
        part = e.node(StridedSlice(tuple(ranges), tuple(n for _, n, _ in ranges)), data)
        taps = tuple((k, 1, 1) if axis == 2 else (0, d, 1) for axis, d in enumerate(weights))
        kernel = e.node(StridedSlice(taps, tuple(n for _, n, _ in taps)), w)
        kernel = e.node(Reshape((*weights[:2], *weights[3:])), kernel)
        y = convolution(e, planes, _volumes.slices(e, part), kernel, None if total else bias)
        total = e.node(Add(), total, y) if total else y
    return _volumes.volumes(e, total, shape[0])


def check(a: Attributes, image: Shape, weights: Shape) -> None:
    """Raise ShapeError for weights that do not fit the image, the groups or the stated kernel."""
    groups, stated = a["group"], a["kernel_shape"]
    if len(image) < 3 or len(image) != len(weights) or groups < 1:
        raise ShapeError(f"weights {list(weights)} in {groups} groups do not fit an image {list(image)}")
    if image[1] != weights[1] * groups or weights[0] % groups:
        raise ShapeError(f"weights {list(weights)} do not divide {image[1]} channels into {groups} groups")
    if stated and tuple(stated) != weights[2:]:
        raise ShapeError(f"kernel_shape {list(stated)} differs from weights {list(weights)}")


IMPORTS = (Import("onnx", "Conv", expand=expand),)
