"""Sizes of rows in planar depthwise kernels, and estimates of their instructions and code bytes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mcugen.ir.call import Call, fact
from mcugen.ops._weighted import window_of
from mcugen.ops._window import SlidingWindow

MAX_SUMS = {1: 6, 2: 6, 3: 5, 4: 4, 5: 4, 6: 4}
"""Words of weights in registers -> number of sums that fit the other registers."""
LEAST_BLOCK = 4
"""Outputs of the smallest block, in kernels that serve several row widths."""
MAX_SHORT = 16
MAX_SHORT_ROWS = 8
"""Largest numbers of columns and of kernel rows for which unrolled code converts the rows."""


@dataclass(frozen=True)
class PlanarShape:
    """Geometry of a planar row and its kernel, without kernel columns that only read padding.

    first: the first remaining kernel column. A kernel row is split into `parts` parts of `taps` columns; columns at the
    end may be zeros.
    """

    height: int
    first: int
    width: int
    stride: int
    in_width: int
    out_width: int
    pad: int
    channels: int

    @property
    def parts(self) -> int:
        """Number of parts of a kernel row. Each part has few enough taps to fit the registers."""
        most = 12 if self.stride % 2 == 0 else 7
        return 1 if self.width <= most else -(-self.width // (most // 2 * 2))

    @property
    def taps(self) -> int:
        """Number of taps of a part: an even number if there are several parts, so that each part begins at a word of
        data."""
        return self.width if self.parts == 1 else -(-self.width // self.parts // 2) * 2

    @property
    def words(self) -> int:
        """Words of weights of a part."""
        return (self.taps + 1) // 2 if self.stride % 2 == 0 else max(self.taps - 1, 1)

    @property
    def columns(self) -> int:
        """Elements of a converted row of one channel."""
        return (self.stride * (self.out_width - 1) + self.parts * self.taps + 1) // 2 * 2

    @property
    def is_short(self) -> bool:
        """Whether rows are so short that unrolled code converts them."""
        return self.columns <= MAX_SHORT and self.height <= MAX_SHORT_ROWS

    @property
    def seen(self) -> int:
        """Number of columns of the image that are converted."""
        return min(self.in_width, self.columns - self.pad)

    @property
    def blocks(self) -> tuple[int, int, int]:
        """(number of blocks, outputs per block, outputs in the tail).

        For an odd stride, blocks have an even number of outputs, so that each begins at a word.
        """
        most, step = MAX_SUMS[self.words], 1 + self.stride % 2
        if self.out_width <= most:
            return 0, 0, self.out_width
        count = -(-self.out_width // most)
        size = most // step * step
        for block in range(step, size + 1, step):
            tail = self.out_width - (count - 1) * block
            if 0 < tail <= most:
                return (count, block, 0) if tail == block else (count - 1, block, tail)
        return self.out_width // size, size, self.out_width % size

    @property
    def even_block(self) -> int:
        """Outputs of the largest block that divides a row; 0 if it has fewer than LEAST_BLOCK outputs."""
        most, step = MAX_SUMS[self.words], 1 + self.stride % 2
        sizes = [n for n in range(most // step * step, LEAST_BLOCK - 1, -step) if self.out_width % n == 0]
        return sizes[0] if sizes else 0

    def products(self, outputs: int) -> int:
        """Multiplications for `outputs` outputs: one per word that holds a tap. The first output is word-aligned."""
        starts = np.arange(outputs) * self.stride
        return self.height * self.parts * int(((starts + self.taps + 1) // 2 - starts // 2).sum())

    def loads(self, outputs: int) -> int:
        """Instructions that load weights and data for `outputs` outputs."""
        return self.height * self.parts * (1 + (self.stride * (outputs - 1) + self.taps + 3) // 4)

    def instructions(self, linear: int) -> int:
        """Instruction count of one output row of one channel."""
        count, block, tail = self.blocks
        return (
            count * self.block_instructions(block, linear) + self.block_instructions(tail, linear) + 5 + 5 * (count > 0)
        )

    def blocks_instructions(self, linear: int) -> int:
        """Instruction count of an output row of one channel, in the kernel for any number of blocks and kernel rows."""
        block = self.even_block
        return self.out_width // block * (self.block_instructions(block, linear) + 2 * self.height) + 13

    def block_instructions(self, outputs: int, linear: int) -> int:
        """Instruction count of a block of `outputs` outputs."""
        if not outputs:
            return 0
        moves = 7 + (outputs > 3) + (self.words > 2)
        return self.products(outputs) + self.loads(outputs) + (4 + linear) * outputs + moves

    def code(self, linear: int) -> float:
        """Estimated code bytes of the kernel, within 10 %, without the code that converts rows."""
        blocks, *sizes = self.blocks
        unrolled = sum(4.4 * (self.products(n) + self.loads(n)) + (18 + 4 * linear) * n for n in sizes if n)
        return 110 + unrolled + 57 * (blocks > 0)

    def blocks_code(self, linear: int) -> float:
        """Estimated code bytes of the kernel that serves any number of blocks."""
        n = self.even_block
        return 205 + 4.4 * (self.products(n) + self.loads(n)) + 6 * self.height + (18 + 4 * linear) * n

    @property
    def spreading(self) -> float:
        """Code size in bytes of the part that converts short rows."""
        return (120 + 19 * self.columns) * self.is_short


@fact
def shape_of(call: Call) -> PlanarShape:
    """The geometry of the rows of a call's images."""
    window, x = window_of(call), call.input(0).shape
    return _shape(window, 1, x[2], window.kernel[0], window.pad((x[1], x[2]))[1], call.output.shape)


@fact
def line_of(call: Call) -> PlanarShape:
    """The geometry of images one pixel wide, whose columns are treated as rows."""
    window, x = window_of(call), call.input(0).shape
    return _shape(window, 0, x[1], 1, window.pad((x[1], x[2]))[0], call.output.shape)


def _shape(window: SlidingWindow, d: int, size: int, height: int, pad: int, y: tuple[int, ...]) -> PlanarShape:
    """The geometry of rows along axis d of the image: 0 for columns, 1 for rows."""
    starts, stride = np.arange(y[1 + d]) * window.stride[d] - pad, window.stride[d]
    seen = [t for t in range(window.kernel[d]) if np.any((starts + t >= 0) & (starts + t < size))]
    first, end = min(seen, default=0), max(seen, default=0) + 1
    return PlanarShape(height, first, end - first, stride, size, y[1 + d], pad - first, y[3])
