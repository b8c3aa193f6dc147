# SPDX-License-Identifier: Apache-2.0
"""Counters of a profile, on cores that a program plays: with DWT, locked, silent, and without one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mcugen.machines.toolchain.process import run_checked
from mcugen.report import fitting, measured
from tests.exports.recorded import compiled

MAIN = Path(__file__).with_name("counters.c")


@pytest.mark.parametrize(
    ("arch", "dwt", "locked", "cycles"),
    [
        (7, 1, 0, 500_000_000),  # Cortex-M4: layers of up to 3e9 cycles, which SysTick could not count
        (7, 1, 1, 500_000_000),  # Cortex-M7, locked until LAR is written
        (7, 0, 0, 2_500_000),  # no DWT that counts: SysTick, up to 2**24 cycles
        (6, 1, 0, 2_500_000),  # Cortex-M0+ has none to ask
    ],
)
def test_every_cycle_of_a_layer_is_counted(arch: int, dwt: int, locked: int, cycles: int, tmp_path: Path) -> None:
    made = compiled(("profile",), board="host")
    (tmp_path / "digits_profile.h").write_bytes(made.files["digits_profile.h"])
    values = {"ARCH": arch, "HAS_DWT": dwt, "LOCKED": locked, "CYCLES": f"{cycles}u"}
    defines = [f"-D{name}={value}" for name, value in values.items()]
    run_checked(["gcc", "-std=c99", "-Wall", *defines, f"-I{tmp_path}", MAIN, "-o", tmp_path / "program"])
    log = measured.parse(run_checked([tmp_path / "program"]).stdout.decode(), "log")
    assert log.cycles == tuple(cycles * (k + 1) for k in range(len(log.cycles))) and log.runs == 2
    assert len(measured.layers(log, json.loads(made.files["report.json"]))) == len(log.cycles)
    assert abs(fitting.fit(log, {"simulated": None, "board": ""}).clock_hz / 80e6 - 1) < 1e-3
