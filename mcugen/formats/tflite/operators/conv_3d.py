"""CONV_3D: 2-D convolutions of slices, summed over the kernel's depth."""

from __future__ import annotations

from collections.abc import Sequence

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ops._window import SlidingWindow
from mcugen.ops.add import Add
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.pad import Pad
from mcugen.ops.reshape import Reshape
from mcugen.ops.strided_slice import StridedSlice
from mcugen.ops.transpose import Transpose


def expand(source: Source, e: Expansion) -> Sequence[str]:
    """x [N, D, H, W, C], w [KD, KH, KW, C, O], b [O] or absent; all of float32. Source: TFLite CONV_3D."""
    x, w, b = (*e.inputs, None, None)[:3]
    if x is None or w is None or len(e.type(x).shape) != 5 or len(e.type(w).shape) != 5:
        raise ShapeError("a convolution of volumes needs data and weights of rank 5")
    if not e.type(x).is_float or not e.type(w).is_float:
        raise UnsupportedError(f"{e.type(x).dtype} data with {e.type(w).dtype} weights is not supported")
    if e.type(x).shape[4] != e.type(w).shape[3]:
        raise ShapeError(f"weights {list(e.type(w).shape)} do not fit data {list(e.type(x).shape)}")
    e.refuse("tflm", "no such operator")
    return [_summed(source, e, (x, w), b)]


def _summed(source: Source, e: Expansion, operands: tuple[str, str], b: str | None) -> str:
    """One convolution for each slice of the kernel; the last sum, or the only convolution, has the activation."""
    a, (x, w) = source.attributes, operands
    activation, padding = a["fused_activation_function"], a["padding"]
    stride, dilation = (a["stride_h"], a["stride_w"]), (a["dilation_h_factor"], a["dilation_w_factor"])
    shape, depth = e.type(x).shape, e.type(w).shape[0]
    along = SlidingWindow((depth, 1), (a["stride_d"], 1), (a["dilation_d_factor"], 1), padding)
    count, _ = along.output((shape[1], 1))
    before, _ = along.pad((shape[1], 1))
    after = max((count - 1) * along.stride[0] + along.extent(0) - shape[1] - before, 0)
    data = e.node(Pad(((0, 0), (before, after), *[(0, 0)] * 3)), x) if before or after else x
    total = ""
    for k in range(depth):
        image = _rows(e, data, (k * along.dilation[0], count, along.stride[0]))
        is_only, is_last = depth == 1, k == depth - 1
        conv = Conv2D(stride, dilation, padding, activation if is_only else "NONE")
        y = e.node(conv, image, _taps(e, w, k), *([] if k or b is None else [b]))
        total = e.node(Add(activation if is_last else "NONE"), total, y) if total else y
    return e.node(Reshape((shape[0], count, *e.type(total).shape[1:])), total)


def _rows(e: Expansion, x: str, of: tuple[int, int, int]) -> str:
    """Slices along the depth as images. of: (first, count, step)."""
    n, d, h, w, c = e.type(x).shape
    part = x
    if of != (0, d, 1):
        ranges = ((0, n, 1), of, (0, h, 1), (0, w, 1), (0, c, 1))
        part = e.node(StridedSlice(ranges, tuple(count for _, count, _ in ranges)), x)
    return e.node(Reshape((n * of[1], h, w, c)), part)


def _taps(e: Expansion, w: str, k: int) -> str:
    """Slice k of the weights [KD, KH, KW, C, O], as the weights [O, KH, KW, C] of a 2-D convolution."""
    _, *shape = e.type(w).shape
    ranges = ((k, 1, 1), *((0, size, 1) for size in shape))
    taps = e.node(StridedSlice(ranges, tuple(count for _, count, _ in ranges)), w)
    return e.node(Transpose((3, 0, 1, 2)), e.node(Reshape(tuple(shape)), taps))


IMPORTS = (Import("tflite", "CONV_3D", expand=expand),)
