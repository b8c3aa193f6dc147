# SPDX-License-Identifier: Apache-2.0
"""The script that tables the memory of a collection, on a collection of one model."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import mcugen

ROOT = Path(__file__).resolve().parents[2]
DIGITS = ROOT / "examples" / "digits" / "digits.tflite"


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "ci" / "memory"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def test_a_row_has_the_ram_of_each_mode(tmp_path: Path) -> None:
    (tmp_path / "digits").mkdir()
    shutil.copy(DIGITS, tmp_path / "digits" / "model.tflite")
    info = {"fmt": "tflite", "subgraphs": 1, "hybrid_ops": 0, "state_bytes": 0, "ops": {}}
    (tmp_path / "digits" / "info.json").write_text(json.dumps(info))
    done = run(tmp_path, "digits")
    assert done.returncode == 0, done.stderr
    cells = [cell.strip() for cell in done.stdout.strip().strip("|").split("|")]
    whole = mcugen.compile(DIGITS).report
    ram, rows = (mcugen.compile(DIGITS, optimize="ram", input_mode=mode).report.ram_bytes for mode in ("whole", "rows"))
    sizes = (whole.lower_bound, whole.ram_bytes, ram, rows)
    assert cells[:5] == ["digits", *(f"{size:,}" for size in sizes)]
    assert cells[5] == "0 / 0 / 0"
    assert all(0 < float(share) < 1 for share in cells[6:8])


def test_usage() -> None:
    assert run().returncode == 2
    assert run(ROOT / "docs").returncode == 1
