"""Shared recipe of windowed operators: padding, output sizes, tap positions and patches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call
from mcugen.ir.kernel import RowWindow
from mcugen.ir.op import Widths
from mcugen.ir.types import TensorType

Pair = tuple[int, int]
Padding = str | Widths
MAX_FIELD = 2**16 - 1
"""Largest value of geometry fields, which have 16 bits in the C structs."""


@dataclass(frozen=True)
class SlidingWindow:
    """A sliding window over images [N, H, W, C]. Pairs are (vertical, horizontal).

    padding: "SAME", "VALID", or ((rows above, below), (columns left, right)), each less than the window's extent.


    Source: TensorFlow Lite kernels/padding.h, ComputePaddingHeightWidth.
    """

    kernel: Pair
    stride: Pair
    dilation: Pair
    padding: Padding

    def extent(self, d: int) -> int:
        """Rows (d = 0) or columns (d = 1) from the first tap to the last, inclusive."""
        return (self.kernel[d] - 1) * self.dilation[d] + 1

    def output(self, size: Pair) -> Pair:
        """Output (height, width) for an input of size (height, width).

        Raises ShapeError if the window does not fit, UnsupportedError if a size exceeds MAX_FIELD.
        """
        self.check()
        largest = max(*size, *self.kernel, *self.stride, *self.dilation)
        if largest > MAX_FIELD:
            raise UnsupportedError(f"a window or an image of size {largest}: at most {MAX_FIELD} is supported")
        if self.padding == "SAME":
            result = tuple(-(-size[d] // self.stride[d]) for d in (0, 1))
        else:
            around = ((0, 0), (0, 0)) if isinstance(self.padding, str) else self.padding
            result = tuple((size[d] + sum(around[d]) - self.extent(d)) // self.stride[d] + 1 for d in (0, 1))
        if min(result) < 1:
            raise ShapeError(f"a window of {self.extent(0)}x{self.extent(1)} does not fit into {size[0]}x{size[1]}")
        return result[0], result[1]

    def pad(self, size: Pair) -> Pair:
        """Padding (above, left). Below and to the right it is as large as the last window needs."""
        out = self.output(size)
        if not isinstance(self.padding, str):
            return self.padding[0][0], self.padding[1][0]
        needed = [(out[d] - 1) * self.stride[d] + self.extent(d) - size[d] for d in (0, 1)]
        return (max(needed[0], 0) // 2, max(needed[1], 0) // 2) if self.padding == "SAME" else (0, 0)

    def leaves(self, shape: Sequence[int]) -> bool:
        """Whether any tap falls outside an image [N, H, W, C]."""
        size = (shape[1], shape[2])
        out, pad = self.output(size), self.pad(size)
        after = [(out[d] - 1) * self.stride[d] + self.extent(d) - size[d] - pad[d] for d in (0, 1)]
        return max(*pad, *after) > 0

    def around(self, size: Pair, widths: Widths) -> SlidingWindow | None:
        """This window with the padding `widths` on an image of that size; None if it would read beyond the padding."""
        if self.leaves((1, size[0] + sum(widths[0]), size[1] + sum(widths[1]), 1)):
            return None
        fits = all(width < self.extent(d) for d in (0, 1) for width in widths[d])
        return replace(self, padding=widths) if fits else None

    def __str__(self) -> str:
        """The window as text, without its padding: `3x3 stride 2`."""
        steps = (("stride", self.stride), ("dilation", self.dilation))
        moves = [f"{what} {pair[0] if pair[0] == pair[1] else by(pair)}" for what, pair in steps if pair != (1, 1)]
        return " ".join([by(self.kernel), *moves])

    def check(self) -> None:
        """Raise ShapeError or UnsupportedError for sizes or a padding that no window can have."""
        for what, pair in (("kernel size", self.kernel), ("stride", self.stride), ("dilation", self.dilation)):
            if min(pair) < 1:
                raise ShapeError(f"{what} {pair[0]}x{pair[1]} must be positive")
        if isinstance(self.padding, str):
            if self.padding not in ("SAME", "VALID"):
                raise UnsupportedError(f"padding {self.padding} is not supported")
        elif any(not 0 <= width < self.extent(d) for d in (0, 1) for width in self.padding[d]):
            raise ShapeError(f"padding {self.padding} must be less than the window, {self.extent(0)}x{self.extent(1)}")

    def rows(self, x: TensorType) -> RowWindow:
        """The input rows that each output row reads. x: type of the input."""
        size = (x.shape[1], x.shape[2])
        return RowWindow(
            self.kernel[0], self.stride[0], self.dilation[0], self.pad(size)[0], size[0], self.output(size)[0]
        )

    def inside(self, x: TensorType, adjacent: bool = True) -> Pair:
        """[first, end) of the output columns whose taps all lie inside the image row.

        adjacent: whether these taps must also be adjacent in memory.
        """
        size = (x.shape[1], x.shape[2])
        out, pad = self.output(size)[1], self.pad(size)[1]
        if adjacent and self.dilation[1] > 1 and self.kernel[1] > 1:
            return 0, 0
        first = min(-(-pad // self.stride[1]), out)
        end = min((size[1] + pad - self.extent(1)) // self.stride[1] + 1, out)
        return (first, end) if end > first else (0, 0)

    def taps(self, x: np.ndarray, fill: float) -> Iterator[tuple[int, int, np.ndarray]]:
        """(i, j, data [N, OH, OW, C]) for each tap: the data it reads, `fill` outside the image. x: [N, H, W, C]."""
        around = (0, 0), *self._around(x.shape), (0, 0)
        padded = np.pad(x, around, constant_values=fill) if any(map(any, around)) else x
        for i, j, rows, columns in self._places(x.shape):
            yield i, j, padded[:, rows, columns]

    def patches(self, x: np.ndarray, every: int = 1) -> np.ndarray:
        """The data that each tap reads for each result, [N, OH, OW, KH, KW, C], 0 outside the image; a read-only view.

        every: 2, for example, takes every second row and column of results.
        """
        around = (0, 0), *self._around(x.shape), (0, 0)
        padded = np.pad(x, around) if any(map(any, around)) else x
        rows, columns = (-(-n // every) for n in self.output((x.shape[1], x.shape[2])))
        n, h, w, c = padded.strides
        steps = (h * self.stride[0] * every, w * self.stride[1] * every, h * self.dilation[0], w * self.dilation[1])
        shape = (len(x), rows, columns, *self.kernel, x.shape[3])
        return np.lib.stride_tricks.as_strided(padded, shape, (n, *steps, c), writeable=False)

    def spread(self, shape: Sequence[int], added: Callable[[int, int], np.ndarray]) -> np.ndarray:
        """The reverse of `taps`: an image in which added(i, j) is added to the pixels that tap (i, j) reads.

        shape: of the image. added: returns float32 [N, OH, OW, C].
        """
        (above, below), (left, right) = self._around(shape)
        padded = np.zeros((shape[0], above + shape[1] + below, left + shape[2] + right, shape[3]), np.float32)
        for i, j, rows, columns in self._places(shape):
            padded[:, rows, columns] += added(i, j)
        return padded[:, above : above + shape[1], left : left + shape[2]]

    def _around(self, shape: Sequence[int]) -> Widths:
        """The padding rows and columns that taps read around an image [N, H, W, C]."""
        size = (shape[1], shape[2])
        out, pad = self.output(size), self.pad(size)
        after = [max((out[d] - 1) * self.stride[d] + self.extent(d) - size[d] - pad[d], 0) for d in (0, 1)]
        return (pad[0], after[0]), (pad[1], after[1])

    def _places(self, shape: Sequence[int]) -> Iterator[tuple[int, int, slice, slice]]:
        """(i, j, rows, columns) for each tap: the slices of the padded image that it reads."""
        out = self.output((shape[1], shape[2]))
        for i in range(self.kernel[0]):
            for j in range(self.kernel[1]):
                starts = i * self.dilation[0], j * self.dilation[1]
                rows, columns = (
                    slice(start, start + (n - 1) * step + 1, step)
                    for start, n, step in zip(starts, out, self.stride, strict=True)
                )
                yield i, j, rows, columns


def by(pair: Pair) -> str:
    """A pair of sizes as text: `3x3`."""
    return f"{pair[0]}x{pair[1]}"


def total(products: Iterator[np.ndarray]) -> np.ndarray:
    """The sum of one or more arrays of one shape. Overwrites the first array."""
    found = next(products)
    for product in products:
        found += product
    return found


def in_words(w: SlidingWindow, call: Call) -> str:
    """The sizes of a windowed operator as text: `3x3 stride 2, 3 to 8 channels`."""
    given, made = call.input(0).shape[3], call.output.shape[3]
    return f"{w}, {made} channels" if given == made else f"{w}, {given} to {made} channels"


def edge_pixels(w: SlidingWindow, x: TensorType, y: TensorType, adjacent: bool = True, groups: int = 1) -> int:
    """The number of output pixels whose taps are gathered, not read in place; see `fields`."""
    first, end = w.inside(x, adjacent) if groups == 1 else (0, 0)
    return y.shape[0] * y.shape[1] * (y.shape[2] - (end - first))


def fields(w: SlidingWindow, x: TensorType, y: TensorType, adjacent: bool = True, groups: int = 1) -> dict[str, Any]:
    """The geometry fields that the C structs of windowed kernels share. Raises UnsupportedError beyond 16 bits.

    adjacent: whether taps must be adjacent in memory to be read in place. groups: groups of channels; with several no
    pixel is read in place.
    """
    first, end = w.inside(x, adjacent) if groups == 1 else (0, 0)
    geometry = {
        "kernel_h": w.kernel[0],
        "kernel_w": w.kernel[1],
        "in_w": x.shape[2],
        "in_c": x.shape[3],
        "out_w": y.shape[2],
        "out_c": y.shape[3],
        "stride_w": w.stride[1],
        "dilation_w": w.dilation[1],
        "pad_w": w.pad((x.shape[1], x.shape[2]))[1],
        "inside_first": first,
        "inside_end": end,
    }
    too_large = [f"{name} {value}" for name, value in geometry.items() if value > MAX_FIELD]
    if too_large:
        raise UnsupportedError(f"a window over images with {', '.join(too_large)}; at most {MAX_FIELD} is supported")
    return geometry


def image(x: TensorType | None, what: str = "input") -> TensorType:
    """x, which must have four axes. Raises ShapeError. what: its name in the message."""
    if x is None or len(x.shape) != 4:
        raise ShapeError(f"{what} must have the shape [N, H, W, C], not {list(x.shape) if x else 'nothing'}")
    return x
