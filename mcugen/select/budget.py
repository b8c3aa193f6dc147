"""Decides which segments run row by row: none where whole tensors fit, else the fewest that fit, else the least RAM."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from mcugen import schedule
from mcugen.errors import UsageError
from mcugen.graph import Graph
from mcugen.op import Form
from mcugen.options import Options
from mcugen.plan import MemoryPlan, plan
from mcugen.schedule import Choice, Schedule
from mcugen.schedule.segments import Search, Segments, peak_of
from mcugen.schedule.size import object_bytes
from mcugen.target import Target
from mcugen.types import images_of, rows_of

MAX_TRIES = 4
"""Placements that may come out over the budget before the least RAM is taken."""


@dataclass(frozen=True, eq=False)
class Solution:
    """A schedule with its memory plan. notes: why it is not the fastest one; ram_bytes: sizeof the model object.

    choices, groups: what it was made from, the kernel of every node and the steps that run row by row together.
    """

    schedule: Schedule
    plan: MemoryPlan
    choices: tuple[Choice, ...]
    groups: tuple[range, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def ram_bytes(self) -> int:
        return object_bytes(self.plan, self.schedule)


def arrange(graph: Graph, choices: Sequence[Choice], options: Options, board: Target) -> Solution:
    """The fastest solution within the budget, or, where none is, the smallest: it is for the caller to refuse it.

    The budget is --ram, else the board's largest region for a model. --optimize ram asks for the smallest at once, and
    so do pushed rows without --ram. Raises UsageError where the input cannot be pushed.
    """
    if options.input_mode == "frames":
        return planned(graph, choices, (), options)
    maker = _Maker(graph, choices, options)
    limit = options.ram_bytes if options.ram_bytes is not None else board.ram_bytes
    if maker.pushed is None:
        whole = maker.whole()
        if options.no_rows or (options.optimize != "ram" and (limit is None or whole.ram_bytes <= limit)):
            return whole
        if options.optimize != "ram" and limit is not None:
            return _with_note(_within(maker, limit), whole, options, board)
    elif options.optimize != "ram" and options.ram_bytes is not None:
        return _within(maker, options.ram_bytes)
    return maker.by_rows(maker.search().least())


def arrangements(graph: Graph, choices: Sequence[Choice], options: Options, most: int) -> Iterator[Solution]:
    """At most `most` solutions with these kernels, from the fastest on, each smaller than those before it."""
    maker = _Maker(graph, choices, options)
    smallest: int | None = None
    segmentations = [()] if options.no_rows else _thinned(maker.search().front(), most)
    for found in segmentations:
        solution = maker.by_rows(found)
        if smallest is None or solution.ram_bytes < smallest:
            smallest = solution.ram_bytes
            yield solution


def pushed_input(graph: Graph, choices: Sequence[Choice], mode: str) -> str:
    """The input that rows are handed in of. Raises UsageError, with the reason, where there is no such one."""
    read = [name for name in graph.inputs if name not in graph.unread_inputs]
    if len(read) != 1:
        hint = "rows and frames can be pushed of one input"
        raise UsageError(f"--input-mode {mode}: the model has {len(read)} inputs", hint=hint)
    shape = graph.type(read[0]).shape
    if rows_of(shape) < 2 or images_of(shape) != 1:
        hint = "rows are those of an input [1, H, W, C]"
        raise UsageError(f"--input-mode {mode}: the input has the shape {list(shape)}", hint=hint)
    if all(choice.kernel.form is Form.ALIAS for choice in choices):
        raise UsageError(f"--input-mode {mode}: the model computes nothing", hint="use --input-mode whole")
    return read[0]


class _Maker:
    """Makes planned schedules of one network with the kernels chosen."""

    def __init__(self, graph: Graph, choices: Sequence[Choice], options: Options) -> None:
        self._graph, self._choices, self._options = graph, choices, options
        self.pushed = None if options.input_mode == "whole" else pushed_input(graph, choices, options.input_mode)

    def search(self) -> Search:
        return Search(self._graph, self._choices, keep_input=self._options.keep_input, pushed=self.pushed)

    def whole(self) -> Solution:
        return self.by_rows(())

    def by_rows(self, found: Segments) -> Solution:
        return planned(self._graph, self._choices, tuple(s.steps for s in found if s.by_rows), self._options)


def planned(graph: Graph, choices: Sequence[Choice], groups: tuple[range, ...], options: Options) -> Solution:
    """The solution with these kernels in which the steps of each group run row by row."""
    made = scheduled(graph, choices, groups, options)
    return Solution(made, plan(made.buffers()), tuple(choices), groups)


def scheduled(graph: Graph, choices: Sequence[Choice], groups: Sequence[range], options: Options) -> Schedule:
    """The schedule of `planned`, without its memory plan."""
    if options.input_mode == "frames":
        return schedule.build_frames(graph, choices, pushed_input(graph, choices, "frames"))
    pushed = None if options.input_mode == "whole" else pushed_input(graph, choices, options.input_mode)
    return schedule.build(graph, choices, groups, keep_input=options.keep_input, pushed=pushed)


def _within(maker: _Maker, limit: int) -> Solution:
    """The fewest events whose plan is within `limit` bytes, else the least RAM.

    A plan may need more than the most bytes live at once, so a lower peak is sought where one comes out too large.
    """
    search = maker.search()
    highest = limit
    for _ in range(MAX_TRIES):
        found = search.within(highest)
        if found is None:
            break
        solution = maker.by_rows(found)
        if solution.ram_bytes <= limit:
            return solution
        highest = peak_of(found) - 1
    return maker.by_rows(search.least())


def _with_note(solution: Solution, whole: Solution, options: Options, board: Target) -> Solution:
    budget = (
        f"--ram allows {options.ram_bytes:,}"
        if options.ram_bytes is not None
        else f"the RAM of {board.name} has {board.ram_bytes:,}"
    )
    rows = [step.index for step in solution.schedule.steps if step.by_rows]
    which = f"step{'s' if len(rows) > 1 else ''} {ranges(rows)}"
    note = f"{which} computed row by row: with whole tensors the model needs {whole.ram_bytes:,} bytes, {budget}"
    return replace(solution, notes=(note,) if rows else ())


def ranges(indices: Iterable[int]) -> str:
    """Ascending numbers as text: "0-4, 7"."""
    spans: list[tuple[int, int]] = []
    for i in indices:
        if spans and spans[-1][1] == i - 1:
            spans[-1] = (spans[-1][0], i)
        else:
            spans.append((i, i))
    return ", ".join(f"{a}-{b}" if b > a else f"{a}" for a, b in spans)


def _thinned(found: Sequence[Segments], most: int) -> list[Segments]:
    """At most `most` of them, both ends included, spread evenly over the peaks in between."""
    if len(found) <= most:
        return list(found)
    peaks = [peak_of(f) for f in found]
    wanted = [peaks[0] * (peaks[-1] / peaks[0]) ** (k / (most - 1)) for k in range(most)]
    picked = {0, len(found) - 1} | {min(range(len(found)), key=lambda i: abs(peaks[i] - w)) for w in wanted}
    return [found[i] for i in sorted(picked)]
