# SPDX-License-Identifier: Apache-2.0
"""The emitted C keeps the MISRA rules that docs/misra.md claims, in all configurations, as cppcheck's addon finds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mcugen.machines.toolchain.process import run
from tests.emit.built import ROOT, build

COMMAND = ["cppcheck", "--addon=misra", "--std=c99", "--enable=warning,portability", "--force", "-I.", "-q"]
COMMAND += ["--suppress=missingIncludeSystem", "--suppress=moduloofone", "--template={id} {file}:{line}"]
FINDING = re.compile(r"^([\w.-]+) (\S+:\d+)$", re.MULTILINE)


def not_kept() -> set[str]:
    """The rules in the table of those that are not kept."""
    table = (ROOT / "docs" / "misra.md").read_text().partition("## Not kept")[2]
    return {rule for cells in re.findall(r"^\| ([\d., ]+) \|", table, re.MULTILINE) for rule in cells.split(", ")}


def findings(folder: Path, sources: list[str]) -> list[tuple[str, str]]:
    """The findings of cppcheck: id and place."""
    done = run([*COMMAND, *sources], cwd=folder)
    return FINDING.findall((done.stderr + done.stdout).decode())


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("model", "choices"),
    [("digits", {"board": "cortex-m0plus", "optimize": "ram"}), ("image_net", {"board": "cortex-m4"})],
)
def test_rules_claimed_are_kept(tmp_path: Path, model: str, choices: dict[str, str]) -> None:
    built = build(model, tmp_path, **choices)
    found = findings(built.folder, built.sources())
    broken = [f"{rule} at {at}" for rule, at in found if rule.removeprefix("misra-c2012-") not in not_kept()]
    assert found and not broken


def test_a_broken_rule_is_found(tmp_path: Path) -> None:
    (tmp_path / "unit.c").write_text(
        "int f(int x);\nint f(int x)\n{\n    if (x > 0)\n        x = 01;\n    return x;\n}\n"
    )
    rules = {rule.removeprefix("misra-c2012-") for rule, _ in findings(tmp_path, ["unit.c"])}
    assert {"7.1", "15.6"} <= rules and not {"7.1", "15.6"} & not_kept()
