"""Template values for a model's parts: constants, interface, steps, memory."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from mcugen.emit.labels import LabelView
from mcugen.emit.literals import array_lines
from mcugen.emit.windows import RingView, WindowView


@dataclass(frozen=True, eq=False)
class ArrayView:
    """A constant in flash. region: the memory it lies in, "" with the code; layout: how its elements are arranged."""

    symbol: str
    c_type: str
    length: int
    nbytes: int
    note: str
    data: np.ndarray
    region: str = ""
    layout: str = ""

    @property
    def lines(self) -> list[str]:
        """The elements as C text; a 0 where there are none. It is made when it is printed."""
        return array_lines(self.data) or ["0"]


@dataclass(frozen=True)
class EndView:
    """An input or output of the model in the header. labels: the texts that its integers number."""

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
    """An input handed in row by row: where its ring lies, and how far each row takes the order of events."""

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


@dataclass(frozen=True)
class StepView:
    """One `case` of the generated code; in a `by_rows` step it computes a row, or takes one in. row: its C variable."""

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

    def mentions(self, word: str) -> bool:
        """Whether a pointer of the call depends on a C variable."""
        return any(re.search(rf"\b{word}\b", text) for text in (*self.inputs, *self.outputs))
