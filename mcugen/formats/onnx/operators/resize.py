"""Resize, axis by axis, with a table of source elements and weights for each result."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.formats.operators import _images
from mcugen.formats.operators.elements import operands
from mcugen.ir.imports import Attributes, Expansion, Import, Source
from mcugen.ir.types import TensorType
from mcugen.ops.gather import Gather
from mcugen.ops.interpolate import Interpolate
from mcugen.ops.resize_nearest_neighbor import DTYPES, ResizeNearestNeighbor
from mcugen.ops.select import Select

MAX_TABLE = 1 << 20
MIDDLE = 1e-6
"""Largest distance from the middle of two elements at which ONNX Runtime treats a coordinate as the middle."""

Weights = tuple[Callable[[np.ndarray], np.ndarray], int]
"""Function distance -> weight of an element, and the distance from which on the weight is 0."""


@dataclass(frozen=True)
class Axis:
    """An axis to resize: its index, its size before and after, the scale, and the part of it that is resized."""

    place: int
    size: int
    wanted: int
    scale: float
    roi: tuple[float, float] = (0.0, 1.0)


def expand(source: Source, e: Expansion) -> Sequence[str]:
    """A tensor resized along some axes. Source: ONNX Resize-19."""
    x, a = operands(e, 1)[0], source.attributes
    axes = _axes(source, e.type(x).shape)
    a.ignore("cubic_coeff_a", "extrapolation_value", "nearest_mode")  # most modes do not read them
    places = {axis: _coordinates(axis, a) for axis in axes}
    if all(axis.wanted == axis.size for axis in axes):  # ONNX Runtime then copies, whatever the scales are
        a.ignore("mode", "antialias", "exclude_outside")
        return [x]
    if a["mode"] == "nearest":
        y = _nearest(e, x, {axis: _nearest_table(axis, at, a) for axis, at in places.items()})
    else:
        y, kernel = x, _kernel(a)
        for axis, at in places.items():
            if axis.scale != 1.0:
                y = _interpolated(e, y, axis, at, kernel, a)
    if a["coordinate_transformation_mode"] == "tf_crop_and_resize":
        for axis, at in places.items():
            y = _filled(e, y, axis, (at < 0) | (at > axis.size - 1), a["extrapolation_value"])
    return [y]


def before_modes(source: Source, e: Expansion) -> Sequence[str]:
    """Upsample, and Resize of versions without coordinate modes: result k lies at k / scale.

    As in ONNX Runtime, the nearest element is the one before this coordinate, or the one after if the axis shrinks.
    Source: ONNX Resize-10, Upsample-9, Upsample-7; onnxruntime, upsamplebase.h, NearestMode::SIMPLE.
    """
    a, stated = source.attributes, source.attributes.get("scales")
    scales = source.constant(1) if stated is None else np.array(stated, np.float32)
    if scales is None:
        raise UnsupportedError("the scales are computed at run time", hint="make them constants")
    modes = {"mode": a["mode"], "coordinate_transformation_mode": "asymmetric", "exclude_outside": 0}
    attributes = Attributes({**modes, "nearest_mode": "simple"}, {})
    constants = (source.constant(0), None, scales)
    return expand(replace(source, attributes=attributes, inputs=source.inputs[:1], constants=constants), e)


def _interpolated(e: Expansion, x: str, axis: Axis, at: np.ndarray, kernel: Weights, a: Attributes) -> str:
    """x resized along an axis by weighted sums of the elements near each coordinate `at`."""
    function, radius = kernel
    shrink = min(axis.scale, 1.0) if a.get("antialias") else 1.0
    reach = math.ceil(radius / shrink)
    if 2 * reach * axis.wanted > MAX_TABLE:
        entries = 2 * reach * axis.wanted
        message = f"resizing {axis.size} elements to {axis.wanted} needs {entries:,} weights, of at most {MAX_TABLE:,}"
        raise UnsupportedError(message, hint="resize to fewer elements")
    at = at.astype(np.float64)
    places = np.floor(at)[:, None] + np.arange(1 - reach, reach + 1)
    weights = function(np.abs(places - at[:, None]) * shrink)
    if a["exclude_outside"]:
        weights = np.where((places < 0) | (places >= axis.size), 0.0, weights)
    if a["exclude_outside"] or a.get("antialias"):
        total = weights.sum(axis=1, keepdims=True)
        weights = weights / np.where(total == 0.0, 1.0, total)
    index = np.clip(places, 0, axis.size - 1).astype(np.int32)
    tables = (e.constant(index), e.constant(weights.astype(np.float32)))
    return e.node(Interpolate(axis.place), x, *tables)


def _filled(e: Expansion, x: str, axis: Axis, mask: np.ndarray, value: float) -> str:
    """The tensor with one value at the masked indices of an axis."""
    if not mask.any():
        return x
    shape = e.type(x).shape
    along = mask.reshape(tuple(mask.size if k == axis.place else 1 for k in range(len(shape))))
    chosen = e.constant(np.broadcast_to(along, shape).copy())
    return e.node(Select(), chosen, e.constant(np.array(value, np.float32)), x)


def _nearest(e: Expansion, x: str, tables: dict[Axis, np.ndarray]) -> str:
    """x resized by a table of elements for each axis. Images use ResizeNearestNeighbor, which can run row by row, if it
    selects the same elements.
    """
    changed = {axis: table for axis, table in tables.items() if not np.array_equal(table, np.arange(axis.size))}
    t = e.type(x)
    if len(t.shape) == 4 and {axis.place for axis in changed} <= {2, 3} and t.dtype in DTYPES and changed:
        op = _image_op(t, changed)
        if op is not None:
            return _images.to_first(e, e.node(op, _images.to_last(e, x)), 4)
    for axis, table in changed.items():
        x = e.node(Gather(axis.place), x, e.constant(table.astype(np.int32)))
    return x


def _image_op(t: TensorType, tables: dict[Axis, np.ndarray]) -> ResizeNearestNeighbor | None:
    """The ResizeNearestNeighbor that selects the elements of the tables, or None."""
    wanted = {axis.place: table for axis, table in tables.items()}
    size = tuple(wanted[k].size if k in wanted else t.shape[k] for k in (2, 3))
    for half in (False, True):
        op = ResizeNearestNeighbor((size[0], size[1]), half_pixel_centers=half)
        own = [op.nearest(t.shape[k], k - 2) for k in (2, 3)]
        if all(np.array_equal(own[k - 2], wanted.get(k, np.arange(t.shape[k]))) for k in (2, 3)):
            return op
    return None


def _nearest_table(axis: Axis, at: np.ndarray, a: Attributes) -> np.ndarray:
    """Index of the nearest element for each coordinate `at`."""
    rounding: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "round_prefer_floor": lambda v: np.where(_is_half(v), np.floor(v), np.floor(v + 0.5)),
        "round_prefer_ceil": lambda v: np.where(_is_half(v), np.ceil(v), np.floor(v + 0.5)),
        "floor": np.floor,
        "ceil": np.ceil,
        "simple": np.ceil if axis.scale < 1.0 else np.floor,
    }
    mode = a["nearest_mode"]
    if mode not in rounding:
        raise UnsupportedError(f"nearest_mode {mode!r} is not supported")
    return np.asarray(np.clip(rounding[mode](at.astype(np.float64)), 0, axis.size - 1).astype(np.int64))


def _is_half(at: np.ndarray) -> np.ndarray:
    """Mask of the coordinates in the middle of two elements, within ONNX Runtime's tolerance."""
    return np.asarray(np.abs(at - np.floor(at) - 0.5) < MIDDLE)


def _kernel(a: Attributes) -> Weights:
    if a["mode"] == "linear":
        return (lambda d: np.maximum(1.0 - d, 0.0)), 1
    if a["mode"] != "cubic":
        raise UnsupportedError(f"the mode {a['mode']!r} is not supported; nearest, linear and cubic are")
    c = float(a["cubic_coeff_a"])

    def cubic(d: np.ndarray) -> np.ndarray:
        near = ((c + 2) * d - (c + 3)) * d * d + 1
        far = ((c * d - 5 * c) * d + 8 * c) * d - 4 * c
        return np.where(d <= 1, near, np.where(d < 2, far, 0.0))

    return cubic, 2


def _coordinates(axis: Axis, a: Attributes) -> np.ndarray:
    """For each result, its coordinate in the operand, in float32 as in ONNX Runtime: float64 would round differently.

    ONNX Runtime differs from the ONNX specification in two points. It uses the size after rounding, the specification
    the size before. For a single result of pytorch_half_pixel it gives 0, the specification -0.5.
    Source: onnxruntime, upsamplebase.h, GetOriginalCoordinateFunc.
    """
    mode, half = a["coordinate_transformation_mode"], np.float32(0.5)
    y = np.arange(axis.wanted, dtype=np.float32)
    if axis.scale == 1.0:
        return y
    scale, size, wanted, start, end = (np.float32(v) for v in (axis.scale, axis.size, axis.wanted, *axis.roi))
    if mode == "align_corners":
        return y * (size - 1) / (wanted - 1) if wanted > 1 else np.zeros_like(y)
    if mode == "asymmetric":
        return y / scale
    if mode == "tf_half_pixel_for_nn":  # of versions 11 and 12
        return (y + half) / scale
    if mode == "tf_crop_and_resize":
        if wanted > 1:
            return start * (size - 1) + (y * (end - start) * (size - 1)) / (wanted - 1)
        return np.full_like(y, half * (start + end) * (size - 1))
    if mode == "pytorch_half_pixel" and wanted <= 1:
        return np.zeros_like(y)
    if mode not in ("half_pixel", "pytorch_half_pixel", "half_pixel_symmetric"):
        raise UnsupportedError(f"coordinate_transformation_mode {mode!r} is not supported")
    if mode == "half_pixel_symmetric":
        moved = size / 2 * (1 - wanted / (scale * size))
        return np.asarray(moved + (y.astype(np.float64) + 0.5) / float(scale) - 0.5, np.float32)
    return (y + half) / scale - half


def _axes(source: Source, shape: Sequence[int]) -> list[Axis]:
    """The axes that are resized, from scales or sizes."""
    a, rank = source.attributes, len(shape)
    places = [k % rank if -rank <= k < rank else rank for k in a.get("axes") or range(rank)]
    if len(set(places)) != len(places) or max(places, default=rank) >= rank:
        raise ShapeError(f"axes {places} are not axes of rank {rank}")
    roi = _numbers(source, 1)
    crops = a["coordinate_transformation_mode"] == "tf_crop_and_resize"
    if crops and len(roi) != 2 * len(places):
        raise UnsupportedError("the region to resize (roi) is not constant", hint="make it a constant")
    old = [shape[k] for k in places]
    wanted, scales = _targets(source, old)
    if min(wanted) < 1 or min(scales) <= 0 or not all(map(math.isfinite, scales)):
        raise ShapeError(f"sizes {list(wanted)} or scales {list(scales)} are not positive")
    if max(wanted) > MAX_TABLE:
        message = f"resizing to {list(wanted)} is not supported: an axis can have at most {MAX_TABLE:,} elements"
        raise UnsupportedError(message, hint="resize to smaller sizes")
    regions = [(roi[k], roi[k + len(places)]) if crops else (0.0, 1.0) for k in range(len(places))]
    return [Axis(*each) for each in zip(places, old, wanted, scales, regions, strict=True)]


def _targets(source: Source, old: Sequence[int]) -> tuple[Sequence[int], Sequence[float]]:
    """(sizes, scales) of the axes. The file states one of the two.

    A size follows from a scale by a product in float32, as in ONNX Runtime: 10 * 0.7 is 7.
    """
    scales, sizes = _numbers(source, 2), _numbers(source, 3)
    if bool(scales) == bool(sizes):
        raise UnsupportedError("neither the scales nor the sizes are constant", hint="make one of them a constant")
    if len(scales or sizes) != len(old):
        raise ShapeError(f"there are {len(scales or sizes)} scales or sizes, but {len(old)} axes")
    if not all(math.isfinite(value) and value > 0 for value in scales or sizes):
        raise ShapeError(f"scales or sizes {scales or sizes} are not positive")
    if scales:
        wanted = [np.float32(s) * np.float32(d) for s, d in zip(scales, old, strict=True)]
        if max(wanted, default=0) > MAX_TABLE:
            sizes = [float(n) for n in wanted]
            message = f"resizing to {sizes} is not supported: an axis can have at most {MAX_TABLE:,} elements"
            raise UnsupportedError(message, hint="use smaller scales")
        return [int(n) for n in wanted], scales
    policy = source.attributes.get("keep_aspect_ratio_policy", "stretch")
    each = [float(np.float32(s) / np.float32(d)) for s, d in zip(sizes, old, strict=True)]
    if policy == "stretch":
        return [int(s) for s in sizes], each
    if policy not in ("not_larger", "not_smaller"):
        raise UnsupportedError(f"keep_aspect_ratio_policy {policy!r} is not supported")
    scale = min(each) if policy == "not_larger" else max(each)
    return [math.floor(float(np.float32(scale) * np.float32(d)) + 0.5) for d in old], [scale] * len(old)


def _numbers(source: Source, k: int) -> list[float]:
    """An operand as numbers, [] if it is absent or empty. Raises UnsupportedError if it is computed."""
    data = source.constant(k)
    if data is None and k < len(source.inputs) and source.inputs[k] is not None:
        what = "the scales, the sizes or the region are computed at run time"
        raise UnsupportedError(what, hint="make them constants")
    return [] if data is None else [float(v) for v in data.reshape(-1)]


IMPORTS = (
    Import("onnx", "Resize", since=11, expand=expand),
    Import("onnx", "Resize", until=10, expand=before_modes),
    Import("onnx", "Upsample", until=9, expand=before_modes),
)
