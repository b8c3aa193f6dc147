"""The schedule: steps, the order of their events, and the buffers. An event is one step, or one batch of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from mcugen.ir.graph import Graph, State
from mcugen.ir.streams import hop_nodes
from mcugen.solve.plan import Buffer
from mcugen.solve.schedule import frames
from mcugen.solve.schedule.bands import bands_of
from mcugen.solve.schedule.frames import NotStreamableError
from mcugen.solve.schedule.places import Place, places_of, sources
from mcugen.solve.schedule.steps import Choice, Step, batch_of
from mcugen.solve.schedule.storage import RowBuffer, build_buffers, stage, times_of, working_buffers
from mcugen.solve.schedule.trace import INPUT, Event, Trace, trace

DEVICE_ALIGN = 64
"""Alignment in bytes of the buffers of a schedule whose kernels run on a device."""

__all__ = ["INPUT", "Choice", "Event", "NotStreamableError", "RowBuffer", "Schedule", "Step", "build", "build_frames"]


@dataclass(frozen=True, eq=False)
class Schedule:
    """The steps, the order of their events, and the buffer and offset of every tensor in RAM.

    pushed   the graph input that the caller hands in row by row, or None
    streams  whether each inference takes one frame, and each step computes only its newest row
    rolls    whether each inference takes one frame that moves the input window by a row, and computes the whole window
    staged   per step, bytes of RAM that it copies its constants to; 0 if it reads them in place
    """

    graph: Graph
    steps: tuple[Step, ...]
    trace: Trace
    places: dict[str, Place]
    row_buffers: dict[str, RowBuffer]
    pushed: str | None = None
    streams: bool = False
    rolls: bool = False
    staged: tuple[int, ...] = ()

    @property
    def takes_frames(self) -> bool:
        """Whether the input is handed in frame by frame."""
        return self.streams or self.rolls

    @property
    def pushed_rows(self) -> int:
        """Rows of the pushed input, or frames of its window; 0 if none is pushed."""
        return 0 if self.pushed is None else frames.rows_of_window(self.graph, self.pushed)

    @cached_property
    def bands(self) -> int:
        """The most bands of any step: 1 if one thread computes everything."""
        return max((step.bands for step in self.steps), default=1)

    @cached_property
    def hop_steps(self) -> int:
        """Number of steps, from the first on, that run for each window of a stream of samples.

        Later steps run only after several windows.
        """
        return _hop_steps(self.graph, self.steps)

    @cached_property
    def hop_events(self) -> int:
        """Number of events of the first `hop_steps` steps. These events come first in the trace."""
        return sum(0 <= event.step < self.hop_steps for event in self.trace)

    @cached_property
    def window_events(self) -> int:
        """Number of events up to the last read of a stream's window of samples; the window may move after them."""
        window = self.places[self.graph.inputs[0]].buffer
        reading = {
            (step.index, event)
            for step in self.steps[: self.hop_steps]
            for event in range(step.events)
            if any(self.buffer_name.get(access.tensor) == window for access in step.reads(event))
        }
        return max((k + 1 for k, event in enumerate(self.trace) if (event.step, event.event) in reading), default=0)

    @property
    def interleaved(self) -> bool:
        """Whether the generated code needs a table of events, since the events are not just the steps in order."""
        return [event.step for event in self.trace] != [step.index for step in self.steps]

    def macs(self, step: Step) -> int:
        """Multiply-accumulates of a step per inference; when streaming, per frame."""
        macs = step.choice.node.op.macs(step.choice.call)
        return macs // step.walked_rows if self.streams and step.writes_rows else macs

    @cached_property
    def buffer_name(self) -> dict[str, str]:
        """Tensor -> name of the buffer that holds its rows."""
        return {name: place.buffer for name, place in self.places.items()}

    def buffer_of(self, tensor: str) -> RowBuffer:
        return self.row_buffers[self.places[tensor].buffer]

    def buffers(self) -> list[Buffer]:
        """All buffers to plan, with the bytes in use at each event: tensors, scratch, rings of converted rows, staged
        constants.
        """
        return list(self._buffers)

    @cached_property
    def _buffers(self) -> list[Buffer]:
        times, length = times_of(self.steps, self.trace), len(self.trace)
        working = [working_buffers(s, times[s.index], length, streams=self.streams) for s in self.steps]
        made = [buffer.to_plan() for buffer in self.row_buffers.values()] + [b for found in working for b in found]
        made += [stage(s, times[s.index], n) for s, n in zip(self.steps, self.staged, strict=False) if n]
        if not any(step.on_device for step in self.steps):
            return made
        return [replace(b, align=max(b.align, DEVICE_ALIGN)) for b in made]

    @property
    def moved_states(self) -> list[State]:
        """States whose next value is computed in other memory, and is copied to the state when a run ends."""
        return [s for s in self.graph.states if self.places[s.after] != self.places[s.before]]

    def held(self) -> dict[str, list[str]]:
        """Name of each buffer -> names of its tensors, in the order of `places`."""
        found: dict[str, list[str]] = {}
        for name, place in self.places.items():
            found.setdefault(place.buffer, []).append(name)
        return found


def build(
    graph: Graph,
    choices: Sequence[Choice],
    by_rows: Sequence[range] = (),
    *,
    keep_input: bool,
    pushed: str | None = None,
    bands: int = 1,
) -> Schedule:
    """A schedule in which the steps of each group in `by_rows` run interleaved, row by row. All other steps run whole,
    large ones in up to `bands` bands.

    by_rows: disjoint ascending ranges of step indices.
    """
    running = [c for c in choices if c.kernel.has_code]
    grouped = {index for group in by_rows for index in group}
    steps = tuple(_step(i, c, i in grouped, bands) for i, c in enumerate(running))
    by_rows = _apart(by_rows, _hop_steps(graph, steps)) if graph.stream else by_rows
    order = trace(graph, steps, sources(choices), _groups(by_rows, len(steps)), pushed)
    places = places_of(graph, choices, steps, order, keep_input, pushed)
    buffers = build_buffers(graph, steps, order, places, keep_input, pushed)
    return Schedule(graph, steps, order, places, buffers, pushed)


def over_first(made: Schedule, choices: Sequence[Choice], *, keep_input: bool) -> Schedule | None:
    """The schedule with each result written over the first operand that it may overwrite, instead of the latest. None
    if that changes nothing.

    More bytes may be in use at some event, but the plan may have fewer gaps.
    """
    places = places_of(made.graph, choices, made.steps, made.trace, keep_input, made.pushed, latest=False)
    if places == made.places:
        return None
    buffers = build_buffers(made.graph, made.steps, made.trace, places, keep_input, made.pushed)
    return replace(made, places=places, row_buffers=buffers)


def build_frames(graph: Graph, choices: Sequence[Choice], pushed: str) -> Schedule:
    """A schedule that computes, for each frame pushed, the newest row of every step. Raises NotStreamableError."""
    found = frames.build(graph, choices, pushed)
    return Schedule(graph, found.steps, found.trace, found.places, found.row_buffers, pushed, streams=True)


def _step(index: int, choice: Choice, grouped: bool, bands: int) -> Step:
    """A step, by rows if it is in a group and takes more than one event, else in up to `bands` bands."""
    if grouped and choice.can_run_by_rows:
        step = Step(index, choice, True, batch_of(choice))
        if step.events > 1:
            return step
    return Step(index, choice, bands=bands_of(choice.call, choice.kernel, bands))


def _hop_steps(graph: Graph, steps: Sequence[Step]) -> int:
    per_hop = {node.name for node in hop_nodes(graph)}
    return sum(step.choice.node.name in per_hop for step in steps)


def _apart(groups: Sequence[range], end: int) -> list[range]:
    """The groups, each divided in two if it has steps before `end` and others."""
    parts = [part for g in groups for part in (range(g.start, min(g.stop, end)), range(max(g.start, end), g.stop))]
    return [part for part in parts if part]


def _groups(by_rows: Sequence[range], count: int) -> list[range]:
    """All steps as ranges, in order: the groups, and a range of its own for each other step."""
    groups: list[range] = []
    at = 0
    for group in by_rows:
        groups += [range(i, i + 1) for i in range(at, group.start)] + [group]
        at = group.stop
    return groups + [range(i, i + 1) for i in range(at, count)]
