"""Steps of the generated code, and the rows that each of their events reads and writes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from mcugen.ir.alike import of_first, shared_fact, trait
from mcugen.ir.call import Call, Params, fact
from mcugen.ir.graph import Node
from mcugen.ir.kernel import Accumulate, Grid, Kernel, Ring, Run
from mcugen.ir.types import TensorType, images_of, rows_of


@dataclass(frozen=True)
class Choice:
    """A node with the kernel chosen for it.

    why: the reason, for the report. rows: rows per event if it runs by rows; 0: `batch_of` decides.
    """

    node: Node
    call: Call
    kernel: Kernel
    why: str
    rows: int = 0

    @property
    def params(self) -> Params:
        """The fields of the kernel's C struct."""
        return _params(self.call, self.kernel.params) if self.kernel.params else {}

    @cached_property
    def constant_bytes(self) -> int:
        """Bytes of flash that the arrays among `params` need, and the constants that are passed as pointers."""
        passed = (k for k in self.kernel.pointer_operands(self.call) if self.call.constants[k] is not None)
        return _constant_bytes(self.call, self.kernel) + sum(self.call.input(k).nbytes for k in passed)

    @cached_property
    def can_run_by_rows(self) -> bool:
        """Whether the kernel can be called row by row. That takes one image, several rows, and a form that works on
        rows.
        """
        return _can_run_by_rows(self.call, self.kernel)

    @cached_property
    def working(self) -> tuple[int, int, int]:
        """Bytes of working memory: (run whole; by rows, during events only; by rows, also between events)."""
        return _working(self.call, self.kernel)

    @cached_property
    def known_reads(self) -> dict[bool, tuple[tuple[Access, ...], ...]]:
        """Cache: whether the step runs by rows -> reads of each event."""
        return {}


@shared_fact
def _can_run_by_rows(call: Call, kernel: Kernel) -> bool:
    if any(t is not None and images_of(t.shape) != 1 for t in (call.output, *call.inputs[:1])):
        return False
    if isinstance(kernel.form, Accumulate):
        return rows_of(call.input(0).shape) > 1
    rows = rows_of(call.output.shape)
    if kernel.slides:
        return rows > 1
    if not isinstance(kernel.form, Run) or rows == 1 or kernel.form.count(call) % rows:
        return False
    return all(_fits_rows(call.inputs[k], rows) for k in kernel.pointer_operands(call))


@shared_fact
def _working(call: Call, kernel: Kernel) -> tuple[int, int, int]:
    choice = Choice(node_of(call), call, kernel, "")
    whole, step = Step(0, choice), Step(0, choice, by_rows=True)
    scratch, ring = step.scratch_bytes, step.ring_bytes
    by_rows = (scratch, ring) if step.ring_stays(streams=False) else (scratch + ring, 0)
    return whole.scratch_bytes + whole.ring_bytes, *by_rows


@fact
def node_of(call: Call) -> Node:
    """A node for a call that is not part of a graph."""
    return Node("", call.op, (), (), "")


@trait
def _constant_bytes(call: Call, kernel: Kernel) -> int:
    def packed() -> int:
        fields = _params(call, kernel.params) if kernel.params else {}
        return sum(value.nbytes for value in fields.values() if isinstance(value, np.ndarray))

    return of_first(call, (kernel, kernel.identity(call)), packed) if kernel.sized else packed()


@fact
def _params(call: Call, packed: Callable[[Call], Params]) -> Params:
    """Fields of a kernel's C struct. They are cached by the packing function, since packing weights takes time and
    several kernels may share it.
    """
    return packed(call)


@cache
def _element_bytes(dtype: str) -> int:
    return TensorType((), dtype).nbytes


@dataclass(frozen=True)
class Access:
    """Rows first..last of a tensor that an event reads, both included. A tensor without rows counts as one row."""

    tensor: str
    first: int
    last: int


@dataclass(frozen=True)
class Step:
    """Kernel calls of one node. An event is one execution of it.

    A step by rows has several events. Each computes `batch` rows of the output (the last may compute fewer) or, for an
    accumulating kernel, takes one row of the input.

    bands: parts of a step that runs whole, which threads may compute at the same time, each with working memory of its
    own
    """

    index: int
    choice: Choice
    by_rows: bool = False
    batch: int = 1
    bands: int = 1

    @property
    def on_device(self) -> bool:
        """Whether an OpenCL device runs the step, not the host."""
        return isinstance(self.choice.kernel.form, Grid)

    @property
    def scratch_bytes(self) -> int:
        return self.bands * self.band_scratch

    @property
    def band_scratch(self) -> int:
        """Bytes of scratch of each band, 16-aligned if there are several."""
        scratch = self.choice.kernel.scratch
        nbytes = scratch(self.choice.call) if scratch else 0
        return -(-nbytes // 16) * 16 if self.bands > 1 else nbytes

    @property
    def scratch_name(self) -> str:
        return f"scratch {self.index}"

    @property
    def stage_name(self) -> str:
        return f"constants {self.index}"

    @property
    def refills(self) -> bool:
        """Whether each event converts all input rows that it reads, and keeps none for the next."""
        return self.by_rows and self.choice.kernel.form.refills

    @property
    def ring_rows(self) -> int:
        """Number of converted rows stored at a time; 0 if the kernel converts none."""
        form = self.choice.kernel.form
        if not isinstance(form, Ring):
            return 0
        window = form.rows(self.choice.call)
        return window.size if self.refills else window.extent

    def ring_stays(self, *, streams: bool) -> bool:
        """Whether an event reads rows that an earlier event converted."""
        form = self.choice.kernel.form
        if not self.by_rows or not isinstance(form, Ring) or form.refills:
            return False
        window = form.rows(self.choice.call)
        return window.extent > (1 if streams else window.stride)

    @property
    def ring_bytes(self) -> int:
        """Bytes of the converted rows."""
        form = self.choice.kernel.form
        if not isinstance(form, Ring):
            return 0
        row = form.storage(self.choice.call)
        return self.bands * self.ring_rows * row.length * _element_bytes(row.dtype)

    @property
    def ring_name(self) -> str:
        return f"ring {self.index}"

    @property
    def accumulates(self) -> bool:
        return isinstance(self.choice.kernel.form, Accumulate)

    @cached_property
    def events(self) -> int:
        """Number of events: one per batch of rows, or a single one for the whole step."""
        return -(-self.walked_rows // self.batch) if self.by_rows else 1

    @cached_property
    def walked_rows(self) -> int:
        """Number of rows that the events step through: of the input for accumulating kernels, else of the output."""
        return rows_of(self.choice.call.input(0).shape if self.accumulates else self.choice.call.output.shape)

    @property
    def writes_rows(self) -> bool:
        """Whether each event writes one row of the output."""
        return self.by_rows and not self.accumulates

    def streamed(self, k: int) -> bool:
        """Whether each event reads only some rows of operand k, not all of it."""
        call = self.choice.call
        return self.by_rows and (
            self.choice.kernel.slides or self.accumulates or rows_of(call.input(k).shape) == self.walked_rows
        )

    def reads(self, event: int) -> tuple[Access, ...]:
        """The rows that an event reads, clipped to the image."""
        known = self.choice.known_reads
        if self.by_rows not in known:
            known[self.by_rows] = tuple(tuple(self._accesses(event)) for event in range(self.events))
        return known[self.by_rows][event]

    def _accesses(self, event: int) -> list[Access]:
        call, node = self.choice.call, self.choice.node
        found: list[Access] = []
        for k, name in enumerate(node.inputs):
            if name is None or call.constants[k] is not None:
                continue
            rows = rows_of(call.input(k).shape)
            first, last = self._window_rows(event, rows) if self.streamed(k) else (0, rows - 1)
            found.append(Access(name, first, last))
        return found

    def writes(self, event: int) -> tuple[int, int]:
        """Rows [first, last] of the outputs that an event completes; (0, -1) for none."""
        rows = rows_of(self.choice.call.output.shape)
        if not self.by_rows:
            return 0, rows - 1
        if self.accumulates:
            return (0, rows - 1) if event == self.events - 1 else (0, -1)
        return self._batch_rows(event)

    def _batch_rows(self, event: int) -> tuple[int, int]:
        return event * self.batch, min((event + 1) * self.batch, self.walked_rows) - 1

    def _window_rows(self, event: int, rows: int) -> tuple[int, int]:
        form = self.choice.kernel.form
        window = form.window(self.choice.call)
        if window is None:
            return self._batch_rows(event)
        first, last = window.first(event), window.last(event)
        if isinstance(form, Ring) and event and not self.refills:
            first = max(first, window.last(event - 1) + 1)  # the ring holds the earlier rows
        return min(max(first, 0), rows - 1), max(min(last, rows - 1), 0)


def batch_of(choice: Choice) -> int:
    """Rows per event: `choice.rows` if set; else 2 for rows of a single pixel, if the kernel is faster on two;
    else 1.
    """
    if choice.rows:
        return choice.rows
    shape, form = choice.call.output.shape, choice.kernel.form
    return 2 if isinstance(form, Run) and not form.alone and len(shape) == 4 and shape[2] == 1 else 1


def _fits_rows(t: TensorType | None, rows: int) -> bool:
    return t is not None and (rows_of(t.shape) in (1, rows))
