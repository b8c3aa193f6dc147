# SPDX-License-Identifier: Apache-2.0
"""The tests that concern a change: those whose file uses a changed one, directly or through others.

A Python file uses the modules that it imports and, where it looks for modules in packages, all of these; a file that is
no module is used by those that have its name in their text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("mcugen", "tests")
Uses = Mapping[str, frozenset[str]]
"""File -> the files that it uses, as paths under the repository."""

_IMPORT = re.compile(r"^[ \t]*(?:from ([\w.]+) import (\([^)]*\)|[^\n]+)|import ([^\n]+))", re.MULTILINE)
_LOOKS = ("pkgutil.iter_modules",)


def imported(text: str, modules: Mapping[str, str]) -> Iterator[str]:
    """The files of the modules that a text imports, anywhere in it. modules: full name -> file.

    Read without a parser, which takes ten times as long for all modules.
    """
    for module, listed, plain in _IMPORT.findall(text):
        for item in re.sub(r"#[^\n]*|[()]", "", listed or plain).split(","):
            name = f"{module}.{item.split()[0]}" if module and item.strip() else item.strip().split(" ")[0]
            for whole in (name, module):
                if whole in modules:
                    yield modules[whole]
                    break


def uses(texts: Mapping[str, str], changed: Iterable[str]) -> Uses:
    """The dependencies of each Python file. texts: path -> text of all of them; changed: files of any kind."""
    changed = list(changed)
    known = (path for path in (*texts, *changed) if path.endswith(".py"))  # the deleted ones, too
    modules = {_module(path): path for path in known}
    plain = [path for path in changed if _module(path) not in modules]
    return {path: frozenset(_used(path, text, modules, plain) - {path}) for path, text in texts.items()}


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _used(path: str, text: str, modules: Mapping[str, str], plain: Sequence[str]) -> set[str]:
    found = {*imported(text, modules)}
    if any(word in text for word in _LOOKS):
        packages = {_module(file) for file in (*found, path) if file.endswith("/__init__.py")}
        found |= {file for name, file in modules.items() if name.rpartition(".")[0] in packages}
    if Path(path).name.startswith("test_"):
        parents = (f"{folder}/conftest.py" for folder in map(str, Path(path).parents))
        found |= {parent for parent in parents if parent in modules.values()}
    words = _words(text) if plain else set()
    return found | {file for file in plain if _names_of(file) & words}


def _names_of(path: str) -> set[str]:
    """The words that stand for a file: its path, and its name where that has a suffix."""
    return {path, *([Path(path).name] if "." in path else [])}


def _words(text: str) -> set[str]:
    return {word.strip("./") for word in text.replace('"', " ").replace("'", " ").replace("`", " ").split()}


def distances(changed: Iterable[str], known: Uses) -> dict[str, int]:
    """File -> over how many others it uses a changed one: 0 for the changed, 1 for those that use them directly."""
    users: dict[str, set[str]] = {}
    for path, used in known.items():
        for file in used:
            users.setdefault(file, set()).add(path)
    found = dict.fromkeys(changed, 0)
    waiting = list(found)
    for path in waiting:  # grows
        for user in sorted(users.get(path, set()) - found.keys()):
            found[user] = found[path] + 1
            waiting.append(user)
    return found


def tests_of(file: str) -> str:
    """The innermost folder of tests with the names of a module's packages, or of a folder of other files."""
    parts = Path(file).parts
    names = parts[1:-1] if parts[0] != "boards" else parts[:1]
    folders = ("/".join(("tests", *names[:k])) for k in range(len(names), 0, -1))
    return next((folder for folder in folders if (ROOT / folder).is_dir()), "tests")


def chosen(changed: Iterable[str], known: Uses) -> list[str]:
    """The test files that use a changed file, the nearest first, and of these the ones in the folder of its name."""
    changed = list(changed)
    folders = {tests_of(file) for file in changed}
    found = distances(changed, known)
    tests = [path for path in found if Path(path).name.startswith("test_") and path in known]
    return sorted(tests, key=lambda path: (found[path], str(Path(path).parent) not in folders, path))


def python_files(root: Path) -> dict[str, str]:
    """Path under the repository -> text of the Python files of mcugen and its tests."""
    paths = (path for package in PACKAGES for path in sorted((root / package).rglob("*.py")))
    return {str(path.relative_to(root)): path.read_text(encoding="utf-8") for path in paths}
