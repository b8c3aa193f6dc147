# SPDX-License-Identifier: Apache-2.0
"""An independent reader of a schedule: walks its events over an arena that records the last writer of each byte.

It takes nothing from the schedule but the order of events, the ring depths and the offsets. What an event reads follows
from the operator; whether the bytes are there follows from the walk.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from mcugen.ir.graph import Graph
from mcugen.ir.kernel import Accumulate, Ring, Window
from mcugen.ir.types import rows_of
from mcugen.solve.plan import MemoryPlan
from mcugen.solve.schedule import INPUT, Schedule, Step

_NOBODY = -1
_SCRATCH = -2
_Span = tuple[int, int]


def faults(graph: Graph, schedule: Schedule, plan: MemoryPlan) -> list[str]:
    """The faults in the order or the memory of a schedule; empty if there are none."""
    return [*_walked(graph, schedule, plan), *_not_once(graph, schedule)]


def _not_once(graph: Graph, schedule: Schedule) -> Iterator[str]:
    """Rows of a step or of the pushed input that are not computed exactly once."""
    rows: Counter[tuple[int, int]] = Counter()
    for event in schedule.trace:
        if event.step == INPUT:
            rows[INPUT, event.event] += 1
            continue
        step = schedule.steps[event.step]
        first, end = _walked_rows(step, event.event)
        rows.update((step.index, row) for row in range(first, end))
    wanted = {(s.index, row) for s in schedule.steps for row in range(_height(s))}
    if schedule.pushed is not None:
        wanted |= {(INPUT, row) for row in range(rows_of(graph.type(schedule.pushed).shape))}
    for key in sorted(wanted | set(rows)):
        if rows[key] != 1 or key not in wanted:
            yield f"row {key[1]} of step {key[0]} is computed {rows[key]} times"


def _height(step: Step) -> int:
    """Rows that a step computes, or, where it accumulates, takes in; a step that runs whole is one."""
    call = step.choice.call
    if not step.by_rows:
        return 1
    return rows_of((call.input(0) if isinstance(step.choice.kernel.form, Accumulate) else call.output).shape)


def _walked_rows(step: Step, event: int) -> _Span:
    return event * step.batch, min((event + 1) * step.batch, _height(step))


def _walked(graph: Graph, schedule: Schedule, plan: MemoryPlan) -> Iterator[str]:
    memory = _Memory(graph, schedule, plan)
    for name in graph.inputs:
        if name != schedule.pushed:
            memory.write(name, 0, rows_of(graph.type(name).shape))
    for time, event in enumerate(schedule.trace):
        if event.step == INPUT:
            memory.write(str(schedule.pushed), event.event, event.event + 1)
            continue
        step = schedule.steps[event.step]
        for name, row in _reads(step, event.event):
            if not memory.holds(name, row):
                yield f"event {time}: step {step.index} reads row {row} of {name}, which is not there"
        if step.scratch_bytes and not memory.take_scratch(step, event.event):
            yield f"event {time}: step {step.index} has lost what it accumulated"
        if step.ring_bytes and not memory.take_ring(step, event.event):
            yield f"event {time}: step {step.index} has lost rows that it converted"
        _write(memory, step, event.event)
    for name in graph.outputs:
        for row in range(rows_of(graph.type(name).shape)):
            if not memory.holds(name, row):
                yield f"row {row} of output {name} is not there at the end"


def _reads(step: Step, event: int) -> Iterator[tuple[str, int]]:
    """(tensor, row) of everything an event reads."""
    call, kernel = step.choice.call, step.choice.kernel
    first, end = _walked_rows(step, event)
    for k, name in enumerate(step.choice.node.inputs):
        if name is None or call.constants[k] is not None:
            continue
        rows = rows_of(call.input(k).shape)
        wanted = range(rows)
        if step.by_rows and isinstance(kernel.form, (Window, Ring)):
            w = kernel.form.rows(call)
            start = w.firsts[first] if w.firsts else first * w.stride - w.pad
            taps = range(start, start + w.extent, w.dilation)
            if isinstance(kernel.form, Ring) and kernel.form.keeps:  # each row once, those between the taps, too
                taps = range(start + max(w.extent - w.stride, 0) if first else start, start + w.extent)
            yield from ((name, row) for row in taps if 0 <= row < rows)
            continue
        if step.by_rows and rows == _height(step):
            wanted = range(first, end)
        yield from ((name, row) for row in wanted)


def _write(memory: _Memory, step: Step, event: int) -> None:
    first, end = _walked_rows(step, event)
    accumulates = isinstance(step.choice.kernel.form, Accumulate)
    for name, t in zip(step.choice.node.outputs, step.choice.call.outputs, strict=True):
        if step.by_rows and not accumulates:
            memory.write(name, first, end)
        elif not step.by_rows or end == _height(step):
            memory.write(name, 0, rows_of(t.shape))


def _numbered(shape: tuple[int, ...]) -> np.ndarray:
    return np.arange(np.prod(shape, dtype=np.int64), dtype=np.int64).reshape(shape)


class _Memory:
    """The arena; each byte holds the number of the tensor byte last written there."""

    def __init__(self, graph: Graph, schedule: Schedule, plan: MemoryPlan) -> None:
        self._graph, self._schedule, self._plan = graph, schedule, plan
        self._bytes = np.full(plan.nbytes, _NOBODY, np.int64)
        names = [n for n, t in graph.tensors.items() if not t.is_constant]
        self._numbers = {name: ((k + 1) << 32) + _numbered(graph.type(name).shape) for k, name in enumerate(names)}
        made = {n for s in schedule.steps for n in s.choice.node.outputs}
        for node in graph.nodes:
            if node.outputs[0] not in made:  # no code: its results are elements of its operands
                found = node.op.reference(*(self._numbers[str(name)] for name in node.inputs))
                results = found if isinstance(found, tuple) else (found,)
                self._numbers.update(zip(node.outputs, results, strict=True))

    def _place(self, name: str, row: int) -> slice:
        """The place of a row of a tensor: in its ring's slot, or, where all rows are kept, one after the other."""
        t, buffer = self._graph.type(name), self._schedule.buffer_of(name)
        size = t.nbytes // rows_of(t.shape)
        slot = row % buffer.kept if buffer.kept < buffer.rows else row
        start = self._plan.offset[buffer.name] + self._schedule.places[name].start + slot * size
        return slice(start, start + size)

    def _content(self, name: str, row: int) -> np.ndarray:
        t = self._graph.type(name)
        size, width = t.nbytes // rows_of(t.shape), t.np_dtype.itemsize
        every = self._numbers[name].reshape(-1, 1) * width + np.arange(width)
        return every.reshape(-1)[row * size : (row + 1) * size]

    def write(self, name: str, first: int, end: int) -> None:
        for row in range(first, end):
            place = self._place(name, row)
            if place.stop <= len(self._bytes):
                self._bytes[place] = self._content(name, row)

    def holds(self, name: str, row: int) -> bool:
        return np.array_equal(self._bytes[self._place(name, row)], self._content(name, row))

    def take_scratch(self, step: Step, event: int) -> bool:
        """Write the scratch of a step; False where an accumulator was disturbed since the event before."""
        held = self._take(step, step.scratch_name, step.scratch_bytes)
        return held or event == 0 or not isinstance(step.choice.kernel.form, Accumulate)

    def take_ring(self, step: Step, event: int) -> bool:
        """Write the converted rows of a step; False where those that it reads again were disturbed in between."""
        form = step.choice.kernel.form
        window = form.rows(step.choice.call) if isinstance(form, Ring) and form.keeps else None
        again = window is not None and window.extent > window.stride
        return self._take(step, step.ring_name, step.ring_bytes) or event == 0 or not again

    def _take(self, step: Step, name: str, nbytes: int) -> bool:
        """Write memory of a step's own; False where it was not the last to do so."""
        start, mine = self._plan.offset[name], _SCRATCH - step.index
        held = bool(np.all(self._bytes[start : start + nbytes] == mine))
        self._bytes[start : start + nbytes] = mine
        return held
