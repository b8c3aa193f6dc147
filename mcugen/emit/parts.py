"""What the templates print of a model's parts: constants, interface, steps, memory."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ArrayView:
    """A constant in flash. region: the memory it lies in, "" with the code."""

    symbol: str
    c_type: str
    length: int
    nbytes: int
    note: str
    lines: list[str]
    region: str = ""


@dataclass(frozen=True)
class EndView:
    """An input or output of the model in the header."""

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


@dataclass(frozen=True)
class RowsView:
    """One output of a step, for the MCUGEN_ROWS hook."""

    output: int
    rows: int
    row_bytes: int
    pointer: str


@dataclass(frozen=True)
class WindowView:
    """How a windowed step finds its input rows. kept: rows that the input's ring holds, 0 where it is whole."""

    size: int
    dilation: int
    row: str
    in_rows: int
    in_length: int
    kept: int
    out_row: str
    element: str
    row_function: str
    outside: str


@dataclass(frozen=True)
class RingView:
    """The converted rows that a step keeps: where, how many, of which element, how far apart.

    step: new rows for an output row.
    """

    element: str
    pointer: str
    rows: int
    pitch: int
    step: int
    stride: int
    pad: int


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
    """One `case` of the generated code; in a `by_rows` step it computes row y, or takes in row y."""

    index: int
    by_rows: bool
    title: str
    kernel: str
    params: str
    params_type: str
    fields: list[tuple[str, str]]
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
