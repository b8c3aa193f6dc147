"""Points that may be planned, the cheapest first: those of curves, and where they end, leaner ones with the same rows.

A plan may have holes that no point knows of. Rows whose points do not fit may do so with kernels that need less memory,
where the curve has already gone over to other rows.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from mcugen.solve.budget import Solution
from mcugen.solve.curve import Curve, Point

MOST_LAYERS = 20_000
"""Layers, at most, whose kernels are chosen anew."""


@dataclass(frozen=True, eq=False)
class Plannable:
    """A point of a curve that may be planned, and its plan, where that is made already."""

    curve: Curve
    point: Point
    made: Solution | None = None

    @property
    def rows(self) -> object:
        """What all points with the same rows have in common."""
        return id(self.curve), self.point.groups

    def leaner(self) -> Plannable | None:
        """The same rows with the fastest kernels that need less memory; None where there are none."""
        made = self.curve.along(self.point, self.point.peak - 1)
        return Plannable(self.curve, made) if made.peak < self.point.peak else None


class Waiting:
    """Points by their cost. Where those of some rows end, further ones follow, whose kernels need less memory.

    Which ones these are depends on no budget, so that a larger one never gets a slower model.
    """

    def __init__(self, points: Sequence[Plannable], layers: int) -> None:
        self._last = {found.rows: found for found in sorted(points, key=lambda found: -found.point.peak)}
        self._left = MOST_LAYERS // max(layers, 1)
        self._heap = [(found.point.cost, found.point.peak, k, found) for k, found in enumerate(points)]
        self._number = itertools.count(len(points))
        heapq.heapify(self._heap)

    def below(self, cost: float) -> Plannable | None:
        """The next one, if it costs less."""
        if not self._heap or self._heap[0][0] >= cost:
            return None
        *_, found = heapq.heappop(self._heap)
        if self._last[found.rows] is found and self._left > 0 and (leaner := found.leaner()) is not None:
            self._left -= 1
            self._last[found.rows] = leaner
            heapq.heappush(self._heap, (leaner.point.cost, leaner.point.peak, next(self._number), leaner))
        return found
