# SPDX-License-Identifier: Apache-2.0
"""The mutation check of Python modules: which mutants it makes, and how it judges them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.mutants import Mutant
from tests.support.python_mutants import PythonLaboratory, executed, python_mutants

SOURCE = '''
LIMIT = 3

def f(rows: int, cols: int = 4) -> int:
    """rows + 1"""
    first_row, last_row = 0, min(rows, 2)  # 1 + 1
    if first_row < last_row and rows == cols:
        return rows - 1
    return 0


class C:
    def g(self, x0, x1):
        return f"{x0}" if x0 else x1
'''


def changed_lines() -> set[str]:
    return {m.applied(SOURCE).splitlines()[SOURCE.count("\n", 0, m.at)].strip() for m in python_mutants("f.py", SOURCE)}


def test_mutants_change_operators_constants_words_and_names() -> None:
    made = changed_lines()
    assert "first_row, last_row = 1, min(rows, 2)  # 1 + 1" in made
    assert "first_row, last_row = 0, max(rows, 2)  # 1 + 1" in made
    assert "if first_row <= last_row and rows == cols:" in made
    assert "if first_row < last_row or rows == cols:" in made
    assert "if first_row < first_row and rows == cols:" in made
    assert "if first_row < last_row and rows != cols:" in made
    assert "return rows + 1" in made and "return 1" in made
    assert 'return f"{x0}" if x1 else x1' in made


def test_only_statements_of_functions_are_changed() -> None:
    assert {m.function for m in python_mutants("f.py", SOURCE)} == {"f", "g"}
    lines = {SOURCE.count("\n", 0, m.at) for m in python_mutants("f.py", SOURCE)}
    assert not lines & {1, 3, 4, 12}


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory: pytest.TempPathFactory) -> PythonLaboratory:
    return PythonLaboratory.equip(tmp_path_factory.mktemp("copies"), 1)


@pytest.mark.parametrize(
    ("new", "outcome"),
    [("sum(sizes)", "caught"), ("sum(padded", "refused"), ("sum( padded)", "equivalent")],
)
def test_outcomes(laboratory: PythonLaboratory, tmp_path: Path, new: str, outcome: str) -> None:
    file, old = "mcugen/solve/plan/bound.py", "sum(padded)"
    text = laboratory.sources[file]
    mutant = Mutant(file, text.index(old), len(old), new, "_padded")
    assert laboratory.try_mutant(mutant, tmp_path).outcome == outcome
    assert (laboratory.copies.queue[0] / file).read_text() == text


def test_annotations_of_local_variables_do_not_count() -> None:
    before = "def f():\n    found: dict[int, A] = {}\nclass C:\n    x: int = 1\n"
    assert executed(before) == executed(before.replace("int, A", "int, B"))
    assert executed(before) != executed(before.replace("x: int", "x: str"))
    assert executed(before) != executed(before.replace("{}", "{1: 2}"))
