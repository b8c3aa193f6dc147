# SPDX-License-Identifier: Apache-2.0
"""`mcugen bench`: times of a device's program, and of the same model as C."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from mcugen.cli import cli
from mcugen.machines.native import processor

ROOT = Path(__file__).resolve().parents[2]
DIGITS = ROOT / "examples/digits/digits.tflite"
MODEL = Path(__file__).resolve().parents[1] / "models" / "f32_relu.tflite"


def test_times_of_the_device_and_of_c_stand_in_one_table() -> None:
    arguments = ["bench", str(MODEL), "--backend", "opencl", "--runs", "20", "--c-runs", "5"]
    found = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert found.exit_code == 0, found.output
    rows = {line.split("  ")[1].strip(): line for line in found.output.splitlines() if line.startswith("  ")}
    assert {"steps", "whole run", "C, 1 core"} <= rows.keys(), found.output
    for title in ("steps", "whole run", "C, 1 core"):
        assert all(word in rows[title] for word in (" ms ", "p99 ", "mean "))
    assert rows["C, 1 core"].endswith("of 5 runs")


def test_without_a_backend_the_c_for_this_computer_is_timed() -> None:
    for threads in ("1", "2"):
        arguments = ["bench", str(DIGITS), "--threads", threads, "--runs", "20", "--json"]
        found = json.loads(CliRunner().invoke(cli, arguments, catch_exceptions=False).output)
        assert found["board"] == processor.board()
        assert f"{threads} thread" in found["ran_as"]
        assert 0 < found["c"]["least"] <= found["c"]["p50"] <= found["c"]["p99"] and found["c"]["count"] == 20


def test_flags_of_devices_are_refused_without_one() -> None:
    for flag in ("--device", "--c-runs"):
        found = CliRunner().invoke(cli, ["bench", str(MODEL), flag, "5"])
        assert found.exit_code != 0 and f"{flag} is for --backend opencl" in str(found.exception)
