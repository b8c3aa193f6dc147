"""Demosaic: colours of every pixel from a sensor behind a Bayer pattern."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import ShapeError
from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Kernel, RowWindow, Window
from mcugen.ir.op import Example, Op
from mcugen.ir.types import TensorType

PATTERNS = ("rggb", "grbg", "gbrg", "bggr")
"""Colours of the pixels at (row, column) (0, 0), (0, 1), (1, 0) and (1, 1)."""


def row_window(call: Call) -> RowWindow:
    height = call.input(0).shape[1]
    return RowWindow(3, 1, 1, 1, height, height)


def params(call: Call) -> Params:
    red = call.op.pattern.index("r")
    return {"width": call.input(0).shape[2], "red_row": red // 2, "red_column": red % 2}


@dataclass(frozen=True)
class Demosaic(Op):
    """y = each pixel's own colour, and means of the nearest pixels of the two other colours.

    x: u8 [1, H, W, 1], H and W even   y: u8 [1, H, W, 3], red, green and blue
    Means of two are (a + b + 1) >> 1, of four (a + b + c + d + 2) >> 2. Beyond the borders, the image is mirrored at
    the outermost pixels, so that a pixel's colour stays: row -1 is row 1.
    pattern: colours of the upper left 2x2 pixels, row by row
    Source: none, the word `bayer` of `--preprocess`.
    """

    pattern: str

    litert_types = frozenset()
    takes_images = True
    kernels = (Kernel("mg_demosaic", Window(row_window), params=params),)

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        if x is None or x.dtype != "u8" or len(x.shape) != 4 or (x.shape[0], x.shape[3]) != (1, 1):
            raise ShapeError(f"a Bayer image must be u8 [1, H, W, 1], not {x}")
        if x.shape[1] % 2 or x.shape[2] % 2 or not x.size or self.pattern not in PATTERNS:
            raise ShapeError(f"a Bayer image {self.pattern!r} needs even sides and a pattern of {', '.join(PATTERNS)}")
        return (TensorType((*x.shape[:3], 3), "u8"),)

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        height, width = x.shape[1:3]
        wide = np.pad(x[0, :, :, 0].astype(np.int64), 1, mode="reflect")
        colours = np.pad(np.tile(_colours(self.pattern), (height // 2, width // 2)), 1, mode="reflect")
        sums, counts = np.zeros((2, 3, height, width), np.int64)
        for colour in range(3):
            own = (colours == colour) * 1
            for near in (_CENTRE, _SIDES, _CORNERS):
                places = [(slice(1 + y, 1 + y + height), slice(1 + x, 1 + x + width)) for y, x in near]
                here = counts[colour] == 0
                sums[colour] += here * sum(wide[at] * own[at] for at in places)
                counts[colour] += here * sum(own[at] for at in places)
        return ((sums + counts // 2) // counts).transpose(1, 2, 0)[None]

    @classmethod
    def examples(cls) -> Sequence[Example]:
        shapes = ((4, 6), (2, 2), (6, 8), (2, 4))
        return [
            Example(cls(pattern), (x,), cls(pattern).infer(x), {}, k)
            for k, (pattern, shape) in enumerate(zip(PATTERNS, shapes, strict=True))
            for x in [TensorType((1, *shape, 1), "u8")]
        ]


_CENTRE, _SIDES, _CORNERS = ((0, 0),), ((-1, 0), (1, 0), (0, -1), (0, 1)), ((-1, -1), (-1, 1), (1, -1), (1, 1))
"""(rows, columns) from a pixel to the pixels at distance 0, 1 and sqrt 2."""


def _colours(pattern: str) -> np.ndarray:
    """The colours of the upper left 2x2 pixels, [2, 2]: 0 for red, 1 for green, 2 for blue."""
    return np.array(["rgb".index(letter) for letter in pattern]).reshape(2, 2)
