# SPDX-License-Identifier: Apache-2.0
"""The curve of time against memory, against schedules as built and against every choice there is."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from mcugen.ir.graph import Graph
from mcugen.solve import schedule
from mcugen.solve.candidates import Candidates
from mcugen.solve.modes import EVENT_COST
from mcugen.solve.plan import lower_bound
from mcugen.solve.stretch import FramesCache
from mcugen.solve.time_memory_curve import CostCurve, Point
from tests.solve import exhaustive

SEEDS = tuple(range(100, 130))


def built(graph: Graph, point: Point, *, keep_input: bool = False) -> schedule.Schedule:
    return schedule.build(graph, [c.choice for c in point.picks], point.groups, keep_input=keep_input)


def curve_of(folder: Path, seed: int, *, keep_input: bool = False) -> tuple[Graph, list[Candidates], list[Point]]:
    graph, candidates = exhaustive.candidates_of(folder, seed)
    curve = CostCurve(graph, candidates, keep_input=keep_input, pushed=None, no_rows=False)
    return graph, candidates, list(curve.points())


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_found_is_what_is_built(seed: int, tmp_path: Path) -> None:
    """The whole network costs what its stretches say, and needs no more, or a little where kernels change which tensors
    can share memory.
    """
    graph, _, points = curve_of(tmp_path, seed)
    for point in points:
        made = built(graph, point)
        rows = {step.choice.node.name for step in made.steps if step.by_rows}
        cost = sum(c.rows_cost if c.choice.node.name in rows else c.cost for c in point.picks)
        assert lower_bound(made.buffers())[0] <= 1.05 * point.peak
        assert cost + EVENT_COST * len(made.trace) == pytest.approx(point.cost)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", [1, 2, 14, 20, 22, 29, 277])
def test_no_choice_is_better(seed: int, tmp_path: Path) -> None:
    """Every subset of the cuts, every stretch whole or by rows, with every kernel: the curve holds the best of them."""
    graph, candidates, points = curve_of(tmp_path, seed)
    front = exhaustive.least(graph, candidates)
    assert front is not None and len(front) > 1
    assert exhaustive.ratio(points, front) <= exhaustive.WORST


def test_a_worse_curve_is_noticed(tmp_path: Path) -> None:
    """Without its smallest point a curve leaves the smallest budget unanswered."""
    graph, candidates, points = curve_of(tmp_path, 14)
    front = exhaustive.least(graph, candidates)
    assert front is not None
    assert exhaustive.ratio(points[:-1], front) > exhaustive.WORST


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", SEEDS[:10])
def test_the_curve_falls(seed: int, tmp_path: Path) -> None:
    _, _, points = curve_of(tmp_path, seed)
    for larger, smaller in pairwise(points):
        assert larger.peak > smaller.peak
        assert larger.cost <= smaller.cost + 1e-6


@pytest.mark.parametrize("seed", SEEDS[:6])
def test_the_least_is_known_without_a_search(seed: int, tmp_path: Path) -> None:
    """A bound from below, near the smallest point, which is not looked for further where that is known to fit."""
    graph, candidates, points = curve_of(tmp_path, seed)
    curve = CostCurve(graph, candidates, keep_input=False, pushed=None, no_rows=False)
    assert 0.8 * points[-1].peak <= curve.least_bytes(0) <= points[-1].peak
    assert curve.least_bytes(points[-1].peak + 1) == points[-1].peak + 1


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", SEEDS[:10])
def test_kept_inputs_count_to_the_end(seed: int, tmp_path: Path) -> None:
    graph, _, points = curve_of(tmp_path, seed, keep_input=True)
    made = built(graph, points[-1], keep_input=True)
    assert lower_bound(made.buffers())[0] <= points[-1].peak


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", SEEDS[:10])
def test_curves_of_other_candidates_share_frames(seed: int, tmp_path: Path) -> None:
    """A curve is the same with what another one, of other kernels at other costs, already found."""
    graph, candidates = exhaustive.candidates_of(tmp_path, seed)
    other = [tuple(replace(c, cost=c.cost * 2, rows_cost=c.rows_cost * 3) for c in of[-2:]) for of in candidates]
    alone, shared = FramesCache(), FramesCache()

    def points(listed: list[Candidates], frames: FramesCache) -> list[tuple[float, int, tuple[range, ...]]]:
        found = CostCurve(graph, listed, keep_input=False, pushed=None, no_rows=False, frames=frames).points()
        return [(point.cost, point.peak, point.groups) for point in found]

    expected = points(other, alone)
    points(candidates, shared)
    before = len(shared.made)
    assert points(other, shared) == expected
    assert len(shared.made) < before + len(alone.made)
