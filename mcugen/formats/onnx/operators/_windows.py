"""Pools of images [N, H, W, C] computed tap by tap, for dilations and paddings that no pooling operator has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from mcugen.formats.operators._images import Geometry
from mcugen.formats.operators.elements import is_plain, join
from mcugen.ir.imports import Expansion
from mcugen.ir.op import Widths
from mcugen.ops.add import Add
from mcugen.ops.arg_max import ArgMax
from mcugen.ops.arithmetic import Arithmetic
from mcugen.ops.concatenation import Concatenation
from mcugen.ops.gather import Gather
from mcugen.ops.maximum import Maximum
from mcugen.ops.pad import Pad
from mcugen.ops.reduce_max import ReduceMax
from mcugen.ops.reshape import Reshape
from mcugen.ops.strided_slice import StridedSlice

MAX_JOINED = 8
Join = Callable[[str, str], str]


def cut(e: Expansion, x: str, padding: Widths) -> str:
    """An image cropped on the sides where the padding is negative."""
    ranges = [(0, d, 1) for d in e.type(x).shape]
    for d, (before, after) in enumerate(padding, 1):
        first = max(-before, 0)
        ranges[d] = (first, ranges[d][1] - first - max(-after, 0), 1)
    counts = tuple(count for _, count, _ in ranges)
    return x if counts == e.type(x).shape else e.node(StridedSlice(tuple(ranges), counts), x)


def largest(e: Expansion, x: str, window: Geometry) -> str:
    """The largest element of each window."""
    return _joined(e, _padded(e, x, window, _least(e, x)), window, lambda a, b: join(e, Maximum(), "max", a, b))


def total(e: Expansion, x: str, window: Geometry) -> str:
    """The sum of each window, with zeros outside the image."""
    return _joined(e, _padded(e, x, window, 0.0), window, lambda a, b: e.node(Add(), a, b))


def counts(window: Geometry, d: int, size: int) -> np.ndarray:
    """The number of taps of each window inside the image, along one axis."""
    places = _places(window, d, size)
    return np.asarray(((places >= 0) & (places < size)).sum(axis=1))


def largest_and_place(e: Expansion, x: str, window: Geometry, *, by_columns: bool) -> tuple[str, str]:
    """The largest element of each window, and its index in the flattened images [N, C, H, W].

    by_columns: count the pixels of an image column by column
    """
    n, h, w, c = e.type(x).shape
    rows, columns = (_places(window, d, size) for d, size in ((0, h), (1, w)))
    parts = taps(e, _padded(e, x, window, _least(e, x)), window)
    shape = e.type(parts[0]).shape
    stacked = joined(e, [e.node(Reshape((*shape, 1)), tap) for tap in parts], 4)
    best = e.node(ArgMax(4, "s64"), stacked)
    # index of an element = index of the window's first tap + offset of the tap
    down, right = (1, h) if by_columns else (w, 1)
    added = ((rows[0] - rows[0, 0])[:, None] * down + (columns[0] - columns[0, 0]) * right).reshape(-1)
    first = rows[:, 0][None, :, None, None] * down + columns[:, 0][None, None, :, None] * right
    images = (np.arange(n)[:, None, None, None] * c + np.arange(c)) * (h * w)
    start = np.broadcast_to(first + images, shape)
    moved = e.node(Gather(0), e.constant(added.astype(np.int64)), best)
    at = e.node(Arithmetic("add"), moved, e.constant(start.astype(np.int64)))
    if is_plain(e.type(x)):
        return largest(e, x, window), at
    return e.node(ReduceMax((4,)), stacked), at


def taps(e: Expansion, x: str, window: Geometry) -> list[str]:
    """For each tap, row by row: its element in every window over a padded image x."""
    rows = [_tap(e, x, window, 0, k) for k in range(window.kernel[0])]
    return [_tap(e, row, window, 1, k) for row in rows for k in range(window.kernel[1])]


def joined(e: Expansion, parts: Sequence[str], axis: int) -> str:
    """Any number of tensors concatenated along an axis."""
    found = list(parts)
    while len(found) > 1:
        groups = [found[k : k + MAX_JOINED] for k in range(0, len(found), MAX_JOINED)]
        found = [e.node(Concatenation(axis), *group) if len(group) > 1 else group[0] for group in groups]
    return found[0]


def _places(window: Geometry, d: int, size: int) -> np.ndarray:
    """[results, taps]: the position of each tap of each window along an axis."""
    count = (size + sum(window.padding[d]) - window.extent(d)) // window.stride[d] + 1
    starts = np.arange(count) * window.stride[d] - window.padding[d][0]
    return np.asarray(starts[:, None] + np.arange(window.kernel[d]) * window.dilation[d])


def _least(e: Expansion, x: str) -> float:
    """A value that never wins a maximum."""
    t = e.type(x)
    return -float(np.finfo(np.float32).max) if t.is_float else t.limits[0]


def _padded(e: Expansion, x: str, window: Geometry, value: float) -> str:
    if not prod(1 + p for pair in window.padding for p in pair) > 1:
        return x
    filler = e.constant(np.array([value], e.type(x).np_dtype))
    return e.node(Pad(((0, 0), *window.padding, (0, 0))), x, filler)


def _joined(e: Expansion, x: str, window: Geometry, joined: Join) -> str:
    """All taps of each window combined by `joined`, first down the columns, then along the rows."""
    for d in (0, 1):
        y = _tap(e, x, window, d, 0)
        for k in range(1, window.kernel[d]):
            y = joined(y, _tap(e, x, window, d, k))
        x = y
    return x


def _tap(e: Expansion, x: str, window: Geometry, d: int, k: int) -> str:
    """The k-th row (d = 0) or column (d = 1) of every window over a padded image."""
    shape = e.type(x).shape
    count = (shape[d + 1] - window.extent(d)) // window.stride[d] + 1
    ranges = [(0, size, 1) for size in shape]
    ranges[d + 1] = (k * window.dilation[d], count, window.stride[d])
    if ranges[d + 1] == (0, shape[d + 1], 1):
        return x
    return e.node(StridedSlice(tuple(ranges), tuple(n for _, n, _ in ranges)), x)
