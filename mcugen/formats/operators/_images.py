"""Images of channels-first formats, [N, C, W] and [N, C, H, W], converted for operators on [N, H, W, C]."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.imports import Attributes, Expansion
from mcugen.ir.op import Widths
from mcugen.ir.types import Shape
from mcugen.ops.pad import Pad
from mcugen.ops.reshape import Reshape
from mcugen.ops.transpose import Transpose

Pair = tuple[int, int]


def to_last(e: Expansion, x: str) -> str:
    """An image or a signal with its channels last, as [N, H, W, C]; a signal has H = 1."""
    return e.node(Transpose((0, 2, 3, 1)), two_dimensional(e, x))


def to_first(e: Expansion, y: str, rank: int) -> str:
    """[N, H, W, C] as [N, C, H, W], or as [N, C, H * W] if `rank` is 3."""
    first = e.node(Transpose((0, 3, 1, 2)), y)
    n, c, h, w = e.type(first).shape
    return first if rank == 4 else e.node(Reshape((n, c, h * w)), first)


def two_dimensional(e: Expansion, x: str) -> str:
    """A tensor [N, C, H, W] as it is, or [N, C, W] as [N, C, 1, W]."""
    shape = e.type(x).shape
    if len(shape) == 3:
        return e.node(Reshape((*shape[:2], 1, shape[2])), x)
    if len(shape) != 4:
        raise UnsupportedError(f"an image {list(shape)} of {len(shape) - 2} spatial axes is not supported, 1 and 2 are")
    return x


@dataclass(frozen=True)
class Geometry:
    """A window over images: pairs are (vertical, horizontal); padding is (above, below), (left, right)."""

    kernel: Pair
    stride: Pair
    dilation: Pair
    padding: Widths

    def extent(self, d: int) -> int:
        return (self.kernel[d] - 1) * self.dilation[d] + 1

    def fits(self) -> bool:
        """Whether no window lies entirely in the padding."""
        return all(0 <= width < self.extent(d) for d in (0, 1) for width in self.padding[d])


def geometry(a: Attributes, x: Shape, kernel: Sequence[int], *, pools: bool = False) -> Geometry:
    """The window of a convolution or pooling over x: [N, C, (H,) W].

    pools: compute auto_pad SAME as ONNX Runtime does for pools, unlike ONNX: dilations are ignored, so that dilated
    pools have fewer results, and strides larger than the kernel give negative padding, which crops the image.
    Source: ONNX Conv-11, MaxPool-12, AveragePool-19; onnxruntime, pool_attributes.h.
    """
    rank = len(x) - 2
    plain = Geometry(*sizes(a, kernel), ((0, 0), (0, 0)))
    near = replace(plain, dilation=(1, 1)) if pools else plain
    return replace(plain, padding=_padding(a, near, _pair(x[2:]), rank, may_cut=pools))


def sizes(a: Attributes, kernel: Sequence[int]) -> tuple[Pair, Pair, Pair]:
    """The kernel, strides and dilations of a window."""
    stride, dilation = _sizes(a, "strides", len(kernel)), _sizes(a, "dilations", len(kernel))
    if min(*_pair(kernel), *stride, *dilation) < 1:
        raise ShapeError(f"a window {list(kernel)}, strides {stride} and dilations {dilation} must be at least 1")
    return _pair(kernel), stride, dilation


def rounded_up(g: Geometry, size: Pair) -> Geometry:
    """The geometry padded below and to the right until the number of windows is rounded up.

    A window that would begin past the image and its first padding is left out.
    """
    widths = []
    for d in (0, 1):
        before, after = g.padding[d]
        count = -(-(size[d] + before + after - g.extent(d)) // g.stride[d]) + 1
        if (count - 1) * g.stride[d] >= size[d] + before:
            count -= 1
        widths.append((before, max((count - 1) * g.stride[d] + g.extent(d) - size[d] - before, after)))
    return replace(g, padding=(widths[0], widths[1]))


def reached(g: Geometry, size: Pair) -> Geometry:
    """The geometry padded below and to the right until one window fits, if that takes less than a stride.

    ONNX Runtime computes (size - extent) / stride + 1 with division towards zero: one window, even if it is slightly
    larger than the image. Source: onnxruntime, pool_attributes.h, ComputeOutputSize.
    """
    widths = []
    for d in (0, 1):
        before, after = g.padding[d]
        lacks = g.extent(d) - size[d] - before - after
        widths.append((before, after + lacks if 0 < lacks < g.stride[d] else after))
    return replace(g, padding=(widths[0], widths[1]))


def padded(e: Expansion, x: str, padding: Widths, value: float = 0.0) -> str:
    """An image [N, H, W, C] with rows and columns of a value around it."""
    if not any(width for pair in padding for width in pair):
        return x
    if min(width for pair in padding for width in pair) < 0:
        raise UnsupportedError(f"padding {padding} is negative, which is not supported here")
    widths = ((0, 0), *padding, (0, 0))
    if value == 0.0:
        return e.node(Pad(widths), x)
    if not math.isfinite(value):
        raise UnsupportedError(f"padding with {value} is not supported")
    return e.node(Pad(widths), x, e.constant(np.array([value], np.float32)))


def _sizes(a: Attributes, name: str, rank: int) -> Pair:
    given = a.get(name) or (1,) * rank
    if len(given) != rank:
        raise ShapeError(f"{name} {list(given)} do not fit {rank} spatial axes")
    return _pair(given)


def _pair(values: Sequence[int]) -> Pair:
    """(vertical, horizontal) of the sizes of one or two spatial axes."""
    if len(values) not in (1, 2):
        raise UnsupportedError(f"{len(values)} spatial axes are not supported, 1 and 2 are")
    return (1, int(values[0])) if len(values) == 1 else (int(values[0]), int(values[1]))


def _padding(a: Attributes, g: Geometry, size: Pair, rank: int, *, may_cut: bool) -> Widths:
    """(above, below), (left, right): as stated, or as auto_pad computes it from the size."""
    mode, given = a.get("auto_pad", "NOTSET"), a.get("pads") or (0,) * (2 * rank)
    if mode == "VALID":
        return ((0, 0), (0, 0))
    if mode in ("SAME_UPPER", "SAME_LOWER"):
        pairs = [_same(g, d, size[d], mode == "SAME_LOWER", may_cut) for d in (0, 1)]
        return pairs[0], pairs[1]
    if mode != "NOTSET":
        raise UnsupportedError(f"auto_pad {mode} is not supported; NOTSET, VALID, SAME_UPPER and SAME_LOWER are")
    if len(given) != 2 * rank:
        raise ShapeError(f"pads {list(given)} do not fit {rank} spatial axes")
    if rank == 1:
        return (0, 0), (int(given[0]), int(given[1]))
    return (int(given[0]), int(given[2])), (int(given[1]), int(given[3]))


def _same(g: Geometry, d: int, size: int, lower: bool, may_cut: bool) -> Pair:
    """(before, after) padding for auto_pad SAME: ceil(size / stride) results. If the padding is odd, the extra element
    is after the image, or before it if `lower`.
    """
    needed = (-(-size // g.stride[d]) - 1) * g.stride[d] + g.extent(d) - size
    if needed < 0 and may_cut:
        before = -((-needed - int(lower)) // 2)
        return before, needed - before
    needed = max(needed, 0)
    small, large = needed // 2, needed - needed // 2
    return (large, small) if lower else (small, large)
