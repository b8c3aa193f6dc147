# SPDX-License-Identifier: Apache-2.0
"""The memories for constants: those that --weights-in names, or those that the goal chooses."""

from __future__ import annotations

from pathlib import Path

import pytest

import mcugen
from mcugen.builds import shared_arena
from mcugen.errors import MemoryBudgetError, UsageError
from mcugen.options import Options
from mcugen.pipeline import Artifact
from mcugen.solve.memories import STACK_RESERVE_BYTES
from mcugen.system import resources
from mcugen.verify import emulated
from mcugen.verify.cases import cases
from tests.emit.built import ROOT

DIGITS = ROOT / "examples/digits/digits.tflite"


def held(artifact: Artifact) -> dict[str, int]:
    return {facts.name: facts.used_bytes for facts in artifact.report.weights}


SPEED = {"board": "nucleo-l4r5zi", "optimize": "speed"}


def unmoved() -> Artifact:
    return mcugen.compile(DIGITS, **SPEED, weights_in="none")


def test_auto_takes_what_the_tensors_leave() -> None:
    artifact = mcugen.compile(DIGITS, board="nucleo-h743zi", weights_in="auto")
    assert held(artifact) == {"": 0, "dtcm": artifact.report.weights_bytes}


@pytest.mark.whole
def test_speed_moves_constants_from_a_flash_that_waits() -> None:
    artifact = mcugen.compile(DIGITS, **SPEED)
    assert held(artifact) == {"": 0, "sram": artifact.report.weights_bytes}
    assert any("copied to RAM at start-up" in note and "5 wait states" in note for note in artifact.report.notes)
    ran, left = (emulated.simulate(a, list(cases(a.imported, 1))[:1]) for a in (artifact, unmoved()))
    assert ran.agrees and left.agrees and ran.cycles is not None and left.cycles is not None
    least = [sum(step.core.low for step in found.steps if step.core) for found in (ran, left)]
    assert least[0] == pytest.approx(least[1], rel=0.01)
    assert ran.cycles.high - ran.cycles.low < 0.7 * (left.cycles.high - left.cycles.low)


@pytest.mark.parametrize(
    "choices",
    [
        {**SPEED, "weights_in": "none"},
        {**SPEED, "ram": "300K"},
        {**SPEED, "region": "sram"},
        {**SPEED, "optimize": "balanced"},
        {**SPEED, "board": "nrf52840-dk"},  # whose wait states are not known
        {**SPEED, "board": "stm32f746-disco"},  # a board without figures on delays of reads
        {**SPEED, "board": "cortex-m4"},
    ],
    ids=str,
)
def test_nothing_moves_where_that_was_not_left_to_the_goal(choices: dict[str, str]) -> None:
    artifact = mcugen.compile(DIGITS, **choices)
    assert set(held(artifact)) == {""} and not artifact.view.weight_places
    assert not any("copied to RAM" in note for note in artifact.report.notes)


def test_no_more_moves_than_the_ram_holds(tmp_path: Path) -> None:
    text = (resources.boards() / "nucleo-l4r5zi" / "board.toml").read_text(encoding="utf-8")
    (tmp_path / "board.toml").write_text(text.replace("size_bytes = 655360", "size_bytes = 14000"), encoding="utf-8")
    artifact = mcugen.compile(DIGITS, **{**SPEED, "board": str(tmp_path)})
    moved = held(artifact)["sram"]
    assert 0 < moved < artifact.report.weights_bytes
    assert moved + artifact.report.ram_bytes + STACK_RESERVE_BYTES <= 14000


def test_models_that_share_an_arena_leave_their_constants(tmp_path: Path) -> None:
    other = tmp_path / "other.tflite"
    other.write_bytes(DIGITS.read_bytes())
    shared = shared_arena.build([DIGITS, other], Options(**SPEED))
    assert all(not a.view.weight_places for a in shared.artifacts)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"board": "cortex-m7", "weights_in": "auto"}, "the memories of cortex-m7 are not known"),
        ({"board": "cortex-m7", "weights_in": "dtcm"}, "--weights-in dtcm: a size is missing"),
        ({"board": "nucleo-h743zi", "weights_in": "psram"}, "nucleo-h743zi has no memory 'psram' for constants"),
        ({"board": "nucleo-h743zi", "weights_in": "dtcm=128K"}, "dtcm of nucleo-h743zi does not have 131,072"),
        ({"weights_in": "Fast=1K"}, "'Fast' cannot name a region here"),
    ],
)
def test_wrong_memories_are_refused(choices: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        mcugen.compile(DIGITS, **choices)
    assert message in str(caught.value)


def test_constants_that_fit_no_flash_are_refused() -> None:
    with pytest.raises(MemoryBudgetError) as caught:
        mcugen.compile(DIGITS, board="stm32f746-disco", weights_in="flash=1K,qspi=600")
    assert "flash of the code: the constants that remain there take" in str(caught.value)
