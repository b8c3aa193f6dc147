"""Results of checks on a build are noted in its folder only, and its pages show them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import mcugen
from mcugen import report
from mcugen.cli import main
from mcugen.errors import UsageError
from mcugen.report import noted, page, page_graph, page_memory, schema

ROOT = Path(__file__).resolve().parents[2]
SMALL = ROOT / "tests" / "models" / "s8_fully_connected.tflite"
FLOATS = SMALL.with_name("f32_fully_connected.tflite")
DIGITS = ROOT / "examples" / "digits" / "digits.tflite"


def typed(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        main([str(a) for a in arguments])
    return int(ended.value.code or 0), capsys.readouterr().err


@pytest.mark.whole
def test_results_are_in_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    built = mcugen.compile(SMALL, board="cortex-m4", clock="100M")
    built.write(tmp_path)
    options = ("--board", "cortex-m4", "--clock", "100M", "--into", tmp_path)
    assert typed(capsys, "verify", SMALL, "--cases", "1", *options) == (0, "")
    assert typed(capsys, "simulate", SMALL, "--cases", "1", *options) == (0, "")
    facts = json.loads((tmp_path / "report.json").read_text())
    text = (tmp_path / "report.html").read_text()
    assert schema.misfit(facts) == "" and facts["verified"]["agrees"] and facts["verified"]["exact"]
    ran = facts["simulated"]
    assert len(ran["steps"]) == len(facts["steps"])
    assert 0 < sum(s["instructions"] for s in ran["steps"]) <= ran["instructions"]
    for figure in (ran["instructions"], ran["stack_bound_bytes"], ran["text_bytes"], facts["verified"]["constants"]):
        assert f"{figure:,}" in text
    for step, counted in zip(facts["steps"], ran["steps"], strict=True):
        row = re.search(rf'<tr data-l="{step["index"]}".*?</tr>', text, re.DOTALL)
        assert row is not None and f"<td>{counted['instructions']:,}</td>" in row[0]
        assert f"<td>{counted['cycles']['high']:,}</td>" in row[0]
    assert text == page.html(facts).decode() and (tmp_path / "badge.svg").read_bytes() == page.badge(facts)
    with pytest.raises(UsageError, match=r"simulated\.steps"):
        page.checked({**facts, "simulated": {**ran, "steps": []}}, "report.json")
    built.write(tmp_path)  # a new build was not checked yet
    assert json.loads((tmp_path / "report.json").read_text())["simulated"] is None


@pytest.mark.parametrize(("model", "board"), [(FLOATS, "nucleo-f072rb"), (FLOATS, "cortex-m4"), (SMALL, "cortex-m3")])
def test_floats_in_software_are_noted(model: Path, board: str) -> None:
    notes = mcugen.compile(model, board=board, export=("none",)).report.notes
    assert ["see `mcugen quantize`" in note for note in notes] == ([True] if board == "nucleo-f072rb" else [])


def test_the_line_of_the_arena_adds_up() -> None:
    """Bytes live, bytes proven necessary and bytes taken are in this order, in a plan that is not proven, too."""
    facts = mcugen.compile(SMALL, board="cortex-m4", export=("none",)).report
    plans = (facts, replace(facts, arena_bytes=facts.lower_bound + 320, gap_bytes=318, proven=False))
    proven, other = (next(line for line in report.as_text(plan).splitlines() if " arena " in line) for plan in plans)
    assert proven.endswith(f"bytes  proven the least for this order of steps, {facts.lower_bound:,} live at once")
    assert f"{facts.lower_bound + 2:,} proven necessary for this order of steps" in other


def test_another_build_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mcugen.compile(SMALL, board="cortex-m4").write(tmp_path)
    before = (tmp_path / "report.json").read_bytes()
    for other, says in (
        ((SMALL, "--board", "cortex-m7"), "board is 'cortex-m4' there and 'cortex-m7' here"),
        ((SMALL, "--board", "cortex-m4", "--clock", "1M"), "clock_hz"),
        ((DIGITS, "--board", "cortex-m4"), "no model 'digits'"),
    ):
        status, err = typed(capsys, "verify", *other, "--into", tmp_path)
        assert status == 2 and says in err and "hint:" in err
    assert (tmp_path / "report.json").read_bytes() == before
    assert typed(capsys, "verify", SMALL, "--into", tmp_path / "none")[0] == 2


def test_any_schedule_of_the_model_will_do_for_a_curve() -> None:
    build = {"name": "a", "board": "b", "reference": "tflm", "sha256": "0", "ram_bytes": 9}
    other = {**build, "ram_bytes": 8}
    models = {"models": [{"name": "z"}, other]}
    assert noted.member(models, build, "out", any_schedule=True) is other
    with pytest.raises(UsageError, match="ram_bytes is 8 there and 9 here"):
        noted.member(models, build, "out", any_schedule=False)


def test_the_map_has_events_and_time() -> None:
    assert page_memory.events_of("-1x2 0 1x3 0") == [-1, -1, 0, 1, 1, 1, 0]
    whole = mcugen.compile(DIGITS, board="cortex-m4", optimize="speed")
    facts: dict[str, Any] = json.loads(whole.files["report.json"])
    weights = [1.0] * 5 + [5.0]
    shown = page_memory.map_of(facts, weights)
    by_last = {b["last_event"]: shown["blocks"][k] for k, b in enumerate(facts["buffers"])}
    # The last of six steps takes half of the time, and a sixth of the events.
    assert float(by_last[4]["time_x"]) + float(by_last[4]["time_w"]) == pytest.approx(70 + 1030 / 2, abs=0.3)
    assert float(by_last[4]["x"]) + float(by_last[4]["w"]) == pytest.approx(70 + 1030 * 5 / 6, abs=0.3)
    facts["ram_limit_bytes"] = facts["ram_bytes"] + 100
    assert [line["bytes"] for line in page_memory.map_of(facts, weights)["lines"]] == [facts["ram_limit_bytes"]]


def test_the_graph_has_a_lane_for_each_tensor_that_waits() -> None:
    def step(k: int, *inputs: str) -> dict[str, Any]:
        return {
            "index": k,
            "op": "Op",
            "inputs": inputs,
            "outputs": [f"t{k}"],
            "operators": ["a", "b"] if k == 1 else [],
        }

    def tensor(name: str, *made_by: int) -> dict[str, Any]:
        return {"name": name, "dtype": "s8", "shape": [4], "buffer": name, "made_by": made_by, "removed_channels": 0}

    tensors = [tensor("x"), *(tensor(f"t{k}", k) for k in range(4)), {**tensor("view", 0), "buffer": "t0"}]
    steps = [step(0, "x"), step(1, "t0"), step(2, "view"), step(3, "t1", "t2")]
    found = page_graph.graph_of({"inputs": ["x"], "tensors": tensors, "steps": steps})
    assert [row["kind"] for row in found["rows"]] == ["input", "step", "fused", "step", "step"]
    assert [row["x"] for row in found["rows"]] == ["14", "14", "32", "14", "14"]
    assert len(found["edges"]) == 5
    assert found["rows"][2]["marks"] == "does 2: a, b"


def test_fused_steps_name_the_operators_of_the_file() -> None:
    facts = json.loads(mcugen.compile(DIGITS, board="cortex-m4").files["report.json"])
    tensors = {t["name"]: t for t in facts["tensors"]}
    assert [tensors[s["outputs"][0]]["made_by"] for s in facts["steps"]] == [[k] for k in range(6)]
    assert {t["removed_channels"] for t in tensors.values()} == {0, 1}
    chained = mcugen.compile(ROOT / "tests" / "models" / "f32_shape_chain.tflite")
    several = [s.operators for s in chained.report.steps if s.operators]
    assert all(len(names) > 1 and all("operator" in name for name in names) for names in several)
