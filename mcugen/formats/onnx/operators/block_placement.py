"""ONNX operators that write elements or blocks to given positions (MaxUnpool, Col2Im, TensorScatter), and BitCast."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.formats.operators.elements import operands
from mcugen.formats.operators.indices import narrow
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ops.arithmetic import Arithmetic
from mcugen.ops.cast import ONNX_DTYPES
from mcugen.ops.pad import Pad
from mcugen.ops.reinterpret import Reinterpret
from mcugen.ops.reshape import Reshape
from mcugen.ops.scatter import Scatter
from mcugen.ops.strided_slice import StridedSlice

MAX_ELEMENTS = 1 << 20


def max_unpool(source: Source, e: Expansion) -> Sequence[str]:
    """Elements at the indices that MaxPool returned, zeros elsewhere. Source: ONNX MaxUnpool-22."""
    (x, index), a = operands(e, 2), source.attributes
    shape, kernel = e.type(x).shape, a["kernel_shape"]
    rank = len(shape) - 2
    strides, pads = a["strides"] or (1,) * rank, a["pads"] or (0,) * (2 * rank)
    if rank < 1 or not len(kernel) == len(strides) == len(pads) / 2 == rank or e.type(index).shape != shape:
        raise ShapeError(f"a window {list(kernel)} does not fit {list(shape)}")
    size = [
        (d - 1) * s + k - pads[n] - pads[n + rank]
        for n, (d, s, k) in enumerate(zip(shape[2:], strides, kernel, strict=True))
    ]
    plain = (*shape[:2], *size)
    wanted = source.ints(2) if len(e.inputs) > 2 else plain
    if wanted is None:
        raise UnsupportedError("the shape is computed at run time", hint="make it a constant")
    if len(wanted) != len(plain) or min(plain) < 1 or any(w < p for w, p in zip(wanted, plain, strict=True)):
        raise ShapeError(f"the result {list(plain)} does not fit into output_shape {list(wanted)}")
    if prod(wanted) > MAX_ELEMENTS:
        raise UnsupportedError(f"a result of shape {list(wanted)} is not supported")
    zeros = e.constant(np.zeros(prod(plain), e.type(x).np_dtype))
    flat = e.node(Reshape((-1,)), x)
    y = e.node(Scatter(), zeros, e.node(Reshape((-1,)), narrow(e, index)), flat)
    whole = e.node(Reshape(plain), y)
    added = tuple((0, w - p) for w, p in zip(wanted, plain, strict=True))
    return [e.node(Pad(added), whole) if wanted != plain else whole]


def col2im(source: Source, e: Expansion) -> Sequence[str]:
    """An image from its blocks, which are added where they overlap. Source: ONNX Col2Im-18."""
    x, a = operands(e, 3)[0], source.attributes
    image, block, shape = source.ints(1), source.ints(2), e.type(x).shape
    if image is None or block is None:
        raise UnsupportedError(
            "the shape of the image or of the blocks is computed at run time", hint="make it a constant"
        )
    rank, one = len(image), (1,) * len(image)
    strides, dilations, pads = a["strides"] or one, a["dilations"] or one, a["pads"] or (0,) * (2 * rank)
    if len(shape) != 3 or not len(block) == len(strides) == len(dilations) == len(pads) / 2 == rank > 0:
        raise ShapeError(f"input {list(shape)} and attributes do not fit blocks {list(block)}")
    if min(*image, *block, *strides, *dilations) < 1 or min(pads) < 0 or shape[1] % prod(block):
        raise ShapeError(f"an image {list(image)} of blocks {list(block)} does not fit {list(shape)}")
    if prod(image) * prod(block) > MAX_ELEMENTS or max(pads) > MAX_ELEMENTS:
        raise UnsupportedError(f"an image {list(image)} of blocks {list(block)} is not supported")
    full = [d + pads[n] + pads[n + rank] for n, d in enumerate(image)]
    if prod(full) > MAX_ELEMENTS:
        raise UnsupportedError(f"an image {list(full)} with its padding is not supported")
    places = _block_places(full, block, strides, dilations)
    n, c = shape[0], shape[1] // prod(block)
    if places.size != prod(block) * shape[2] or n * c * prod(full) > MAX_ELEMENTS:
        raise ShapeError(f"{shape[2]} blocks {list(block)} do not fit an image {list(image)}")
    at = (np.arange(n * c)[:, None] * prod(full) + places.reshape(-1)).astype(np.int32)
    zeros = e.constant(np.zeros(n * c * prod(full), np.float32))
    y = e.node(Scatter("sum"), zeros, e.constant(at.reshape(-1)), e.node(Reshape((-1,)), x))
    y = e.node(Reshape((n, c, *full)), y)
    if not any(pads):
        return [y]
    ranges = ((0, n, 1), (0, c, 1), *((pads[k], d, 1) for k, d in enumerate(image)))
    return [e.node(StridedSlice(ranges, (n, c, *image)), y)]


def _block_places(
    full: Sequence[int], block: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> np.ndarray:
    """[elements of a block, blocks]: index of each element in the flattened, padded image."""
    rank = len(full)
    counts = [(f - (b - 1) * d - 1) // s + 1 for f, b, s, d in zip(full, block, strides, dilations, strict=True)]
    if min(counts) < 1:
        raise ShapeError(f"blocks {list(block)} do not fit an image {list(full)}")
    within, starts = np.indices(block).reshape(rank, -1), np.indices(counts).reshape(rank, -1)
    total = np.zeros((within.shape[1], starts.shape[1]), np.int64)
    for k in range(rank):
        total += (within[k][:, None] * dilations[k] + starts[k] * strides[k]) * prod(full[k + 1 :])
    return total


def tensor_scatter(source: Source, e: Expansion) -> Sequence[str]:
    """A cache with rows replaced by an update, from a given row on for each batch. Source: ONNX TensorScatter-24."""
    (cache, update), a = operands(e, 2), source.attributes
    shape, new, axis = e.type(cache).shape, e.type(update).shape, a["axis"]
    if not -len(shape) <= axis < len(shape) or axis % len(shape) == 0 or a["mode"] not in ("linear", "circular"):
        raise ShapeError(f"axis {axis} of {list(shape)} cannot be written in mode {a['mode']!r}")
    axis %= len(shape)
    size, count, heads = shape[axis], new[axis], prod(shape[1:axis])
    if new != (*shape[:axis], count, *shape[axis + 1 :]) or count > size:
        raise ShapeError(f"an update {list(new)} does not fit into a cache {list(shape)}")
    rows = np.arange(count, dtype=np.int32).reshape(1, 1, count)
    at = e.constant(np.broadcast_to(rows, (shape[0], heads, count)).copy())
    if len(e.inputs) > 2 and e.inputs[2] is not None:
        first = e.node(Reshape((shape[0], 1, 1)), narrow(e, e.inputs[2]))
        at = e.node(Arithmetic("add"), at, first)
    if a["mode"] == "circular":
        at = e.node(Arithmetic("mod"), at, e.constant(np.array(size, np.int32)))
    start = (np.arange(shape[0] * heads, dtype=np.int32) * size).reshape(shape[0], heads, 1)
    places = e.node(Reshape((-1,)), e.node(Arithmetic("add"), at, e.constant(start)))
    old, given = (e.node(Reshape((-1, prod(shape[axis + 1 :]))), name) for name in (cache, update))
    return [e.node(Reshape(shape), e.node(Scatter(), old, places, given))]


def bit_cast(source: Source, e: Expansion) -> Sequence[str]:
    """The elements' bits as another type of the same size. Source: ONNX BitCast-26."""
    (x,), number = operands(e, 1), source.attributes["to"]
    if number not in ONNX_DTYPES:
        raise UnsupportedError(f"element type {number} is not supported")
    return [e.node(Reinterpret(ONNX_DTYPES[number]), x)]


IMPORTS = (
    Import("onnx", "MaxUnpool", expand=max_unpool),
    Import("onnx", "Col2Im", expand=col2im),
    Import("onnx", "TensorScatter", expand=tensor_scatter),
    Import("onnx", "BitCast", expand=bit_cast),
)
