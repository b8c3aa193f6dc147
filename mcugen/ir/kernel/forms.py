"""Forms: the calling conventions of kernels, each with the properties that only its kernels have."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from mcugen.ir.call import Call


@dataclass(frozen=True)
class Form:
    """The calling convention of a kernel: which parts of its tensors a C call works on.

    name      name of the form, in reports and templates
    has_code  whether the operator becomes a step; without code, its results share bytes with other tensors
    suffixes  suffixes of the kernel's C functions, if it has several
    """

    name: ClassVar[str]
    has_code: ClassVar[bool] = True
    suffixes: ClassVar[tuple[str, ...]] = ()

    @property
    def refills(self) -> bool:
        """Whether the kernel converts all input rows of an output row anew for each output row."""
        return False

    @property
    def has_parts(self) -> bool:
        """Whether the operands lie inside the result, or the results inside the operand."""
        return False

    def window(self, call: Call) -> RowWindow | None:
        """The input rows that each output row reads; None for a kernel that does not slide over rows."""
        return None


@dataclass(frozen=True)
class Run(Form):
    """A kernel that works on n adjacent pixels or elements: f(params, in..., out, [scratch,] n).

    count  n for the whole output (pixels or elements); a multiple of the output's rows
    alone  whether it computes pixels one by one, so that calls with one pixel are as efficient as calls with many
    """

    name = "run"
    count: Callable[[Call], int]
    alone: bool = False


@dataclass(frozen=True)
class RowWindow:
    """The input rows that output row y reads: y * stride - pad + k * dilation for k in [0, size).

    firsts: if not empty, the first input row of each output row, ascending, in place of y * stride - pad. Operators
    that enlarge images need `firsts`.
    """

    size: int
    stride: int
    dilation: int
    pad: int
    in_rows: int
    out_rows: int
    firsts: tuple[int, ...] = ()

    @classmethod
    def of_firsts(cls, size: int, firsts: Sequence[int], in_rows: int) -> RowWindow:
        """The window whose output row y reads `size` rows from firsts[y] on. It has a stride instead of `firsts` if
        possible.
        """
        stride = firsts[1] - firsts[0] if len(firsts) > 1 else 1
        even = stride > 0 and all(first == firsts[0] + y * stride for y, first in enumerate(firsts))
        return cls(size, stride, 1, -firsts[0], in_rows, len(firsts), () if even else tuple(firsts))

    def first(self, y: int) -> int:
        """Index of the first input row of output row y; negative above the image."""
        return self.firsts[y] if self.firsts else y * self.stride - self.pad

    def last(self, y: int) -> int:
        """Index of the last input row of output row y; at or past in_rows below the image."""
        return self.first(y) + (self.size - 1) * self.dilation

    @property
    def extent(self) -> int:
        """Number of rows from the first to the last row that an output row reads, both included."""
        return (self.size - 1) * self.dilation + 1

    @property
    def walked_rows(self) -> int:
        """Number of input rows that all output rows together span, padding included."""
        return (self.out_rows - 1) * self.stride + self.extent

    @property
    def leaves_image(self) -> bool:
        """Whether any output row reads a row outside the image."""
        return self.first(0) < 0 or self.last(self.out_rows - 1) >= self.in_rows


@dataclass(frozen=True)
class Sliding(Form):
    """A kernel that computes each output row from a window of input rows. rows: the input rows of each output row."""

    rows: Callable[[Call], RowWindow]

    def window(self, call: Call) -> RowWindow:
        return self.rows(call)


@dataclass(frozen=True)
class Window(Sliding):
    """A kernel that computes output row y from an array of pointers to input rows: f(params, rows, y, out, [scratch]).

    outside  the value of rows outside the image
    """

    name = "window"
    outside: Callable[[Call], int | float] | None = None


@dataclass(frozen=True)
class RowStorage:
    """The storage of a converted input row: `length` elements of `dtype`.

    pitch: elements between the starts of successive rows; 0: length. It is less than length if rows are interleaved.
    """

    dtype: str
    length: int
    pitch: int = 0


@dataclass(frozen=True)
class Ring(Sliding):
    """A kernel that first converts input rows into a ring buffer of the step.

    f_row(params, in, row) converts an input row; in is NULL for a row outside the image. f(params, rows, out,
    [scratch]) computes an output row from an array of pointers to converted rows.

    storage  the layout of a converted row
    keeps    whether a step by rows keeps converted rows for later output rows; else it converts all rows of an output
             row each time, in memory that other steps may use in between
    """

    name = "ring"
    suffixes = ("_row",)
    storage: Callable[[Call], RowStorage]
    keeps: bool = True

    @property
    def refills(self) -> bool:
        return not self.keeps


@dataclass(frozen=True)
class Accumulate(Form):
    """A kernel that adds up input rows: f_begin(params, acc); f_rows(params, in, y, n, acc); f_end(params, acc, out).

    The accumulators are its scratch.
    """

    name = "accumulate"
    suffixes = ("_begin", "_rows", "_end")


@dataclass(frozen=True)
class Whole(Form):
    """A kernel of whole tensors, for data movement across rows: f(params, in..., out..., [scratch])."""

    name = "whole"


@dataclass(frozen=True)
class Alias(Form):
    """No code: each result is a part of the operand.

    starts  the byte of the operand at which each result begins; None: the only result has all bytes of the operand
    """

    name = "alias"
    has_code = False
    starts: Callable[[Call], Sequence[int]] | None = None

    @property
    def has_parts(self) -> bool:
        return self.starts is not None


@dataclass(frozen=True)
class Join(Form):
    """No code: the operands are parts of the result, written in place.

    starts  the byte of the result at which each operand begins
    pitch   bytes between the starts of successive vectors of an operand along the last axis; None: they are adjacent
    """

    name = "join"
    has_code = False
    starts: Callable[[Call], Sequence[int]]
    pitch: Callable[[Call], int] | None = None

    @property
    def has_parts(self) -> bool:
        return True


Tile = Mapping[str, int]
"""Constants of a device kernel's text, name -> value, that determine how it divides its work, such as block sizes."""

RESULT = -1
"""Index that stands for the result in `Grid.pitched`."""

GROUP = 64
"""Work-items of a work-group without local memory: one or two times the SIMD width of devices."""


@dataclass(frozen=True)
class NDRange:
    """The launch of a device kernel.

    items        work-items in each dimension
    group        work-items of a work-group in each dimension; (): the driver chooses
    local_bytes  local memory that a work-group takes
    effort       the work of the launch as a multiple of what its results need
    """

    items: tuple[int, ...]
    group: tuple[int, ...] = ()
    local_bytes: int = 0
    effort: float = 1.0

    @classmethod
    def each(cls, total: int) -> NDRange:
        """A launch with one work-item for each of `total` elements; the last work-items may be idle."""
        return cls((total,), (GROUP,))

    @property
    def group_items(self) -> int:
        """Work-items of a work-group, 1 where the driver chooses."""
        return math.prod(self.group)


class Ending(Protocol):
    """Last operation of a device kernel, on each result and an element of another tensor:
    `mcugen.kernels.grid.Tail`.
    """

    @property
    def digest(self) -> str:
        """A hash of the text of the expressions."""

    @property
    def headers(self) -> tuple[str, ...]:
        """The headers of the runtime that the expressions call."""

    def into(self, text: str, function: str) -> str:
        """The text of a kernel with the expressions inserted."""


def per_element(call: Call, tile: Tile) -> NDRange:
    """A work-item for each element of the result."""
    return NDRange.each(call.output.size)


@dataclass(frozen=True)
class Grid(Form):
    """An OpenCL kernel of whole tensors, a work-item for each element or block: f(in..., out, [scratch,] fields of
    params); see `mcugen/kernels/grid.py`.

    launch   the launch for a call with a tile
    tiles    the tiles that suit a call; None if the text has no constants
    tile     the tile chosen, as (name, value) pairs; see `Kernel.tiled`
    room     bytes of working memory, for a call with a tile
    tail     the last operation, on each result and an element of another tensor
    halved   constants that are stored as float16 if tensors are (macro HALF); None if tensors cannot be float16
    pitched  inputs, and RESULT for the result, whose vectors along the last axis need not be adjacent; the text takes
             their distance in elements as `pitch_in<pointer>` and `pitch_out`
    """

    name = "grid"
    launch: Callable[[Call, Tile], NDRange] = per_element
    tiles: Callable[[Call], Sequence[Tile]] | None = None
    tile: tuple[tuple[str, int], ...] = ()
    room: Callable[[Call, Tile], int] | None = None
    tail: Callable[[Call], Ending] | None = None
    halved: tuple[str, ...] | None = None
    pitched: Callable[[Call], tuple[int, ...]] | tuple[int, ...] = ()

    def takes_runs(self, call: Call, which: int) -> bool:
        """Whether the vectors of an operand, or of the RESULT, along the last axis need not be adjacent in memory."""
        return which in (self.pitched(call) if callable(self.pitched) else self.pitched)
