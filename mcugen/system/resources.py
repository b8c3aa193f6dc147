"""Locations of the data folders that mcugen ships. They lie beside the package in a checkout, inside it in a wheel."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from mcugen.errors import InternalError

_COPIES_BEGIN = "/* Copies of this file, one a line, with these words replaced:\n"
_COPIES = re.compile(rf"^{re.escape(_COPIES_BEGIN)}((?: \* .+\n)+) \*/\n", re.MULTILINE)
"""Comment of a C file that lists its copies, one on each line."""

_PACKAGE = Path(__file__).resolve().parent.parent


def package() -> Path:
    """The folder of mcugen's Python code."""
    return _PACKAGE


def _folder(name: str) -> Path:
    installed = _PACKAGE / "_data" / name
    return installed if installed.is_dir() else _PACKAGE.parent / name


def templates() -> Path:
    """The folder of jinja2 templates."""
    return _folder("templates")


def c_runtime() -> Path:
    """The folder of C kernels and headers: mcugen/ with shared headers, and one folder per kernel family."""
    return _folder("c_runtime")


class CFile(NamedTuple):
    """A C source or header of the runtime: the file that holds it, or that it is a copy of, and its text."""

    path: Path
    text: str


@functools.cache
def c_files() -> Mapping[str, CFile]:
    """File name -> every C source and header of the runtime, copies included. Names are unique across folders.

    A line ` * a -> b, c -> d` of a file's list of copies makes a copy of the file with b for a and d for c, in the name
    too, and with B for A. Only whole words are replaced: each part of an identifier between underscores is a word.
    """
    found: dict[str, CFile] = {}
    for path in sorted(c_runtime().rglob("*.[ch]")):
        for name, text in _with_copies(path.name, path.read_text(encoding="utf-8")):
            if name in found:
                raise InternalError(f"the runtime has {name} twice, in {path.name} and {found[name].path.name}")
            found[name] = CFile(path, text)
    return found


def _with_copies(file: str, text: str) -> Iterator[tuple[str, str]]:
    """Name and text of a C file, without the list of its copies, and of each copy."""
    listed = _COPIES.search(text) if _COPIES_BEGIN in text else None
    own = text.replace(listed[0], "") if listed else text
    yield file, own
    for line in listed[1].splitlines() if listed else ():
        words = dict(pair.split(" -> ") for pair in line.removeprefix(" * ").split(", "))
        words = {old.upper(): new.upper() for old, new in words.items()} | words
        yield _replaced(file, words), _replaced(own, words)


def _replaced(text: str, words: Mapping[str, str]) -> str:
    """A text with other words; of two words that fit, the longer one is replaced."""
    longest_first = map(re.escape, sorted(words, key=len, reverse=True))
    pattern = rf"(?<![^\W_])(?:{'|'.join(longest_first)})(?![^\W_])"
    return re.sub(pattern, lambda found: words[found[0]], text)


@functools.cache
def cl_files() -> Mapping[str, Path]:
    """File name -> path of every OpenCL kernel of the runtime. Names are unique across folders."""
    return {path.name: path for path in sorted(c_runtime().rglob("*.cl"))}


def boards() -> Path:
    """The folder of boards: one folder per board, and _common with start-up code and linker scripts."""
    return _folder("boards")
