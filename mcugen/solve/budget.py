"""Solutions: kernels and rows as a schedule, planned for the memories of the board."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from mcugen.boards.target import Target
from mcugen.errors import UsageError
from mcugen.ir.graph import Graph
from mcugen.ir.types import images_of, rows_of
from mcugen.options import Options
from mcugen.solve import schedule
from mcugen.solve.memories import regions_text
from mcugen.solve.plan import MemoryPlan, Region, assign, lower_bound, plan
from mcugen.solve.schedule import Choice, Schedule, bands
from mcugen.solve.schedule.accesses import accesses
from mcugen.solve.schedule.frames import rows_of_window
from mcugen.solve.schedule.size import OBJECT_ALIGN, object_bytes, region_bytes

LONG = 200
"""Least number of nodes for which worker processes share the solving. Starting a process costs as much as a
few nodes.
"""


def is_long(graph: Graph) -> bool:
    """Whether worker processes share the solving of a network."""
    return len(graph.nodes) >= LONG


@dataclass(frozen=True, eq=False)
class Solution:
    """A schedule with its memory plan.

    choices: the kernel of every node. groups: ranges of steps that run row by row together. notes: why it is not the
    fastest solution. regions: the memories that it may use. ram_bytes: all RAM of the model.
    """

    schedule: Schedule
    plan: MemoryPlan
    choices: tuple[Choice, ...]
    groups: tuple[range, ...] = ()
    notes: tuple[str, ...] = ()
    regions: tuple[Region, ...] = (Region("ram", None),)

    @property
    def ram_bytes(self) -> int:
        return object_bytes(self.plan, self.schedule)

    @property
    def fits(self) -> bool:
        """Whether every region in use holds the bytes planned in it."""
        regions = {region.name: region for region in self.regions}
        taken = region_bytes(self.plan, self.schedule)
        return all(regions[region].holds(nbytes) for region, nbytes in taken.items())


def parts_of(graph: Graph, choices: Iterable[Choice]) -> Iterator[object]:
    """Objects that solutions with these kernels refer to. Worker processes send references to these objects, not
    copies.
    """
    yield from (graph, *graph.nodes, *graph.tensors.values())
    for choice in choices:
        yield from (choice, choice.call, choice.kernel)


def pushed_input(graph: Graph, choices: Sequence[Choice], mode: str) -> str:
    """Name of the input that is pushed row by row. Raises UsageError, with the reason, if no input can be pushed."""
    read = [name for name in graph.inputs if name not in graph.unread_inputs]
    if len(read) != 1:
        hint = "rows and frames need a model with one input: use --input-mode whole"
        raise UsageError(f"--input-mode {mode} needs one input, but the model has {len(read)}", hint=hint)
    shape = graph.type(read[0]).shape
    rows = rows_of_window(graph, read[0]) if mode == "frames" else rows_of(shape)
    if rows < 2 or images_of(shape) != 1:
        hint = "rows need an input [1, H, W, C] with H > 1: use --input-mode whole"
        raise UsageError(f"--input-mode {mode} needs an input of several rows, not {list(shape)}", hint=hint)
    if not any(choice.kernel.has_code for choice in choices):
        raise UsageError(f"--input-mode {mode}: the model computes nothing", hint="use --input-mode whole")
    return read[0]


@dataclass(frozen=True, eq=False)
class Unplanned:
    """A solution before its memory is planned.

    schedules: the schedule, and if steps run by rows, the schedule that writes results over their first operands.
    """

    schedules: tuple[Schedule, ...]
    choices: tuple[Choice, ...]
    groups: tuple[range, ...]
    regions: tuple[Region, ...]

    @property
    def least_bytes(self) -> int:
        """Lower bound of the bytes of any plan."""
        return min(self._bounds)

    @functools.cached_property
    def _bounds(self) -> list[int]:
        return [lower_bound(made.buffers())[0] for made in self.schedules]

    def planned(self) -> Solution:
        """The solution. In order of preference: one arena in the first region; an arena in each of several regions;
        one arena in the first region that holds it. If nothing fits, one arena in the largest region, which the caller
        refuses.
        """
        regions = self.regions
        made, single = self._smaller()
        alone = [
            Solution(made, replace(single, region=r.name), self.choices, self.groups, regions=regions) for r in regions
        ]
        if alone[0].fits or len(regions) == 1:
            return alone[0]
        spread = assign(made.buffers(), accesses(made), [_aligned(region) for region in regions])
        if spread is not None and replace(alone[0], plan=spread).fits:
            return replace(alone[0], plan=spread)
        largest = max(range(len(regions)), key=lambda k: regions[k].nbytes or 0)
        return next((solution for solution in alone if solution.fits), alone[largest])

    def _smaller(self) -> tuple[Schedule, MemoryPlan]:
        """The schedule whose plan takes fewer bytes, and its plan; of equals, the first."""
        first, *others = self.schedules
        best = first, plan(first.buffers())
        for made, bound in zip(others, self._bounds[1:], strict=True):
            if bound < best[1].nbytes and (found := plan(made.buffers())).nbytes < best[1].nbytes:
                best = made, found
        return best


def unplanned(
    graph: Graph, choices: Sequence[Choice], groups: tuple[range, ...], options: Options, regions: tuple[Region, ...]
) -> Unplanned:
    """The solution with these kernels in which the steps of each group run row by row, before its memory is planned."""
    made = scheduled(graph, choices, groups, options)
    over = schedule.over_first(made, choices, keep_input=options.keep_input) if groups and not made.streams else None
    return Unplanned((made,) if over is None else (made, over), tuple(choices), groups, regions)


def _aligned(region: Region) -> Region:
    """The region with its size rounded down to the arena's alignment."""
    return region if region.nbytes is None else Region(region.name, region.nbytes // OBJECT_ALIGN * OBJECT_ALIGN)


def scheduled(graph: Graph, choices: Sequence[Choice], groups: Sequence[range], options: Options) -> Schedule:
    """The schedule with these kernels in which the steps of each group run row by row."""
    if options.input_mode == "frames":
        return schedule.build_frames(graph, choices, pushed_input(graph, choices, "frames"))
    pushed = None if options.input_mode == "whole" else pushed_input(graph, choices, options.input_mode)
    keep, most = options.keep_input, bands.asked(options)
    return schedule.build(graph, choices, groups, keep_input=keep, pushed=pushed, bands=most)


def staged(solution: Solution, nbytes: tuple[int, ...]) -> Solution:
    """The solution with a RAM buffer of `nbytes[i]` bytes into which step i copies its constants before it runs."""
    made = replace(solution.schedule, staged=nbytes)
    return replace(solution, schedule=made, plan=replace(plan(made.buffers()), region=solution.plan.region))


def with_note(solution: Solution, whole: Solution, options: Options, board: Target) -> Solution:
    """The solution with a note that steps run by rows because whole tensors exceed the budget."""
    if options.ram_bytes is not None:
        budget = f"--ram allows {options.ram_bytes:,}"
    elif len(solution.regions) > 1 or options.regions:
        budget = f"there are {regions_text(solution.regions)}"
    else:
        budget = f"the RAM of {board.name} has {board.ram_bytes:,}"
    why = f"with whole tensors the model needs {whole.ram_bytes:,} bytes, {budget}"
    return _noted(solution, why)


def with_saving(solution: Solution, whole: Solution, times: float) -> Solution:
    """The solution with a note on the RAM that rows save. times: its time divided by the time with whole tensors."""
    less = 100 - 100 * solution.ram_bytes / whole.ram_bytes
    more = 100 * times - 100
    time = f"for {more:.1f} % more time" if more >= 0 else f"and {-more:.1f} % less time"
    return _noted(solution, f"{less:.0f} % less RAM than whole tensors {time}")


def _noted(solution: Solution, why: str) -> Solution:
    rows = [step.index for step in solution.schedule.steps if step.by_rows]
    if not rows:
        return solution
    which = f"step{'s' if len(rows) > 1 else ''} {ranges(rows)}"
    return replace(solution, notes=(f"{which} computed row by row: {why}", *solution.notes))


def ranges(indices: Iterable[int]) -> str:
    """Ascending numbers as text: "0-4, 7"."""
    spans: list[tuple[int, int]] = []
    for i in indices:
        if spans and spans[-1][1] == i - 1:
            spans[-1] = (spans[-1][0], i)
        else:
            spans.append((i, i))
    return ", ".join(f"{a}-{b}" if b > a else f"{a}" for a, b in spans)
