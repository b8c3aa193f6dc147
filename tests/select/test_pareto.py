# SPDX-License-Identifier: Apache-2.0
"""RAM against instructions: which points are shown, how, and for which boards."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import mcugen
from mcugen import pareto
from mcugen.cli import main
from mcugen.errors import MemoryBudgetError, UsageError
from mcugen.options import Options
from mcugen.pareto import Front, Point
from mcugen.report import curve
from mcugen.select.curve import Curve
from mcugen.toolchain import objects, process
from tests.select.test_budget import SMALL


def small(folder: Path) -> Path:
    (folder / "small.tflite").write_bytes(SMALL)
    return folder / "small.tflite"


Work = list[str]


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Front, Work]:
    """The points of a small network, and what was compiled and searched for them."""
    work: Work = []
    compiled, searched = process.run_checked, Curve.within

    def compile_one(command: list[str], **options: Any) -> Any:
        work.append(str(command[command.index("-c") + 1]))
        return compiled(command, **options)

    def search(curve: Curve, limit: float, cost: float = math.inf) -> Any:
        work.append(f"curve {id(curve)} below {limit}")
        return searched(curve, limit, cost)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(objects, "_OBJECTS", objects._Objects())
        patch.setattr(objects, "run_checked", compile_one)
        patch.setattr(Curve, "within", search)
        found = pareto.front(small(tmp_path_factory.mktemp("counted")), Options(board="cortex-m4"))
    return found, work


@pytest.fixture(scope="module")
def counted(watched: tuple[Front, Work]) -> Front:
    return watched[0]


def test_points_share_their_kernels_and_their_curve(watched: tuple[Front, Work]) -> None:
    """Each kernel is compiled once, and the knee is found on the curve that its point came from."""
    found, work = watched
    kernels = [name for name in work if name.startswith("kernels")]
    assert len(found.points) > 2 and kernels and len(set(kernels)) == len(kernels)
    whole = {name.split()[1] for name in work if name.endswith("below inf")}
    assert len(whole) == 3  # of speed, of balanced, and of the leanest kernels for the knee


def test_points_are_counted_exact_and_none_beats_another(tmp_path: Path, counted: Front) -> None:
    result = counted
    assert result.agrees and result.machine and len(result.points) >= 2
    assert all(point.agrees and point.instructions for point in result.points)
    for faster, slower in combinations(result.points, 2):
        assert faster.cost <= slower.cost
        assert slower.ram_bytes < faster.ram_bytes or slower.flash_bytes < faster.flash_bytes
    least = mcugen.compile(small(tmp_path), board="cortex-m4", optimize="ram").report.ram_bytes
    assert min(point.ram_bytes for point in result.points) == least


def test_without_an_emulated_core_events_are_shown(tmp_path: Path) -> None:
    result = pareto.front(small(tmp_path), Options())
    assert result.machine == "" and "no emulated machine" in result.notes[0]
    assert 2 <= len(result.points) <= pareto.MAX_POINTS
    assert all(point.instructions is None and point.agrees is None for point in result.points)
    assert [point.cost for point in result.points] == [point.events for point in result.points]
    assert result.points[0].by_rows == ""


def test_the_command_of_the_knee_builds_it(tmp_path: Path, counted: Front) -> None:
    """Also where the model lies in several memories, each of which gets a budget."""
    spread = pareto.front(small(tmp_path), Options(region="a=1K,b=2K"))
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


def test_a_knee_without_a_build_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise MemoryBudgetError("does not fit")

    monkeypatch.setattr("mcugen.select.solve", refuse)
    result = pareto.front(small(tmp_path), Options())
    assert result.knee is None and result.command == "" and "no knee is named" in result.notes[-1]


def test_a_budget_leaves_the_larger_ones_out(tmp_path: Path) -> None:
    path = small(tmp_path)
    everything = pareto.front(path, Options()).points
    limit = everything[1].ram_bytes
    result = pareto.front(path, Options(ram=str(limit)))
    assert result.points == tuple(point for point in everything if point.ram_bytes <= limit)
    assert 0 < len(result.points) < len(everything)
    assert any(note.endswith("of the schedules do not fit") for note in result.notes)
    with pytest.raises(MemoryBudgetError, match="smallest RAM found"):
        pareto.front(path, Options(ram="64"))


def test_modes_with_one_schedule(tmp_path: Path) -> None:
    assert len(pareto.front(small(tmp_path), Options(no_rows=True)).points) == 1
    with pytest.raises(UsageError, match="one schedule only"):
        pareto.front(small(tmp_path), Options(input_mode="frames"))


def test_the_command_prints_json_and_draws(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mcugen", "pareto", small(tmp_path), "--json", "--plot", tmp_path / "p.svg"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    value = json.loads(done.stdout)
    assert set(value) == {"name", "board", "machine", "points", "notes", "knee", "command"}
    assert set(value["points"][0]) == {"ram_bytes", "flash_bytes", "events", "by_rows", "instructions", "agrees"}
    drawn = ElementTree.parse(tmp_path / "p.svg").getroot()
    circles = [e for e in drawn.iter() if e.tag.endswith("circle")]
    assert len(circles) == len(value["points"])


def test_text_marks_what_differs() -> None:
    points = (Point(200, 80, 3, "", 1000, True), Point(100, 80, 9, "0-2", 1100, False))
    result = Front("m", "b", "q", points, ("a note",))
    text = pareto.as_text(result)
    assert not result.agrees
    assert "note: a note" in text and "+10.00 %" in text
    assert [line.endswith("DIFFERS from the reference") for line in text.splitlines()[-2:]] == [False, True]


def test_labels_of_the_curve_do_not_touch() -> None:
    points = [(1000 - k, 10 + k, "") for k in range(30)]
    drawn = ElementTree.fromstring(curve.picture("<title>", "events", points))
    labels = [e.text for e in drawn.iter() if e.tag.endswith("text") and e.text in {f"{p[0]:,}" for p in points}]
    assert 1 <= len(labels) <= 4
    assert sum(e.tag.endswith("circle") for e in drawn.iter()) == 30
