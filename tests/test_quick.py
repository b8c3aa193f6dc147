# SPDX-License-Identifier: Apache-2.0
"""The choice of tests by `ci/quick`: those that use what was changed, the nearest first."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.support import dependents, timed
from tests.support.conformance import operators_using

TEXTS = {
    "mcugen/__init__.py": "def compile():\n    from mcugen import pipeline\n",
    "mcugen/pipeline.py": "from mcugen.solve.plan import (  # the planner\n    planner,\n    check as checks,\n)\n",
    "mcugen/solve/plan/__init__.py": "",
    "mcugen/solve/plan/planner.py": "import mcugen.solve.plan.bound as b\nPAGE = 'page.html.j2'\n",
    "mcugen/solve/plan/check.py": "",
    "mcugen/solve/plan/bound.py": "",
    "mcugen/formats/registry.py": "import mcugen.ops\nNAMES = pkgutil.iter_modules(mcugen.ops.__path__)\n",
    "mcugen/ops/__init__.py": "",
    "mcugen/ops/add.py": "",
    "tests/conftest.py": "from tests.support import cores\n",
    "tests/support/cores.py": "",
    "tests/solve/plan/test_planner.py": "from mcugen.solve.plan import planner\n",
    "tests/solve/plan/test_bound.py": "from mcugen.solve.plan.bound import bound\n",
    "tests/solve/test_bound_too.py": "from mcugen.solve.plan import bound\n",
    "tests/test_all.py": "import mcugen\nmcugen.compile('a')\n",
    "tests/test_ops.py": "from mcugen.formats import registry\nrun(['ci/tool', 'x'])\n",
}


def chosen(*changed: str) -> list[str]:
    return dependents.chosen(changed, dependents.uses(TEXTS, changed))


def test_the_nearest_tests_come_first_and_of_these_those_of_the_folder() -> None:
    near = ["tests/solve/plan/test_bound.py", "tests/solve/test_bound_too.py", "tests/solve/plan/test_planner.py"]
    assert chosen("mcugen/solve/plan/bound.py") == [*near, "tests/test_all.py"]
    assert chosen("mcugen/solve/plan/check.py") == ["tests/test_all.py"]
    assert chosen("mcugen/solve/plan/check.py", "tests/test_ops.py") == ["tests/test_ops.py", "tests/test_all.py"]


def test_modules_that_are_looked_for_count_and_so_do_files_that_are_named() -> None:
    assert chosen("mcugen/ops/add.py") == ["tests/test_ops.py"]
    assert chosen("templates/page.html.j2") == ["tests/solve/plan/test_planner.py", "tests/test_all.py"]
    assert chosen("ci/tool") == ["tests/test_ops.py"]
    assert chosen("docs/none.md") == []
    without = {path: text for path, text in TEXTS.items() if path != "mcugen/formats/registry.py"}
    deleted = ["mcugen/formats/registry.py"]
    assert dependents.chosen(deleted, dependents.uses(without, deleted)) == ["tests/test_ops.py"]


def test_what_every_test_runs_with_concerns_all() -> None:
    assert chosen("tests/support/cores.py") == sorted(path for path in TEXTS if "/test_" in path)


def test_kernels_are_tried_by_the_operators_that_consist_of_them() -> None:
    assert operators_using(["c_runtime/mcugen/portable/softmax_s8.c"]) == ["Softmax"]
    assert operators_using(["mcugen/ops/gather.py"]) == ["Gather"]
    shared = operators_using(["c_runtime/mcugen/half.h"])
    assert {"Conv2D", "FullyConnected"} <= {*shared} and "Softmax" not in shared
    assert "Abs" in operators_using(["templates/elements/run.txt"])


def test_what_is_left_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    memory = tmp_path / "kept/times.json"
    commands = {"a": ["true"], "b": ["sh", "-c", "echo wrong; false"], "c": ["sleep", "9"], "d": ["true"]}
    began = time.monotonic()
    outcomes = timed.conduct(commands, began + 1.5, memory, tmp_path)
    assert outcomes == {"a": "passed", "b": "failed", "c": "stopped", "d": "passed"}
    assert time.monotonic() - began < 5 and "failed b:\nwrong" in capsys.readouterr().out
    again = timed.conduct(commands, time.monotonic() + 1.0, memory, tmp_path)
    assert again == outcomes | {"c": "left"}
    *lines, last = timed.summary(again | {"e": "stopped"}, 90.2).splitlines()
    assert lines == ["stopped at the limit, and left to ci/test: e", "not begun, and left to ci/test: c"]
    assert last == "ci/quick: of 5 files and cases 2 passed, 1 failed, 1 stopped, 1 left, in 90 s"
