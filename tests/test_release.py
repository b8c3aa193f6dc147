# SPDX-License-Identifier: Apache-2.0
"""Workflows call scripts of ci/, a model that outgrew its RAM is refused, a wheel has a bill of materials."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import mcugen
from tests.support.bill_of_materials import bill

ROOT = Path(__file__).resolve().parent.parent
DIGITS = ROOT / "examples" / "digits" / "digits.tflite"


def test_workflows_only_call_scripts() -> None:
    """But for what installs the tools that a container lacks."""
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        commands = re.findall(r"- run: (.*)", path.read_text("utf-8"))
        own = [command for command in commands if not command.startswith("apt-get update")]
        assert own and all((ROOT / command.split()[0]).is_file() for command in own), path.name
        assert all(command.startswith("ci/") for command in own), path.name


def test_the_version_is_said_once() -> None:
    assert f"version: {mcugen.__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert f'version = "{mcugen.__version__}"' in (ROOT / "pyproject.toml").read_text("utf-8")


def test_a_model_that_outgrew_its_ram(tmp_path: Path) -> None:
    mcugen.compile(DIGITS, board="cortex-m4", optimize="ram", no_report=True).write(tmp_path / "small")
    mcugen.compile(DIGITS, board="cortex-m4", no_report=True).write(tmp_path / "large")

    def outgrown(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, ROOT / "ci" / "outgrown", *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)

    grown = outgrown("small", "large")
    assert grown.returncode == 1 and "**Outgrown: RAM" in grown.stdout and "| RAM |" in grown.stdout
    assert outgrown("small", "large", "--ram", "10000", "--flash", "10000").returncode == 0
    shrunk = outgrown("large", "large")
    assert shrunk.returncode == 0 and "Within the budget" in shrunk.stdout
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "report.json").write_text('{"name": "both", "board": "host", "models": []}')
    for folder, why in (("nowhere", "No such file"), ("shared", "of no build of one model")):
        refused = outgrown("small", folder)
        assert refused.returncode == 1 and why in refused.stderr and "Traceback" not in refused.stderr


def test_the_bill_names_what_is_needed(tmp_path: Path) -> None:
    wheel = tmp_path / "mcugen-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        text = 'Name: mcugen\nVersion: 1.0\nRequires-Dist: numpy>=1.26\nRequires-Dist: pytest; extra == "dev"\n'
        archive.writestr("mcugen-1.0.dist-info/METADATA", text)
    made = bill(wheel)
    assert [part["name"] for part in made["components"]] == ["numpy"]
    assert made["components"][0]["version"][0].isdigit() and len(made["metadata"]["component"]["hashes"]) == 1
