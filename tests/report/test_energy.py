"""Energy: estimated cycles times the picojoules per cycle of the board's file, wherever cycles are printed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import mcugen
from mcugen.boards.machine import Energy
from mcugen.builds import pareto
from mcugen.report import estimates
from mcugen.report.facts import CycleFacts, PartFacts, StreamFacts
from mcugen.verify import check_report, checks

DIGITS = Path(__file__).parent.parent.parent / "examples" / "digits" / "digits.tflite"
BOARD = "nucleo-u575zi"
LEAST, MOST = 143, 150


def test_a_build_prints_the_energy_of_an_inference() -> None:
    made = mcugen.compile(DIGITS, board=BOARD)
    cycles, found = made.report.cycles, json.loads(made.files["report.json"])["energy"]
    assert cycles is not None and (found["least_pj"], found["most_pj"]) == (LEAST, MOST) and "MLPerf" in found["source"]
    span = f"{cycles.low * LEAST * 1e-6:.3g} to {cycles.high * MOST * 1e-6:.3g} uJ"
    assert [line for line in estimates.as_lines(made.report) if span in line and "143 to 150 pJ a cycle" in line]
    assert span in made.files["report.html"].decode()
    without = mcugen.compile(DIGITS, board="cortex-m4")
    assert without.report.energy is None and "uJ" not in "".join(estimates.as_lines(without.report))


@pytest.mark.parametrize(
    ("cycles", "text"),
    [((10, 20), "0.001 to 0.002 uJ"), ((10**7, 2 * 10**7), "1 to 2 mJ"), ((10**6, 2 * 10**7), "100 to 2,000 uJ")],
)
def test_one_unit_holds_for_both_ends(cycles: tuple[int, int], text: str) -> None:
    assert estimates.joules(CycleFacts(*cycles), Energy(100, 100, "")) == text


def test_simulate_takes_the_counted_cycles() -> None:
    result = checks.simulate(mcugen.compile(DIGITS, board=BOARD), 1, None, "-O2", lambda text: None)
    facts = check_report.simulate_dict(result)
    low, high = facts["cycles"]["low"] * LEAST * 1e-6, facts["cycles"]["high"] * MOST * 1e-6
    assert facts["microjoules"] == {"low": round(low, 4), "high": round(high, 4)}
    assert f"{low:.3g} to {high:.3g} uJ" in check_report.simulate_text(result)
    none = check_report.simulate_dict(replace(result, energy=None))
    assert none["microjoules"] is None and "uJ" not in check_report.simulate_text(replace(result, energy=None))


def test_schedules_are_compared_by_energy_too() -> None:
    point = pareto.ParetoPoint(64, 100, 5, "", 1000, True, CycleFacts(10**6, 2 * 10**6))
    front = pareto.Front("net", BOARD, "machine", (point,), (), clock_hz=10**6, energy=Energy(100, 200, "a source"))
    assert "100 to 400 uJ" in pareto.as_text(front) and "uJ" not in pareto.as_text(replace(front, energy=None))


def test_a_stream_has_a_mean_power() -> None:
    parts = (PartFacts("front end", 0, 1, 50, CycleFacts(10**4, 2 * 10**4), None, None),)
    parts += (PartFacts("network", 1, 1, 10, CycleFacts(10**5, 2 * 10**5), None, None),)
    stream = StreamFacts(480, 320, 1, 480, 16000, 0, parts, None)
    (note,) = [text for text in estimates.stream_notes(stream, Energy(100, 200, "")) if "power" in text]
    assert "0.15 to 0.6 mW" in note  # 1.5 and 3 million cycles a second
    assert not [text for text in estimates.stream_notes(stream, None) if "power" in text]
