"""make: adds objects with their own rules, and -I for the code's folder in front of all options of the compiler."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from mcugen.builds.adopt.build_files import MARK, Edits, ModelCode
from mcugen.builds.adopt.patch_text import LineEdit
from mcugen.builds.adopt.tree import FirmwareTree

_NAMES = ("GNUmakefile", "makefile", "Makefile")
_SET = re.compile(
    r"^[ \t]*(?:override[ \t]+)?([\w.-]+)[ \t]*(?::|::|\+|\?)?=((?:[^\n\\]|\\.)*)", re.MULTILINE | re.DOTALL
)


def claims(tree: FirmwareTree, folder: str, sources: Sequence[str]) -> bool:
    path = _makefile(tree, folder)
    return bool(path) and bool(_list(tree.text(path), sources)[0])


def lines(tree: FirmwareTree, folder: str, sources: Sequence[str], code: ModelCode) -> Edits:
    path = _makefile(tree, folder)
    text = tree.text(path)
    variable, end = _list(text, sources)
    objects = [f"{code.folder}/{PurePosixPath(name).stem}.o" for name in (*code.cpp, *code.c)]
    added = [f"# {MARK}: models compiled to C", f"MCUGEN_OBJECTS := {' '.join(objects)}"]
    added += [f"{variable} += $(MCUGEN_OBJECTS)"]
    compiler = next((name for name, value in _sets(text) if re.search(r"(?:g|clang|c)\+\+\s*$", value)), "CXX")
    is_given = compiler != "CXX" or re.search(r"\$[({]CXX", text)
    tail = ["", f"# {MARK}: the headers in front of TensorFlow Lite Micro's"]
    tail += [f"MCUGEN_CXX := $({compiler})"]
    tail += [f"override {compiler} := $(MCUGEN_CXX) -I{code.folder}"] if is_given else []
    tail += [f"{code.folder}/%.o: {code.folder}/%.cc"]
    tail += [f"\t$(MCUGEN_CXX) -I{code.folder} $(CPPFLAGS) $(CXXFLAGS) -c $< -o $@"]
    tail += [f"{code.folder}/%.o: {code.folder}/%.c"]
    tail += [f"\t$(CC) $(CPPFLAGS) $(CFLAGS) -std=c99 -ffp-contract=off -I{code.folder} -c $< -o $@"]
    place = text.count("\n", 0, end) + 1
    last = text.count("\n") + (not text.endswith("\n"))
    return {path: [_inserted(min(place, last), added), _inserted(last, tail)]}


def _inserted(place: int, new: Sequence[str]) -> LineEdit:
    return LineEdit(place, 0, tuple(line.encode("latin-1") for line in new))


def _makefile(tree: FirmwareTree, folder: str) -> str:
    return next((folder + name for name in _NAMES if folder + name in tree.known), "")


def _sets(text: str) -> list[tuple[str, str]]:
    return [(match[1], match[2]) for match in _SET.finditer(text)]


def _list(text: str, sources: Sequence[str]) -> tuple[str, int]:
    """(the variable that lists objects or sources, index after its last assignment). New objects are added there.

    ("", 0) if no variable lists one of these sources
    """
    stems = {PurePosixPath(source).stem for source in sources}
    listing, found = set[str](), dict[str, tuple[bool, int]]()
    for match in _SET.finditer(text):
        name, value = match[1], match[2]
        words = re.split(r"[\s$(){},]+", value)
        names_one = any(PurePosixPath(word).stem in stems and "." in word for word in words)
        follows = any(re.search(rf"\$[({{]{re.escape(other)}\b", value) for other in listing)
        if names_one or follows or re.search(r"\$[({]wildcard[^)]*\.(?:cc|cpp|cxx)", value):
            listing.add(name)
            found[name] = (bool(re.search(r"\.o\b", value)), match.end())
        elif name in found:
            found[name] = (found[name][0], match.end())
    chosen = sorted(found.items(), key=lambda entry: (entry[1][0], entry[1][1]))
    return (chosen[-1][0], chosen[-1][1][1]) if chosen else ("", 0)
