"""Transposed convolutions as convolutions of a tensor with zeros between its elements, for any number of axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from mcugen.errors import ShapeError
from mcugen.ir.imports import Attributes, Expansion
from mcugen.ops.pad import Pad
from mcugen.ops.reshape import Reshape
from mcugen.ops.reverse import Reverse
from mcugen.ops.strided_slice import StridedSlice
from mcugen.ops.transpose import Transpose

Convolve = Callable[[str, str], str]
"""A convolution of data [N, C, ...] with weights, with strides of 1 and no padding."""


def transposed(e: Expansion, x: str, w: str, a: Attributes, convolve: Convolve) -> str:
    """The result of ConvTranspose, without its bias. Source: ONNX ConvTranspose-22."""
    shape, weights = e.type(x).shape, e.type(w).shape
    rank = len(shape) - 2
    strides, dilations = a["strides"] or (1,) * rank, a["dilations"] or (1,) * rank
    if len(strides) != rank or len(dilations) != rank or min(*strides, *dilations) < 1:
        raise ShapeError(f"strides {list(strides)} and dilations {list(dilations)} do not fit {list(shape)}")
    extents = [(k - 1) * d for k, d in zip(weights[2:], dilations, strict=True)]
    for axis, stride in enumerate(strides, 2):
        x = _spread(e, x, axis, stride)
    full = [(d - 1) * s + n + 1 for d, s, n in zip(shape[2:], strides, extents, strict=True)]
    ends = _ends(a, shape[2:], strides, full)
    around = [(n + max(-before, 0), n + max(-after, 0)) for n, (before, after) in zip(extents, ends, strict=True)]
    x = e.node(Pad(((0, 0), (0, 0), *around)), x)
    y = convolve(x, _flipped(e, w, a["group"]))
    return _cut(e, y, [(max(before, 0), max(after, 0)) for before, after in ends])


def _spread(e: Expansion, x: str, axis: int, stride: int) -> str:
    """The elements along an axis with stride - 1 zeros between them."""
    shape = e.type(x).shape
    if stride == 1 or shape[axis] == 1:
        return x
    before, size, after = prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])
    apart = e.node(Pad(((0, 0), (0, 0), (0, stride - 1), (0, 0))), e.node(Reshape((before, size, 1, after)), x))
    joined = e.node(Reshape((before, size * stride, after)), apart)
    count = (size - 1) * stride + 1
    cut = e.node(StridedSlice(((0, before, 1), (0, count, 1), (0, after, 1)), (before, count, after)), joined)
    return e.node(Reshape((*shape[:axis], count, *shape[axis + 1 :])), cut)


def _flipped(e: Expansion, w: str, groups: int) -> str:
    """Weights [C, O / groups, ...] for the equivalent convolution: [O, C / groups, ...], with each kernel reversed."""
    shape = e.type(w).shape
    kernel = shape[2:]
    size = prod(kernel)
    split = e.node(Reshape((groups, shape[0] // groups, shape[1], size)), w)
    turned = e.node(Transpose((0, 2, 1, 3)), e.node(Reverse((3,)), split))  # axis 3 is all axes of the kernel
    return e.node(Reshape((groups * shape[1], shape[0] // groups, *kernel)), turned)


def _ends(a: Attributes, size: Sequence[int], strides: Sequence[int], full: Sequence[int]) -> list[tuple[int, int]]:
    """(before, after) for each spatial axis: elements to crop from the whole result; negative to pad."""
    rank = len(size)
    more, given = a["output_padding"] or (0,) * rank, a["pads"] or (0,) * (2 * rank)
    wanted, mode = a["output_shape"], a["auto_pad"]
    if wanted is None and mode in ("SAME_UPPER", "SAME_LOWER"):
        wanted = [min(d * s, n + m) for d, s, n, m in zip(size, strides, full, more, strict=False)]
    if len(more) != rank or len(given) != 2 * rank or (wanted is not None and len(wanted) != rank):
        raise ShapeError(f"output_padding {list(more)} or pads {list(given)} do not fit {rank} axes")
    found = []
    for k in range(rank):
        if wanted is None:
            found.append((given[k], given[k + rank] - more[k]))
            continue
        total = full[k] + more[k] - wanted[k]
        first = total // 2 if mode == "SAME_UPPER" else total - total // 2
        first = min(max(first, 0), max(total, 0))
        found.append((first, total - first - more[k]))
    return found


def _cut(e: Expansion, y: str, ends: Sequence[tuple[int, int]]) -> str:
    shape = e.type(y).shape
    ranges = [(0, d, 1) for d in shape[:2]]
    ranges += [(before, d - before - after, 1) for d, (before, after) in zip(shape[2:], ends, strict=True)]
    counts = tuple(count for _, count, _ in ranges)
    if min(counts) < 1:
        raise ShapeError(f"pads or output_shape crop all of a result {list(shape)}")
    return y if counts == shape else e.node(StridedSlice(tuple(ranges), counts), y)
