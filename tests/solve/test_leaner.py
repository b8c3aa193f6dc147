# SPDX-License-Identifier: Apache-2.0
"""Points in the order in which they are planned, and those that follow where the rows of a curve end."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from mcugen.solve import leaner
from mcugen.solve.leaner import Plannable, PlanQueue
from mcugen.solve.time_memory_curve import CostCurve, Point
from tests.solve import exhaustive


def curve_of(folder: Path, seed: int) -> tuple[CostCurve, int]:
    graph, candidates = exhaustive.candidates_of(folder, seed)
    return CostCurve(graph, candidates, keep_input=False, pushed=None, no_rows=False), len(candidates)


def all_of(queue: PlanQueue) -> list[Point]:
    return [each.point for each in iter(lambda: queue.below(float("inf")), None)]


def test_leaner_kernels_follow_where_the_points_with_some_rows_end(tmp_path: Path) -> None:
    curve, layers = curve_of(tmp_path, 0)
    points = list(curve.points())
    found = all_of(PlanQueue([Plannable(curve, point) for point in points], layers))
    assert [p.cost for p in found] == sorted(p.cost for p in found)
    further = [p for p in found if p not in points]
    assert further and set(points) <= set(found)
    for point in further:
        last = min(p.peak for p in points if p.groups == point.groups)
        assert point.peak < last
    for rows in {p.groups for p in further}:
        assert all(a.peak > b.peak for a, b in pairwise(p for p in further if p.groups == rows))


def test_a_limit_of_cost_ends_them(tmp_path: Path) -> None:
    curve, layers = curve_of(tmp_path, 0)
    ways = [Plannable(curve, point) for point in curve.points()]
    middle = sorted(way.point.cost for way in ways)[len(ways) // 2]
    queue = PlanQueue(ways, layers)
    found = list(iter(lambda: queue.below(middle), None))
    assert found and all(each.point.cost < middle for each in found)


def test_large_networks_have_few(tmp_path: Path) -> None:
    curve, _ = curve_of(tmp_path, 0)
    points = list(curve.points())
    assert len(all_of(PlanQueue([Plannable(curve, p) for p in points], leaner.MOST_LAYERS + 1))) == len(points)
