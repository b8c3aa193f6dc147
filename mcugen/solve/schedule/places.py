"""Allocation of tensors in buffers: tensors inside others, and results written over an operand that dies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from mcugen.ir.graph import Graph
from mcugen.ir.kernel import Alias, Join
from mcugen.ir.types import TensorType, rows_of
from mcugen.solve.schedule.steps import Choice, Step
from mcugen.solve.schedule.trace import INPUT, Trace

_NEVER = -1


@dataclass(frozen=True)
class Place:
    """Memory of a tensor: it begins at byte `start` of the buffer named `buffer`.

    pitch: bytes between the starts of successive vectors along the last axis, if these are not adjacent; else 0.
    """

    buffer: str
    start: int = 0
    pitch: int = 0

    def extent(self, t: TensorType) -> int:
        """Bytes from the start of a tensor to the end of its last element."""
        run = t.shape[-1] * t.np_dtype.itemsize if t.shape else t.nbytes
        return (t.nbytes // max(run, 1) - 1) * self.pitch + run if self.pitch else t.nbytes


def sources(choices: Sequence[Choice]) -> dict[str, tuple[str, ...]]:
    """Result of a node without code -> the tensors whose bytes it shares: results of steps, and graph inputs."""
    found: dict[str, tuple[str, ...]] = {}
    for choice in choices:
        if not choice.kernel.has_code:
            made = dict.fromkeys(s for n in choice.node.inputs if n is not None for s in found.get(n, (n,)))
            found.update(dict.fromkeys(choice.node.outputs, tuple(made)))
    return found


class Layout:
    """Allocation of all tensors. At first each tensor has its own buffer, except at nodes without code.

    Operands of a concatenation without code lie in the buffer of its result. Results of an alias lie in the buffer of
    its operand.
    """

    def __init__(self, graph: Graph, choices: Sequence[Choice]) -> None:
        self._graph = graph
        self.places = {name: Place(name) for name in graph.given}
        for choice in choices:
            node, kernel = choice.node, choice.kernel
            if kernel.has_code or isinstance(kernel.form, Join):
                self.places |= {name: Place(name) for name in node.outputs}
            if not kernel.has_code:
                self._share(choice)

    def _share(self, choice: Choice) -> None:
        node, form = choice.node, choice.kernel.form
        if isinstance(form, Join):
            pitch = form.pitch(choice.call) if form.pitch else 0
            for name, start in zip(node.inputs, form.starts(choice.call), strict=True):
                self.move(self.places[str(name)].buffer, Place(node.outputs[0], start, pitch))
            return
        operand = self.places.get(str(node.inputs[0]))
        if operand is not None:
            starts = form.starts(choice.call) if isinstance(form, Alias) and form.starts else (0,)
            found = zip(node.outputs, starts, strict=True)
            self.places |= {name: Place(operand.buffer, operand.start + start) for name, start in found}

    def move(self, buffer: str, to: Place) -> None:
        """Move all tensors of a buffer into another buffer, from `to.start` on. They take the pitch of `to` if it has
        one.
        """
        for name in self.members(buffer):
            at = self.places[name]
            self.places[name] = Place(to.buffer, to.start + at.start, to.pitch or at.pitch)

    def members(self, buffer: str) -> list[str]:
        """The tensors of a buffer."""
        return [name for name, place in self.places.items() if place.buffer == buffer]

    def nbytes(self, buffer: str) -> int:
        """Bytes from the start of a buffer to the end of the last tensor in it."""
        return max(self._span(name)[1] for name in self.members(buffer))

    def meeting(self, name: str) -> list[str]:
        """The tensors that share a byte with this tensor, itself included."""
        low, high = self._span(name)
        spans = ((other, *self._span(other)) for other in self.members(self.places[name].buffer))
        return [other for other, first, end in spans if first < high and low < end]

    def alike(self, name: str, other: str) -> bool:
        """Whether both tensors occupy exactly the same bytes."""
        return self.places[name] == self.places[other] and self.size(name) == self.size(other)

    def size(self, name: str) -> int:
        """Bytes of a tensor."""
        return self._graph.type(name).nbytes

    def _span(self, name: str) -> tuple[int, int]:
        at = self.places[name]
        return at.start, at.start + at.extent(self._graph.type(name))


def places_of(
    graph: Graph,
    choices: Sequence[Choice],
    steps: Sequence[Step],
    order: Trace,
    keep_input: bool,
    pushed: str | None,
    *,
    latest: bool = True,
) -> dict[str, Place]:
    """Tensor -> its allocation. A result may share the allocation of an operand that is not used afterwards.

    latest: whether to overwrite the operand that was computed last, since rows of earlier operands become free
    meanwhile; else the first operand is overwritten.
    """
    layout = Layout(graph, choices)
    uses = Uses(graph, steps, order)
    update_states(graph, steps, layout, uses)
    states = {state.before for state in graph.states}
    kept = states | (set(graph.inputs) if keep_input else set())
    writer = {name: step.index for step in steps for name in step.choice.node.outputs}
    for step in steps:
        result = step.choice.node.outputs[0]
        if layout.places[result].buffer in states:
            continue
        over = [str(step.choice.node.inputs[k]) for k in _overwritable(step, layout, uses, kept)]
        for operand in sorted(over, key=lambda name: -writer.get(name, -1)) if latest else over:
            if _joined(layout, operand, result, pushed):
                break
    return layout.places


def _joined(layout: Layout, operand: str, result: str, pushed: str | None) -> bool:
    """Move the result to the operand's bytes, or else the operand to the result's bytes. Returns whether that was
    possible.
    """
    given, made = layout.places[operand], layout.places[result]
    if made.start == 0 and layout.nbytes(made.buffer) <= layout.size(operand):
        layout.move(made.buffer, given)
        return True
    whole = given.start == 0 and layout.nbytes(given.buffer) == layout.size(result)
    if whole and pushed not in layout.members(given.buffer):
        layout.move(given.buffer, made)
        return True
    return False


def update_states(graph: Graph, steps: Sequence[Step], layout: Layout, uses: Uses) -> None:
    """Let the next value of each state overwrite the state, if all reads of the old value come before the writes."""
    states = {state.before for state in graph.states}
    for state in graph.states:
        made, old = layout.places[state.after], layout.places[state.before]
        alone = made.start == 0 and layout.nbytes(made.buffer) == layout.size(state.before)
        if not alone or made.buffer in states or set(graph.inputs).intersection(layout.members(made.buffer)):
            continue
        inside = set(layout.members(made.buffer))
        writers = [s for s in steps if inside.intersection(s.choice.node.outputs)]
        written = [name for s in writers for name in s.choice.node.outputs if name in inside]
        later = all(_is_free(name, state.before, layout, uses) for name in written)
        if later or (len(writers) == 1 and _writes_over(writers[0], state.before, layout, uses)):
            layout.move(made.buffer, old)


def _is_free(name: str, state: str, layout: Layout, uses: Uses) -> bool:
    """Whether each row of the state `state` is read for the last time before the same row of tensor `name` is
    written.
    """
    rows = rows_of(uses.graph.type(name).shape)
    for other in layout.meeting(state):
        other_rows = rows_of(uses.graph.type(other).shape)
        alike = other_rows == rows and layout.size(other) == layout.size(name) and not layout.places[other].start
        for row in range(other_rows):
            first = uses.written[name, row] if alike else min(uses.written[name, k] for k in range(rows))
            if uses.last_read(other, row) >= first:
                return False
    return True


def _writes_over(step: Step, name: str, layout: Layout, uses: Uses) -> bool:
    """Whether the step may write its result over the tensor `name`, which it reads."""
    inputs = step.choice.node.inputs
    return any(layout.alike(str(inputs[k]), name) for k in _overwritable(step, layout, uses, set()))


@dataclass
class Uses:
    """Event numbers at which rows of tensors are written, and read for the last time."""

    graph: Graph
    steps: Sequence[Step]
    order: Trace

    def __post_init__(self) -> None:
        self.end = len(self.order)
        self.last: dict[tuple[str, int], int] = {}
        for time, event in enumerate(self.order):
            if event.step != INPUT:
                for access in self.steps[event.step].reads(event.event):
                    for row in range(access.first, access.last + 1):
                        self.last[(access.tensor, row)] = time
        for name in self.graph.kept:
            for row in range(rows_of(self.graph.type(name).shape)):
                self.last[(name, row)] = self.end
        self.time = {(e.step, e.event): t for t, e in enumerate(self.order)}

    def last_read(self, tensor: str, row: int) -> int:
        return self.last.get((tensor, row), _NEVER)

    @cached_property
    def written(self) -> dict[tuple[str, int], int]:
        """(tensor, row) -> the event that writes it, for tensors that a step computes."""
        found: dict[tuple[str, int], int] = {}
        for time, event in enumerate(self.order):
            if event.step == INPUT:
                continue
            step = self.steps[event.step]
            first, last = step.writes(event.event)
            for name in step.choice.node.outputs:
                rows = rows_of(self.graph.type(name).shape)
                end = last + 1 if step.writes_rows or last < first else rows
                found.update({(name, row): time for row in range(first, end)})
        return found


def _overwritable(step: Step, layout: Layout, uses: Uses, kept: set[str]) -> list[int]:
    """Indices of the operands that the kernel may write its output over: no row is read after the event that reads it
    here.

    Tensors with a pitch neither overwrite other tensors nor are overwritten.
    """
    node, call = step.choice.node, step.choice.call
    found: list[int] = []
    if layout.places[node.outputs[0]].pitch:
        return found
    for k in step.choice.kernel.overwritable(call):
        name = node.inputs[k]
        if name is None or name not in layout.places or layout.places[name].pitch:
            continue
        meeting = layout.meeting(name)
        if kept.intersection(meeting) or sum(other in meeting for other in node.inputs) > 1:
            continue
        if call.input(k).nbytes >= call.output.nbytes and _dies_in(step, k, layout, uses):
            found.append(k)
    return found


def _dies_in(step: Step, k: int, layout: Layout, uses: Uses) -> bool:
    """Whether nothing reads the bytes of operand k after this step; by rows: of a row after the event that reads it."""
    name = str(step.choice.node.inputs[k])
    rows = rows_of(step.choice.call.input(k).shape)
    by_rows = step.by_rows and step.streamed(k)
    if by_rows and (rows != step.walked_rows or step.choice.call.input(k).nbytes != step.choice.call.output.nbytes):
        return False
    for other in layout.meeting(name):
        other_rows = rows_of(uses.graph.type(other).shape)
        alike = layout.alike(name, other) and other_rows == rows
        for row in range(other_rows):
            limit = uses.time[(step.index, row // step.batch if by_rows and alike else 0)]
            if uses.last_read(other, row) > limit:
                return False
    return True
