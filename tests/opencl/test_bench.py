# SPDX-License-Identifier: Apache-2.0
"""`mcugen bench`: times of a device's program, and of the same model as C."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from mcugen.cli import cli

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
