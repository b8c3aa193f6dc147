"""The trace: the static order of events. Within a group of steps, rows are computed when a later row needs them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mcugen.ir.graph import Graph
from mcugen.ir.types import rows_of
from mcugen.solve.schedule.steps import Access, Step

INPUT = -1
"""Step index of an event that hands in a row of the model's input."""


@dataclass(frozen=True)
class Event:
    """Event number `event` of step number `step` (see `Step`)."""

    step: int
    event: int


Trace = tuple[Event, ...]


def trace(
    graph: Graph,
    steps: Sequence[Step],
    sources: Mapping[str, tuple[str, ...]],
    groups: Sequence[range],
    pushed: str | None,
) -> Trace:
    """The order of all events.

    sources: result of `places.sources`. groups: ranges of step indices, executed one after the other. pushed: the graph
    input that the caller hands in row by row, each row just before it is first needed.
    """
    rows = _OnDemand(graph, steps, sources, pushed)
    if pushed is not None:
        rows.push(pushed, Access(pushed, 0, 0))  # nothing runs before the first row
    for group in groups:
        for sink in rows.sinks(group):
            rows.complete(sink)
    for step in steps:
        rows.complete(step.index)
    return tuple(rows.events)


@dataclass
class _OnDemand:
    """Generator of events: each event comes after the events that compute the rows it reads.

    Rows that nobody reads, for example because of a stride, are computed once all readers of their tensor are finished.
    """

    graph: Graph
    steps: Sequence[Step]
    sources: Mapping[str, tuple[str, ...]]
    pushed: str | None
    events: list[Event] = field(default_factory=list)
    done: dict[int, int] = field(default_factory=dict)
    pushed_rows: int = 0

    def __post_init__(self) -> None:
        self.producer = {name: step.index for step in self.steps for name in step.choice.node.outputs}
        self.readers: dict[str, set[int]] = {}
        for step in self.steps:
            for access in step.reads(0):
                for source in self._sources(access.tensor):
                    self.readers.setdefault(source, set()).add(step.index)

    def sinks(self, group: range) -> list[int]:
        """Steps of a group whose results no step of the group reads, in order."""
        given = {source for i in group for a in self.steps[i].reads(0) for source in self._sources(a.tensor)}
        read = {self.producer.get(source) for source in given}
        return [i for i in group if i not in read]

    def complete(self, index: int) -> None:
        """Append the remaining events of a step, each after the events that it needs. Iterative, since graphs may be
        deep.
        """
        stack = [(index, self.steps[index].events)]
        while stack:
            step, target = stack[-1]
            event = self.done.get(step, 0)
            if event >= target:
                stack.pop()
                if event == self.steps[step].events:
                    stack += self._left_behind(step)
                continue
            missing = self._missing(step, event)
            if missing is not None:
                stack.append(missing)
                continue
            self.events.append(Event(step, event))
            self.done[step] = event + 1

    def _missing(self, step: int, event: int) -> tuple[int, int] | None:
        """(producer, number of its events that must have run) for the first operand with missing rows; else None."""
        for access in self.steps[step].reads(event):
            for source in self._sources(access.tensor):
                producer = self.producer.get(source)
                if producer is None:
                    self.push(source, access)
                    continue
                needed = self._events_for(producer, access)
                if self.done.get(producer, 0) < needed:
                    return producer, needed
        return None

    def _left_behind(self, step: int) -> list[tuple[int, int]]:
        """Producers that a finished step read from and that are unfinished although all their readers are finished.

        Returns (producer, its number of events).
        """
        found: list[tuple[int, int]] = []
        read = dict.fromkeys(s for access in self.steps[step].reads(0) for s in self._sources(access.tensor))
        for source in read:
            if any(self.done.get(i, 0) < self.steps[i].events for i in self.readers[source]):
                continue
            producer = self.producer.get(source)
            if producer is None:
                last = rows_of(self.graph.type(source).shape) - 1
                self.push(source, Access(source, last, last))
            elif self.done.get(producer, 0) < self.steps[producer].events:
                found.append((producer, self.steps[producer].events))
        return found

    def push(self, source: str, access: Access) -> None:
        """Append events that hand in the input rows that an access needs; all rows if the tensor has other rows."""
        if source != self.pushed:
            return
        given, t = self.graph.type(source), self.graph.type(access.tensor)
        rows = rows_of(given.shape)
        end = access.last + 1 if (rows_of(t.shape), t.nbytes) == (rows, given.nbytes) else rows
        self.events += [Event(INPUT, row) for row in range(self.pushed_rows, end)]
        self.pushed_rows = max(self.pushed_rows, end)

    def _events_for(self, producer: int, access: Access) -> int:
        """Number of the producer's events after which the rows of the access exist."""
        step = self.steps[producer]
        same_rows = access.tensor in step.choice.node.outputs
        if not step.by_rows or step.accumulates or not same_rows:
            return step.events
        return access.last // step.batch + 1

    def _sources(self, tensor: str) -> tuple[str, ...]:
        return self.sources.get(tensor, (tensor,))
