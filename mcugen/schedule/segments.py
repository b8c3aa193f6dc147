"""Finds which segments of a network to run row by row: for the least RAM, or for the fewest calls within a budget.

A segment lies between two cuts, so its peak is its own. Peaks are found only for segments that a solution would use:
the best solution under lower bounds is sought, its segments are evaluated, and again, until all of them are known.
What is live inside a segment run by rows, its first and last tensor left out, is live as well in every longer one
around it, as rows are computed on demand: one evaluation bounds many.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mcugen.graph import Graph
from mcugen.plan import Buffer, lower_bound
from mcugen.schedule import Choice, Schedule, Step, build
from mcugen.schedule.cuts import Cut, cuts_of, part_of
from mcugen.schedule.places import sources
from mcugen.schedule.steps import batch_of, can_run_by_rows

MAX_CUTS = 64
_Matrix = npt.NDArray[np.int64]
_NEVER = np.iinfo(np.int64).max // 4


@dataclass(frozen=True)
class Segment:
    """Steps [start, stop), whether they run row by row, their peak in bytes, and their events: the cost in calls."""

    start: int
    stop: int
    by_rows: bool
    peak: int
    events: int

    @property
    def steps(self) -> range:
        return range(self.start, self.stop)


Segments = tuple[Segment, ...]


def peak_of(found: Segments) -> int:
    """The most bytes live in any of the segments."""
    return max((s.peak for s in found), default=0)


def events_of(found: Segments) -> int:
    """Events of all segments together."""
    return sum(s.events for s in found)


class Search:
    """The segmentations of one network. What is learnt about segments serves every later question."""

    def __init__(self, graph: Graph, choices: Sequence[Choice], *, keep_input: bool, pushed: str | None) -> None:
        self._graph, self._choices, self._keep_input, self._pushed = graph, choices, keep_input, pushed
        self._cuts = _smallest(cuts_of(graph, choices, keep_input=keep_input))
        of = sources(choices)
        self._results = {source for name in graph.kept for source in of.get(name, (name,))}
        self._cost = _row_cost(choices)
        count = len(self._cuts)
        self._known = np.zeros((count, count), np.bool_)
        self._by_rows = self._first_bounds()
        self._whole = [self._evaluate(i, i + 1, by_rows=False)[0] for i in range(count - 1)]

    def least(self) -> Segments:
        """The segmentation with the smallest peak, and among those the one with the fewest events."""
        found = self._settle(self._lowest_peak)
        return self.within(peak_of(found)) or found

    def within(self, limit: int) -> Segments | None:
        """The segmentation with the fewest events and a peak of at most `limit` bytes; None where there is none."""
        found = self._settle(lambda: self._fewest_events(limit))
        return found if found or not self._whole else None

    def front(self) -> list[Segments]:
        """The segmentations that no other one equals in both peak and events, from the fastest to the smallest."""
        found: list[Segments] = []
        limit = _NEVER
        while (better := self.within(limit)) is not None:
            if found and events_of(found[-1]) >= events_of(better):
                found.pop()
            found.append(better)
            limit = peak_of(better) - 1
            if not better:
                break
        return found

    # what is known of segments ---------------------------------------------------------------------------------

    def _first_bounds(self) -> _Matrix:
        """Bounds from the ends alone: the first tensor is whole at the start of a segment, the last one at its end."""
        size = [cut.nbytes for cut in self._cuts]
        bounds = np.full((len(size), len(size)), _NEVER, np.int64)
        for i, a in enumerate(self._cuts):
            for j in range(i + 1, len(size)):
                if self._events(i, j) > self._cuts[j].index - a.index:
                    bounds[i, j] = max(size[i], size[j]) + a.held_bytes
        return bounds

    def _events(self, i: int, j: int) -> int:
        return sum(self._cost[self._cuts[i].index : self._cuts[j].index])

    def _evaluate(self, i: int, j: int, *, by_rows: bool) -> tuple[int, int]:
        """(peak of a segment, the part of it that stays in any longer segment)."""
        a, b = self._cuts[i], self._cuts[j]
        sub, chosen = part_of(self._graph, self._choices, range(a.index, b.index))
        schedule = build(
            sub,
            chosen,
            [range(b.index - a.index)] if by_rows else [],
            keep_input=(self._keep_input and i == 0) or bool(self._results & set(sub.inputs)),
            pushed=self._pushed if self._pushed in sub.inputs else None,
        )
        peak, _ = lower_bound(schedule.buffers())
        inner, _ = lower_bound(_inner(schedule, has_start=i == 0, has_end=j == len(self._cuts) - 1))
        return peak + a.held_bytes, inner

    def _learn(self, i: int, j: int) -> None:
        peak, inner = self._evaluate(i, j, by_rows=True)
        around = self._by_rows[: i + 1, j:]
        np.maximum(around, inner, out=around)
        self._by_rows[i, j], self._known[i, j] = peak, True

    def _settle(self, solve: Callable[[], list[tuple[int, int, bool]]]) -> Segments:
        """Solve under what is known, find the peaks that the solution rests on, until it rests on known ones only."""
        while True:
            path = solve()
            unknown = [(i, j) for i, j, by_rows in path if by_rows and not self._known[i, j]]
            if not unknown:
                return tuple(self._segment(*edge) for edge in path)
            for i, j in unknown:
                self._learn(i, j)

    def _segment(self, i: int, j: int, by_rows: bool) -> Segment:
        start, stop = self._cuts[i].index, self._cuts[j].index
        if by_rows:
            return Segment(start, stop, True, int(self._by_rows[i, j]), self._events(i, j))
        return Segment(start, stop, False, self._whole[i], stop - start)

    # paths from the first cut to the last ----------------------------------------------------------------------

    def _lowest_peak(self) -> list[tuple[int, int, bool]]:
        """The path with the lowest peak; among equal ones, one with few events."""
        best = [(0, 0)]
        into: list[tuple[int, bool]] = [(0, False)]
        for j in range(1, len(self._cuts)):
            options = [
                (max(best[i][0], int(self._by_rows[i, j])), best[i][1] + self._events(i, j), i, True)
                for i in range(j)
                if self._by_rows[i, j] < _NEVER
            ]
            steps = self._cuts[j].index - self._cuts[j - 1].index
            options.append((max(best[-1][0], self._whole[j - 1]), best[-1][1] + steps, j - 1, False))
            peak, events, i, by_rows = min(options)
            best.append((peak, events))
            into.append((i, by_rows))
        return _path(into)

    def _fewest_events(self, limit: int) -> list[tuple[int, int, bool]]:
        """The path with the fewest events of those within the limit; empty where there is none."""
        best: list[tuple[int, int]] = [(0, 0)]
        into: list[tuple[int, bool]] = [(0, False)]
        for j in range(1, len(self._cuts)):
            options = [
                (best[i][0] + self._events(i, j), best[i][1] + 1, i, True)
                for i in range(j)
                if self._by_rows[i, j] <= limit and best[i][0] < _NEVER
            ]
            if self._whole[j - 1] <= limit and best[-1][0] < _NEVER:
                steps = self._cuts[j].index - self._cuts[j - 1].index
                options.append((best[-1][0] + steps, best[-1][1] + 1, j - 1, False))
            events, segments, i, by_rows = min(options, default=(_NEVER, 0, 0, False))
            best.append((events, segments))
            into.append((i, by_rows))
        return _path(into) if best[-1][0] < _NEVER else []


def _smallest(cuts: list[Cut]) -> list[Cut]:
    """At most MAX_CUTS of the cuts between the ends: those with the smallest tensors."""
    inner = sorted(cuts[1:-1], key=lambda cut: (cut.nbytes, cut.index))[:MAX_CUTS]
    return sorted([cuts[0], *inner, cuts[-1]], key=lambda cut: cut.index)


def _row_cost(choices: Sequence[Choice]) -> list[int]:
    """Events of each step where it runs by rows."""
    running = [c for c in choices if c.kernel.has_code]
    return [Step(0, c, True, batch_of(c)).events if can_run_by_rows(c) else 1 for c in running]


def _inner(schedule: Schedule, *, has_start: bool, has_end: bool) -> list[Buffer]:
    """The buffers without those of the first and the last tensor, where these are not the network's own ends."""
    ends = (() if has_start else schedule.graph.inputs) + (() if has_end else schedule.graph.outputs)
    left_out = {schedule.buffer_name[name] for name in ends if name in schedule.buffer_name}
    return [b for b in schedule.buffers() if b.name not in left_out]


def _path(into: Sequence[tuple[int, bool]]) -> list[tuple[int, int, bool]]:
    """The edges from the first cut to the last one, from each cut's best predecessor."""
    path = []
    j = len(into) - 1
    while j > 0:
        i, by_rows = into[j]
        path.append((i, j, by_rows))
        j = i
    return path[::-1]
