"""NNEF operations that move elements: reshape, transpose, concat, slice and their like."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.formats.nnef.operators._layer import axes_of, axis_of, given, imported, moved, mover, quantized
from mcugen.ir.imports import Expansion, Source
from mcugen.ir.op import Op
from mcugen.ops.concatenation import Concatenation
from mcugen.ops.gather import Gather
from mcugen.ops.pack import Pack
from mcugen.ops.pad import Pad
from mcugen.ops.reshape import Reshape
from mcugen.ops.split import Split
from mcugen.ops.strided_slice import StridedSlice
from mcugen.ops.tile import Tile
from mcugen.ops.transpose import Transpose
from mcugen.ops.unpack import Unpack


def reshape(source: Source, e: Expansion, x: str) -> Op:
    """axis_count axes from axis_start on become `shape`; 0 keeps a size, -1 is inferred. Source: NNEF 4.6.1."""
    a, old = source.attributes, e.type(x).shape
    wanted, start, count = list(a["shape"]), a["axis_start"], a["axis_count"]
    end = len(old) if count == -1 else start + count
    if not 0 <= start <= end <= len(old) or any(d < -1 for d in wanted) or wanted.count(-1) > 1:
        raise ShapeError(f"axes from {start} on of shape {list(old)} cannot be reshaped to {wanted}")
    for k, d in enumerate(wanted):
        if d == 0:
            if start + k >= end:
                raise ShapeError(f"a size of 0 keeps axis {start + k}, which shape {list(old)} does not have")
            wanted[k] = old[start + k]
    return Reshape((*old[:start], *wanted, *old[end:]))


def transpose(source: Source, e: Expansion, x: str) -> Op:
    """The first axes are permuted, the others stay. Source: NNEF 4.6.2."""
    axes, rank = source.attributes["axes"], len(e.type(x).shape)
    if sorted(axes) != list(range(len(axes))) or len(axes) > rank:
        raise ShapeError(f"axes {axes} are not a permutation of the first {len(axes)} of {rank} axes")
    return Transpose((*axes, *range(len(axes), rank)))


def squeeze(source: Source, e: Expansion, x: str) -> Op:
    shape = e.type(x).shape
    axes = axes_of(source, shape)
    if any(shape[a] != 1 for a in axes):
        raise ShapeError(f"axes {list(axes)} of {list(shape)} are not all of size 1")
    return Reshape(tuple(d for k, d in enumerate(shape) if k not in axes))


def unsqueeze(source: Source, e: Expansion, x: str) -> Op:
    """Axes of size 1 are inserted; `axes` are their indices in the result. Source: NNEF 4.6.7."""
    shape, axes = list(e.type(x).shape), source.attributes["axes"]
    if any(not 0 <= a <= len(shape) + len(axes) - 1 for a in axes) or len(set(axes)) != len(axes):
        raise ShapeError(f"axes {axes} cannot be added to {shape}")
    for axis in sorted(axes):
        shape.insert(axis, 1)
    return Reshape(tuple(shape))


def copy(source: Source, e: Expansion, x: str) -> Op:
    return Reshape(e.type(x).shape)


def slices(source: Source, e: Expansion, x: str) -> Op:
    """The range from `begin` to before `end` along each axis; an end of 0 is the axis's end. Source: NNEF 4.6.8."""
    a, shape = source.attributes, e.type(x).shape
    axes, begin, end = a["axes"], a["begin"], a["end"]
    strides = a["stride"] or [1] * len(axes)
    ranges = [(0, d, 1) for d in shape]
    if not len(axes) == len(begin) == len(end) == len(strides) or any(not 0 <= k < len(shape) for k in axes):
        raise ShapeError(f"slices of axes {axes} do not fit {list(shape)}")
    for axis, first, last, step in zip(axes, begin, end, strides, strict=True):
        size = shape[axis]
        if step < 1:
            raise UnsupportedError(f"a slice with stride {step} is not supported")
        low = first + size if first < 0 else first
        high = last + size if last <= 0 else last
        if not 0 <= low < high <= size:
            raise ShapeError(f"a slice from {first} to {last} does not fit an axis of {size}")
        ranges[axis] = (low, -(-(high - low) // step), step)
    return StridedSlice(tuple(ranges), tuple(count for _, count, _ in ranges))


def pad(source: Source, e: Expansion, x: str) -> Op:
    """Padding with real zeros, which quantized tensors store as their zero point. Source: NNEF 4.6.9."""
    a = source.attributes
    if a["border"] != "constant" or a["value"] != 0.0:
        raise UnsupportedError(
            f"padding with border {a['border']} and value {a['value']} is not supported, only zeros are"
        )
    widths = tuple((int(p), int(q)) for p, q in a["padding"])
    if len(widths) != len(e.type(x).shape) or any(min(pair) < 0 for pair in widths):
        raise ShapeError(f"padding {widths} does not fit {list(e.type(x).shape)}")
    return Pad(widths)


def tile(source: Source, e: Expansion, x: str) -> Op:
    return Tile(tuple(source.attributes["repeats"]))


def _joined(op: Op, source: Source, e: Expansion) -> Sequence[str]:
    """Concatenate or stack the operands. If their quantizations differ, they first get that of the result."""
    names = given(e)
    quant = e.type(names[0]).quant
    same = [n if e.type(n).quant == quant else quantized(e, n, source) for n in names]
    if len({e.type(n).quant for n in same}) > 1:
        same = [quantized(e, n, source) for n in names]
    return [quantized(e, moved(e, op, *same), source)]


def concat(source: Source, e: Expansion) -> Sequence[str]:
    return _joined(Concatenation(axis_of(source, e.type(given(e)[0]).shape)), source, e)


def stack(source: Source, e: Expansion) -> Sequence[str]:
    return _joined(Pack(source.attributes["axis"]), source, e)


def split(source: Source, e: Expansion) -> Sequence[str]:
    """Parts in proportion to `ratios`. Source: NNEF 4.6.4."""
    x, ratios = given(e)[0], source.attributes["ratios"]
    shape = e.type(x).shape
    axis = axis_of(source, shape)
    if not ratios or any(r < 1 for r in ratios) or shape[axis] % sum(ratios):
        raise ShapeError(f"ratios {ratios} do not divide axis {axis} of {list(shape)}")
    unit = shape[axis] // sum(ratios)
    parts = e.nodes(Split(axis, tuple(unit * r for r in ratios)), x, quant=e.type(x).quant)
    return [quantized(e, part, source, k) for k, part in enumerate(parts)]


def unstack(source: Source, e: Expansion) -> Sequence[str]:
    x = given(e)[0]
    axis = axis_of(source, e.type(x).shape)
    parts = e.nodes(Unpack(axis, e.type(x).shape[axis]), x, quant=e.type(x).quant)
    return [quantized(e, part, source, k) for k, part in enumerate(parts)]


def gather(source: Source, e: Expansion) -> Sequence[str]:
    x, index = given(e)
    data = e.data(index)
    if data is not None and data.dtype.kind == "f":
        index = e.constant(data.astype(np.int32))
    return [quantized(e, moved(e, Gather(axis_of(source, e.type(x).shape)), x, index), source)]


IMPORTS = (
    *(
        imported(name, mover(function))
        for name, function in (
            ("reshape", reshape),
            ("transpose", transpose),
            ("squeeze", squeeze),
            ("unsqueeze", unsqueeze),
            ("copy", copy),
            ("slice", slices),
            ("pad", pad),
            ("tile", tile),
        )
    ),
    *(
        imported(name, expand)
        for name, expand in (
            ("concat", concat),
            ("stack", stack),
            ("split", split),
            ("unstack", unstack),
            ("gather", gather),
        )
    ),
)
