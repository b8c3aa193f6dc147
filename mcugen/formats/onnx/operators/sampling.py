"""ONNX operators that read images at fractional coordinates: AffineGrid, GridSample, RoiAlign, DeformConv."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.formats.onnx.operators import _computed
from mcugen.formats.operators import _images
from mcugen.formats.operators.elements import operands
from mcugen.formats.operators.indices import narrow
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ir.types import Shape
from mcugen.ops.add import Add
from mcugen.ops.concatenation import Concatenation
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.fully_connected import FullyConnected
from mcugen.ops.gather import Gather
from mcugen.ops.maximum import Maximum
from mcugen.ops.mean import Mean
from mcugen.ops.mul import Mul
from mcugen.ops.reduce_max import ReduceMax
from mcugen.ops.reshape import Reshape
from mcugen.ops.sample import Sample
from mcugen.ops.split import Split
from mcugen.ops.sub import Sub
from mcugen.ops.transpose import Transpose

MAX_PLACES = 1 << 20
_MODES = {"bilinear": "linear", "bicubic": "cubic", "linear": "linear", "cubic": "cubic", "nearest": "nearest"}


def affine_grid(source: Source, e: Expansion) -> Sequence[str]:
    """Coordinates (-1 to 1) of an image's pixels, transformed by a matrix for each image. Source: ONNX AffineGrid-20.

    ONNX's own function for it is not used: it loses the first axis if there is one matrix.
    """
    theta, size, align = operands(e, 2)[0], source.ints(1), source.attributes["align_corners"]
    if size is None:
        raise UnsupportedError("the size is computed at run time", hint="make it a constant")
    axes = len(size) - 2
    if axes not in (2, 3) or min(size) < 1 or e.type(theta).shape != (size[0], axes, axes + 1):
        raise ShapeError(f"matrices {e.type(theta)} do not fit the size {list(size)}")
    if prod(size[2:]) > MAX_PLACES:
        raise UnsupportedError(f"images {list(size)} of more than {MAX_PLACES} pixels are not supported")
    lines = [_line(n, is_aligned=bool(align)) for n in size[2:]]
    places = np.stack(np.meshgrid(*lines, indexing="ij")[::-1], axis=-1).reshape(-1, axes)
    matrix = np.concatenate([places, np.ones((len(places), 1), np.float32)], axis=1)
    flat = e.node(Reshape((size[0] * axes, axes + 1)), theta)
    moved = e.node(FullyConnected(), flat, e.constant(matrix))
    last = e.node(Transpose((0, 2, 1)), e.node(Reshape((size[0], axes, len(places))), moved))
    return [e.node(Reshape((size[0], *size[2:], axes)), last)]


def _line(count: int, *, is_aligned: bool) -> np.ndarray:
    """Coordinates of pixels along an axis, in float32. is_aligned: -1 and 1 are centres of pixels, not edges."""
    step = np.float32(2) / np.float32(max(count - 1, 1) if is_aligned else count)
    first = np.float32(-1) if is_aligned else np.float32(-1) + step / np.float32(2)
    return np.asarray(first + np.arange(count).astype(np.float32) * step, np.float32)


def grid_sample(source: Source, e: Expansion) -> Sequence[str]:
    """Values of an image at coordinates from -1 to 1. Source: ONNX GridSample-22."""
    (x, places), a = operands(e, 2), source.attributes
    rank = len(e.type(x).shape)
    if rank < 3 or len(e.type(places).shape) != rank or a["mode"] not in _MODES:
        raise ShapeError(f"a grid {e.type(places)} does not fit {e.type(x)}, or mode {a['mode']!r} does not exist")
    if e.type(x).shape[0] != e.type(places).shape[0]:
        raise ShapeError(f"a grid {e.type(places)} and data {e.type(x)} have different numbers of images")
    op = Sample(_MODES[a["mode"]], "middles" if a["align_corners"] else "edges", a["padding_mode"])
    y = e.node(op, e.node(Transpose((0, *range(2, rank), 1)), x), places)
    return [e.node(Transpose((0, rank - 1, *range(1, rank - 1))), y)]


def roi_align(source: Source, e: Expansion) -> Sequence[str]:
    """The mean of samples, or the largest sample, in each bin of each region. Source: ONNX RoiAlign-22."""
    (x, regions, batch), a = operands(e, 3), source.attributes
    shape, count = e.type(x).shape, e.type(regions).shape[0]
    samples, (rows, columns) = a["sampling_ratio"], (a["output_height"], a["output_width"])
    if len(shape) != 4 or e.type(regions).shape != (count, 4) or e.type(batch).shape != (count,):
        raise ShapeError(f"regions {e.type(regions)} of images {e.type(batch)} do not fit {e.type(x)}")
    if a["mode"] not in ("avg", "max") or samples < 1:
        why = f"sampling_ratio {samples}" if samples < 1 else f"the mode {a['mode']}"
        raise UnsupportedError(f"{why} is not supported", hint="give a sampling_ratio from 1 on, and mode avg or max")
    if min(rows, columns) < 1 or count * rows * columns * samples**2 > MAX_PLACES:
        what = f"{count} regions of {rows}x{columns} bins with {samples}x{samples} samples"
        raise UnsupportedError(f"{what} are not supported")
    images = _images.to_last(e, x)
    if shape[0] > 1:
        images = e.node(Gather(0), images, narrow(e, batch))
    half_pixel = a["coordinate_transformation_mode"] == "half_pixel"
    start, size = _regions(e, regions, a["spatial_scale"], half_pixel=half_pixel)
    parts = e.constant(_parts(rows * samples, columns * samples))
    places = e.node(Add(), start, e.node(Mul(), size, parts))
    is_mean = a["mode"] == "avg"
    y = e.node(Sample(beyond="near", combine="sum" if is_mean else "max"), images, places)
    bins = e.node(Reshape((count * rows, samples, columns, samples, shape[1])), y)
    means = e.node(Mean((1, 3), False) if is_mean else ReduceMax((1, 3), False), bins)
    return [_images.to_first(e, e.node(Reshape((count, rows, columns, shape[1])), means), 4)]


def _regions(e: Expansion, regions: str, scale: float, *, half_pixel: bool) -> tuple[str, str]:
    """The first corner and the size, (y, x), of each region: [regions, 1, 2]."""
    count = e.type(regions).shape[0]
    swapped = e.node(Gather(1), regions, e.constant(np.array([1, 0, 3, 2], np.int32)))
    scaled = e.node(Mul(), swapped, e.constant(np.array(scale, np.float32)))
    moved = e.node(Sub(), scaled, e.constant(np.array(0.5, np.float32))) if half_pixel else scaled
    start, end = e.nodes(Split(1, (2, 2)), moved)
    size = e.node(Sub(), end, start)
    size = size if half_pixel else e.node(Maximum(), size, e.constant(np.array(1.0, np.float32)))
    return e.node(Reshape((count, 1, 2)), start), e.node(Reshape((count, 1, 2)), size)


def _parts(rows: int, columns: int) -> np.ndarray:
    """The centres (y, x) of a grid's cells as fractions of its size: [1, rows * columns, 2]."""
    y, x = np.meshgrid((np.arange(rows) + 0.5) / rows, (np.arange(columns) + 0.5) / columns, indexing="ij")
    return np.stack([y, x], axis=-1).reshape(1, -1, 2).astype(np.float32)


def deform_conv(source: Source, e: Expansion) -> Sequence[str]:
    """A convolution with an offset for each tap: taps are sampled, then weighted. Source: ONNX DeformConv-22."""
    x, w, offset, *rest = (*e.inputs, None, None)[:5]
    if x is None or w is None or offset is None or any(len(e.type(t).shape) != 4 for t in (x, w, offset)):
        raise ShapeError("a deformable convolution needs images, weights and offsets")
    a, image, weights = source.attributes, e.type(x).shape, e.type(w).shape
    if a["kernel_shape"] and tuple(a["kernel_shape"]) != weights[2:]:
        raise ShapeError(f"kernel_shape {list(a['kernel_shape'])} differs from weights {list(weights)}")
    groups, window = a["offset_group"], _images.geometry(a, image, weights[2:])
    taps = prod(weights[2:])
    size = tuple((image[2 + d] + sum(window.padding[d]) - window.extent(d)) // window.stride[d] + 1 for d in (0, 1))
    if groups < 1 or image[1] % groups or a["group"] < 1 or image[1] != weights[1] * a["group"] or min(size) < 1:
        what = f"weights {list(weights)} do not fit an image {list(image)}"
        raise ShapeError(f"{what} in {a['group']} groups with {groups} groups of offsets")
    if e.type(offset).shape != (image[0], 2 * groups * taps, *size) or image[0] * taps * prod(size) > MAX_PLACES:
        raise ShapeError(f"offsets {list(e.type(offset).shape)} do not fit {list(size)} results of {taps} taps")
    moved = e.node(Reshape((image[0], *size, groups, taps, 2)), e.node(Transpose((0, 2, 3, 1)), offset))
    places = e.node(Add(), moved, e.constant(_taps(window, size)))
    factors = _factors(e, rest[1], (image[0], *size, groups, taps, 1))
    parts, own = _by_group(e, _images.to_last(e, x), 3, groups), _by_group(e, places, 3, groups)
    sampled = [
        _sampled(e, parts[k], own[k], factors[k] if factors else None, (image[0], *size, taps)) for k in range(groups)
    ]
    data = sampled[0] if groups == 1 else e.node(Concatenation(4), *sampled)
    return [_weighted(e, (data, w, rest[0]), a["group"], size)]


def _taps(window: _images.Geometry, size: Sequence[int]) -> np.ndarray:
    """Coordinates (y, x) of each result's taps in the image: [1, rows, columns, 1, taps, 2]."""
    along = [
        np.arange(size[d])[:, None] * window.stride[d] - window.padding[d][0]
        + np.arange(window.kernel[d]) * window.dilation[d]
        for d in (0, 1)
    ]  # fmt: skip
    y, x = along[0][:, None, :, None], along[1][None, :, None, :]
    shape = (*size, *window.kernel)
    both = np.stack([np.broadcast_to(y, shape), np.broadcast_to(x, shape)], axis=-1)
    return both.reshape(1, *size, 1, -1, 2).astype(np.float32)


def _factors(e: Expansion, mask: str | None, shape: Shape) -> Sequence[str]:
    """The factors of the taps of each group, from the mask; empty without a mask."""
    if mask is None:
        return []
    last = e.node(Transpose((0, 2, 3, 1)), mask)
    if e.type(last).size != prod(shape):
        raise ShapeError(f"a mask {list(e.type(mask).shape)} must have as many elements as {list(shape)}")
    return _by_group(e, e.node(Reshape(shape), last), 3, shape[3])


def _by_group(e: Expansion, value: str, axis: int, groups: int) -> Sequence[str]:
    size = e.type(value).shape[axis] // groups
    return [value] if groups == 1 else e.nodes(Split(axis, (size,) * groups), value)


def _sampled(e: Expansion, images: str, places: str, factors: str | None, shape: Shape) -> str:
    """The taps of each result, [N, rows, columns, taps, channels]."""
    n, channels = shape[0], e.type(images).shape[3]
    y = e.node(Sample(), images, e.node(Reshape((n, -1, 2)), places))
    taps = e.node(Reshape((*shape, channels)), y)
    return taps if factors is None else e.node(Mul(), taps, e.node(Reshape((*shape, 1)), factors))


def _weighted(e: Expansion, given: tuple[str, str, str | None], groups: int, size: Sequence[int]) -> str:
    """The weighted sums of sampled taps, as a convolution with a kernel of [1, taps] and a stride of `taps`."""
    data, w, bias = given
    n, outputs = e.type(data).shape[0], e.type(w).shape[0]
    taps, channels = e.type(data).shape[3:]
    image = e.node(Reshape((n, prod(size), taps, channels)), data)
    kernel = e.node(Reshape((outputs, channels // groups, 1, taps)), w)
    if _computed.is_computed(e, (w, bias)):
        window = _images.Geometry((1, taps), (1, taps), (1, 1), ((0, 0), (0, 0)))
        y = _computed.convolution(e, image, kernel, bias, window, groups)
    else:
        last = e.node(Transpose((0, 2, 3, 1)), kernel)
        y = e.node(Conv2D(padding=((0, 0), (0, 0))), image, last, *([] if bias is None else [bias]))
    return _images.to_first(e, e.node(Reshape((n, *size, outputs)), y), 4)


IMPORTS = (
    Import("onnx", "AffineGrid", since=20, expand=affine_grid),
    Import("onnx", "GridSample", expand=grid_sample),
    Import("onnx", "RoiAlign", expand=roi_align),
    Import("onnx", "DeformConv", expand=deform_conv),
)
