"""Queue of points of the time-memory curves to plan, the cheapest first.

A plan may have gaps, so a point may not fit although its peak does. The queue then adds points with the same groups of
row-by-row steps, but with kernels that need less memory.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from mcugen.solve.budget import Solution
from mcugen.solve.time_memory_curve import CostCurve, Point

MOST_LAYERS = 20_000
"""Limit of the work for added points: their number times the number of layers."""


@dataclass(frozen=True, eq=False)
class Plannable:
    """A point of a curve to plan, and its plan if it is already made."""

    curve: CostCurve
    point: Point
    made: Solution | None = None

    @property
    def rows(self) -> object:
        """Key of the curve and the groups of row-by-row steps. Points that differ only in kernels have equal keys."""
        return id(self.curve), self.point.groups

    def leaner(self) -> Plannable | None:
        """The point with the same groups and the fastest kernels that need less memory; None if there are none."""
        made = self.curve.along(self.point, self.point.peak - 1)
        return Plannable(self.curve, made) if made.peak < self.point.peak else None


class PlanQueue:
    """Priority queue of points to plan, ordered by cost.

    When the smallest point of a grouping is taken, a point with the same groups and less memory is added. The added
    points do not depend on the budget, so a larger budget never gives a slower model.
    """

    def __init__(self, points: Sequence[Plannable], layers: int) -> None:
        self._last = {found.rows: found for found in sorted(points, key=lambda found: -found.point.peak)}
        self._left = MOST_LAYERS // max(layers, 1)
        self._heap = [(found.point.cost, found.point.peak, k, found) for k, found in enumerate(points)]
        self._number = itertools.count(len(points))
        heapq.heapify(self._heap)

    def below(self, cost: float) -> Plannable | None:
        """Remove and return the next point, if its cost is below `cost`."""
        if not self._heap or self._heap[0][0] >= cost:
            return None
        *_, found = heapq.heappop(self._heap)
        if self._last[found.rows] is found and self._left > 0 and (leaner := found.leaner()) is not None:
            self._left -= 1
            self._last[found.rows] = leaner
            heapq.heappush(self._heap, (leaner.point.cost, leaner.point.peak, next(self._number), leaner))
        return found
