# SPDX-License-Identifier: Apache-2.0
"""The worked example of a kernel in docs/extending.md is a package that builds, is chosen, and has the right bits."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from mcugen import kernels
from mcugen.ext import Accumulate, Alias, Cost, Join, Kernel, Ring, Run, Text, Whole, Window
from tests.support.plugin import install, run

ROOT = Path(__file__).resolve().parents[2]
DIGITS = ROOT / "examples/digits/digits.tflite"
SECTION = (
    (ROOT / "docs/extending.md").read_text("utf-8").partition("## A kernel in 40 lines\n")[2].partition("\n## ")[0]
)
RECIPE, HEADER, SOURCE = re.findall(r"```(?:python|c)\n(.*?)```", SECTION, re.DOTALL)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package of the page installed."""
    folder = tmp_path_factory.mktemp("site")
    files = {"__init__.py": RECIPE, "halving_max_s8.h": HEADER, "halving_max_s8.c": SOURCE}
    install(folder, "halving", kernels.GROUP, "halving", **files)
    return folder


def test_the_kernel_of_the_page_has_40_lines() -> None:
    lines = [line for text in (RECIPE, HEADER, SOURCE) for line in text.splitlines() if line.strip()]
    assert len(lines) <= 40


def test_the_kernel_of_the_page_is_chosen_and_exact(site: Path, tmp_path: Path) -> None:
    built = run(site, "build", DIGITS, "-o", tmp_path / "out", "--board", "cortex-m4", "--json")
    assert built.returncode == 0, built.stderr
    steps = {step["op"]: step["kernel"] for step in json.loads(built.stdout)["steps"]}
    assert steps["MaxPool2D"] == "mg_halving_max_s8"
    (source,) = (tmp_path / "out/kernels").glob("halving_max_s8_*.c")
    assert re.sub("_[0-9a-f]{6}", "", source.read_text()) == SOURCE
    checked = run(site, "verify", DIGITS, "--board", "cortex-m4")
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("record", [Kernel, Run, Window, Ring, Accumulate, Whole, Alias, Join, Text, Cost])
def test_the_page_names_what_a_record_states(record: type) -> None:
    rare = {"symbol", "form", "needs", "short", "keeps", "pitch", "converting", "parts", "source", "files"}
    assert {f.name for f in fields(record) if f"`{f.name}`" not in SECTION} <= rare
