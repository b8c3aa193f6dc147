"""NNEF operations with windows or matrices: conv, deconv, box, the pools, upsampling, linear and matmul."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from mcugen.errors import QuantizationError, ShapeError, UnsupportedError
from mcugen.formats.nnef.operators._layer import Names, Quant, imported, layer, moved, real
from mcugen.formats.operators._images import Geometry
from mcugen.ir.imports import Attributes, Expansion, Source
from mcugen.ir.types import QuantParams, Shape
from mcugen.ops._filter import symmetric
from mcugen.ops.add import Add
from mcugen.ops.average_pool_2d import AveragePool2D
from mcugen.ops.batch_matmul import BatchMatmul
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from mcugen.ops.fully_connected import FullyConnected
from mcugen.ops.interpolate import Interpolate
from mcugen.ops.max_pool_2d import MaxPool2D
from mcugen.ops.mul import Mul
from mcugen.ops.pad import Pad
from mcugen.ops.reshape import Reshape
from mcugen.ops.resize_nearest_neighbor import ResizeNearestNeighbor
from mcugen.ops.strided_slice import StridedSlice
from mcugen.ops.transpose import Transpose
from mcugen.ops.transpose_conv import TransposeConv

MAX_PLACES = 1 << 20
"""Most elements along an upsampled axis."""


def window(a: Attributes, size: Shape, kernel: Sequence[int], *, leading: int = 0) -> Geometry:
    """The window of an operation over an image. Source: NNEF 4.3.

    size: (height, width), or (width,); leading: number of entries in the attributes before the spatial ones.
    Empty padding means ceil(size / stride) results, with half of the padding, rounded down, before the image.
    """
    rank = len(size)
    stride, dilation = (_behind(a[name], rank, leading, name) for name in ("stride", "dilation"))
    given = a["padding"]
    if any(v < 1 for v in (*kernel, *stride, *dilation)):
        raise ShapeError(f"a window {list(kernel)}, strides {stride} and dilations {dilation} must be at least 1")
    if given:
        pairs = [(int(p), int(q)) for p, q in given]
        if len(pairs) != rank + leading or any(pair != (0, 0) for pair in pairs[:leading]):
            raise ShapeError(f"padding {pairs} does not fit {rank} spatial axes")
        pairs = pairs[leading:]
    else:
        needed = [
            max((-(-d // s) - 1) * s + (k - 1) * t + 1 - d, 0)
            for d, k, s, t in zip(size, kernel, stride, dilation, strict=True)
        ]
        pairs = [(n // 2, n - n // 2) for n in needed]
    if any(min(pair) < 0 for pair in pairs):
        raise ShapeError(f"padding {pairs} is negative")
    if rank == 1:
        return Geometry((1, kernel[0]), (1, stride[0]), (1, dilation[0]), ((0, 0), pairs[0]))
    return Geometry((kernel[0], kernel[1]), (stride[0], stride[1]), (dilation[0], dilation[1]), (pairs[0], pairs[1]))


def _behind(given: Sequence[int], rank: int, leading: int, name: str) -> tuple[int, ...]:
    """The spatial entries of an attribute. Raises ShapeError unless the entries before them are 1."""
    values = tuple(given) or (1,) * (rank + leading)
    if len(values) != rank + leading or any(v != 1 for v in values[:leading]):
        raise ShapeError(f"{name} {list(given)} does not fit {rank} spatial axes")
    return values[leading:]


def _spatial(shape: Shape) -> Shape:
    if len(shape) not in (3, 4):
        raise UnsupportedError(f"an image {list(shape)} of {len(shape) - 2} spatial axes is not supported, 1 and 2 are")
    return shape[2:]


def conv(source: Source, e: Expansion, names: Names, quant: Quant) -> str:
    """y[n, o, i, j] = b[o] + sum of w[o, c, kh, kw] * x[n, c, i*s+kh*d-p, ...]. Source: NNEF 4.3.1."""
    a, (x, w, bias) = source.attributes, names
    image, weights, groups = e.type(x).shape, e.type(w).shape, a["groups"]
    if a["border"] != "constant" or len(image) != len(weights):
        what = f"convolution of {list(image)} and {list(weights)} with border {a['border']}"
        raise UnsupportedError(f"{what} is not supported")
    groups = groups or image[1]
    if groups < 1 or image[1] != weights[1] * groups or weights[0] % groups:
        raise ShapeError(f"weights {list(weights)} in {groups} groups do not fit an image {list(image)}")
    view = window(a, _spatial(image), weights[2:])
    data, w = _last(e, x), _centred(e, w)
    if not view.fits():
        data = moved(e, Pad(((0, 0), *view.padding, (0, 0))), data)
        view = replace(view, padding=((0, 0), (0, 0)))
    single = groups == image[1] > 1
    taps = _taps(e, w, (1, 2, 3, 0) if single else (0, 2, 3, 1))
    kind = DepthwiseConv2D if single else Conv2D
    added = _bias(e, bias, x, w, weights[0], quant)
    y = e.node(kind(view.stride, view.dilation, view.padding), data, taps, *added, quant=quant)
    return _first(e, y, len(image))


def _last(e: Expansion, x: str) -> str:
    """An image [N, C, H, W] or [N, C, W] as [N, H, W, C]."""
    return moved(e, Transpose((0, 2, 3, 1)), _flat(e, x))


def _first(e: Expansion, y: str, rank: int) -> str:
    first = moved(e, Transpose((0, 3, 1, 2)), y)
    n, c, h, w = e.type(first).shape
    return first if rank == 4 else moved(e, Reshape((n, c, h * w)), first)


def _flat(e: Expansion, x: str) -> str:
    """[N, C, W] as [N, C, 1, W]."""
    shape = e.type(x).shape
    return moved(e, Reshape((*shape[:2], 1, shape[2])), x) if len(shape) == 3 else x


def _centred(e: Expansion, w: str) -> str:
    """Constant int8 weights with a zero point of 0; other weights unchanged."""
    data, t = e.data(w), e.type(w)
    if data is None or t.dtype != "s8" or t.quant is None or not any(t.quant.zero_point):
        return w
    return e.constant(*symmetric(data, t.quant))


def _taps(e: Expansion, w: str, order: tuple[int, ...]) -> str:
    """Weights with their axes in another order, also the axis of per-channel scales."""
    quant, flat = e.type(w).quant, _flat(e, w)
    if quant is not None:
        quant = replace(quant, axis=order.index(quant.axis) if quant.per_channel else 0)
    return e.node(Transpose(order), flat, quant=quant)


def _bias(e: Expansion, bias: str, x: str, w: str, outputs: int, quant: Quant) -> list[str]:
    """The bias [outputs] as a list of one operand; an empty list if the bias is zero.

    quant: quantization of the result, for an int32 bias in steps of data scale * weight scale; None for a float bias
    """
    data = e.data(bias)
    if data is None:
        raise UnsupportedError("a bias that is not constant is not supported")
    own = e.type(bias)
    if data.size not in (1, outputs):
        raise ShapeError(f"a bias {list(own.shape)} does not fit {outputs} outputs")
    if quant is None:
        values = real(e, bias)
        found = e.data(values)
        vector = np.broadcast_to(np.zeros(1) if found is None else found.reshape(-1), (outputs,)).astype(np.float32)
        return [e.constant(vector)] if vector.any() else []
    steps = _steps(e, x, w)
    if own.quant is None:
        if not np.isfinite(data).all():
            raise QuantizationError("the bias of a quantized layer has values that are not finite")
        stored = np.rint(np.broadcast_to(data.reshape(-1), (outputs,)).astype(np.float64) / steps)
    else:
        own_steps = np.array(own.quant.scale)
        if any(own.quant.zero_point) or not np.allclose(own_steps, steps, rtol=1e-3):
            what = f"the bias has the scale {own_steps.max():.6g}, data * weights have {steps.max():.6g}"
            raise QuantizationError(what, hint="give the bias the scale of data * weights, and a zero point of 0")
        stored = np.broadcast_to(data.reshape(-1), (outputs,)).astype(np.float64)
    scales = np.broadcast_to(steps, (outputs,)) if steps.size > 1 else steps
    params = QuantParams(tuple(float(np.float32(s)) for s in scales), (0,) * scales.size)
    return [e.constant(np.clip(stored, -(2**31), 2**31 - 1).astype(np.int32), params)] if stored.any() else []


def _steps(e: Expansion, x: str, w: str) -> np.ndarray:
    """Data scale * weight scale: one number, or one for each output."""
    data, weights = e.type(x).quant, e.type(w).quant
    if data is None or weights is None:
        what = "the result is quantized, but data or weights are not"
        raise QuantizationError(what, hint="state their quantization in graph.quant")
    return np.array(weights.scale) * data.scale[0]


def linear(source: Source, e: Expansion, names: Names, quant: Quant) -> str:
    """y[n, o] = b[o] + sum of w[o, k] * x[n, k]. Source: NNEF 4.7.1."""
    x, w, bias = names
    shape, weights = e.type(x).shape, e.type(w).shape
    if len(shape) != 2 or len(weights) != 2 or shape[1] != weights[1]:
        raise ShapeError(f"weights {list(weights)} do not fit vectors {list(shape)}")
    if e.data(w) is None:
        y = e.node(BatchMatmul(False, True), x, w)
        return e.node(Add(), y, bias)
    if e.data(bias) is None:
        return e.node(Add(), e.node(FullyConnected(), x, w), bias)
    w = _centred(e, w)
    return e.node(FullyConnected(), x, w, *_bias(e, bias, x, w, weights[0], quant), quant=quant)


def matmul(source: Source, e: Expansion, names: Names, quant: Quant) -> str:
    """A times B, each of which may be transposed. Source: NNEF 4.7.2."""
    a, (x, w) = source.attributes, names
    data, left = e.data(w), bool(a["transposeA"])
    right = bool(a["transposeB"])
    if data is not None and data.ndim == 2 and not left:
        matrix = data if right else np.ascontiguousarray(data.T)
        return e.node(FullyConnected(keep_dims=True), x, e.constant(matrix))
    return e.node(BatchMatmul(left, right), x, w)


def deconv(source: Source, e: Expansion, names: Names, quant: Quant) -> str:
    """A transposed convolution, cut to the size that padding or output_shape states. Source: NNEF 4.3.2."""
    a, (x, w, bias) = source.attributes, names
    image, weights, groups, wanted = e.type(x).shape, e.type(w).shape, a["groups"], a["output_shape"]
    if a["border"] != "constant" or groups not in (0, 1) or (groups == 0 and image[1] != 1) or quant is not None:
        raise UnsupportedError("deconvolutions in groups, of integers or with a border are not supported")
    if len(image) != 4 or len(weights) != 4 or image[1] != weights[0]:
        raise ShapeError(f"weights {list(weights)} do not fit an image {list(image)}")
    stride, dilation = (_behind(a[name], 2, 0, name) for name in ("stride", "dilation"))
    if dilation != (1, 1):
        raise UnsupportedError("dilated deconvolutions are not supported")
    if min(stride) < 1 or len(wanted) not in (0, 4) or len(a["padding"]) not in (0, 2):
        raise ShapeError(f"strides {stride}, padding {a['padding']} or output_shape {wanted} do not fit an image")
    full = tuple((image[2 + d] - 1) * stride[d] + weights[2 + d] for d in (0, 1))
    size = tuple(wanted[2:]) if wanted else tuple(image[2 + d] * stride[d] for d in (0, 1))
    pairs = [(int(p), int(q)) for p, q in a["padding"]] or [
        (max(full[d] - size[d], 0) // 2, max(full[d] - size[d], 0) - max(full[d] - size[d], 0) // 2) for d in (0, 1)
    ]
    taps = e.node(Transpose((1, 2, 3, 0)), w)
    op = TransposeConv((full[0], full[1]), (stride[0], stride[1]), "VALID")
    y = e.node(op, _last(e, x), taps, *_bias(e, bias, x, w, weights[1], None))
    ranges = [(0, image[0], 1), *((p, full[d] - p - q, 1) for d, (p, q) in enumerate(pairs)), (0, weights[1], 1)]
    if any(p < 0 or q < 0 for p, q in pairs) or any(count < 1 for _, count, _ in ranges):
        raise ShapeError(f"padding {pairs} does not fit a result of {list(full)}")
    cut = e.node(StridedSlice(tuple(ranges), tuple(count for _, count, _ in ranges)), y)
    return _first(e, cut, 4)


def max_pool(source: Source, e: Expansion, names: Names, quant: Quant) -> str:
    """The largest element of each window. Padding is 0, or ignored with border `ignore`. Source: NNEF 4.9.3."""
    x, a = names[0], source.attributes
    view = _pooling(a, e.type(x).shape)
    data = _last(e, x)
    if a["border"] == "constant" and any(width for pair in view.padding for width in pair):
        data = moved(e, Pad(((0, 0), *view.padding, (0, 0))), data)
        view = replace(view, padding=((0, 0), (0, 0)))
    elif a["border"] not in ("constant", "ignore"):
        raise UnsupportedError(f"pooling with border {a['border']} is not supported")
    y = moved(e, MaxPool2D(view.kernel, view.stride, view.padding), data)
    return _first(e, y, len(e.type(x).shape))


def box(source: Source, e: Expansion, names: Names, quant: Quant) -> str:
    return _summed(source.attributes, e, names[0], mean=bool(source.attributes["normalize"]))


def avg_pool(source: Source, e: Expansion, names: Names, quant: Quant) -> str:
    return _summed(source.attributes, e, names[0], mean=True)


def _summed(a: Attributes, e: Expansion, x: str, *, mean: bool) -> str:
    """The mean or sum of each window; with border `ignore`, the mean of elements in the image. Source: NNEF 4.3.3."""
    view = _pooling(a, e.type(x).shape)
    data, border = _last(e, x), a["border"]
    if border not in ("constant", "ignore") or (border == "ignore" and not mean):
        raise UnsupportedError(f"boxes with border {border} are not supported")
    if border == "constant" and any(width for pair in view.padding for width in pair):
        data = moved(e, Pad(((0, 0), *view.padding, (0, 0))), data)
        view = replace(view, padding=((0, 0), (0, 0)))
    y = moved(e, AveragePool2D(view.kernel, view.stride, view.padding), data)
    if not mean and view.kernel != (1, 1):
        count = np.array(view.kernel[0] * view.kernel[1], np.float32)
        y = e.node(Mul(), real(e, y), e.constant(count))
    return _first(e, y, len(e.type(x).shape))


def _pooling(a: Attributes, shape: Shape) -> Geometry:
    """The window of a pool, whose attributes begin with entries for batch and channels. Raises UnsupportedError."""
    size = a["size"]
    if len(size) != len(shape) or tuple(size[:2]) != (1, 1):
        raise UnsupportedError(f"a window {size} over batch or channels is not supported")
    view = window(a, _spatial(shape), size[2:], leading=2)
    if view.dilation != (1, 1) or not view.fits():
        raise UnsupportedError(f"pooling with dilations {view.dilation} and padding {view.padding} is not supported")
    return view


def downsample(mean: bool, source: Source, e: Expansion, names: Names, quant: Quant) -> str:
    """The mean, or the first element, of each block of `factor` elements. Source: NNEF 4.9.4."""
    factor, shape = source.attributes["factor"], e.type(names[0]).shape
    if len(shape) != 4 or len(factor) != 2 or any(f < 1 or d % f for f, d in zip(factor, shape[2:], strict=True)):
        raise ShapeError(f"factors {factor} do not divide an image {list(shape)}")
    if mean:
        op = AveragePool2D((factor[0], factor[1]), (factor[0], factor[1]), ((0, 0), (0, 0)))
        return _first(e, moved(e, op, _last(e, names[0])), 4)
    counts = (*shape[:2], shape[2] // factor[0], shape[3] // factor[1])
    ranges = tuple((0, count, step) for count, step in zip(counts, (1, 1, *factor), strict=True))
    return moved(e, StridedSlice(ranges, counts), names[0])


def nearest_upsample(source: Source, e: Expansion, names: Names, quant: Quant) -> str:
    factor, shape = source.attributes["factor"], e.type(names[0]).shape
    if len(shape) != 4 or len(factor) != 2 or any(f < 1 for f in factor):
        raise ShapeError(f"factors {factor} do not fit an image {list(shape)}")
    op = ResizeNearestNeighbor((shape[2] * factor[0], shape[3] * factor[1]))
    return _first(e, moved(e, op, _last(e, names[0])), 4)


def multilinear_upsample(source: Source, e: Expansion, names: Names, quant: Quant) -> str:
    """Linear interpolation along each spatial axis in turn. Source: NNEF 4.9.5."""
    a, x = source.attributes, names[0]
    factor, method, border = a["factor"], a["method"], a["border"]
    shape = e.type(x).shape
    spatial = shape[2:]
    if len(factor) != len(spatial) or any(not 1 <= f <= MAX_PLACES // d for f, d in zip(factor, spatial, strict=True)):
        raise ShapeError(f"factors {factor} do not fit an image {list(shape)}")
    if border not in ("replicate", "constant"):
        raise UnsupportedError(f"the border {border!r} is not supported", hint="replicate and constant are")
    for axis, (f, size) in enumerate(zip(factor, spatial, strict=True), 2):
        if f == 1:
            continue
        at = _places(method, size, f)
        index = np.floor(at)[:, None] + np.arange(2)
        weights = 1 - np.abs(index - at[:, None])
        if border == "constant":
            weights = np.where((index < 0) | (index >= size), 0.0, weights)
        tables = (index.clip(0, size - 1).astype(np.int32), weights.astype(np.float32))
        x = e.node(Interpolate(axis), x, *map(e.constant, tables))
    return x


def _places(method: str, size: int, factor: int) -> np.ndarray:
    """The coordinate in the operand of each result along an axis. Raises UnsupportedError for an unknown method."""
    y = np.arange(size * factor, dtype=np.float64)
    if method == "symmetric":
        return (y + 0.5) / factor - 0.5
    if method == "asymmetric":
        return y / factor
    if method != "aligned":
        raise UnsupportedError(f"the method {method!r} is not supported; symmetric, asymmetric and aligned are")
    return y * (size - 1) / (size * factor - 1)


IMPORTS = (
    imported("conv", layer(conv, integers=2)),
    imported("deconv", layer(deconv)),
    imported("linear", layer(linear, integers=2)),
    imported("matmul", layer(matmul)),
    imported("max_pool", layer(max_pool, integers=1)),
    imported("avg_pool", layer(avg_pool, integers=1)),
    imported("box", layer(box, integers=1)),
    imported("area_downsample", layer(partial(downsample, True), integers=1)),
    imported("nearest_downsample", layer(partial(downsample, False), integers=1)),
    imported("nearest_upsample", layer(nearest_upsample, integers=1)),
    imported("multilinear_upsample", layer(multilinear_upsample)),
)
