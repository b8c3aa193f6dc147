# SPDX-License-Identifier: Apache-2.0
"""`ci/replay` tells checkouts that emit the same from those that do not, and sees costs that rose."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from mcugen.toolchain.process import Completed, run
from tests.support import replay

ROOT = Path(__file__).resolve().parents[1]
KERNEL = "c_runtime/mcugen/portable/softmax_s8.c"


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A copy of what this checkout emits from."""
    root = tmp_path / "other"
    for part in replay.PARTS:
        shutil.copytree(ROOT / part, root / part, ignore=shutil.ignore_patterns("__pycache__"))
    return root


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What was emitted is kept from test to test."""
    return tmp_path_factory.mktemp("results")


def replayed(other: Path, results: Path, *more: str) -> Completed:
    given = [*more, "--models", ROOT / "examples/digits", "--results", results]
    return run([ROOT / "ci/replay", ROOT, other, *given, "--cores", "cortex-m0plus", "--presets", "ram"], timeout_s=300)


@pytest.mark.parametrize(
    ("before", "after", "more", "outcome", "status"),
    [
        ("/*", "/* changed", (), "1 same code", 0),
        (" > ", " < ", (), "1 different", 1),
        (" > ", " < ", ("--costs",), "1 not compiled", 0),
    ],
)
def test_what_changed_is_told(
    before: str, after: str, more: tuple[str, ...], outcome: str, status: int, other: Path, results: Path
) -> None:
    text = (other / KERNEL).read_text(encoding="utf-8")
    assert before in text
    (other / KERNEL).write_text(text.replace(before, after, 1), encoding="utf-8")
    done = replayed(other, results, *more)
    assert (outcome in done.text.splitlines()[-1], done.returncode) == (True, status), done.text


def test_a_cost_that_rose_is_told(other: Path, tmp_path: Path) -> None:
    (other / "templates/unused.j2").write_text("")
    same = replayed(other, tmp_path)
    assert ("1 identical" in same.text, same.returncode) == (True, 0), same.text
    key = replay.Checkout.at(ROOT).key
    (kept,) = (tmp_path / key).rglob("*.json")
    record = json.loads(kept.read_text(encoding="utf-8"))
    kept.write_text(json.dumps(record | {"RAM": record["RAM"] - 1}), encoding="utf-8")
    done = replayed(other, tmp_path)
    assert done.returncode == 1
    assert "RAM" in done.text and "a cost rose in 1" in done.text
