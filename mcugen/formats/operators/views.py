"""Expand, Tile, Pad, DepthToSpace and SpaceToDepth: elements moved or repeated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.formats.operators.shapes import MAX_ELEMENTS
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ops.broadcast_to import BroadcastTo
from mcugen.ops.gather import Gather
from mcugen.ops.pad import Pad
from mcugen.ops.reshape import Reshape
from mcugen.ops.strided_slice import StridedSlice
from mcugen.ops.tile import Tile
from mcugen.ops.transpose import Transpose


def expand(source: Source, e: Expansion) -> Sequence[str]:
    """Broadcast to the common shape of x and the stated shape. Source: ONNX Expand-13."""
    x, shape = _operand(e), _known(source, 1, "shape")
    try:
        wanted = np.broadcast_shapes(e.type(x).shape, shape)
    except ValueError as error:
        raise ShapeError(f"{list(e.type(x).shape)} and {list(shape)} cannot be broadcast together") from error
    return [e.node(BroadcastTo(wanted), x)]


def tile(source: Source, e: Expansion) -> Sequence[str]:
    """Repeated along each axis. Source: ONNX Tile-13."""
    x, times = _operand(e), _known(source, 1, "repeats")
    if len(times) != len(e.type(x).shape):
        raise ShapeError(f"repeats {list(times)} do not fit the axes of {list(e.type(x).shape)}")
    chosen = [k for k, n in enumerate(times) if n != 1] or [0]
    for start in range(0, len(chosen), 2):  # two axes at a time, as each repeated axis adds a loop
        now = chosen[start : start + 2]
        x = e.node(Tile(tuple(n if k in now else 1 for k, n in enumerate(times))), x)
    return [x]


def pad(source: Source, e: Expansion) -> Sequence[str]:
    """A tensor with elements added around it; negative widths crop it. Source: ONNX Pad-21."""
    x, ends, mode = _operand(e), _known(source, 1, "pads"), source.attributes["mode"]
    shape = e.type(x).shape
    axes = _known(source, 3, "axes") if len(e.inputs) > 3 and e.inputs[3] is not None else tuple(range(len(shape)))
    if len(ends) != 2 * len(axes) or any(not -len(shape) <= axis < len(shape) for axis in axes):
        raise ShapeError(f"pads {list(ends)} do not fit axes {list(axes)} of {list(shape)}")
    widths = [(0, 0)] * len(shape)
    for k, axis in enumerate(axes):
        widths[axis] = (ends[k], ends[k + len(axes)])
    cut = tuple((max(-a, 0), d - max(-a, 0) - max(-b, 0), 1) for d, (a, b) in zip(shape, widths, strict=True))
    if any(count < 1 for _, count, _ in cut):
        raise UnsupportedError("negative padding that crops all of a tensor is not supported")
    if any(min(pair) < 0 for pair in widths):
        x = e.node(StridedSlice(cut, tuple(count for _, count, _ in cut)), x)
    if mode != "constant":
        source.attributes.ignore("value")  # files before opset 11 state it anyway
        return [_mirrored(e, x, widths, mode)]
    value = e.inputs[2] if len(e.inputs) > 2 else None
    added = tuple((max(a, 0), max(b, 0)) for a, b in widths)
    return [_filled(e, Pad(added), x, value)]


def _filled(e: Expansion, op: Pad, x: str, value: str | None) -> str:
    """Padding with a stored value; without a value, with the stored integer 0, whatever the zero point is."""
    t, known = e.type(x), np.zeros((), e.type(x).np_dtype) if value is None else e.data(value)
    if t.quant is None or t.quant.per_channel or known is None:
        return e.node(op, x, *([] if value is None else [value]))
    return e.node(op, x, e.constant(known.astype(t.np_dtype), t.quant), quant=t.quant)


def _mirrored(e: Expansion, x: str, widths: Sequence[tuple[int, int]], mode: str) -> str:
    """Padding with elements of the tensor itself, axis by axis."""
    if mode not in _MODES:
        raise UnsupportedError(f"padding mode {mode!r} is not supported; constant, {', '.join(sorted(_MODES))} are")
    for axis, (before, after) in enumerate(widths):
        if before <= 0 and after <= 0:
            continue
        size = e.type(x).shape[axis]
        if size + max(before, 0) + max(after, 0) > MAX_ELEMENTS:
            raise ShapeError(f"padding {list(widths)} is too wide")
        places = _around(size, max(before, 0), max(after, 0), mode)
        x = e.node(Gather(axis), x, e.constant(places.astype(np.int32)))
    return x


def _around(size: int, before: int, after: int, mode: str) -> np.ndarray:
    """For each element of an axis that is extended by `before` and `after`, the index of the element it repeats."""
    at = np.arange(-before, size + after)
    if mode == "edge" or size == 1:
        return np.clip(at, 0, size - 1)
    if mode == "wrap":
        return at % size
    period = 2 * size if mode == "symmetric" else 2 * size - 2
    folded = at % period
    return np.where(folded < size, folded, (period - folded) - (mode == "symmetric"))


def mirror_pad(source: Source, e: Expansion) -> Sequence[str]:
    """Padding by reflection, with or without the outermost elements. Source: TFLite MIRROR_PAD."""
    x, ends = _operand(e), _known(source, 1, "widths")
    quant = e.type(x).quant
    if e.type(x).dtype == "s16" and quant is not None and any(quant.zero_point):
        raise UnsupportedError("int16 data with a zero point other than 0 is not supported")
    if e.type(x).dtype not in ("s8", "f32"):
        e.refuse("tflm", f"no kernel for {e.type(x).dtype}")
    shape, mode = e.type(x).shape, source.attributes["mode"]
    if len(ends) != 2 * len(shape) or min(ends, default=0) < 0 or mode not in ("REFLECT", "SYMMETRIC"):
        raise ShapeError(f"widths {list(ends)} in mode {mode} do not fit {list(shape)}")
    widths = [(ends[2 * k], ends[2 * k + 1]) for k in range(len(shape))]
    if any(max(pair) > size - (mode == "REFLECT") for pair, size in zip(widths, shape, strict=True)):
        raise ShapeError(f"widths {list(widths)} are larger than {list(shape)} allows in mode {mode}")
    return [_mirrored(e, x, widths, mode.lower())]


def depth_to_space(source: Source, e: Expansion) -> Sequence[str]:
    """Channels become blocks of pixels. Source: ONNX DepthToSpace-13."""
    x, b, mode = _operand(e), source.attributes["blocksize"], source.attributes["mode"]
    n, c, h, w = _image(e, x)
    if b < 1 or c % (b * b) or mode not in ("DCR", "CRD"):
        raise ShapeError(f"blocks of {b} in mode {mode} do not divide {c} channels")
    if mode == "DCR":
        split = e.node(Transpose((0, 3, 4, 1, 5, 2)), e.node(Reshape((n, b, b, c // (b * b), h, w)), x))
    else:
        split = e.node(Transpose((0, 1, 4, 2, 5, 3)), e.node(Reshape((n, c // (b * b), b, b, h, w)), x))
    return [e.node(Reshape((n, c // (b * b), h * b, w * b)), split)]


def space_to_depth(source: Source, e: Expansion) -> Sequence[str]:
    """Blocks of pixels become channels. Source: ONNX SpaceToDepth-13."""
    x, b, mode = _operand(e), source.attributes["blocksize"], source.attributes.get("mode", "DCR")
    n, c, h, w = _image(e, x)
    if b < 1 or h % b or w % b or mode not in ("DCR", "CRD"):
        raise ShapeError(f"blocks of {b} in mode {mode} do not divide an image of {h}x{w}")
    split = e.node(Reshape((n, c, h // b, b, w // b, b)), x)
    order = (0, 3, 5, 1, 2, 4) if mode == "DCR" else (0, 1, 3, 5, 2, 4)
    return [e.node(Reshape((n, c * b * b, h // b, w // b)), e.node(Transpose(order), split))]


def _image(e: Expansion, x: str) -> tuple[int, int, int, int]:
    shape = e.type(x).shape
    if len(shape) != 4:
        raise ShapeError(f"an image has four axes, not {list(shape)}")
    return shape[0], shape[1], shape[2], shape[3]


def _known(source: Source, k: int, what: str) -> tuple[int, ...]:
    values = source.ints(k)
    if values is None:
        raise UnsupportedError(f"the {what} are computed at run time", hint="make them a constant")
    return values


def _operand(e: Expansion) -> str:
    if not e.inputs or e.inputs[0] is None:
        raise ShapeError("the operator has no operand, needs 1")
    return e.inputs[0]


_MODES = frozenset({"reflect", "symmetric", "edge", "wrap"})
IMPORTS = (
    Import("tflite", "MIRROR_PAD", expand=mirror_pad, halves=True),
    Import("onnx", "Expand", expand=expand),
    Import("onnx", "Tile", expand=tile),
    Import("onnx", "Pad", expand=pad),
    Import("onnx", "DepthToSpace", expand=depth_to_space),
    Import("onnx", "SpaceToDepth", expand=space_to_depth),
)
