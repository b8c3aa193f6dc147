# SPDX-License-Identifier: Apache-2.0
"""The promises in a build's output hold when they are tried: its command, the presets, plans near the knee."""

from __future__ import annotations

import json
import re
import shlex
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from mcugen.cli import main

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
SAMPLE = "camera/shapes.tflite"
PROMISE = re.compile(r"(\d+) % more RAM is (\d+\.\d) times faster: (--.*)")
BUDGET = re.compile(r"(?:--ram |=)(\d+)")
SLACK = 0.11
"""Largest error of a predicted time, which is rounded to a tenth, and is based on estimated cycles."""
SPARED = 1
"""Percent of the RAM that a build may leave of what was named: its goal has a price of RAM, the plan named had none."""


def typed(folder: Path, command: str, model: Path) -> dict[str, Any]:
    """The report of a command, typed as it was printed but for the model's place and the folder."""
    program, *arguments = shlex.split(command.replace("MODEL.tflite", str(model)))
    assert program == "mcugen"
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "-o", str(folder), "--quiet"])
    assert not ended.value.code, command
    return json.loads((folder / "report.json").read_bytes())


def cycles(facts: dict[str, Any]) -> float:
    return (facts["cycles"]["low"] + facts["cycles"]["high"]) / 2


SPREAD = "nucleo-h743zi --region dtcm=2K,axi_sram"
"""A board with several memories, of which the first is too small for the model."""


def test_commands_presets_and_the_knee_keep_their_promises(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    more = ["microphone/sweeps.tflite", "digits/digits.tflite"] if request.config.getoption("--whole") else []
    boards = ["nucleo-l4r5zi", SPREAD, "nucleo-h743zi"] if more else ["nucleo-l4r5zi"]
    for example, board in product((SAMPLE, *more), boards):
        model, begin = EXAMPLES / example, f"mcugen build MODEL.tflite --board {board}"
        name = f"{model.stem}-{board}"
        goals = ("ram", "balanced", "speed")
        found = {goal: typed(tmp_path / f"{name}-{goal}", f"{begin} --optimize {goal}", model) for goal in goals}
        assert found["ram"]["ram_bytes"] <= found["balanced"]["ram_bytes"] <= found["speed"]["ram_bytes"]
        assert cycles(found["ram"]) >= cycles(found["balanced"]) >= cycles(found["speed"])
        promises = [match for note in found["ram"]["notes"] if (match := PROMISE.search(note))]
        assert promises or example != SAMPLE  # others may leave nothing to gain
        for k, (share, times, options) in enumerate(match.groups() for match in promises):
            again = f"{begin.partition(' --region')[0]} {options}"
            made = typed(tmp_path / f"{name}-{k}", again, model)
            budget = sum(int(nbytes) for nbytes in BUDGET.findall(options))
            more = [round(100 * (taken / found["ram"]["ram_bytes"] - 1)) for taken in (budget, made["ram_bytes"])]
            assert more[0] == int(share) and int(share) - SPARED <= more[1] <= int(share)
            assert cycles(found["ram"]) / cycles(made) >= (1 - SLACK) * float(times)
        again = typed(tmp_path / f"{name}-again", found["balanced"]["command"], model)
        assert again == found["balanced"]
        for path in again["files"]:
            assert (tmp_path / f"{name}-again" / path).read_bytes() == (
                tmp_path / f"{name}-balanced" / path
            ).read_bytes()
