"""Time against memory: what kernels and rows cost for every limit of memory, from the fastest on.

Cuts, where one tensor is live, split a long network into segments (`segment.py`), so that its curve takes as long for
each of its layers as that of a short one. The memory of a network is the most that any of its segments needs, and its
cost their sum.

The curve does not depend on any budget: a budget takes the cheapest of its points that fits. So a larger one never
gets a slower model.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.ir.graph import Graph
from mcugen.solve.candidates import Candidate, Candidates
from mcugen.solve.dominance import undominated
from mcugen.solve.schedule.cuts import Cut, cuts_of
from mcugen.solve.schedule.places import sources
from mcugen.solve.segment import Row, Segment
from mcugen.solve.stretch import Frames, Network
from mcugen.solve.walks import Bounds

MAX_CUTS = 64
"""Cuts between the ends up to which a network is one segment."""

SEGMENT_CUTS = 24
"""At most so many cuts from the first of a segment to the last, where there are several."""


@dataclass(frozen=True, eq=False)
class Point:
    """Kernels of all nodes, in order, and the steps that run row by row together.

    peak: the most bytes in use at once, as far as that follows from the stretches; a plan may need a little more.
    """

    cost: float
    peak: int
    picks: tuple[Candidate, ...]
    groups: tuple[range, ...]


class Curve:
    """The points of one network, from the fastest to the smallest.

    most: how many stretches of a segment are looked into; there are no points that need more.
    frames: from curves before.
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
        frames: Frames | None = None,
    ) -> None:
        choices = [listed[0].choice for listed in candidates]
        of = sources(choices)
        results = frozenset(source for name in graph.kept for source in of.get(name, (name,)))
        useful = tuple(map(undominated, candidates))
        self._net = Network(graph, useful, keep_input, pushed, results, frames or Frames())
        bounds = Bounds.of(self._net.running)
        parts = _segments(cuts_of(graph, choices, keep_input=keep_input))
        self._starts = [cuts[0].index for cuts in parts]
        self._new = functools.partial(Segment, self._net, bounds=bounds, no_rows=no_rows, most=most)
        kinds = [self._kind(cuts) for cuts in parts]
        self._parts = dict(zip(kinds, parts, strict=True))
        segments = {kind: self._new(cuts) for kind, cuts in self._parts.items()}
        self._segments = [segments[kind] for kind in kinds]
        self._rows: list[Row | None] = [None] * len(parts)

    def _kind(self, cuts: Sequence[Cut]) -> object:
        """What the rows of a segment depend on: those of one kind have the same."""
        start, end = cuts[0].index, cuts[-1].index
        between = tuple((cut.index - start, cut.nbytes, cut.held_bytes) for cut in cuts)
        return between, *self._net.shape(range(start, end))

    def points(self) -> Sequence[Point]:
        """All of them: each needs less memory than those before it."""
        return self._points

    @functools.cached_property
    def _points(self) -> list[Point]:
        found: list[Point] = []
        while (point := self.within(found[-1].peak - 1 if found else np.inf)) is not None:
            found.append(point)
        return found

    def within(self, limit: float, cost: float = np.inf) -> Point | None:
        """The fastest point within a limit of memory, if it costs less than `cost`. Limits of later calls are lower."""
        known = [row.cost if row else 0.0 for row in self._rows]  # no row costs less for a lower limit
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
        """What no point goes below, as far as that is over `enough`; known before any point."""
        return max(self._new(cuts).least_bytes(enough) for cuts in self._parts.values())

    def along(self, point: Point, limit: float) -> Point:
        """The rows of a point, with the cheapest kernels of each stretch within the limit, or else the leanest."""
        ends = [*self._starts[1:], len(self._net.running)]
        spans = zip(self._segments, self._starts, ends, strict=True)
        return self._point([s.along(a, [g for g in point.groups if a <= g.start < b], limit) for s, a, b in spans])

    def _point(self, rows: Sequence[Row]) -> Point:
        chosen = {name: c for row in rows for name, c in row.chosen.items()}
        picks = tuple(chosen.get(listed[0].choice.node.name, listed[0]) for listed in self._net.candidates)
        groups = tuple(group for row in rows for group in row.groups)
        return Point(sum(row.cost for row in rows), max(row.peak for row in rows), picks, groups)


def _segments(cuts: list[Cut]) -> list[list[Cut]]:
    """The cuts of each segment; the last cut of one is the first of the next. Segments end at small tensors."""
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
