"""Forms: the ways in which kernels go over their tensors, each with the properties of its kernels alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from mcugen.ir.call import Call


@dataclass(frozen=True)
class Form:
    """The way a kernel goes over its tensors; the emitter prints the C call of each form.

    name      of the form, in reports and templates
    has_code  whether the operator becomes a step; without code, its results are bytes of other tensors
    suffixes  of the names of C functions that have more than the kernel's symbol
    """

    name: ClassVar[str]
    has_code: ClassVar[bool] = True
    suffixes: ClassVar[tuple[str, ...]] = ()

    @property
    def refills(self) -> bool:
        """Whether the kernel converts all rows that an output row reads, for each output row anew."""
        return False

    @property
    def has_parts(self) -> bool:
        """Whether the operands are parts of the result, or the results of the operand."""
        return False

    def window(self, call: Call) -> RowWindow | None:
        """The input rows that each output row reads; None for a kernel that does not slide over rows."""
        return None


@dataclass(frozen=True)
class Run(Form):
    """A kernel of a run of pixels or elements: f(params, in..., out, [scratch,] n).

    count  n for the whole output (pixels or elements); a multiple of the output's rows
    alone  whether it takes pixels one by one, so that rows of one are as good as longer ones
    """

    name = "run"
    count: Callable[[Call], int]
    alone: bool = False


@dataclass(frozen=True)
class RowWindow:
    """The input rows that an output row reads: first = y * stride - pad, then every `dilation`-th, `size` of them.

    firsts: the first input row of each output row, never descending; empty where the stride determines it. Operators
    that enlarge images need it.
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
        """The window whose output row y reads `size` rows from firsts[y] on: by a stride, where one gives them."""
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
        """Rows from the first one that an output row reads to the last, inclusive."""
        return (self.size - 1) * self.dilation + 1

    @property
    def walked_rows(self) -> int:
        """Rows from the first one that the first output row reads to the last, padding and steps between included."""
        return (self.out_rows - 1) * self.stride + self.extent

    @property
    def leaves_image(self) -> bool:
        """Whether any output row reads a row outside the image."""
        return self.first(0) < 0 or self.last(self.out_rows - 1) >= self.in_rows


@dataclass(frozen=True)
class Sliding(Form):
    """A kernel that makes each output row of a window of input rows.

    rows  the input rows of each output row
    """

    rows: Callable[[Call], RowWindow]

    def window(self, call: Call) -> RowWindow:
        return self.rows(call)


@dataclass(frozen=True)
class Window(Sliding):
    """A kernel of kernel-height row pointers to output row y: f(params, rows, y, out, [scratch]).

    outside  the value of rows beyond the image
    """

    name = "window"
    outside: Callable[[Call], int | float] | None = None


@dataclass(frozen=True)
class RowStorage:
    """The storage of a converted input row: `length` elements of `dtype`.

    pitch: elements from a row's start to the next one's, 0: length; less where parts of all rows lie side by side.
    """

    dtype: str
    length: int
    pitch: int = 0


@dataclass(frozen=True)
class Ring(Sliding):
    """A kernel that converts input rows first, into a ring of the step.

    f_row(params, in or NULL, row) converts an input row, or one outside the image; f(params, rows, out, [scratch])
    makes an output row of kernel-height pointers to converted rows.

    storage  the layout of a converted row
    keeps    whether a step by rows keeps converted rows for the output rows that follow; else it converts all rows that
             an output row reads, each time, in memory that other steps use in between
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

    starts  the byte of the operand at which each result begins; None: the one result is the operand
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
    pitch   bytes of the result from one run of an operand to its next one; None: operands are in one piece
    """

    name = "join"
    has_code = False
    starts: Callable[[Call], Sequence[int]]
    pitch: Callable[[Call], int] | None = None

    @property
    def has_parts(self) -> bool:
        return True


Tile = Mapping[str, int]
"""The values of the constants of a device kernel's text, by name: they set how it divides its work."""

RESULT = -1
"""The index of the result, among the tensors of a kernel that may be split into runs."""

GROUP = 64
"""Work-items of a work-group without local memory: one or two times the SIMD width of devices."""


@dataclass(frozen=True)
class NDRange:
    """The launch of a device kernel.

    items        work-items in each direction
    group        those of a work-group; () leaves them to the driver
    local_bytes  local memory that a work-group takes
    effort       the work of the launch as a multiple of what its results need
    """

    items: tuple[int, ...]
    group: tuple[int, ...] = ()
    local_bytes: int = 0
    effort: float = 1.0

    @classmethod
    def each(cls, total: int) -> NDRange:
        """A launch with one work-item for each of `total` elements; some at the end may be idle."""
        return cls((total,), (GROUP,))

    @property
    def group_items(self) -> int:
        """Work-items of a work-group, 1 where the driver chooses."""
        return math.prod(self.group)


class Ending(Protocol):
    """Last step of a device kernel, on each result and an element of another tensor: `mcugen.kernels.grid.Tail`."""

    @property
    def digest(self) -> str:
        """A hash of the text of the expressions."""

    @property
    def headers(self) -> tuple[str, ...]:
        """The headers of the runtime that the expressions call."""

    def into(self, text: str, function: str) -> str:
        """The text of a kernel with the expressions in it."""


def per_element(call: Call, tile: Tile) -> NDRange:
    """A work-item for each element of the result."""
    return NDRange.each(call.output.size)


@dataclass(frozen=True)
class Grid(Form):
    """An OpenCL kernel of whole tensors, a work-item for each element or block: f(in..., out, [scratch,] fields of
    params); see `mcugen/kernels/grid.py`.

    launch   the launch for a call with a tile
    tiles    the tiles that suit a call; None where the text has no constants
    tile     the tile chosen, as (name, value) pairs; see `Kernel.tiled`
    room     bytes of working memory, for a call with a tile
    tail     the last step, on each result and an element of another tensor
    halved   the constants that are stored as half along with floats of tensors (macro HALF); None where none may be
    pitched  the inputs, and RESULT for the result, whose runs along the last axis may lie apart: the text takes their
             distance in elements as `pitch_in<pointer>` and `pitch_out`
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
        """Whether the runs of an operand, or of the RESULT, may be apart in memory."""
        return which in (self.pitched(call) if callable(self.pitched) else self.pitched)
