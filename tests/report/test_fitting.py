# SPDX-License-Identifier: Apache-2.0
"""Clock and wait states of a board are found again in logs of boards whose clock and wait states are known."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from mcugen.boards import target
from mcugen.cli import main
from mcugen.errors import UsageError
from mcugen.report import fitting, measured

DIGITS = Path(__file__).resolve().parents[2] / "examples" / "digits" / "digits.tflite"
BOARD = "nucleo-l4r5zi"
MHZ = 80
NOISE = (1.01, 0.99, 1.005, 0.99, 1.01, 0.995)


def command(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> dict[str, Any]:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    text = capsys.readouterr().out
    assert ended.value.code in (0, None), text
    return dict(json.loads(text)) if "--json" in arguments else {}


def simulated(board: str | Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The report of a build of the digits classifier, with what was counted on a board."""
    command(capsys, "build", DIGITS, "--board", board, "-o", folder)
    command(capsys, "simulate", DIGITS, "--board", board, "--cases", "1", "--into", folder)
    return dict(json.loads((folder / "report.json").read_text()))


def log_of(facts: dict[str, Any], cycles: list[float], *, hz: int = MHZ * 1000000, runs: int = 2, us: int = 0) -> str:
    """A board's log with these cycles per layer, and 10 cycles per mark."""
    counted = [round(runs * (c + 10)) for c in cycles]
    head = f"mcugen-profile 2 {facts['name']} {facts['sha256'][:16]} runs={runs} hz={hz} mark=10"
    lines = [f"{head} cycles={sum(counted)} us={us}"]
    lines += [f"step {k} {c} {runs} a layer" for k, c in enumerate(counted)]
    return "\n".join([*lines, f"mcugen-profile end {measured.checksum(lines)}", ""])


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Cycles and waits of a simulation, as a report holds them; a fixed example, so that no emulator need run."""
    low = (22038, 13714, 33760, 6112, 6761, 880)
    waits = ((1073, 2299), (635, 1055), (2200, 2837), (93, 287), (612, 680), (17, 66))
    steps = [
        {
            "instructions": a,
            "cycles": {"low": a, "high": round(1.04 * a) + first + 4 * more},
            "core": {"low": a, "high": round(1.04 * a)},
            "waits": [0, *(first + more * k for k in range(15))],
        }
        for a, (first, more) in zip(low, waits, strict=True)
    ]
    return {"name": "m", "sha256": "0" * 64, "board": BOARD, "simulated": {"wait_states": 5, "steps": steps}}


@pytest.mark.parametrize("states", [0, 1, 3, 5, 8, 15])
@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_known_clock_and_wait_states_are_found(facts: dict[str, Any], states: int, share: float) -> None:
    """Wherever in the interval the board lies, with a hundredth of noise on each layer."""
    steps = facts["simulated"]["steps"]
    pure = [s["core"]["low"] + share * (s["core"]["high"] - s["core"]["low"]) for s in steps]
    cycles = [n * (c + s["waits"][states]) for n, c, s in zip(NOISE, pure, steps, strict=True)]
    log = measured.parse(log_of(facts, cycles, us=round(2 * sum(cycles) / 64)), "log")
    found = fitting.fit(log, facts)
    assert found.waits is not None and found.waits.states == states and found.waits.off < 0.012
    assert abs(found.clock_hz / 64e6 - 1) < 0.02 and "states 80 MHz" in found.notes[0]
    (board,) = re.findall(r"(?m)^wait_states = (\d+)", fitting.board_text(target.text(BOARD), found))
    assert int(board) == states


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "emulated" in metafunc.fixturenames:
        metafunc.parametrize("emulated", [False, True] if metafunc.config.getoption("--whole") else [False])


def test_the_command_writes_a_board_toml(
    emulated: bool, facts: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The build is for a board with 5 wait states, the log of one with 2; with --whole, both are emulated."""
    out, log, fit = tmp_path / "out", tmp_path / "log", tmp_path / "board.toml"
    if emulated:
        (tmp_path / "theirs").mkdir()
        (tmp_path / "theirs" / "board.toml").write_text(
            target.text(BOARD).replace("wait_states = 5", "wait_states = 2")
        )
        steps = simulated(tmp_path / "theirs", tmp_path / "b", capsys)["simulated"]["steps"]
        cycles = [step["core"]["high"] + step["waits"][2] for step in steps]
        mine = simulated(BOARD, out, capsys)
    else:
        command(capsys, "build", DIGITS, "--board", BOARD, "-o", out, "--no-report")
        mine = json.loads((out / "report.json").read_text()) | {"simulated": facts["simulated"]}
        (out / "report.json").write_text(json.dumps(mine))
        cycles = [step["cycles"]["low"] + step["waits"][2] for step in facts["simulated"]["steps"]]
    log.write_text(log_of(mine, cycles))
    shown = command(capsys, "profile", log, "--build", out, "--fit", fit, "--json")
    assert shown["fit"]["wait_states"]["states"] == 2 and shown["fit"]["wait_states"]["off"] < 0.01
    fitted = target.load(str(tmp_path))
    assert fitted.clock_hz == MHZ * 1000000 and fitted.flash_regions()[0].wait_states == 2


def test_what_nothing_tells_stays(facts: dict[str, Any]) -> None:
    cycles = [float(step["cycles"]["low"]) for step in facts["simulated"]["steps"]]
    log = measured.parse(log_of(facts, cycles), "log")
    for simulation, reason in ((None, "mcugen simulate"), ({**facts["simulated"], "wait_states": None}, "line_bytes")):
        found = fitting.fit(log, facts | {"simulated": simulation})
        assert found.waits is None and reason in found.notes[0] and "80 MHz" in found.lines[0]
        assert "wait_states = 5" in fitting.board_text(target.text(BOARD), found)
    idle = [step | {"waits": [0] * 16} for step in facts["simulated"]["steps"]]
    found = fitting.fit(log, facts | {"simulated": {"wait_states": 5, "steps": idle}})
    assert found.waits is not None and len(found.waits.alike) == 15 and "too little" in found.lines[1]
    with pytest.raises(UsageError, match="no clock"):
        fitting.fit(measured.parse(log_of(facts, cycles, hz=0), "log"), facts)
    with pytest.raises(UsageError, match="states no clock"):
        fitting.board_text("", found)
