"""Buffers for the memory plan: how many rows of a tensor are stored at a time, and which bytes are in use when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from mcugen.ir.graph import Graph
from mcugen.ir.streams import decisions, kept_samples
from mcugen.ir.types import images_of, rows_of
from mcugen.solve.plan import Buffer, Piece
from mcugen.solve.schedule.places import Place
from mcugen.solve.schedule.steps import Step
from mcugen.solve.schedule.trace import INPUT, Trace

MAX_PIECES = 48
SCRATCH_ALIGN = 8
_NEVER = -1
_Use = tuple[int, int, int, int]
"""(low, high, first, last): bytes [low, high) are in use during events first..last."""


@dataclass(frozen=True)
class RowBuffer:
    """Memory of one or several tensors: `rows` rows of `row_bytes`, of which `kept` are stored at a time, in a ring.

    written, read: for each row, the events of its first write and of its last read. blocks: bytes in use and when,
    instead of rows, if the tensors do not have the same rows; the whole buffer is stored then.
    """

    name: str
    rows: int
    row_bytes: int
    kept: int
    align: int
    written: tuple[int, ...]
    read: tuple[int, ...]
    blocks: tuple[Piece, ...] = ()

    def to_plan(self) -> Buffer:
        """The buffer to plan: a piece for each row of the ring, from its first write to its last read. Large rings take
        several rows per piece.
        """
        if self.blocks:
            return Buffer.of_pieces(self.name, self.align, self.blocks)
        slots = [(self.written[s], max(self.read[s :: self.kept])) for s in range(self.kept)]
        size = -(-self.kept // MAX_PIECES)
        pieces = [
            Piece(s * self.row_bytes, len(part) * self.row_bytes, min(w for w, _ in part), max(r for _, r in part))
            for s in range(0, self.kept, size)
            for part in [slots[s : s + size]]
        ]
        return Buffer.of_pieces(self.name, self.align, pieces)


def build_buffers(
    graph: Graph, steps: Sequence[Step], order: Trace, places: dict[str, Place], keep_input: bool, pushed: str | None
) -> dict[str, RowBuffer]:
    """Buffer name -> the buffer. The number of rows that it keeps follows from the order of events."""
    buffer = {name: place.buffer for name, place in places.items()}
    lives = _Lives(graph, places, len(order), pushed)
    for time, event in enumerate(order):
        if event.step == INPUT:
            lives.write(str(pushed), event.event, event.event, time)
            continue
        step = steps[event.step]
        for access in step.reads(event.event):
            if access.tensor in buffer:
                lives.read(access.tensor, access.first, access.last, time)
        first, last = step.writes(event.event)
        for name in step.choice.node.outputs:
            rows = rows_of(graph.type(name).shape)  # parts of a split may have different numbers of rows
            lives.write(name, first, last if step.writes_rows or last < first else rows - 1, time)
    whole = [name for name in graph.given if name != pushed]
    states = [state.before for state in graph.states]
    lives.from_start([*whole, *(decisions(graph) if graph.stream else ())])
    lives.to_end([*graph.kept, *(whole if keep_input and not graph.stream else states)])
    if graph.stream:
        lives.keep(graph.inputs[0], kept_samples(graph) * graph.type(graph.inputs[0]).np_dtype.itemsize)
    fixed = {buffer[name] for name in (*whole, *graph.kept)}
    batch = _batches(steps, buffer)
    return {at: lives.buffer(at, batch.get(at, 1), whole=at in fixed) for at in lives.members}


class _Lives:
    """First write and last read of every row of every buffer, collected event by event.

    Buffers whose tensors differ in their rows or lie at different offsets are tracked by bytes instead ("in blocks").
    """

    def __init__(self, graph: Graph, places: dict[str, Place], events: int, pushed: str | None) -> None:
        self._graph, self._places, self._events = graph, places, events
        self.members: dict[str, list[str]] = {}
        for name, place in places.items():
            self.members.setdefault(place.buffer, []).append(name)
        self._shape = {
            at: _row_shape(graph, [pushed] if pushed in names else names) for at, names in self.members.items()
        }
        apart = {place.buffer for place in places.values() if place.start or place.pitch}
        apart |= {at for at, names in self.members.items() if len(names) > 1 and self._shape[at][0] == 1}
        apart |= {places[graph.inputs[0]].buffer} if graph.stream else set()
        self._uses: dict[str, list[_Use]] = {at: [] for at in self.members if at in apart}
        self._written = {at: [events] * rows for at, (rows, _) in self._shape.items()}
        self._read = {at: [_NEVER] * rows for at, (rows, _) in self._shape.items()}
        self._alike: dict[str, tuple[str, int, bool]] = {}

    def write(self, tensor: str, first: int, last: int, time: int) -> None:
        if self._in_blocks(tensor, first, last, time, time):
            return
        at, rows = self._rows(tensor, first, last)
        written = self._written[at]
        for row in rows:
            if time < written[row]:
                written[row] = time
        self._note_read(at, rows, time)

    def read(self, tensor: str, first: int, last: int, time: int) -> None:
        if self._in_blocks(tensor, first, last, self._events, time):
            return
        self._note_read(*self._rows(tensor, first, last), time)

    def _note_read(self, at: str, rows: range, time: int) -> None:
        read = self._read[at]
        for row in rows:
            if time > read[row]:
                read[row] = time

    def from_start(self, tensors: Sequence[str]) -> None:
        """Mark the tensors as live before the first event."""
        for at in self._buffers(tensors, 0, 0):
            self._written[at] = [0] * len(self._written[at])
            self._read[at] = [max(time, 0) for time in self._read[at]]

    def to_end(self, tensors: Sequence[str]) -> None:
        """Mark the tensors as live after the last event."""
        last = max(self._events - 1, 0)
        for at in self._buffers(tensors, self._events, last):
            self._read[at] = [last] * len(self._read[at])

    def keep(self, tensor: str, nbytes: int) -> None:
        """Mark the first bytes of a tensor that is tracked in blocks as always live."""
        place = self._places[tensor]
        if nbytes:
            self._uses[place.buffer].append((place.start, place.start + nbytes, 0, max(self._events - 1, 0)))

    def buffer(self, at: str, batch: int, *, whole: bool) -> RowBuffer:
        rows, row_bytes = self._shape[at]
        align = max(self._graph.type(name).align for name in self.members[at])
        if at in self._uses:
            return RowBuffer(at, rows, row_bytes, rows, align, (), (), _blocks(self._uses[at]))
        written, read = self._written[at], self._read[at]
        kept = rows if whole else _kept(written, read, batch)
        return RowBuffer(at, rows, row_bytes, kept, align, tuple(written), tuple(read))

    def _buffers(self, tensors: Sequence[str], written: int, read: int) -> set[str]:
        """Buffers of these tensors that are tracked by rows.

        For all other buffers, which are tracked in blocks, the use of the tensors is recorded.
        """
        rows = {name: rows_of(self._graph.type(name).shape) for name in tensors}
        plain = [name for name in tensors if not self._in_blocks(name, 0, rows[name] - 1, written, read)]
        return {self._places[name].buffer for name in plain}

    def _in_blocks(self, tensor: str, first: int, last: int, written: int, read: int) -> bool:
        """Record the use of these rows if the buffer of the tensor is tracked in blocks. Returns whether it is."""
        place, t = self._places[tensor], self._graph.type(tensor)
        if place.buffer not in self._uses:
            return False
        row = t.nbytes // rows_of(t.shape)
        if place.pitch:
            self._uses[place.buffer].append((place.start, place.start + place.extent(t), written, read))
        elif first <= last:
            self._uses[place.buffer].append((place.start + first * row, place.start + (last + 1) * row, written, read))
        return True

    def _rows(self, tensor: str, first: int, last: int) -> tuple[str, range]:
        """(buffer, rows of the buffer) for rows first..last of a tensor; all rows if the two differ in rows."""
        if tensor not in self._alike:
            at = self._places[tensor].buffer
            rows, row_bytes = self._shape[at]
            t = self._graph.type(tensor)
            self._alike[tensor] = at, rows, (rows_of(t.shape), t.nbytes) == (rows, rows * row_bytes)
        at, rows, same = self._alike[tensor]
        return at, range(first, last + 1) if same or last < first else range(rows)


def _batches(steps: Sequence[Step], buffer: dict[str, str]) -> dict[str, int]:
    """Buffer -> the most rows that a step reads or writes at once."""
    found: dict[str, int] = {}
    for step in steps:
        for name in (*step.choice.node.inputs, *step.choice.node.outputs):
            if name in buffer:
                found[buffer[name]] = max(found.get(buffer[name], 1), step.batch)
    return found


def _row_shape(graph: Graph, names: Sequence[str]) -> tuple[int, int]:
    """(number of rows, bytes per row) of a buffer. One row for all of it if its tensors with several rows disagree."""
    types = [graph.type(name) for name in names]
    shapes = {(rows_of(t.shape), t.nbytes // rows_of(t.shape)) for t in types if rows_of(t.shape) > 1}
    total = max(t.nbytes for t in types)
    if len(shapes) != 1 or any(images_of(t.shape) > 1 for t in types):
        return 1, total
    rows, row_bytes = shapes.pop()
    return (rows, row_bytes) if rows * row_bytes == total else (1, total)


def _kept(written: Sequence[int], read: Sequence[int], batch: int) -> int:
    """The fewest rows that a ring must keep, so that no row is overwritten before its last read.

    The number is a multiple of `batch`, so that rows accessed together never wrap around.
    """
    rows = len(written)
    kept = batch
    while kept < rows and any(read[r] >= written[r + kept] for r in range(rows - kept)):
        kept += batch
    return min(kept, rows)


def _blocks(uses: Sequence[_Use]) -> tuple[Piece, ...]:
    """The bytes in use as pieces, each from its first write to its last read. Adjacent bytes with equal lifetimes are
    one piece. Pieces are joined until about MAX_PIECES are left.
    """
    bounds = sorted({byte for low, high, _, _ in uses for byte in (low, high)})
    index = {byte: k for k, byte in enumerate(bounds)}
    written = np.full(len(bounds) - 1, np.iinfo(np.int64).max)
    read = np.full(len(bounds) - 1, _NEVER)
    for low, high, start, end in uses:
        inside = slice(index[low], index[high])
        written[inside] = np.minimum(written[inside], start)
        read[inside] = np.maximum(read[inside], end)
    changes = [0, *(k for k in range(1, len(written)) if (written[k], read[k]) != (written[k - 1], read[k - 1]))]
    some = changes[:: -(-len(changes) // MAX_PIECES)]
    return tuple(
        Piece(bounds[a], bounds[b] - bounds[a], int(written[a:b].min()), int(read[a:b].max()))
        for a, b in pairwise([*some, len(written)])
        if read[a:b].max() > _NEVER
    )


def times_of(steps: Sequence[Step], order: Trace) -> list[list[int]]:
    """Per step, the numbers of its events in the trace."""
    found: list[list[int]] = [[] for _ in steps]
    for time, event in enumerate(order):
        if event.step != INPUT:
            found[event.step].append(time)
    return found


def working_buffers(step: Step, times: Sequence[int], length: int, *, streams: bool) -> list[Buffer]:
    """The step's working memory as buffers to plan.

    Scratch is in use during the step's events; for accumulating kernels, also between them. Converted rows that later
    events read are in use from the first event to the last; when streaming, always. times: the events of the step.
    length: the number of all events.
    """
    found: list[Buffer] = []
    if step.scratch_bytes:
        pieces = [Piece(0, step.scratch_bytes, first, last) for first, last in busy_spans(step, times)]
        found.append(Buffer.of_pieces(step.scratch_name, SCRATCH_ALIGN, pieces))
    if step.ring_bytes:
        always = (0, length - 1) if streams else (times[0], times[-1])
        spans = [always] if step.ring_stays(streams=streams) else _spans(times)
        pieces = [Piece(0, step.ring_bytes, first, last) for first, last in spans]
        found.append(Buffer.of_pieces(step.ring_name, SCRATCH_ALIGN, pieces))
    return found


def stage(step: Step, times: Sequence[int], nbytes: int) -> Buffer:
    """The buffer of `nbytes` bytes into which a step copies its constants. Each call of the step's kernel copies them
    again.
    """
    pieces = [Piece(0, nbytes, first, last) for first, last in _spans(times)]
    return Buffer.of_pieces(step.stage_name, SCRATCH_ALIGN, pieces)


def busy_spans(step: Step, times: Sequence[int]) -> list[tuple[int, int]]:
    """The events during which a step's scratch is in use, as spans (first, last)."""
    return [(times[0], times[-1])] if step.accumulates else _spans(times)


def _spans(times: Sequence[int]) -> list[tuple[int, int]]:
    """At most MAX_PIECES spans (first, last) that cover the ascending `times` and leave out the longest gaps between
    them.
    """
    gaps = sorted(range(1, len(times)), key=lambda i: times[i - 1] - times[i])[: MAX_PIECES - 1]
    cuts = [0, *sorted(gaps), len(times)]
    return [(times[a], times[b - 1]) for a, b in pairwise(cuts)]
