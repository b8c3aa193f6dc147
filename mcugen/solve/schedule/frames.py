"""Exact streaming over time: a new frame moves the window by one row, and every layer computes only its newest row.

Streaming is exact if a row of a layer depends only on input rows at fixed distances: stride 1, no padding in time.
Layers with a larger stride s do not stream. Only every s-th of their rows belongs to the window of a frame, so they
would need s interleaved sets of rows. Rings keep the rows that later frames still read. A network that does not stream
keeps its input window, moves it by a row for each frame, and computes the whole window.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mcugen.errors import McugenError
from mcugen.ir.graph import Graph
from mcugen.ir.kernel import Accumulate, Window
from mcugen.ir.types import images_of, rows_of
from mcugen.solve.schedule.places import Layout, Place, Uses, sources, update_states
from mcugen.solve.schedule.steps import Choice, Step
from mcugen.solve.schedule.storage import RowBuffer
from mcugen.solve.schedule.trace import Event


class NotStreamableError(McugenError):
    """Raised, with the reason, if a network cannot compute only the newest row of each layer."""


def rows_of_window(graph: Graph, name: str) -> int:
    """Number of frames in a window of an input: H of [1, H, W, C] or [1, H, C], or H of the image that it is reshaped
    to.
    """
    shape = graph.type(name).shape
    if len(shape) == 4 or (len(shape) == 3 and images_of(shape) == 1):
        return shape[1]
    made = [graph.type(node.outputs[0]) for node in graph.nodes if node.inputs[:1] == (name,)]
    return next((rows_of(t.shape) for t in made if len(t.shape) == 4 and t.size == graph.type(name).size), 1)


@dataclass(frozen=True)
class Frames:
    """Steps, one event each, and buffers of a network that is fed frame by frame."""

    steps: tuple[Step, ...]
    trace: tuple[Event, ...]
    places: dict[str, Place]
    row_buffers: dict[str, RowBuffer]


def build(graph: Graph, choices: Sequence[Choice], pushed: str) -> Frames:
    """The steps of one frame. Raises NotStreamableError, with the reason, for a network that would not be exact."""
    running = [c for c in choices if c.kernel.has_code]
    of = sources(choices)
    streams = {pushed: rows_of_window(graph, pushed)}
    steps = []
    for index, choice in enumerate(running):
        given = [n for n in choice.node.inputs if n is not None]
        _require_rows_kept_apart(graph, [n for n in given if n in of], of, streams)
        reads = [source for n in given for source in of.get(n, (n,))]
        moving = [name for name in reads if name in streams]
        by_rows = bool(moving)
        if by_rows:
            _require_same_at_all_times(graph, choice, reads, streams)
            _require_streamable(graph, choice, moving)
            rows = rows_of(choice.call.output.shape)
            if rows > 1:
                streams.update(dict.fromkeys(choice.node.outputs, rows))
        steps.append(Step(index, choice, by_rows))
    _require_rows_kept_apart(graph, list(of), of, streams)
    for name in graph.kept:
        for source in of.get(name, (name,)):
            if source in streams:
                label, rows = graph.tensors[name].label, streams[source]
                kind = "output" if name in graph.outputs else "state"
                raise NotStreamableError(f"{kind} {label!r} has {rows} rows, but a frame computes only the newest")
    trace = tuple(Event(step.index, step.events - 1) for step in steps)
    layout = Layout(graph, choices)
    update_states(graph, steps, layout, Uses(graph, steps, trace))
    return Frames(tuple(steps), trace, layout.places, _buffers(graph, steps, layout.places, streams))


def _require_rows_kept_apart(
    graph: Graph, names: Sequence[str], of: Mapping[str, tuple[str, ...]], streams: dict[str, int]
) -> None:
    for name in names:
        t, first = graph.type(name), of[name][0]
        alike = len(of[name]) == 1 and graph.type(first).nbytes == t.nbytes and streams.get(first) == rows_of(t.shape)
        if any(source in streams for source in of[name]) and not alike:
            what = "does not have one row for each frame: it joins, cuts or reshapes rows"
            raise NotStreamableError(f"tensor {graph.tensors[name].label!r} {what}")


def _require_same_at_all_times(graph: Graph, choice: Choice, reads: Sequence[str], streams: dict[str, int]) -> None:
    """Raise NotStreamableError if a row is combined with an operand that differs from frame to frame or from row to
    row.

    Older rows were computed with the operand of their own frame and are not computed again.
    """
    if choice.kernel.slides or isinstance(choice.kernel.form, Accumulate):
        return
    for name in reads:
        if name in streams:
            continue
        tensor = graph.tensors[name]
        if not tensor.is_constant:
            is_state = name in graph.given
            why = "changes in each run" if is_state else "depends on the whole window"
            raise NotStreamableError(f"{choice.node.source} combines each row with {tensor.label!r}, which {why}")
        if rows_of(tensor.type.shape) > 1:
            raise NotStreamableError(f"{choice.node.source} combines each row with another row of a constant")


def _require_streamable(graph: Graph, choice: Choice, moving: Sequence[str]) -> None:
    form, call, where = choice.kernel.form, choice.call, choice.node.source
    if any(images_of(graph.type(name).shape) != 1 for name in moving):
        raise NotStreamableError(f"{where} works on several images")
    if window := form.window(call):
        if window.firsts:
            rows = f"{window.out_rows} rows of {window.in_rows}"
            raise NotStreamableError(f"{where} resizes {rows} in time: a frame would give several rows, or none")
        if window.leaves_image:
            raise NotStreamableError(f"{where} pads in time: the borders of the window would move with it")
        if window.stride != 1 and window.out_rows > 1:
            reason = f"{where} has stride {window.stride} in time: it would compute other rows each frame"
            raise NotStreamableError(reason)
        if window.last(window.out_rows - 1) != window.in_rows - 1:
            raise NotStreamableError(f"{where} does not read the newest of its {window.in_rows} input rows")
    elif isinstance(form, Accumulate):
        return
    elif not choice.can_run_by_rows or any(rows_of(graph.type(n).shape) != rows_of(call.output.shape) for n in moving):
        raise NotStreamableError(f"{where} mixes rows of different times")


def _buffers(
    graph: Graph, steps: Sequence[Step], places: dict[str, Place], streams: dict[str, int]
) -> dict[str, RowBuffer]:
    """Buffer name -> ring with as many rows as its readers need. Rings of more than one row stay live between
    frames.
    """
    buffer = {name: place.buffer for name, place in places.items()}
    kept = dict.fromkeys(streams, 1)
    last = dict.fromkeys(buffer.values(), -1)
    first: dict[str, int] = {}
    for step in steps:
        for name in step.choice.node.inputs:
            if name is not None and name in buffer:
                last[buffer[name]] = step.index
                if buffer[name] in kept:
                    kept[buffer[name]] = max(kept[buffer[name]], _looks_back(step))
        for name in step.choice.node.outputs:
            first.setdefault(buffer[name], step.index)
            last[buffer[name]] = step.index
    last.update({buffer[name]: len(steps) - 1 for name in (*graph.kept, *(s.before for s in graph.states))})
    first.update({buffer[name]: 0 for name in graph.given})
    return {name: _buffer(graph, name, streams, kept, first[name], last[name], len(steps)) for name in last}


def _looks_back(step: Step) -> int:
    """Number of input rows that the step reads for its newest row, without rows that its own ring keeps converted."""
    form, call = step.choice.kernel.form, step.choice.call
    if isinstance(form, Window):
        return form.rows(call).extent
    return rows_of(call.input(0).shape) if isinstance(form, Accumulate) else 1


def _buffer(
    graph: Graph, name: str, streams: dict[str, int], kept: dict[str, int], first: int, last: int, steps: int
) -> RowBuffer:
    t = graph.type(name)
    rows = streams.get(name, 1)
    stays = kept.get(name, 1) > 1
    life = (0, steps - 1) if stays else (first, max(first, last))
    align = max(4, t.np_dtype.itemsize)
    return RowBuffer(name, rows, t.nbytes // rows, kept.get(name, 1), align, (life[0],) * rows, (life[1],) * rows)
