# SPDX-License-Identifier: Apache-2.0
"""Compiled templates are kept beside the templates, and used for the same text alone."""

from __future__ import annotations

import sys
from pathlib import Path

import jinja2
import pytest

from mcugen.emit.environment import CompiledTemplates


@pytest.fixture(autouse=True)
def _python_writes_compiled_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)


def rendered(folder: Path) -> str:
    """The template of a folder, by an environment of its own, as a new process has it."""
    loader = jinja2.FileSystemLoader(folder)
    return jinja2.Environment(loader=loader, bytecode_cache=CompiledTemplates(folder)).get_template("t.j2").render(x=3)


def kept(folder: Path) -> list[Path]:
    return sorted((folder / "__pycache__").glob("*"))


def test_a_template_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.j2").write_text("{{ x }} bytes")
    assert rendered(tmp_path) == "3 bytes"
    assert len(kept(tmp_path)) == 1
    monkeypatch.setattr(jinja2.Environment, "_generate", lambda *a, **k: pytest.fail("compiled again"))
    assert rendered(tmp_path) == "3 bytes"


def test_a_changed_template_is_compiled_again(tmp_path: Path) -> None:
    for text, want in (("{{ x }} bytes", "3 bytes"), ("{{ x }} words", "3 words")):
        (tmp_path / "t.j2").write_text(text)
        assert rendered(tmp_path) == want
    assert len(kept(tmp_path)) == 1


@pytest.mark.parametrize("damage", [lambda data: b"", lambda data: data[: len(data) // 2], lambda data: data[:-9]])
def test_a_damaged_file_is_not_used(tmp_path: Path, damage: object) -> None:
    assert callable(damage)
    (tmp_path / "t.j2").write_text("{{ x }} bytes")
    rendered(tmp_path)
    (path,) = kept(tmp_path)
    path.write_bytes(damage(path.read_bytes()))
    assert rendered(tmp_path) == "3 bytes"


def test_nothing_is_written_where_python_writes_no_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.j2").write_text("{{ x }} bytes")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert rendered(tmp_path) == "3 bytes"
    assert not kept(tmp_path)


def test_a_folder_that_cannot_be_written_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "t.j2").write_text("{{ x }} bytes")
    (tmp_path / "__pycache__").write_text("a file in the way")
    assert rendered(tmp_path) == "3 bytes"
