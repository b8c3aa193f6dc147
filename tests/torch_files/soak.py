# SPDX-License-Identifier: Apache-2.0
"""Every row of layers.txt by both exporters of PyTorch, its C against ONNX Runtime:

`python -m tests.torch_files.soak --torch PYTHON [--into FOLDER]`. PYTHON has torch, onnx and onnxscript. Fails where a
file gives other results, where fewer than 500 files were exported or less than 97 % of those build and equal, and where
a refusal is not named in docs/models.md by its row.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.torch_files.judge import Verdict, verdicts
from tests.torch_files.rows import EXPORTERS

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "models.md"
LEAST_FILES = 500
LEAST_SHARE = 0.97


def exported(python: str, folder: Path) -> None:
    """Write the files of both exporters, each in a process of its own."""
    for exporter in EXPORTERS:
        command = [python, "-m", "tests.torch_files.export", exporter, str(folder)]
        subprocess.run(command, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, check=True, capture_output=True)


def faults(found: list[Verdict], page: str) -> list[str]:
    """The faults in the verdicts of all files."""
    judged = [v for v in found if v.outcome != "not exported"]
    equal = sum(v.outcome == "equal" for v in judged)
    wrong = [f"{v.exporter}: {v.row.layer}: {v.why}" for v in judged if v.outcome == "wrong"]
    unnamed = {v.row.layer for v in judged if v.outcome == "refused" and f"`{v.row.layer}`" not in page}
    if len(judged) < LEAST_FILES:
        wrong.append(f"only {len(judged)} files were exported")
    if equal < LEAST_SHARE * len(judged):
        wrong.append(f"only {equal} of {len(judged)} build and equal")
    return wrong + [f"refused, and not named in {PAGE.name}: {layer}" for layer in sorted(unnamed)]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--torch", required=True, metavar="PYTHON")
    parser.add_argument("--into", type=Path, metavar="FOLDER")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.into or Path(scratch)
        exported(given.torch, folder)
        found = list(verdicts(folder))
    for verdict in found:
        if verdict.outcome not in ("equal", "not exported"):
            print(f"{verdict.outcome} {verdict.exporter}: {verdict.row.layer}: {verdict.why[:200]}")
    problems = faults(found, PAGE.read_text(encoding="utf-8"))
    print("\n".join(problems))
    counts = Counter(f"{v.exporter} {v.outcome}" for v in found)
    print(", ".join(f"{name}: {count}" for name, count in sorted(counts.items())))
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
