"""Operators of .tflite that make constants, or move elements between batches and images."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.formats.operators.shapes import MAX_ELEMENTS
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ir.types import Shape, TensorType
from mcugen.ops.broadcast_to import BroadcastTo
from mcugen.ops.pad import Pad
from mcugen.ops.reshape import Reshape
from mcugen.ops.strided_slice import StridedSlice
from mcugen.ops.transpose import Transpose

_BATCH_TYPES = ("s8", "u8", "s16", "s32", "u32", "s64", "f32", "bool")


def _operand(source: Source, e: Expansion, k: int) -> str:
    found = e.inputs[k] if len(e.inputs) > k else None
    if found is None:
        raise ShapeError(f"operand {k} is missing")
    return found


def _known(source: Source, k: int, what: str) -> tuple[int, ...]:
    found = source.ints(k)
    if found is None:
        raise UnsupportedError(f"the {what} is computed at run time", hint="make it a constant")
    return found


def fill(source: Source, e: Expansion) -> Sequence[str]:
    """A tensor of one value. Source: TFLite FILL."""
    shape, value = _known(source, 0, "shape"), _operand(source, e, 1)
    if not shape or min(shape) < 1 or math.prod(shape) > MAX_ELEMENTS or e.type(value).size != 1:
        raise ShapeError(f"a shape {list(shape)} cannot be filled with {e.type(value)}")
    quant = e.type(value).quant
    if e.type(value).dtype not in ("f32", "s32", "s8"):
        e.refuse("tflm", f"no kernel for {e.type(value).dtype}")
    return [e.node(BroadcastTo(shape), e.node(Reshape(()), value, quant=quant), quant=quant)]


def zeros_like(source: Source, e: Expansion) -> Sequence[str]:
    """Stored zeros in the shape of the operand. Source: TFLite ZEROS_LIKE."""
    t = e.type(_operand(source, e, 0))
    if t.dtype not in ("f32", "s32", "s64", "s8"):
        raise UnsupportedError(f"zeros of {t.dtype} are not supported")
    if t.dtype == "s8":
        e.refuse("litert", "no kernel for s8")
    return [e.constant(np.zeros(t.shape, t.np_dtype), source.outputs[0].quant)]


def broadcast_args(source: Source, e: Expansion) -> Sequence[str]:
    """The common broadcast shape of two shapes. Source: TFLite BROADCAST_ARGS."""
    shapes = [_known(source, k, "shape") for k in (0, 1)]
    try:
        found = np.broadcast_shapes(*shapes)
    except ValueError as error:
        raise ShapeError(f"shapes {shapes} cannot be broadcast together") from error
    dtype = np.int32 if source.outputs[0].dtype == "s32" else np.int64
    return [e.constant(np.array(found, dtype))]


def _blocks(source: Source, e: Expansion) -> tuple[str, tuple[int, ...], list[tuple[int, int]], Shape]:
    """The data as images, the block sizes, the widths to pad or crop, and the shape of the data: rank 3 or 4."""
    x = _operand(source, e, 0)
    t, block, widths = e.type(x), _known(source, 1, "block shape"), _known(source, 2, "widths")
    axes = len(t.shape) - 2
    if t.dtype not in _BATCH_TYPES or axes not in (1, 2) or len(block) != axes or len(widths) != 2 * axes:
        raise ShapeError(f"blocks {list(block)} and widths {list(widths)} do not fit {t}")
    if min(block) < 1 or min(widths) < 0:
        raise ShapeError(f"blocks {list(block)} must be positive, and widths {list(widths)} not negative")
    if t.dtype not in ("s8", "f32"):
        e.refuse("tflm", f"no kernel for {t.dtype}")
    if t.dtype == "s16" and t.quant and any(t.quant.zero_point):
        raise UnsupportedError("int16 data with a zero point other than 0 is not supported")
    pairs = [(widths[2 * k], widths[2 * k + 1]) for k in range(axes)]
    return x, block, pairs, t.shape


def _moved(e: Expansion, x: str, first: Shape, perm: tuple[int, ...], last: Shape, t: TensorType) -> str:
    """x reshaped to `first`, transposed, and reshaped to `last`. t: type with the quantization of the results."""
    y = e.node(Reshape(first), x, quant=t.quant)
    return e.node(Reshape(last), e.node(Transpose(perm), y, quant=t.quant), quant=t.quant)


def space_to_batch(source: Source, e: Expansion) -> Sequence[str]:
    """Pixels at the same position in each block become an image of their own. Source: TFLite SPACE_TO_BATCH_ND."""
    x, block, pairs, shape = _blocks(source, e)
    t = e.type(x)
    if any(max(pair) > 0 for pair in pairs):
        if t.dtype == "s8" and t.quant and any(t.quant.zero_point):
            e.refuse("tflm", "it pads an image with stored zeros, not with zero points")
        x = e.node(Pad(((0, 0), *pairs, (0, 0))), x, quant=t.quant)
    padded = e.type(x).shape
    if any(d % b for d, b in zip(padded[1:-1], block, strict=True)):
        raise ShapeError(f"blocks {list(block)} do not divide {list(padded)}")
    n, c, sizes = shape[0], shape[-1], [d // b for d, b in zip(padded[1:-1], block, strict=True)]
    split = (n, *(v for pair in zip(sizes, block, strict=True) for v in pair), c)
    axes = len(block)
    perm = (*(2 * k + 2 for k in range(axes)), 0, *(2 * k + 1 for k in range(axes)), 2 * axes + 1)
    return [_moved(e, x, split, perm, (n * math.prod(block), *sizes, c), t)]


def batch_to_space(source: Source, e: Expansion) -> Sequence[str]:
    """Pixels of several images are interleaved to blocks of one image, which is cropped. Source: BATCH_TO_SPACE_ND."""
    x, block, pairs, shape = _blocks(source, e)
    t, axes, c = e.type(x), len(block), shape[-1]
    if shape[0] % math.prod(block):
        raise ShapeError(f"blocks {list(block)} do not divide {shape[0]} images")
    n, sizes = shape[0] // math.prod(block), shape[1:-1]
    perm = (axes, *(v for k in range(axes) for v in (axes + 1 + k, k)), 2 * axes + 1)
    joined = (n, *(d * b for d, b in zip(sizes, block, strict=True)), c)
    y = _moved(e, x, (*block, n, *sizes, c), perm, joined, t)
    ranges = tuple((low, d - low - high, 1) for d, (low, high) in zip(joined[1:-1], pairs, strict=True))
    if any(count < 1 for _, count, _ in ranges):
        raise ShapeError(f"cropping {pairs} leaves nothing of {list(joined)}")
    whole = ((0, n, 1), *ranges, (0, c, 1))
    made = tuple(count for _, count, _ in whole)
    return [y if made == joined else e.node(StridedSlice(whole, made), y, quant=t.quant)]


def _is_empty(source: Source) -> bool:
    """Whether SLICE takes no elements, as at the ends of tensor lists in loops."""
    x, begin, size = (*source.inputs, None)[0], source.ints(1) or (), source.ints(2) or ()
    ends = zip(begin, size, () if x is None else x.shape, strict=False)
    return any(n == 0 or (n == -1 and b == d) for b, n, d in ends)


def empty_slice(source: Source, e: Expansion) -> Sequence[str]:
    """A constant without elements. Source: TFLite SLICE."""
    x, begin, size = e.inputs[0], source.ints(1), source.ints(2)
    if x is None:
        raise ShapeError("the operator has no operand, needs 1")
    t = e.type(x)
    if begin is None or size is None or not len(begin) == len(size) == len(t.shape):
        raise ShapeError(f"begin {begin} and size {size} do not fit {list(t.shape)}")
    ends = [(b, d - b if n == -1 else n, d) for b, n, d in zip(begin, size, t.shape, strict=True)]
    if any(b < 0 or n < 0 or b + n > d for b, n, d in ends):
        raise ShapeError(f"begin {list(begin)} and size {list(size)} reach past the shape {list(t.shape)}")
    return [e.constant(np.zeros([n for _, n, _ in ends], t.np_dtype), t.quant)]


IMPORTS = (
    Import("tflite", "SLICE", expand=empty_slice, when=_is_empty),
    Import("tflite", "FILL", expand=fill, halves=True),
    Import("tflite", "ZEROS_LIKE", expand=zeros_like),
    Import("tflite", "BROADCAST_ARGS", expand=broadcast_args),
    Import("tflite", "SPACE_TO_BATCH_ND", expand=space_to_batch, halves=True),
    Import("tflite", "BATCH_TO_SPACE_ND", expand=batch_to_space, halves=True),
)
