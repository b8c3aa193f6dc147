"""Template values for the parts of a model: constants, interface, steps, memory."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from mcugen.emit.class_labels import LabelView
from mcugen.emit.literals import array_text
from mcugen.emit.window_rows import RingView, WindowView


@dataclass(frozen=True, eq=False)
class ArrayView:
    """A constant in flash. region: its memory, "" for the flash of the code. layout: comment on the order of
    elements.
    """

    symbol: str
    c_type: str
    length: int
    nbytes: int
    note: str
    data: np.ndarray
    region: str = ""
    layout: str = ""

    @property
    def text(self) -> Iterable[str]:
        """The elements as pieces of C text, generated while printing; a single 0 for an empty array."""
        return array_text(self.data if self.data.size else np.zeros(1, np.uint8))


@dataclass(frozen=True)
class EndView:
    """An input or output of the model, for the header. labels: class labels that its integers index."""

    function: str
    macro: str
    c_type: str
    length: int
    nbytes: int
    offset: int
    place: str
    type_text: str
    label: str
    scale: str
    zero_point: str
    zero: int
    low: int
    high: int
    is_narrow: bool
    is_input: bool
    is_unread: bool
    labels: list[LabelView]


@dataclass(frozen=True)
class RowsView:
    """One output of a step, for the MCUGEN_ROWS hook."""

    output: int
    rows: int
    row_bytes: int
    pointer: str


@dataclass(frozen=True)
class PushView:
    """An input pushed row by row, and how many events each row triggers.

    kept: rows in `ring`. until: events that have run after each row. period: frames after which all rings repeat.
    rolls: `ring` is the whole window, oldest row first; each push moves it up by one row.
    """

    input: int
    rows: int
    row_length: int
    row_nbytes: int
    c_type: str
    ring: str
    kept: int
    until: list[int]
    until_type: str
    period: int
    rolls: bool


@dataclass(frozen=True)
class SamplesView:
    """An input that arrives as a stream of samples, of which the newest `size` are kept in `window`.

    hop: samples from one window to the next. rows: windows before the first decision. stride: windows between two
    decisions. rate: samples per second. slots: samples in the queue between an interrupt and the task, of which one
    stays free; 0 without a queue. c_type, nbytes: type and bytes of a sample. reading: number of events after
    which the window moves on. events: number of events that run for each window. has_decisions: whether
    further events run for each decision.
    """

    window: str
    size: int
    hop: int
    rows: int
    stride: int
    rate: int
    slots: int
    c_type: str
    nbytes: int
    reading: int
    events: int
    has_decisions: bool

    @property
    def first(self) -> int:
        """Samples before the first decision."""
        return self.size + (self.rows - 1) * self.hop


@dataclass(frozen=True)
class StepView:
    """One `case` of the generated code. With `by_rows`, it computes or consumes one row. row: the C variable of the
    row. bands: parts of a step that threads may compute at the same time; parts: the rows, pixels or elements that they
    divide.
    """

    index: int
    by_rows: bool
    title: str
    kernel: str
    params: str
    params_type: str
    fields: list[str]
    form: str
    inputs: list[str]
    outputs: list[str]
    scratch: str
    count: int
    batch: int
    images: int
    in_image: int
    out_image: int
    rows: int
    window: WindowView | None
    ring: RingView | None
    hooks: list[RowsView]
    row: str
    bands: int = 1
    parts: int = 1

    @classmethod
    def on_device(cls, index: int, title: str, kernel: str) -> StepView:
        """A step without C. Its kernel runs on an OpenCL device."""
        return cls(
            index=index,
            by_rows=False,
            title=title,
            kernel=kernel,
            params="",
            params_type="",
            fields=[],
            form="grid",
            inputs=[],
            outputs=[],
            scratch="",
            count=0,
            batch=1,
            images=1,
            in_image=0,
            out_image=0,
            rows=1,
            window=None,
            ring=None,
            hooks=[],
            row="",
        )

    @property
    def texts(self) -> list[str]:
        """All C text of the step that may name constants."""
        moving = [*vars(self.window).values()] if self.window else []
        moving += [*vars(self.ring).values()] if self.ring else []
        return [*self.fields, *self.inputs, *self.outputs, self.scratch, *(t for t in moving if isinstance(t, str))]

    def mentions(self, word: str) -> bool:
        """Whether a pointer argument of the call depends on the C variable `word`."""
        return any(re.search(rf"\b{word}\b", text) for text in (*self.inputs, *self.outputs))


@dataclass(frozen=True)
class NumberView:
    """A number argument of an OpenCL kernel. member: member of the tables' union. text: the value as C text."""

    member: str
    text: str


@dataclass(frozen=True)
class GridStepView:
    """A step in the tables of the OpenCL host program.

    kernel: "" for a step in C. memories: number of its pointer arguments. constants: bit k is set if pointer k points
    to constants, not the arena. numbers: number arguments by name, in the order of the kernel.
    """

    title: str
    kernel: str
    memories: int
    constants: int
    first_number: int
    numbers: Mapping[str, NumberView]
    items: tuple[int, int, int]
    group: tuple[int, int, int]


@dataclass(frozen=True)
class CopyView:
    """An input or output of a model on a device. start, nbytes: its bytes in the arena. copy: offset of the host's
    copy.
    """

    start: int
    nbytes: int
    copy: int


@dataclass(frozen=True)
class KeptView:
    """A state on a device. start, nbytes: its bytes in the arena. initial: offset of its initial value among the
    constants. moved_from: offset in the arena where a run leaves the next value.
    """

    start: int
    nbytes: int
    initial: int
    moved_from: int


@dataclass(frozen=True, eq=False)
class DeviceView:
    """Contents of the OpenCL host program's tables.

    source: the OpenCL C. constants: bytes that are uploaded once. check: checksum of `constants`.
    """

    source: str
    source_hash: str
    constants: bytes
    check: int
    steps: list[GridStepView]
    inputs: list[CopyView]
    outputs: list[CopyView]
    states: list[KeptView]
    arena_size: int
    copies_size: int
    cuts: list[list[tuple[int, int]]]

    @property
    def cut_starts(self) -> list[int]:
        """For each cut, the index of its first span among all spans; at the end, the number of spans."""
        return list(itertools.accumulate((len(cut) for cut in self.cuts), initial=0))

    @property
    def lines(self) -> list[str]:
        """The source as C string literals, one per line."""
        return [literal(line)[:-1] + '\\n"' for line in self.source.split("\n")]

    @property
    def constants_size(self) -> int:
        """Bytes of the constants."""
        return len(self.constants)

    @property
    def host_steps(self) -> int:
        """Number of steps that run as C."""
        return sum(not step.kernel for step in self.steps)


def literal(text: str) -> str:
    """A text as a C string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
