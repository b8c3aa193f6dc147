"""Slice, Split and Gather of ONNX."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ops.arithmetic import Arithmetic
from mcugen.ops.gather import Gather
from mcugen.ops.split import Split
from mcugen.ops.strided_slice import StridedSlice


def slices(source: Source, e: Expansion) -> Sequence[str]:
    """Every step-th element from start to end along the stated axes. Source: ONNX Slice-13."""
    x = e.inputs[0]
    shape = () if x is None else e.type(x).shape
    starts, ends = source.ints(1), source.ints(2)
    if x is None or starts is None or ends is None or len(starts) != len(ends):
        raise UnsupportedError("the bounds are computed at run time", hint="make them constants")
    axes = _stated(source, 3, tuple(range(len(starts))))
    steps = _stated(source, 4, (1,) * len(starts))
    if not len(axes) == len(steps) == len(starts) or any(not -len(shape) <= axis < len(shape) for axis in axes):
        raise ShapeError(f"bounds of axes {list(axes)} do not fit {list(shape)}")
    ranges = [(0, d, 1) for d in shape]
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        ranges[axis] = _range(start, end, step, shape[axis])
    if any(count < 1 for _, count, _ in ranges):
        return [e.constant(np.zeros(tuple(count for _, count, _ in ranges), e.type(x).np_dtype))]
    return [e.node(StridedSlice(tuple(ranges), tuple(count for _, count, _ in ranges)), x)]


def _range(start: int, end: int, step: int, size: int) -> tuple[int, int, int]:
    """(first, count, step) of a slice. Negative bounds count from the end; bounds are clamped to the axis."""
    if step == 0:
        raise ShapeError("a step is 0")
    low, high = (0, size) if step > 0 else (-1, size - 1)
    first = min(max(start + size if start < 0 else start, max(low, 0)), high)
    last = min(max(end + size if end < 0 else end, low), size if step > 0 else size - 1)
    return first, max(-(-(last - first) // step), 0), step


def _stated(source: Source, k: int, default: tuple[int, ...]) -> tuple[int, ...]:
    if k >= len(source.inputs) or source.inputs[k] is None:
        return default
    given = source.ints(k)
    if given is None:
        raise UnsupportedError("the bounds are computed at run time", hint="make them constants")
    return given


def split(source: Source, e: Expansion) -> Sequence[str]:
    """Parts along an axis: of the stated sizes, or of sizes that are as equal as possible. Source: ONNX Split-18."""
    x, axis = e.inputs[0], source.attributes["axis"]
    shape = () if x is None else e.type(x).shape
    if x is None or not -len(shape) <= axis < len(shape):
        raise ShapeError(f"axis {axis} is not an axis of {list(shape)}")
    size, sizes = shape[axis], source.ints(1)
    count = source.attributes["num_outputs"]
    if sizes is None and len(source.inputs) > 1:
        raise UnsupportedError("the sizes are computed at run time", hint="make them constants")
    if sizes is None:
        if not count:
            raise UnsupportedError("a split needs the number or the sizes of its parts")
        each = -(-size // count)
        sizes = tuple(min(each, size - k * each) for k in range(count))
    if sum(sizes) != size or min(sizes) < 0:
        raise ShapeError(f"parts of {list(sizes)} elements do not make up an axis of {size}")
    parts = iter(e.nodes(Split(axis % len(shape), tuple(d for d in sizes if d)), x))
    empty = tuple(0 if k == axis % len(shape) else d for k, d in enumerate(shape))
    return [next(parts) if d else e.constant(np.zeros(empty, e.type(x).np_dtype)) for d in sizes]


def gather(source: Source, e: Expansion) -> Sequence[str]:
    """The slices at indices; negative indices count from the end. Source: ONNX Gather-13."""
    x, axis = e.inputs[0], source.attributes["axis"]
    shape, index = () if x is None else e.type(x).shape, source.constant(1)
    at = e.inputs[1] if len(e.inputs) > 1 else None
    if x is None or at is None or not -len(shape) <= axis < len(shape):
        raise ShapeError(f"axis {axis} is not an axis of {list(shape)}")
    size = shape[axis]
    if index is None:
        last = e.constant(np.array(size, e.type(at).np_dtype))
        return [e.node(Gather(axis), x, e.node(Arithmetic("wrap"), at, last))]
    if ((index < -size) | (index >= size)).any():
        raise ShapeError(f"an index is outside an axis of {size}")
    known = np.where(index < 0, index + size, index).astype(np.int64)
    even = _evenly(known)
    if even is None:
        return [e.node(Gather(axis), x, e.constant(known))]
    ranges = [(0, d, 1) for d in shape]
    ranges[axis] = even
    at_axis = axis % len(shape)
    return [e.node(StridedSlice(tuple(ranges), (*shape[:at_axis], *index.shape, *shape[at_axis + 1 :])), x)]


def _evenly(index: np.ndarray) -> tuple[int, int, int] | None:
    """(first, count, step) of evenly spaced indices; None if the indices are not evenly spaced."""
    if index.size == 0 or index.ndim > 1:
        return None
    values = index.reshape(-1)
    steps = np.unique(np.diff(values))
    step = int(steps[0]) if steps.size else 1
    return (int(values[0]), values.size, step) if steps.size <= 1 and step else None


IMPORTS = (
    Import("onnx", "Gather", expand=gather),
    Import("onnx", "Slice", expand=slices),
    Import("onnx", "Split", expand=split),
)
