"""Where rows live and for how long: which tensors share a home, how many rows it keeps, and the buffers that follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from mcugen.graph import Graph
from mcugen.op import Form
from mcugen.plan import Buffer, Piece
from mcugen.schedule.steps import Choice, Step
from mcugen.schedule.trace import INPUT, Trace
from mcugen.types import images_of, rows_of

MAX_PIECES = 48
SCRATCH_ALIGN = 8
_NEVER = -1


@dataclass(frozen=True)
class Home:
    """Memory of one or several tensors: `rows` rows of `row_bytes`, of which `kept` are stored at a time, in a ring.

    written, read: for each row the events of its first write and of its last read.
    """

    name: str
    rows: int
    row_bytes: int
    kept: int
    align: int
    written: tuple[int, ...]
    read: tuple[int, ...]

    def buffer(self) -> Buffer:
        """The ring's slots with their lifetimes; neighbours with the same lifetime are one piece."""
        slots = [(self.written[s], max(self.read[s :: self.kept])) for s in range(self.kept)]
        size = -(-self.kept // MAX_PIECES)
        pieces = [
            Piece(s * self.row_bytes, len(part) * self.row_bytes, min(w for w, _ in part), max(r for _, r in part))
            for s in range(0, self.kept, size)
            for part in [slots[s : s + size]]
        ]
        return Buffer.of_pieces(self.name, self.align, pieces)


def aliases(choices: Sequence[Choice]) -> dict[str, str]:
    """Tensor -> tensor whose bytes it is, for the outputs of steps without code."""
    found: dict[str, str] = {}
    for choice in choices:
        if choice.kernel.form is Form.ALIAS and choice.node.inputs[0] is not None:
            source = choice.node.inputs[0]
            found[choice.node.outputs[0]] = found.get(source, source)
    return found


def homes_of(
    graph: Graph, choices: Sequence[Choice], steps: Sequence[Step], order: Trace, keep_input: bool
) -> dict[str, str]:
    """Tensor -> home. Aliases live in their operand's; so does a result computed over an operand that dies there."""
    alias = aliases(choices)
    home = {name: name for name in graph.inputs}
    home |= {name: name for step in steps for name in step.choice.node.outputs}
    home |= {name: home[source] for name, source in alias.items() if source in home}
    uses = _Uses(graph, steps, order, home)
    for step in steps:
        taken = _overwritten(step, graph, home, uses, keep_input)
        if taken is not None:
            result = step.choice.node.outputs[0]
            moved = home[result]
            home.update({name: home[taken] for name, at in home.items() if at == moved})
    return home


@dataclass
class _Uses:
    """When each row of each tensor is read, and by which step."""

    graph: Graph
    steps: Sequence[Step]
    order: Trace
    home: dict[str, str]

    def __post_init__(self) -> None:
        self.end = len(self.order)
        self.last: dict[tuple[str, int], int] = {}
        for time, event in enumerate(self.order):
            if event.step != INPUT:
                for access in self.steps[event.step].reads(event.event):
                    for row in range(access.first, access.last + 1):
                        self.last[(access.tensor, row)] = time
        for name in self.graph.outputs:
            for row in range(rows_of(self.graph.type(name).shape)):
                self.last[(name, row)] = self.end
        self.time = {(e.step, e.event): t for t, e in enumerate(self.order)}

    def last_read(self, tensor: str, row: int) -> int:
        return self.last.get((tensor, row), _NEVER)


def _overwritten(step: Step, graph: Graph, home: dict[str, str], uses: _Uses, keep_input: bool) -> str | None:
    """The operand that the kernel may write its output over: every row of it dies with the event that reads it."""
    node, call = step.choice.node, step.choice.call
    operands = [home[name] for name in node.inputs if name in home]
    for k in step.choice.kernel.in_place:
        name = node.inputs[k]
        if name is None or name not in home or operands.count(home[name]) > 1:
            continue
        if keep_input and home[name] in graph.inputs:
            continue
        if call.input(k).nbytes >= call.output.nbytes and _dies_in(step, k, graph, home, uses):
            return name
    return None


def _dies_in(step: Step, k: int, graph: Graph, home: dict[str, str], uses: _Uses) -> bool:
    """Whether nobody reads a row of operand k's home after the event of this step that reads it."""
    name = step.choice.node.inputs[k]
    sharing = [n for n, at in home.items() if name is not None and at == home[name]]
    rows = rows_of(step.choice.call.input(k).shape)
    by_rows = step.by_rows and step.streamed(k)
    if by_rows and (rows != step.walked_rows or step.choice.call.input(k).nbytes != step.choice.call.output.nbytes):
        return False
    for other in sharing:
        other_rows = rows_of(graph.type(other).shape)
        for row in range(other_rows):
            if not by_rows or other_rows != rows:
                limit = uses.time[(step.index, 0)]
            else:
                limit = uses.time[(step.index, row // step.batch)]
            if uses.last_read(other, row) > limit:
                return False
    return True


def build_homes(
    graph: Graph, steps: Sequence[Step], order: Trace, home: dict[str, str], keep_input: bool, pushed: str | None
) -> dict[str, Home]:
    """The homes with their rings, from the trace alone."""
    lives = _Lives(graph, home, len(order), pushed)
    for time, event in enumerate(order):
        if event.step == INPUT:
            lives.write(str(pushed), event.event, event.event, time)
            continue
        step = steps[event.step]
        for access in step.reads(event.event):
            if access.tensor in home:
                lives.read(access.tensor, access.first, access.last, time)
        first, last = step.writes(event.event)
        for name in step.choice.node.outputs:
            rows = rows_of(graph.type(name).shape)  # the parts of a split may have different numbers of rows
            lives.write(name, first, last if step.writes_rows or last < first else rows - 1, time)
    whole = [name for name in graph.inputs if name != pushed]
    lives.from_start(whole)
    lives.to_end([*graph.outputs, *(whole if keep_input else [])])
    fixed = {home[name] for name in (*whole, *graph.outputs)}
    batch = _batches(steps, home)
    return {at: lives.home(at, batch.get(at, 1), whole=at in fixed) for at in lives.members}


class _Lives:
    """First write and last read of every row of every home, collected along the trace."""

    def __init__(self, graph: Graph, home: dict[str, str], events: int, pushed: str | None) -> None:
        self._graph, self._home, self._events = graph, home, events
        self.members: dict[str, list[str]] = {}
        for name, at in home.items():
            self.members.setdefault(at, []).append(name)
        self._shape = {
            at: _row_shape(graph, [pushed] if pushed in names else names) for at, names in self.members.items()
        }
        self._written = {at: [events] * rows for at, (rows, _) in self._shape.items()}
        self._read = {at: [_NEVER] * rows for at, (rows, _) in self._shape.items()}

    def write(self, tensor: str, first: int, last: int, time: int) -> None:
        at, rows = self._rows(tensor, first, last)
        for row in rows:
            self._written[at][row] = min(self._written[at][row], time)
            self._read[at][row] = max(self._read[at][row], time)

    def read(self, tensor: str, first: int, last: int, time: int) -> None:
        at, rows = self._rows(tensor, first, last)
        for row in rows:
            self._read[at][row] = max(self._read[at][row], time)

    def from_start(self, tensors: Sequence[str]) -> None:
        """The tensors are there before the first event."""
        for at in {self._home[name] for name in tensors}:
            self._written[at] = [0] * len(self._written[at])
            self._read[at] = [max(time, 0) for time in self._read[at]]

    def to_end(self, tensors: Sequence[str]) -> None:
        """The tensors stay after the last event."""
        for at in {self._home[name] for name in tensors}:
            self._read[at] = [max(self._events - 1, 0)] * len(self._read[at])

    def home(self, at: str, batch: int, *, whole: bool) -> Home:
        rows, row_bytes = self._shape[at]
        written, read = self._written[at], self._read[at]
        kept = rows if whole else _kept(written, read, batch)
        return Home(at, rows, row_bytes, kept, _align(self._graph, self.members[at]), tuple(written), tuple(read))

    def _rows(self, tensor: str, first: int, last: int) -> tuple[str, range]:
        """The home of a tensor, and which of its rows these are: all, where the tensor has no such rows of its own."""
        at = self._home[tensor]
        rows = self._shape[at][0]
        same = rows_of(self._graph.type(tensor).shape) == rows
        return at, range(first, last + 1) if same or last < first else range(rows)


def _batches(steps: Sequence[Step], home: dict[str, str]) -> dict[str, int]:
    """Rows of each home that a step reads or writes at once."""
    found: dict[str, int] = {}
    for step in steps:
        for name in (*step.choice.node.inputs, *step.choice.node.outputs):
            if name in home:
                found[home[name]] = max(found.get(home[name], 1), step.batch)
    return found


def _row_shape(graph: Graph, names: Sequence[str]) -> tuple[int, int]:
    """(rows, bytes of a row) of a home if its tensors agree, those without rows counting as whole; else one row."""
    types = [graph.type(name) for name in names]
    shapes = {(rows_of(t.shape), t.nbytes // rows_of(t.shape)) for t in types if rows_of(t.shape) > 1}
    total = max(t.nbytes for t in types)
    if len(shapes) != 1 or any(images_of(t.shape) > 1 for t in types):
        return 1, total
    rows, row_bytes = shapes.pop()
    return (rows, row_bytes) if rows * row_bytes == total else (1, total)


def _kept(written: Sequence[int], read: Sequence[int], batch: int) -> int:
    """The fewest rows a ring must keep: each row is dead before the row that takes its slot is written.

    A multiple of `batch`, so that rows accessed together never wrap around.
    """
    rows = len(written)
    kept = batch
    while kept < rows and any(read[r] >= written[r + kept] for r in range(rows - kept)):
        kept += batch
    return min(kept, rows)


def _align(graph: Graph, names: Sequence[str]) -> int:
    return max(4, *(graph.type(name).np_dtype.itemsize for name in names))


def working_buffers(step: Step, order: Trace, *, streams: bool) -> list[Buffer]:
    """The step's own memory: scratch, in use during its events only, or, accumulating, from the first to the last; and
    a ring of converted rows, which stays from the first event to the last, or, streaming, for good.
    """
    times = [time for time, event in enumerate(order) if event.step == step.index]
    found: list[Buffer] = []
    if step.scratch_bytes:
        spans = [(times[0], times[-1])] if step.accumulates else _spans(times)
        pieces = [Piece(0, step.scratch_bytes, first, last) for first, last in spans]
        found.append(Buffer.of_pieces(step.scratch_name, SCRATCH_ALIGN, pieces))
    if step.ring_bytes:
        first, last = (0, len(order) - 1) if streams else (times[0], times[-1])
        found.append(Buffer.of_pieces(step.ring_name, SCRATCH_ALIGN, [Piece(0, step.ring_bytes, first, last)]))
    return found


def _spans(times: Sequence[int]) -> list[tuple[int, int]]:
    """At most MAX_PIECES spans that cover the times; the shortest gaps are closed."""
    gaps = sorted(range(1, len(times)), key=lambda i: times[i - 1] - times[i])[: MAX_PIECES - 1]
    cuts = [0, *sorted(gaps), len(times)]
    return [(times[a], times[b - 1]) for a, b in pairwise(cuts)]
