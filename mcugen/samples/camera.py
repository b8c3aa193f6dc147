"""Words for the bytes of cameras, which become images [n, height, width, 3]. Such a word is the first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod

import numpy as np

from mcugen.errors import UsageError
from mcugen.ir.types import Shape, TensorType
from mcugen.ops.banded import FRACTION, Banded
from mcugen.ops.demosaic import PATTERNS, Demosaic
from mcugen.ops.rgb565 import Rgb565
from mcugen.ops.strided_slice import StridedSlice
from mcugen.ops.yuv_to_rgb import YuvToRgb
from mcugen.samples.column import Column
from mcugen.samples.front_end import FrontEnd
from mcugen.samples.preprocess import (
    IMAGE,
    MOTION,
    WHERE,
    Plan,
    Word,
    applied,
    one_of,
    parameters,
    reported,
    type_after,
    whole,
)

MAX_SIDE = 4096


@dataclass(frozen=True)
class CameraFormat:
    """An image as a camera sends it. width, height: pixels. choice: the value of the word's parameter."""

    width: int
    height: int
    choice: str = ""


def _frame(name: str, choices: tuple[str, ...], *, even: str) -> Callable[[str], CameraFormat]:
    """A parser of `(WxH)` or `(WxH,name=choice)`. It raises ValueError.

    choices: of the parameter, the default first; "" first if it has none. even: the sides that must be even, of "wh".
    """

    def read(text: str) -> CameraFormat:
        inner = text[1:-1] if text.startswith("(") and text.endswith(")") else ""
        sides, _, more = inner.partition(",")
        lengths = sides.split("x")
        if len(lengths) != 2:
            raise ValueError(f"expected columns and rows in parentheses, such as (160x120), found {text!r}")
        width, height = map(whole(1, MAX_SIDE), lengths)
        for side, length, what in (("w", width, "columns"), ("h", height, "rows")):
            if side in even and length % 2:
                raise ValueError(f"needs an even number of {what}, not {length}")
        given = parameters(more and f"({more})", {name: one_of([c for c in choices if c])})
        choice = given.get(name, choices[0])
        if not choice:
            raise ValueError(f"needs {name}=..., one of {', '.join(choices[1:])}")
        return CameraFormat(width, height, choice)

    return read


def _two_bytes(frame: CameraFormat) -> Shape:
    return frame.height, frame.width, 2


def _one_byte(frame: CameraFormat) -> Shape:
    return frame.height, frame.width, 1


def _with_chroma_rows(frame: CameraFormat) -> Shape:
    return frame.height + frame.height // 2, frame.width, 1


def rgb565(front: FrontEnd, x: str, frame: CameraFormat) -> str:
    """Words of 5 bits of red, 6 of green and 5 of blue."""
    return front.node(Rgb565(frame.choice == "big"), x)


def yuyv(front: FrontEnd, x: str, frame: CameraFormat) -> str:
    """Y, U, Y and V of every two pixels in a row."""
    return front.node(YuvToRgb(frame.choice == "full"), x)


def nv12(front: FrontEnd, x: str, frame: CameraFormat) -> str:
    """Rows of Y, then half as many rows with U and V of every 2x2 pixels."""

    def rows(first: int, count: int) -> str:
        ranges = ((0, 1, 1), (first, count, 1), (0, frame.width, 1), (0, 1, 1))
        return front.node(StridedSlice(ranges, (1, count, frame.width, 1)), x)

    luma, chroma = rows(0, frame.height), rows(frame.height, frame.height // 2)
    twice = Banded(1, tuple(k // 2 for k in range(frame.height)), frame.height)
    copies = front.constant(np.full((frame.height, 1), 1 << FRACTION, np.int32))
    return front.node(YuvToRgb(frame.choice == "full"), luma, front.node(twice, chroma, copies))


def bayer(front: FrontEnd, x: str, frame: CameraFormat) -> str:
    """One colour per pixel, behind a Bayer pattern."""
    return front.node(Demosaic(frame.choice), x)


def _word(
    name: str,
    what: str,
    append: Callable[[FrontEnd, str, CameraFormat], str],
    taken: Callable[[CameraFormat], Shape],
    parameter: tuple[str, tuple[str, ...]],
    even: str = "",
) -> Word:
    return Word(f"{name}(WxH)", what, IMAGE, append, _frame(*parameter, even=even), taken=taken)


_RANGE = ("range", ("limited", "full"))

WORDS = (
    _word(
        "rgb565",
        "camera's words of 5, 6 and 5 bits, lower byte first; rgb565(WxH,order=big): upper byte first",
        rgb565,
        _two_bytes,
        ("order", ("little", "big")),
    ),
    _word("yuyv", "camera's Y, U, Y, V; yuyv(WxH,range=full): Y from 0 to 255", yuyv, _two_bytes, _RANGE, "w"),
    _word("nv12", "camera's rows of Y, then of U and V; nv12(WxH,range=full)", nv12, _with_chroma_rows, _RANGE, "wh"),
    _word(
        "bayer",
        f"camera's bytes behind a colour pattern; bayer(WxH,pattern=P), P one of {', '.join(PATTERNS)}",
        bayer,
        _one_byte,
        ("pattern", ("", *PATTERNS)),
        "wh",
    ),
)


def column(given: Column, plan: Plan) -> Column:
    """Arrays of a camera's bytes after the plan's words for images; other arrays as they are. Raises UsageError."""
    frame = plan.frame
    if frame is None:
        plan.require(MOTION, "arrays")
        return given
    steps = plan.of(IMAGE)
    if prod(given.shape) != prod(frame):
        found = f"has samples of {prod(given.shape):,} bytes, {list(given.shape)}"
        message = f"{found}, but {steps[0].text!r} takes {prod(frame):,}, {list(frame)}"
        raise UsageError(message, where=given.where, hint="correct the size in the word, or the samples")
    with reported(WHERE):
        shape = type_after(steps, TensorType((1, *frame), "u8"), 3).shape[1:]

    def blocks(n: int) -> Iterator[np.ndarray]:
        for block in given.blocks(n):
            if block.dtype != np.uint8:
                hint = "save the camera's bytes as they are: x.astype(numpy.uint8)"
                raise UsageError(f"has {block.dtype}, but {steps[0].text!r} takes bytes", where=given.where, hint=hint)
            for image in block.reshape(-1, 1, *frame):
                yield applied(steps, image, channels=3)

    return Column(given.where, given.count, shape, blocks, 2, given.names)
