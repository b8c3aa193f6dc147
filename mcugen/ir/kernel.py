"""Kernels: C functions that compute an operator, the calls they accept and their build-time work."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Protocol

from mcugen.ir.alike import keeps, shared_fact
from mcugen.ir.call import Call, Params, Rule

MAX_SHORT = 15
"""Longest abbreviation of a kernel's symbol in the name of an emitted function, in characters."""


class Form(Enum):
    """How a kernel walks its tensors; the emitter prints the call of each form.

    POINTWISE   f(params, in..., out, [scratch,] n): a run of n pixels or elements
    WINDOW      f(params, rows, y, out, [scratch]): kernel-height row pointers to output row y
    RING        f_row(params, in or NULL, row): an input row, or one outside the image, converted for the step's ring;
                f(params, rows, out, [scratch]): kernel-height pointers to converted rows to one output row.
                The ring stays from output row to output row, or is filled anew for each (`keeps`)
    ACCUMULATE  f_begin(params, acc); f_rows(params, in, y, n, acc); f_end(params, acc, out)
    WHOLE       f(params, in..., out..., [scratch]): whole tensors, for data movement across rows
    ALIAS       no code: each result is bytes of the operand
    JOIN        no code: the operands are bytes of the result, written where they lie in it
    GRID        an OpenCL kernel over whole tensors: f(in..., out, [scratch,] fields of params), one work-item for each
                element or block; see `mcugen/kernels/grid.py`
    """

    POINTWISE = "pointwise"
    WINDOW = "window"
    RING = "ring"
    ACCUMULATE = "accumulate"
    WHOLE = "whole"
    ALIAS = "alias"
    JOIN = "join"
    GRID = "grid"


@dataclass(frozen=True)
class RowWindow:
    """Which input rows an output row reads: first = y * stride - pad, then every `dilation`-th, `size` of them.

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
class Ring:
    """How a RING kernel stores a converted input row: `length` elements of `dtype`.

    pitch: elements from a row's start to the next one's, 0: length; less where parts of all rows lie side by side.
    """

    dtype: str
    length: int
    pitch: int = 0


class Made(Protocol):
    """A C function made for a call: `mcugen.ir.element.Loop`, or what a family makes."""

    @property
    def digest(self) -> str:
        """Six hexadecimal digits of a hash of the files' text."""

    def files(self, function: str) -> dict[str, str]:
        """The header and the source that define `function`, by name; the header has the type `function`_params."""


class Ending(Protocol):
    """Last step of a GRID kernel, on each result and an element of another tensor: `mcugen.kernels.grid.Tail`."""

    @property
    def digest(self) -> str:
        """What tells the expressions' text from others."""

    @property
    def headers(self) -> tuple[str, ...]:
        """The headers of the runtime that the expressions call."""

    def into(self, text: str, function: str) -> str:
        """The text of a kernel with the expressions in it."""


Tile = Mapping[str, int]
"""Values of the constants of a GRID kernel's text, by name: how it divides its work."""


RESULT = -1
"""The result among the tensors of a kernel that may lie in runs."""

GROUP = 64
"""Work-items of a work-group that share nothing: two or one at a time of what devices run in step."""


@dataclass(frozen=True)
class Grid:
    """The launch of a GRID kernel.

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
    def each(cls, total: int) -> Grid:
        """A work-item for each of `total` things, and some that have nothing to do."""
        return cls((total,), (GROUP,))

    @property
    def group_items(self) -> int:
        """Work-items of a work-group, 1 where the driver chooses."""
        return math.prod(self.group)


@dataclass(frozen=True)
class Kernel:
    """One C function that computes an operator, with its rules and its build-time work.

    symbol    mg_<op>_<dtype>[__<how>]; its source is <symbol less mg_>.c of c_runtime, or `source`
    short     at most 15 characters for the symbol in emitted C names, mg_<short>_<hash>; by default its words, cut
    params    fields of the C struct <symbol less __how>_params; arrays become constants in flash
    count     POINTWISE: n for the whole output (pixels or elements); a multiple of the output's rows
    operands  inputs passed as pointers, in that order; None: every input that is not constant
    scratch   bytes of working memory, 16-aligned, or None where the C function takes none
    alone     POINTWISE: whether it takes pixels one by one, so that rows of one are as good as longer ones
    in_place  inputs whose memory the output may take over, element by element
    window    WINDOW, RING: the row geometry;   outside: WINDOW: the value of rows beyond the image
    ring      RING: the layout of a converted row
    keeps     RING: whether a step by rows keeps converted rows for the output rows that follow; else it converts all
              rows that an output row reads, each time, in memory that other steps use in between
    variant   constants of the C text: each set of them makes one copy of <symbol less mg_>_template.h
    loop      the C function where it is made for the call, of expressions for example, and not a file of c_runtime
    starts    ALIAS: the byte of the operand at which each result begins; JOIN: the byte of the result at which each
              operand begins; None: all begin at byte 0
    pitch     JOIN: bytes of the result from one run of an operand to its next one; None: operands are in one piece
    pitched   GRID: the inputs, and RESULT for the result, whose runs along the last axis may lie apart: the text takes
              their distance in elements as `pitch_in<pointer>` and `pitch_out`
    widened   whether the constants hold the weights wider than the model does: faster, but takes more flash
    sized     whether its constants are as long for all calls of the same shapes and types that share a function
    frugal    whether it is a slower form of another kernel that takes fewer bytes of code or constants: for the goal
              `flash` alone
    struct    base name of the header and the params struct, where it is not the part of the symbol before `__`
    work      counts for estimates of a call's cycles, beside those of select/costs.py for every kernel: a number for
              each of `terms`, 0 for those that are left out
    converting  RING: those of the terms that grow with the rows converted
    parts     for estimates: kernels, with their calls, whose work the function does in one loop
    code      code size of this call's copy in bytes; None: the mean measured by ci/fit
    helpers   sources of c_runtime that the function calls, beside its own
    grid      GRID: the launch for a call with a tile
    tiles     GRID: the tiles that suit a call; None where the text has no constants
    tile      GRID: the tile chosen, as (name, value) pairs; see `tiled`
    room      GRID: `scratch`, for a call with a tile
    tail      GRID: the last step, on each result and an element of another tensor; see `mcugen/kernels/grid.py`
    halved    GRID: where floats of tensors may be stored as half (macro HALF), the constants that then are, too; None
              where not
    files     C files that come with an operator from outside: name -> text, the source and the header <contract>.h of
              the kernel among them; empty for kernels of c_runtime
    """

    symbol: str
    form: Form
    accepts: tuple[Rule, ...] = ()
    params: Callable[[Call], Params] | None = None
    count: Callable[[Call], int] | None = None
    operands: Callable[[Call], tuple[int, ...]] | tuple[int, ...] | None = None
    scratch: Callable[[Call], int] | None = None
    alone: bool = False
    in_place: tuple[int, ...] = ()
    window: Callable[[Call], RowWindow] | None = None
    outside: Callable[[Call], int | float] | None = None
    ring: Callable[[Call], Ring] | None = None
    keeps: bool = True
    variant: Callable[[Call], Mapping[str, int]] | None = None
    loop: Callable[[Call], Made] | None = None
    starts: Callable[[Call], Sequence[int]] | None = None
    pitch: Callable[[Call], int] | None = None
    pitched: Callable[[Call], tuple[int, ...]] | tuple[int, ...] = ()
    widened: bool = False
    sized: bool = False
    frugal: bool = False
    struct: str = ""
    needs: frozenset[str] = frozenset()
    work: Callable[[Call], Mapping[str, float]] | None = None
    terms: tuple[str, ...] = ()
    converting: tuple[str, ...] = ()
    parts: Callable[[Call], Sequence[tuple[Kernel, Call]]] | None = None
    code: Callable[[Call], int] | None = None
    source: str = ""
    helpers: tuple[str, ...] = ()
    grid: Callable[[Call, Tile], Grid] | None = None
    tiles: Callable[[Call], Sequence[Tile]] | None = None
    tile: tuple[tuple[str, int], ...] = ()
    room: Callable[[Call, Tile], int] | None = None
    tail: Callable[[Call], Ending] | None = None
    halved: tuple[str, ...] | None = None
    files: Mapping[str, str] = field(default_factory=dict, hash=False)
    short: str = ""

    def __hash__(self) -> int:
        return hash(self.symbol)

    @property
    def contract(self) -> str:
        """Base name of the header and the params struct: `struct` if set, else the part before `__`."""
        return self.struct or self.symbol.split("__")[0]

    @functools.cached_property
    def has_code(self) -> bool:
        """Whether the operator becomes a step; without code, its results are bytes of other tensors."""
        return self.form not in (Form.ALIAS, Form.JOIN)

    @functools.cached_property
    def slides(self) -> bool:
        """Whether the kernel makes an output row from a window of input rows."""
        return self.form in (Form.WINDOW, Form.RING)

    @property
    def short_name(self) -> str:
        """The symbol in the names of emitted functions: `short`, else the symbol with its longest words cut."""
        words = [word for word in self.symbol.removeprefix("mg_").split("_") if word]
        while not self.short and len("_".join(words)) > MAX_SHORT:
            longest = max(range(len(words)), key=lambda k: (len(words[k]), k))
            words[longest] = words[longest][:-1]
        return self.short or "_".join(words)

    def tiled(self, tile: Tile) -> Kernel:
        """This GRID kernel with that tile."""
        room = self.room
        scratch = (lambda call: room(call, tile)) if room else None
        return replace(self, tile=tuple(tile.items()), scratch=scratch)

    def launch(self, call: Call) -> Grid:
        """The launch of a GRID kernel with its tile."""
        return self.grid(call, dict(self.tile)) if self.grid else Grid((call.output.size,))

    def sizes(self, call: Call) -> Mapping[str, int]:
        """The constants of the call's copy, by name; none for a kernel that is one function."""
        return _sizes(call, self.variant) if self.variant else {}

    def identity(self, call: Call) -> str:
        """The symbol with the sizes or the text's hash of the call's copy: equal for calls that share a C function."""
        return _identity(call, self)

    @property
    def is_made(self) -> bool:
        """Whether the C function is made for its call, and so has no file of its own in the runtime."""
        return self.variant is not None or self.loop is not None

    @property
    def source_name(self) -> str:
        return self.source or f"{self.symbol.removeprefix('mg_')}.c"

    @functools.cached_property
    def forgetful(self) -> Kernel:
        """This RING kernel where it keeps no converted rows: less memory, more conversions, the same function."""
        return replace(self, keeps=False)

    def ruled(self, *rules: Rule) -> Kernel:
        """This kernel with rules after its own."""
        return replace(self, accepts=(*self.accepts, *rules))

    def refusals(self, call: Call, features: frozenset[str]) -> list[str]:
        """Why this kernel cannot run the call; empty if it can."""
        missing = sorted(self.needs - features)
        return [*map(_lacking, missing), *(_text(rule) for rule in self.accepts if not keeps(call, rule))]

    def refusal(self, call: Call, features: frozenset[str]) -> str:
        """The first of the reasons why this kernel cannot run the call; empty if it can."""
        return _refusal(call, self, features)

    def overwritable(self, call: Call) -> tuple[int, ...]:
        """The operands of the call whose memory the output may take over."""
        return tuple(k for k in self.in_place if k < len(call.inputs))

    def takes_runs(self, call: Call, which: int) -> bool:
        """Whether the runs of an operand, or of the RESULT, may lie apart."""
        return which in (self.pitched(call) if callable(self.pitched) else self.pitched)

    def pointer_operands(self, call: Call) -> tuple[int, ...]:
        """Indices of the inputs that the C call passes as pointers."""
        if self.operands is not None:
            return self.operands(call) if callable(self.operands) else self.operands
        return _computed(call)


@shared_fact
def _refusal(call: Call, kernel: Kernel, features: frozenset[str]) -> str:
    if not kernel.needs <= features:
        return _lacking(min(kernel.needs - features))
    for rule in kernel.accepts:
        if not keeps(call, rule):
            return _text(rule)
    return ""


@shared_fact
def _identity(call: Call, kernel: Kernel) -> str:
    if kernel.loop:
        return f"{kernel.symbol} {kernel.loop(call).digest}"
    tail = [kernel.tail(call).digest] if kernel.tail else []
    return " ".join([kernel.symbol, *(f"{name} {value}" for name, value in kernel.sizes(call).items()), *tail])


@shared_fact
def _computed(call: Call) -> tuple[int, ...]:
    """The inputs that are there and not constant."""
    return tuple(k for k, t in enumerate(call.inputs) if t is not None and call.constants[k] is None)


@shared_fact
def _sizes(call: Call, variant: Callable[[Call], Mapping[str, int]]) -> Mapping[str, int]:
    """The constants of a copy by name: kernels that share a `variant` have the same."""
    return dict(sorted(variant(call).items()))


def _lacking(feature: str) -> str:
    return f"the core has no {feature}"


def _text(rule: Rule) -> str:
    return (rule.__doc__ or rule.__name__).strip()


@dataclass(frozen=True, eq=False)
class Family:
    """A package of kernels for instructions, or for a method, that not every core has or runs best.

    rank     families of a lower rank are preferred where costs are unknown
    needs    the core's features that its kernels may need
    serves   operator class -> its kernels of this family, best first
    device   whether the kernels are for OpenCL devices, of the form GRID; they are offered for no other target
    derives  of a family for devices: further kernels of an operator class, made of what the class states
    folder   the package's folder, with costs/<core>.json; set when the family is found
    """

    rank: int
    needs: frozenset[str]
    serves: Mapping[type, tuple[Kernel, ...]]
    device: bool = False
    derives: Callable[[type], tuple[Kernel, ...]] | None = None
    folder: Path = Path()

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels for all operators."""
        return tuple(kernel for kernels in self.serves.values() for kernel in kernels)
