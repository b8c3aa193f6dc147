"""Points between the fastest and the smallest solution that are worth listing, from the curves of `speed` and
`balanced`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from mcugen.boards.target import Target
from mcugen.ir.graph import Graph
from mcugen.options import Options
from mcugen.solve.advice import knee_of
from mcugen.solve.budget import Solution
from mcugen.solve.candidates import Candidates
from mcugen.solve.constant_limits import constants_of
from mcugen.solve.problem import Problem, Searched, problem_of
from mcugen.solve.time_memory_curve import Point

DOMINANCE_TOLERANCE = 1.005
"""A point is dropped if another point needs no more RAM, and at most this factor times its constants and its time."""


@dataclass(frozen=True)
class Offer:
    """A point of a curve, and the problem that it solves."""

    problem: Problem
    point: Point

    @property
    def peak(self) -> int:
        return self.point.peak

    @functools.cached_property
    def constants(self) -> int:
        return constants_of(self.point.picks)

    def planned(self) -> Solution:
        return self.problem.planned(self.point.picks, self.point.groups)


def offers_of(
    graph: Graph, candidates: Sequence[Candidates], options: Options, board: Target, known: Searched
) -> Iterator[Offer]:
    """All points of the curves of `speed`, and of `balanced` at its prices."""
    for goal in ("speed", "balanced"):
        problem = problem_of(graph, candidates, replace(options, optimize=goal), board, known)
        picks = problem.within_flash(problem.fastest)
        yield from (Offer(problem, point) for point in problem.points(problem.offered(picks)))


def thinned(found: Sequence[Offer], most: int) -> list[Offer]:
    """At most `most` points that save RAM, constants or time, the fastest first.

    They include the points of largest and smallest RAM and the knee. The others are spread evenly over log(RAM).
    """
    kept: list[Offer] = []
    for offer in sorted(found, key=lambda o: (o.peak, o.constants, o.point.cost)):
        if not any(_beats(other, offer) for other in kept):
            kept.append(offer)
    peaks = [max(offer.peak, 1) for offer in kept]
    if len(kept) > most:
        knee = knee_of([(offer.peak, offer.point.cost) for offer in kept])
        wanted = [peaks[0] * (peaks[-1] / peaks[0]) ** (k / (most - 2)) for k in range(most - 1)]
        near = {min(range(len(kept)), key=lambda i: abs(peaks[i] - w)) for w in wanted}
        kept = [kept[i] for i in near | ({knee} if knee is not None else set())]
    return sorted(kept, key=attrgetter("point.cost"))


def _beats(one: Offer, other: Offer) -> bool:
    """Whether `one`, which needs no more RAM than `other`, also needs hardly more or fewer constants and time."""
    return (
        one.constants <= DOMINANCE_TOLERANCE * other.constants
        and one.point.cost <= DOMINANCE_TOLERANCE * other.point.cost
    )
