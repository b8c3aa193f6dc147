# SPDX-License-Identifier: Apache-2.0
"""RAM against instructions: which points are shown, how, and for which boards."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import mcugen
from mcugen import solve as solving
from mcugen.builds import pareto
from mcugen.builds.pareto import Front, ParetoPoint
from mcugen.cli import main
from mcugen.errors import MemoryBudgetError, UsageError
from mcugen.machines.toolchain import count, objects, process
from mcugen.options import GOALS, Options
from mcugen.report import curve_chart
from mcugen.solve import problem
from mcugen.solve.time_memory_curve import CostCurve
from mcugen.system import forked
from tests.solve.test_budget import SMALL


def small(folder: Path) -> Path:
    (folder / "small.tflite").write_bytes(SMALL)
    return folder / "small.tflite"


Work = list[str]


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Front, Work]:
    """The points of a small network, and what was compiled and searched for them."""
    work: Work = []
    compiled, searched, fastest = process.run_checked, CostCurve.within, problem.fastest

    def compile_one(command: list[str], **options: Any) -> Any:
        work.append(str(command[command.index("-c") + 1]))
        return compiled(command, **options)

    def search(curve: CostCurve, limit: float, cost: float = math.inf) -> Any:
        work.append(f"curve {id(curve)} below {limit}")
        return searched(curve, limit, cost)

    def pick(candidates: Any, weight: Any) -> Any:
        work.append("fastest")
        return fastest(candidates, weight)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forked, "is_possible", lambda: False)  # what another process does is not seen
        patch.setattr(problem, "fastest", pick)
        patch.setattr(objects, "_OBJECTS", objects._Objects())
        patch.setattr(objects, "run_checked", compile_one)
        patch.setattr(CostCurve, "within", search)
        found = pareto.front(small(tmp_path_factory.mktemp("counted")), Options(board="cortex-m4"))
    return found, work


@pytest.fixture(scope="module")
def counted(watched: tuple[Front, Work]) -> Front:
    return watched[0]


@pytest.mark.whole
def test_points_share_their_kernels_and_their_curve(watched: tuple[Front, Work]) -> None:
    """Each kernel is compiled once, and the knee is found on the curve that its point came from."""
    found, work = watched
    kernels = [name for name in work if name.startswith("kernels")]
    assert len(found.points) > 2 and kernels and len(set(kernels)) == len(kernels)
    whole = {name.split()[1] for name in work if name.endswith("below inf")}
    assert work.count("fastest") == 2  # for speed, and at the prices of balanced
    assert len(whole) == 5  # speed, balanced, the least-RAM kernels for the knee, and two of ram


def test_points_are_counted_exact_and_none_beats_another(tmp_path: Path, counted: Front) -> None:
    result = counted
    assert result.agrees and result.machine and len(result.points) >= 2
    assert all(point.agrees and point.instructions for point in result.points)
    for faster, slower in combinations(result.points, 2):
        assert faster.cost <= slower.cost
        assert slower.presets or slower.ram_bytes < faster.ram_bytes or slower.flash_bytes < faster.flash_bytes
    least = mcugen.compile(small(tmp_path), board="cortex-m4", optimize="ram").report.ram_bytes
    assert min(point.ram_bytes for point in result.points) == least


@pytest.mark.parametrize("goal", GOALS)
def test_presets_are_named(tmp_path: Path, counted: Front, goal: str) -> None:
    """The point of each goal is what a build for it takes; no point is two plans, and every goal is named once."""
    facts = mcugen.compile(small(tmp_path), board="cortex-m4", optimize=goal).report
    (named,) = [point for point in counted.points if goal in point.presets]
    assert (named.ram_bytes, named.flash_bytes, named.cycles) == (facts.ram_bytes, facts.weights_bytes, facts.cycles)
    text = pareto.as_text(counted)
    (line,) = [line for line in text.splitlines() if f"{named.cost:,}" in line and f" {named.ram_bytes:,} " in line]
    assert ("balanced (the default)" if goal == "balanced" else goal) in line


def test_cycles_and_milliseconds_are_told_where_they_are_known(counted: Front) -> None:
    timed = replace(counted, clock_hz=100_000_000)
    head = next(line for line in pareto.as_text(timed).splitlines() if "RAM  " in line)
    assert ("estimated cycles" in head and head.split()[-8:-5] == ["ms", "steps", "row"]) or "  ms  " in head
    low, high = timed.points[0].cycles.low, timed.points[0].cycles.high
    assert f"{low:,} to {high:,}" in pareto.as_text(timed)
    assert " ms " not in pareto.as_text(counted)
    unknown = replace(counted, points=tuple(replace(p, cycles=None) for p in counted.points))
    assert "cycles" not in pareto.as_text(unknown)


def test_without_an_emulated_core_events_are_shown(tmp_path: Path) -> None:
    result = pareto.front(small(tmp_path), Options())
    assert result.machine == "" and "no emulated machine" in result.notes[0]
    assert 2 <= len(result.points) <= pareto.MAX_POINTS
    assert all(point.instructions is None and point.agrees is None for point in result.points)
    assert [point.cost for point in result.points] == [point.events for point in result.points]
    assert result.points[0].by_rows == ""


def test_the_command_of_the_knee_builds_it(tmp_path: Path, counted: Front) -> None:
    """Also where the model lies in several memories, each of which gets a budget."""
    spread = pareto.front(small(tmp_path), Options(region="a=1K,b=1K"))
    assert re.search(r" --region a=\d+,b=\d+$", spread.command)
    for k, result in enumerate((counted, spread)):
        assert result.knee is not None and result.knee in result.points
        program, *typed = result.command.replace("MODEL.tflite", str(small(tmp_path))).split()
        with pytest.raises(SystemExit) as ended:
            main([*typed, "-o", str(tmp_path / str(k)), "--quiet"])
        assert program == "mcugen" and not ended.value.code
        facts = json.loads((tmp_path / str(k) / "report.json").read_bytes())
        assert (facts["ram_bytes"], facts["weights_bytes"]) == (result.knee.ram_bytes, result.knee.flash_bytes)
        assert [point.command for point in pareto.as_facts(result) if point.is_knee] == [result.command]
        assert facts["command"] == result.command


def test_a_knee_that_was_not_foreseen_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Estimates that are far off change nothing but what is built in vain."""
    estimated, solved = pareto._Builds._estimated, solving.solve
    budgets: list[set[str]] = []

    def wrong(builds: pareto._Builds, key: object) -> ParetoPoint:
        point = estimated(builds, key)
        return replace(point, instructions=10**30 // point.ram_bytes**8)

    def solve(graph: Any, board: Any, options: Options, known: Any) -> Any:
        budgets[-1].add(options.ram)
        return solved(graph, board, options, known)

    def counted(builds: pareto._Builds, artifact: Any) -> ParetoPoint:
        return pareto._planned(artifact, artifact.report.cycles.low, True)

    monkeypatch.setattr(pareto._Builds, "_counted", counted)
    monkeypatch.setattr(count, "plugin", lambda: None)
    monkeypatch.setattr(solving, "solve", solve)
    found = []
    for estimate in (wrong, estimated):
        monkeypatch.setattr(pareto._Builds, "_estimated", estimate)
        budgets.append(set())
        found.append(pareto.front(small(tmp_path), Options(board="cortex-m4")))
    assert found[0] == found[1] and found[0].knee is not None
    assert sorted(map(len, budgets)) == [2, 3]


def test_a_knee_without_a_build_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = Options(ram="2672")
    solve = solving.solve

    def refuse(graph: Any, board: Any, options: Options, known: Any) -> Any:
        if options.ram != given.ram:
            raise MemoryBudgetError("does not fit")
        return solve(graph, board, options, known)

    assert pareto.front(small(tmp_path), given).knee is not None
    monkeypatch.setattr(solving, "solve", refuse)
    result = pareto.front(small(tmp_path), given)
    assert result.knee is None and result.command == "" and "no knee is named" in result.notes[-1]


def test_a_budget_leaves_the_larger_ones_out(tmp_path: Path) -> None:
    def sizes(points: tuple[ParetoPoint, ...]) -> set[tuple[int, int, int]]:
        return {(p.ram_bytes, p.flash_bytes, p.cost) for p in points}

    path = small(tmp_path)
    everything = pareto.front(path, Options()).points
    limit = max(point.ram_bytes for point in everything) - 1
    result = pareto.front(path, Options(ram=str(limit)))
    left_over = {p for p in sizes(everything) if p[0] <= limit}
    assert left_over and left_over <= sizes(result.points) and left_over != sizes(everything)
    assert all(point.ram_bytes <= limit for point in result.points)
    least = next(point.ram_bytes for point in everything if "ram" in point.presets)
    narrow = pareto.front(path, Options(ram=str(least)))
    assert any(note.endswith("of the schedules do not fit") for note in narrow.notes)
    assert {goal for point in narrow.points for goal in point.presets} == {*GOALS}
    with pytest.raises(MemoryBudgetError, match="smallest RAM found"):
        pareto.front(path, Options(ram="64"))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("options", [Options(), Options(ram="2672"), Options(ram="2000", no_rows=True)])
def test_points_are_the_same_with_and_without_a_second_process(
    options: Options, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also those that do not fit, and why."""
    found: list[object] = []
    for possible in (True, False):
        with monkeypatch.context() as patch:
            patch.setattr(forked, "is_possible", lambda possible=possible: possible)
            try:
                found.append(pareto.front(small(tmp_path), options))
            except MemoryBudgetError as error:
                found.append(error.explain())
    assert found[0] == found[1]


def test_modes_without_rows(tmp_path: Path) -> None:
    points = pareto.front(small(tmp_path), Options(no_rows=True)).points
    assert {point.by_rows for point in points} == {""}
    assert {goal for point in points for goal in point.presets} == {*GOALS} - {"ram"}
    with pytest.raises(UsageError, match="only one schedule"):
        pareto.front(small(tmp_path), Options(input_mode="frames"))


def test_the_command_prints_json_and_draws(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mcugen", "pareto", small(tmp_path), "--json", "--plot", tmp_path / "p.svg"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    value = json.loads(done.stdout)
    assert set(value) == {"name", "board", "machine", "points", "notes", "knee", "command", "clock_hz", "energy"}
    told = {"ram_bytes", "flash_bytes", "events", "by_rows", "instructions", "agrees", "cycles", "presets"}
    assert set(value["points"][0]) == told
    drawn = ElementTree.parse(tmp_path / "p.svg").getroot()
    circles = [e for e in drawn.iter() if e.tag.endswith("circle")]
    assert len(circles) == len(value["points"])


def test_text_marks_what_differs() -> None:
    points = (ParetoPoint(200, 80, 3, "", 1000, True), ParetoPoint(100, 80, 9, "0-2", 1100, False))
    result = Front("m", "b", "q", points, ("a note",))
    text = pareto.as_text(result)
    assert not result.agrees
    assert "note: a note" in text and "+10.00 %" in text
    *_, first, second, options = text.splitlines()
    assert ["DIFFERS from the reference" in line for line in (first, second)] == [False, True]
    assert options.startswith("  rows with a name: --optimize NAME; others: --optimize speed --ram BYTES")


def test_labels_of_the_curve_do_not_touch() -> None:
    """Figures that would are left out; names move up."""
    points = [(1000 - k, 10 + k, "", "speed" if k % 10 == 0 else "") for k in range(30)]
    drawn = ElementTree.fromstring(curve_chart.picture("<title>", "events", points))
    texts = [e for e in drawn.iter() if e.tag.endswith("text")]
    assert 1 <= sum(e.text in {f"{p[0]:,}" for p in points} for e in texts) <= 4
    heights = [float(e.attrib["y"]) for e in texts if e.text == "speed"]
    assert len(heights) == 3 and all(abs(a - b) >= 10 for a, b in combinations(heights, 2))
    assert sum(e.tag.endswith("circle") for e in drawn.iter()) == 30


def test_a_line_joins_the_points_that_none_beats() -> None:
    points = [(100, 50, "", "flash"), (90, 10, "", "speed"), (20, 80, "", "ram"), (20, 90, "", "")]
    drawn = ElementTree.fromstring(curve_chart.picture("title", "events", points))
    (line,) = [e.attrib["d"] for e in drawn.iter() if e.attrib.get("class") == "front"]
    circles = {(e.attrib["cx"], e.attrib["cy"]) for e in drawn.iter() if e.tag.endswith("circle")}
    joined = {tuple(at.split()) for at in line.removeprefix("M").split("L")}
    assert len(circles) == 4 and len(joined) == 2 and joined < circles
