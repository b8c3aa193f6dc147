# SPDX-License-Identifier: Apache-2.0
"""The order of steps of branching networks: as good as the best of all orders, and never worse than the file's."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

import mcugen
from mcugen.builds import pareto
from mcugen.ir.graph import Graph
from mcugen.options import Options
from mcugen.solve import schedule, solver
from mcugen.solve.plan import lower_bound
from mcugen.solve.schedule.branches import in_branches
from mcugen.solve.schedule.order import OrderProblem, Work, best_order, problem_of
from mcugen.solve.schedule.size import OBJECT_ALIGN
from mcugen.verify import host
from mcugen.verify.cases import cases
from tests.support.clock import Watch
from tests.support.tflite_writer import ModelWriter


def random_problem(seed: int) -> OrderProblem:
    """A network of 3 to 8 steps; some tensors are read by several of them, some stay, some may be written over."""
    rng = Random(seed)
    nbytes = {"x": rng.randint(1, 40)}
    works = []
    for i in range(rng.randint(3, 8)):
        reads = tuple(sorted(rng.sample(sorted(nbytes), min(len(nbytes), rng.choice((1, 1, 1, 2, 3))))))
        writes = tuple(f"{i}{part}" for part in range(rng.choice((1, 1, 1, 2))))
        nbytes |= {name: rng.choice((1, 4, 10, rng.randint(1, 40))) for name in writes}
        over = (reads[:1],) if rng.random() < 0.3 else ()
        works.append(Work(reads, writes, over, rng.choice((0, 0, 8))))
    return OrderProblem(tuple(works), nbytes, frozenset(rng.sample(sorted(nbytes), 1)))


def orders(problem: OrderProblem, done: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """Every order in which each tensor is written before it is read."""
    written = {name for work in problem.works for name in work.writes}
    there = {name for i in done for name in problem.works[i].writes}
    if len(done) == len(problem.works):
        yield done
    for i, work in enumerate(problem.works):
        if i not in done and all(name in there or name not in written for name in work.reads):
            yield from orders(problem, (*done, i))


def most_live(problem: OrderProblem, order: Sequence[int]) -> int:
    """The peak of an order, from the lives of its tensors."""
    works = [problem.works[i] for i in order]
    peak = 0
    for t, work in enumerate(works):
        total = work.own_bytes
        for name, size in problem.nbytes.items():
            first = next((k for k, w in enumerate(works) if name in w.writes), -1)
            uses = [k for k, w in enumerate(works) if name in w.reads]
            last = len(works) if name in problem.kept else max(uses, default=first)
            total += size if first <= t <= last else 0
        result = sum(problem.nbytes[name] for name in work.writes)
        for (name,) in work.over:
            read_later = any(name in w.reads for w in works[t + 1 :]) or name in problem.kept
            if not read_later and problem.nbytes[name] >= result:
                total -= result
                break
        peak = max(peak, total)
    return peak


@pytest.mark.sampled(2)
@pytest.mark.parametrize("first", range(0, 200, 40))
def test_equals_the_best_of_all_orders(first: int) -> None:
    better = 0
    for seed in range(first, first + 40):
        problem = random_problem(seed)
        given = tuple(range(len(problem.works)))
        peaks = {order: most_live(problem, order) for order in orders(problem)}
        found = best_order(problem)
        assert peaks[found] == min(peaks.values()), seed
        assert found == given or peaks[found] < peaks[given], seed
        better += found != given
    assert better >= 5


def branches(count: int, length: int, seed: int = 0) -> OrderProblem:
    """Chains from one tensor to one step that reads all their ends; the file has them side by side."""
    rng = Random(seed)
    works, nbytes = [], {"x": 10}
    for step in range(length):
        for chain in range(count):
            name, read = f"{chain}.{step}", f"{chain}.{step - 1}" if step else "x"
            nbytes[name] = rng.randint(1, 5) if step == length - 1 else rng.randint(1, 100)
            works.append(Work((read,), (name,)))
    ends = [f"{chain}.{length - 1}" for chain in range(count)]
    return OrderProblem((*works, Work(tuple(ends), ("y",))), nbytes | {"y": 1}, frozenset({"y"}))


@pytest.mark.parametrize(("count", "length"), [(2, 12), (5, 5), (8, 3), (12, 2)])
def test_25_steps_side_by_side_are_solved_exactly_and_fast(count: int, length: int) -> None:
    problem = branches(count, length)
    watch = Watch()
    exact = best_order(problem)
    assert watch.seconds() < 1.0
    assert sorted(exact) == list(range(len(problem.works)))
    assert most_live(problem, exact) < most_live(problem, range(len(problem.works)))


@pytest.mark.parametrize("seed", range(5))
def test_where_exact_search_is_too_long_a_beam_still_gains(seed: int) -> None:
    problem = branches(6, 5, seed)
    given = most_live(problem, range(len(problem.works)))
    exact, beam = (most_live(problem, best_order(problem, tries)) for tries in (10**6, 5))
    assert exact <= beam < given
    assert best_order(problem, 5) == best_order(problem, 5)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("count", "length"), [(400, 5), (40, 50), (1998, 1)])
def test_2000_steps_side_by_side_are_ordered_within_8_s(count: int, length: int) -> None:
    problem = branches(count, length)
    started = time.process_time()
    order = best_order(problem)
    assert time.process_time() - started < 8.0
    assert sorted(order) == list(range(len(problem.works)))
    given = problem.peak(range(len(problem.works)))
    assert problem.peak(order) < given / 5 or length == 1


@pytest.mark.parametrize(("count", "length", "peak"), [(12, 2, 113), (25, 4, 190), (50, 4, 211), (400, 5, 1199)])
def test_many_branches_need_no_more_than_the_rule_for_them_says(count: int, length: int, peak: int) -> None:
    """The ends live together and one step takes them all: little is needed beside, however many branches there are."""
    problem = branches(count, length)
    assert problem.peak(in_branches(problem)) == peak
    if count < 100:
        assert problem.peak(best_order(problem)) <= peak


@pytest.mark.parametrize("seed", range(12))
def test_the_rule_orders_branches_as_well_as_the_best_of_all_orders(seed: int) -> None:
    problem = branches(*((2, 4), (3, 2))[seed % 2], seed)
    problem = replace(problem, kept=problem.kept | {"x"})
    assert most_live(problem, in_branches(problem)) == min(most_live(problem, o) for o in orders(problem))


def test_the_rule_orders_any_network_and_what_is_left_of_one() -> None:
    for seed in range(200):
        problem = random_problem(seed)
        count = len(problem.works)
        order = in_branches(problem)
        assert sorted(order) == list(range(count)), seed
        for i, at in enumerate(order):
            assert not problem.needs[at] & ~sum(1 << k for k in order[:i]), seed
        first = sum(1 << k for k in order[:2])
        assert sorted(in_branches(problem, first)) == sorted(order[2:]), seed


def two_wide_branches(folder: Path) -> Path:
    """Two convolutions that make eight channels of one, each pooled to a few bytes; the file has both before a pool."""
    m = ModelWriter()
    x = m.tensor("x", (1, 8, 8, 1), "s8", scale=0.1)
    wide = [m.tensor(f"wide{k}", (1, 8, 8, 8), "s8", scale=0.1) for k in range(2)]
    small = [m.tensor(f"small{k}", (1, 1, 1, 8), "s8", scale=0.1) for k in range(2)]
    y = m.tensor("y", (1, 1, 1, 8), "s8", scale=0.1)
    for k in range(2):
        data = np.random.default_rng(k).integers(-127, 128, (8, 3, 3, 1))
        w = m.tensor(f"w{k}", (8, 3, 3, 1), "s8", scale=[0.01] * 8, data=data)
        m.op("CONV_2D", [x, w, -1], [wide[k]], {"padding": "SAME", "stride_h": 1, "stride_w": 1})
    window = {"padding": "VALID", "stride_h": 8, "stride_w": 8, "filter_height": 8, "filter_width": 8}
    for k in range(2):
        m.op("MAX_POOL_2D", [wide[k]], [small[k]], window)
    m.op("ADD", small, [y])
    path = folder / "net.tflite"
    path.write_bytes(m.build([x], [y]))
    return path


def test_a_branching_network_needs_little_more_than_half_of_the_order_of_its_file(tmp_path: Path) -> None:
    path = two_wide_branches(tmp_path)
    made = mcugen.compile(path, no_rows=True)
    kinds = [type(step.choice.node.op).__name__ for step in made.schedule.steps]
    assert kinds == ["Conv2D", "MaxPool2D", "Conv2D", "MaxPool2D", "Add"]
    choices = [s.choice for s in sorted(made.schedule.steps, key=lambda s: made.graph.nodes.index(s.choice.node))]
    in_file = schedule.build(made.graph, choices, keep_input=False)
    before, after = (lower_bound(s.buffers())[0] for s in (in_file, made.schedule))
    scratch = max(step.scratch_bytes + step.ring_bytes for step in made.schedule.steps)
    assert (before, after) == (512 + 512 + 64 + scratch, 512 + 64 + 8 + scratch)
    problem = problem_of(made.graph, choices)
    assert (problem.peak(range(5)), problem.peak(best_order(problem))) == (before, after)
    assert host.verify(made, list(cases(made.imported, 1))).agrees


def test_the_least_ram_is_no_more_than_that_of_the_better_order(tmp_path: Path) -> None:
    path = two_wide_branches(tmp_path)
    made = mcugen.compile(path, optimize="ram")
    assert made.plan.nbytes <= mcugen.compile(path, no_rows=True).plan.nbytes
    assert host.verify(made, list(cases(made.imported, 1))).agrees


def wide_columns(folder: Path, count: int) -> Path:
    """Pairs of dense layers side by side, each over 64 values to one; the file has all first ones in front."""
    m = ModelWriter()
    x = m.tensor("x", (1, 8), "s8", scale=0.1)
    y = m.tensor("y", (1, count), "s8", scale=0.1)
    ends = [(x, m.tensor(f"wide{k}", (1, 64), "s8", scale=0.1)) for k in range(count)]
    ends += [(wide, m.tensor(f"one{k}", (1, 1), "s8", scale=0.1)) for k, (_, wide) in enumerate(ends)]
    for k, (given, result) in enumerate(ends):
        shape = (64, 8) if given == x else (1, 64)
        data = np.random.default_rng(k).integers(-127, 128, shape)
        m.op("FULLY_CONNECTED", [given, m.tensor(f"w{k}", shape, "s8", scale=0.01, data=data), -1], [result], {})
    m.op("CONCATENATION", [result for _, result in ends[count:]], [y], {"axis": 1})
    path = folder / "columns.tflite"
    path.write_bytes(m.build([x], [y]))
    return path


@pytest.mark.whole
@pytest.mark.parametrize("goal", ["ram", "speed"])
def test_an_order_that_needs_far_more_memory_is_not_planned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, goal: str
) -> None:
    solved: list[Graph] = []
    solve = solver.solve
    monkeypatch.setattr(solver, "solve", lambda graph, *rest: (solved.append(graph), solve(graph, *rest))[1])
    made = mcugen.compile(wide_columns(tmp_path, 12), optimize=goal, board="cortex-m0plus")
    assert all(graph.nodes[1].inputs[0] == graph.nodes[0].outputs[0] for graph in solved), "the better order alone"
    assert made.plan.nbytes < 4 * 64
    assert host.verify(made, list(cases(made.imported, 1))).agrees
    solved.clear()
    mcugen.compile(two_wide_branches(tmp_path), optimize=goal)
    in_file = [graph.nodes[1].inputs[0] != graph.nodes[0].outputs[0] for graph in solved]
    assert True in in_file and False in in_file, "both orders of layers that can run by rows are planned"


def test_the_front_of_ram_against_speed_has_the_better_order(tmp_path: Path) -> None:
    points = pareto.front(two_wide_branches(tmp_path), Options(no_rows=True)).points
    (default,) = [point for point in points if "balanced" in point.presets]
    built = mcugen.compile(tmp_path / "net.tflite", no_rows=True).report.ram_bytes
    assert default.ram_bytes == built < 512 + 512 + 64, "what the order of the file holds at once"
    least = 512 + 64 + 8  # kernels without scratch, which are slower, need nothing else
    assert min(point.ram_bytes for point in points) == -(-least // OBJECT_ALIGN) * OBJECT_ALIGN
