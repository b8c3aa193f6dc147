# SPDX-License-Identifier: Apache-2.0
"""Installed packages of somebody else's, for tests of what is added from outside."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def install(site: Path, package: str, group: str, name: str, **files: str) -> None:
    """A package in the folder `site`, with an entry point of the group that names it. files: its files' texts."""
    info = site / f"{package}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {package}\n")
    (site / package).mkdir()
    for file, text in ({"__init__.py": ""} | files).items():
        (site / package / file).write_text(text)


def run(site: Path, *arguments: str | Path, timeout_s: float = 60.0) -> subprocess.CompletedProcess[str]:
    """The command line of mcugen, with the packages of a folder installed."""
    command = [sys.executable, "-m", "mcugen", *map(str, arguments)]
    env = os.environ | {"PYTHONPATH": f"{ROOT}:{site}"}
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=timeout_s)
