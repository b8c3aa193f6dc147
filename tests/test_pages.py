# SPDX-License-Identifier: Apache-2.0
"""What the pages for users show runs as it stands there, and the pages that are made are up to date."""

from __future__ import annotations

import ast
import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest

from mcugen.cli import main
from tests.support import reference_pages

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
FILES = {"model.tflite": "examples/digits/digits.tflite", "sweeps.tflite": "examples/microphone/sweeps.tflite"}
SAMPLED = ("docs/index.md",)
"""Pages whose shell blocks run also without --whole."""
TOO_LARGE = {"torch", "tensorflow", "keras"}
"""Packages that a user's page may import and the tests do without; `ci/soak --recipes` installs them."""


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def pages_with(language: str) -> list[str]:
    found = [str(path.relative_to(ROOT)) for path in sorted(DOCS.glob("*.md"))]
    return [page for page in found if blocks(page, language)]


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder with the models that the pages name."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name, path in FILES.items():
        shutil.copy(ROOT / path, tmp_path / name)
    return tmp_path


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "shell_page" in metafunc.fixturenames:
        whole = metafunc.config.getoption("--whole")
        metafunc.parametrize("shell_page", [page for page in pages_with("shell") if whole or page in SAMPLED])


def imported(page: str) -> set[str]:
    """The packages that the blocks of a page import."""
    nodes = [node for block in blocks(page, "python") for node in ast.walk(ast.parse(block))]
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return {name.partition(".")[0] for name in names}


@pytest.mark.parametrize("page", [page for page in pages_with("python") if not imported(page) & TOO_LARGE])
def test_python_runs(page: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    of_repository = "examples/" in "".join(blocks(page, "python"))
    monkeypatch.chdir(ROOT if of_repository else folder)
    values: dict[str, object] = {} if of_repository else {"x": np.zeros((1, 8, 8, 1), np.int8)}
    for block in blocks(page, "python"):
        exec(compile(block, page, "exec"), values)


def test_shell_runs(shell_page: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.chdir(folder)
    for line in "".join(blocks(shell_page, "shell")).splitlines():
        program, *arguments = shlex.split(line, comments=True)
        assert program == "mcugen"
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert not ended.value.code, line


@pytest.mark.parametrize("name", reference_pages.PAGES)
def test_made_pages_are_up_to_date(name: str) -> None:
    assert (DOCS / name).read_text("utf-8") == reference_pages.PAGES[name](), "python -m tests.support.reference_pages"


def test_links_hold() -> None:
    """Files and headings that pages name are there; links that leave docs/ name a file of the repository."""
    broken = []
    for path in sorted(DOCS.rglob("*.md")):
        for target in re.findall(r"\]\(([^)#\s]+)?(?:#[^)]*)?\)", path.read_text("utf-8")):
            if target and "://" not in target and not (path.parent / target).exists():
                broken.append(f"{path.relative_to(ROOT)}: {target}")
    assert broken == []


def test_every_page_is_in_the_site() -> None:
    nav = (ROOT / "mkdocs.yml").read_text("utf-8")
    pages = [str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")]
    assert [page for page in pages if f"- {page}\n" not in nav and f": {page}\n" not in nav] == []
