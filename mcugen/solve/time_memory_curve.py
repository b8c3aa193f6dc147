"""Curve of time against memory: the fastest kernels and row-by-row steps for each memory limit.

Cuts, at which one tensor is live, split a long network into segments (`segment.py`), so that the time of the search
grows only linearly with the number of layers. The memory of a network is the maximum over its segments, its cost the
sum.

The curve does not depend on any budget. A budget selects the cheapest point that fits, so a larger budget never gives a
slower model.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.ir.graph import Graph
from mcugen.solve.candidates import Candidate, Candidates
from mcugen.solve.dominance import undominated
from mcugen.solve.modes import Bounds
from mcugen.solve.schedule.cuts import Cut, cuts_of
from mcugen.solve.schedule.places import sources
from mcugen.solve.segment import Segment, SegmentPath
from mcugen.solve.stretch import FramesCache, Network

MAX_CUTS = 64
"""Networks with more inner cuts than this are split into segments."""

SEGMENT_CUTS = 24
"""Limit of the stretches between adjacent cuts in a segment, if a network is split."""


@dataclass(frozen=True, eq=False)
class Point:
    """A choice of kernels and of row-by-row steps.

    cost: time in units of `Candidate.cost`. peak: estimate of the most bytes in use at once; a plan may need a little
    more. picks: kernels of all nodes, in order. groups: ranges of steps that run row by row together.
    """

    cost: float
    peak: int
    picks: tuple[Candidate, ...]
    groups: tuple[range, ...]


class CostCurve:
    """The points of one network, from the fastest to the smallest.

    most: limit of the stretches examined per segment; the curve ends there. frames: cache shared with other curves.
    """

    def __init__(
        self,
        graph: Graph,
        candidates: Sequence[Candidates],
        *,
        keep_input: bool,
        pushed: str | None,
        no_rows: bool,
        most: float = np.inf,
        frames: FramesCache | None = None,
    ) -> None:
        choices = [listed[0].choice for listed in candidates]
        of = sources(choices)
        results = frozenset(source for name in graph.kept for source in of.get(name, (name,)))
        useful = tuple(map(undominated, candidates))
        self._net = Network(graph, useful, keep_input, pushed, results, frames or FramesCache())
        bounds = Bounds.of(self._net.running)
        parts = _segments(cuts_of(graph, choices, keep_input=keep_input))
        self._starts = [cuts[0].index for cuts in parts]
        self._new = functools.partial(Segment, self._net, bounds=bounds, no_rows=no_rows, most=most)
        kinds = [self._kind(cuts) for cuts in parts]
        self._parts = dict(zip(kinds, parts, strict=True))
        segments = {kind: self._new(cuts) for kind, cuts in self._parts.items()}
        self._segments = [segments[kind] for kind in kinds]
        self._rows: list[SegmentPath | None] = [None] * len(parts)

    def _kind(self, cuts: Sequence[Cut]) -> object:
        """Key of a segment: segments with equal keys have the same paths."""
        start, end = cuts[0].index, cuts[-1].index
        between = tuple((cut.index - start, cut.nbytes, cut.held_bytes) for cut in cuts)
        return between, *self._net.shape(range(start, end))

    def points(self) -> Sequence[Point]:
        """All points, the fastest first. Each needs less memory than the point before it."""
        return self._points

    @functools.cached_property
    def _points(self) -> list[Point]:
        found: list[Point] = []
        while (point := self.within(found[-1].peak - 1 if found else np.inf)) is not None:
            found.append(point)
        return found

    def within(self, limit: float, cost: float = np.inf) -> Point | None:
        """The fastest point within a memory limit, or None if there is none whose cost is below `cost`.

        Limits must not rise from call to call.
        """
        known = [row.cost if row else 0.0 for row in self._rows]  # a path never gets cheaper under a lower limit
        for k, segment in enumerate(self._segments):
            row = self._rows[k]
            if row is None or row.peak > limit:
                left = cost - (sum(known) - known[k]) if np.isfinite(cost) else cost
                row = segment.within(self._starts[k], limit, left)
                if row is None:
                    return None
                self._rows[k], known[k] = row, row.cost
        return self._point([row for row in self._rows if row])

    def least_bytes(self, enough: float) -> float:
        """Lower bound of the bytes of all points, without a search of kernels. The least result is `enough`."""
        return max(self._new(cuts).least_bytes(enough) for cuts in self._parts.values())

    def along(self, point: Point, limit: float) -> Point:
        """A point with the groups of `point` and the cheapest kernels within `limit` bytes for each stretch.

        A stretch that needs more than `limit` gets the kernels with the least memory.
        """
        ends = [*self._starts[1:], len(self._net.running)]
        spans = zip(self._segments, self._starts, ends, strict=True)
        return self._point([s.along(a, [g for g in point.groups if a <= g.start < b], limit) for s, a, b in spans])

    def _point(self, rows: Sequence[SegmentPath]) -> Point:
        chosen = {name: c for row in rows for name, c in row.chosen.items()}
        picks = tuple(chosen.get(listed[0].choice.node.name, listed[0]) for listed in self._net.candidates)
        groups = tuple(group for row in rows for group in row.groups)
        return Point(sum(row.cost for row in rows), max(row.peak for row in rows), picks, groups)


def _segments(cuts: list[Cut]) -> list[list[Cut]]:
    """The cuts of each segment; the last cut of a segment is the first of the next. Segments end at small tensors."""
    if len(cuts) <= MAX_CUTS + 2:
        return [cuts]
    found: list[list[Cut]] = []
    start = 0
    while len(cuts) - 1 - start > SEGMENT_CUTS:
        ends = range(start + SEGMENT_CUTS // 2, start + SEGMENT_CUTS + 1)
        end = min(ends, key=lambda k: (cuts[k].nbytes, -k))
        found.append(cuts[start : end + 1])
        start = end
    return [*found, cuts[start:]]
