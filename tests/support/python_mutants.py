# SPDX-License-Identifier: Apache-2.0
"""One-token mutants of Python functions, and whether the tests of the matching folder detect them."""

from __future__ import annotations

import ast
import io
import json
import keyword
import queue
import shutil
import sys
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcugen.errors import ToolError
from mcugen.machines.toolchain.process import run
from tests.support.dependents import tests_of
from tests.support.mutants import OPERATORS, Mutant, alike, other_numbers
from tests.support.mutation import Trial

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("solve", "passes")
"""Packages of mcugen whose mutants the tests of the folder of that name must notice."""
_WORDS = {
    "and": "or", "or": "and", "True": "False", "False": "True", "min": "max", "max": "min", "any": "all", "all": "any",
}  # fmt: skip
_CHECK = ("strict", "=")
"""An argument that changes no result where the code is right: it is left alone."""

_TRIAL_LIMIT_S = 600.0
_FIRST = 12
"""Most tests that are run before those of the whole folder: the quickest ones that call the mutated function."""


def python_sources() -> dict[str, str]:
    """Path under the repository -> text, of every module of these packages."""
    paths = (path for folder in FOLDERS for path in sorted((ROOT / "mcugen" / folder).rglob("*.py")))
    return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in paths}


def python_mutants(file: str, source: str) -> list[Mutant]:
    """Every mutant of the bodies of a module's functions, in the order of the text; docstrings are left alone."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    tokens = [t for t in tokenize.generate_tokens(io.StringIO(source).readline) if t.string.strip()]
    spans = list(_bodies(ast.parse(source)))
    inside = [(t, name) for t in tokens for name, first, last in spans if first <= t.start and t.end <= last]
    kept = {
        b for a, equals, b in zip(tokens, tokens[1:], tokens[2:], strict=False) if (a.string, equals.string) == _CHECK
    }
    names = sorted({t.string for t, _ in inside if _is_name(t)})
    found = [
        Mutant(file, starts[t.start[0] - 1] + t.start[1], len(t.string), new, function)
        for t, function in inside
        if t not in kept
        for new in _exchanges(t, names)
    ]
    return sorted(set(found), key=lambda m: (m.at, m.replacement))


def _bodies(tree: ast.AST) -> Iterator[tuple[str, tuple[int, int], tuple[int, int]]]:
    """Name, first and last place (line, column) of each outermost function's statements."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            rest = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
            if rest:
                last = rest[-1]
                yield node.name, (rest[0].lineno, rest[0].col_offset), (last.end_lineno or 0, last.end_col_offset or 0)
        else:
            yield from _bodies(node)


def _is_name(token: tokenize.TokenInfo) -> bool:
    named = token.type == tokenize.NAME and not keyword.iskeyword(token.string)
    return named and token.string != "_"  # `_` stands for values that nothing reads


def executed(source: str) -> str:
    """The syntax tree of a module as text, without the annotations of local variables, which are not evaluated."""
    tree = ast.parse(source)
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        for node in ast.walk(function):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                node.annotation = ast.Constant(None)
    return ast.dump(tree)


def _exchanges(token: tokenize.TokenInfo, names: Sequence[str]) -> Iterator[str]:
    if token.type == tokenize.OP:
        yield from OPERATORS.get(token.string, ())
    elif token.type == tokenize.NUMBER:
        yield from other_numbers(token.string)
    elif token.string in _WORDS:
        yield _WORDS[token.string]
    elif _is_name(token):
        yield from (name for name in names if alike(name, token.string))


@dataclass(frozen=True, eq=False)
class PythonLaboratory:
    """Copies of the repository, one for each trial at a time, in which a module is mutated and tests run.

    calling: for "file: function" the tests that call it, the quickest first, once `require_passing` has seen them
    """

    sources: dict[str, str]
    copies: queue.Queue[Path] = field(default_factory=queue.Queue)
    calling: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def equip(cls, folder: Path, workers: int) -> PythonLaboratory:
        """The laboratory, with its copies in `folder`."""
        made = cls(python_sources())
        for k in range(workers):
            copy = folder / f"copy{k}"
            copy.mkdir()
            for name in ("mcugen", "tests"):
                shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
            for path in ROOT.iterdir():
                if path.name not in ("mcugen", "tests") and not path.name.startswith("."):
                    (copy / path.name).symlink_to(path)
            made.copies.put(copy)
        return made

    def try_mutant(self, mutant: Mutant, scratch: Path) -> Trial:
        """Run the tests of the folder until one fails, those that call the function first."""
        text = self.sources[mutant.file]
        changed = mutant.applied(text)
        try:
            same = executed(changed) == executed(text)
        except SyntaxError:
            return Trial(mutant, "refused")
        if same:
            return Trial(mutant, "equivalent")
        copy = self.copies.get()
        try:
            (copy / mutant.file).write_text(changed, encoding="utf-8")
            first = self.calling.get(f"{mutant.file}: {mutant.function}", [])[:_FIRST]
            survived = (not first or _passes(copy, first)) and _passes(copy, [tests_of(mutant.file)])
            return Trial(mutant, "survived" if survived else "caught")
        finally:
            (copy / mutant.file).write_text(text, encoding="utf-8")
            self.copies.put(copy)

    def require_passing(self, files: Sequence[str]) -> None:
        """Raise ToolError where the tests fail before any mutation."""
        copy = self.copies.get()
        try:
            for folder in sorted({tests_of(file) for file in files}):
                _passes(copy, [folder], called=copy / "called.json")
                known = json.loads((copy / "called.json").read_text(encoding="utf-8"))
                slowed = [name for name, test in known.items() if not test["passed"]]
                if slowed and not _passes(copy, slowed):
                    raise ToolError("the tests fail before any mutation", where=folder)
                self._learn(known)
        finally:
            self.copies.put(copy)

    def _learn(self, tests: Mapping[str, Mapping[str, Any]]) -> None:
        for name, known in sorted(tests.items(), key=lambda item: float(item[1]["seconds"])):
            for function in known["called"]:
                self.calling.setdefault(function, []).append(name)


def _passes(copy: Path, tests: Sequence[str], called: Path | None = None) -> bool:
    """Whether tests pass; those that do not end in time do not.

    called: gets what `tests.support.called` writes of all the tests; tests of speed may fail, as it slows them down
    """
    command = ["env", f"PYTHONPATH={copy}", "PYTHONDONTWRITEBYTECODE=1", f"MCUGEN_CALLED={called}"]
    command += [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["-p", "tests.support.called"] if called else ["-x"]
    try:
        return run([*command, *tests], cwd=copy, timeout_s=_TRIAL_LIMIT_S).returncode == 0
    except ToolError:
        return False
