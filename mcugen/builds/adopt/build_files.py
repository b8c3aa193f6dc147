"""Shared parts of build systems: a program's code, names of the interpreter's library, CMake's commands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from mcugen.builds.adopt.patch_text import LineEdit, lines_of
from mcugen.builds.adopt.tree import FirmwareTree

Edits = dict[str, list[LineEdit]]
"""Edits of files, by path in the folder that is adopted."""

LIBRARY = re.compile(
    r"[\w./-]*(?:tflite[-_]?micro|tflm(?:icro)?|tfmicro|tensorflow[-_]?lite|tensorflow-microlite)[\w.-]*", re.IGNORECASE
)
"""Names that builds use for the library of TensorFlow Lite Micro."""
MARK = "mcugen adopt"


@dataclass(frozen=True)
class ModelCode:
    """The generated code, in a folder beside the build file. c, cpp: names of its source files.

    keeps_library: whether the library of TensorFlow Lite Micro stays; embedded: names of .tflite files that the build
    puts into the firmware byte by byte, and that the code replaces
    """

    folder: str
    c: tuple[str, ...]
    cpp: tuple[str, ...]
    keeps_library: bool = False
    embedded: tuple[str, ...] = ()

    def paths(self, start: str = "") -> list[str]:
        return [f"{start}{self.folder}/{name}" for name in (*self.cpp, *self.c)]


@dataclass(frozen=True)
class CMakeCommand:
    """A command: name in lower case, arguments as (text, index in the file), and its start and end in the file."""

    name: str
    arguments: tuple[tuple[str, int], ...]
    start: int
    end: int


_COMMAND = re.compile(r"^[ \t]*(\w+)[ \t]*\(", re.MULTILINE)
_ARGUMENT = re.compile(r'#\[(=*)\[.*?\]\1\]|#[^\n]*|"(?:[^"\\]|\\.)*"|[()]|[^\s()"#]+', re.DOTALL)


def cmake_commands(text: str) -> Iterator[CMakeCommand]:
    at = 0
    while match := _COMMAND.search(text, at):
        depth, arguments, at = 1, list[tuple[str, int]](), match.end()
        while depth and (found := _ARGUMENT.search(text, at)):
            at = found.end()
            depth += (found[0] == "(") - (found[0] == ")")
            if depth and found[0] not in "()" and not found[0].startswith("#"):
                arguments.append((found[0].strip('"'), found.start()))
        yield CMakeCommand(match[1].lower(), tuple(arguments), match.start(1), at)


def cmake_targets(tree: FirmwareTree, path: str, sources: Iterable[str], makers: Sequence[str]) -> list[str]:
    """The targets of a CMakeLists.txt that compile one of these sources, listed by name or in a variable.

    makers: names of the commands that give a target its sources
    """
    text, names = tree.text(path), {PurePosixPath(source).name for source in sources}
    commands, holding = list(cmake_commands(text)), set[str]()
    for command in commands:
        words = [word for word, _ in command.arguments]
        if command.name in ("set", "file", "list", "aux_source_directory") and words:
            globs = any("*" in word or command.name == "aux_source_directory" for word in words)
            variable = words[0] if command.name == "set" else words[min(1, len(words) - 1)]
            if globs or any(PurePosixPath(word).name in names for word in words) or _uses(words, holding):
                holding.add(variable)
    found = dict[str, None]()
    for command in commands:
        words = [word for word, _ in command.arguments]
        is_named = any(PurePosixPath(word).name in names for word in words)
        if command.name in makers and words and (is_named or _uses(words, holding)):
            found[_target(words[0])] = None
    return list(found)


def _uses(words: Iterable[str], variables: Iterable[str]) -> bool:
    held = {f"${{{variable}}}" for variable in variables}
    return any(word in held for word in words)


def _target(first: str) -> str:
    """The target of a command with this first argument, which is SRCS or SRC_DIRS for idf_component_register."""
    return first if "SRC" not in first else "${COMPONENT_LIB}"


def cmake_edits(tree: FirmwareTree, path: str, targets: Sequence[str], code: ModelCode) -> list[LineEdit]:
    """Edits of a CMakeLists.txt: lines at its end that add the code to the targets, and removal of the interpreter."""
    text = tree.text(path)
    files = [f"${{CMAKE_CURRENT_LIST_DIR}}/{name}" for name in code.paths()]
    new = ["", f"# {MARK}: models compiled to C, in front of TensorFlow Lite Micro's headers"]
    languages = {word for command in cmake_commands(text) if command.name == "project" for word, _ in command.arguments}
    new += ["enable_language(C)"] if "CXX" in languages and "C" not in languages else []
    for target in targets:
        new += [f"target_sources({target} PRIVATE", *(f"  {name}" for name in files), ")"]
        new += [f"target_include_directories({target} BEFORE PRIVATE ${{CMAKE_CURRENT_LIST_DIR}}/{code.folder})"]
    flags = " ".join(f"${{CMAKE_CURRENT_LIST_DIR}}/{code.folder}/{name}" for name in code.c)
    new += [f"set_source_files_properties({flags} PROPERTIES COMPILE_OPTIONS -ffp-contract=off)"]
    edits = _without(text, targets, code)
    return [*edits, LineEdit(len(lines_of(text.encode("latin-1"))), 0, tuple(line.encode("latin-1") for line in new))]


def _without(text: str, targets: Sequence[str], code: ModelCode) -> list[LineEdit]:
    """Edits that remove the interpreter's library from the targets, and embedded models from all commands."""
    cut: dict[int, list[tuple[int, int]]] = {}
    starts = _starts(text)
    for first, end in _gone(text, targets, code):
        for line, start in enumerate(starts):
            until = starts[line + 1] - 1 if line + 1 < len(starts) else len(text)
            if start < end and first <= until:
                cut.setdefault(line, []).append((max(first - start, 0), min(end, until) - start))
    return [_cut(lines_of(text.encode("latin-1"))[line], line, spans) for line, spans in cut.items()]


def _gone(text: str, targets: Sequence[str], code: ModelCode) -> Iterator[tuple[int, int]]:
    """(start, end) of each argument or command to remove."""
    for command in cmake_commands(text):
        words = [word for word, _ in command.arguments]
        links = command.name == "target_link_libraries" and words[:1] and words[0] in targets
        requires = command.name == "idf_component_register" and "${COMPONENT_LIB}" in targets
        embeds = [PurePosixPath(word).name in code.embedded for word in words]
        if command.name == "target_add_binary_data" and any(embeds):
            yield command.start, command.end
            continue
        for k, (word, at) in enumerate(command.arguments[1:], 1):
            is_library = LIBRARY.fullmatch(word) and word not in targets and "." not in word and not code.keeps_library
            if ((links or requires) and is_library) or embeds[k]:
                yield at, at + len(word) + 2 * (text[at] == '"')


def _starts(text: str) -> list[int]:
    return [0, *(match.end() for match in re.finditer("\n", text))]


def _cut(line: bytes, number: int, spans: Sequence[tuple[int, int]]) -> LineEdit:
    for start, end in sorted(spans, reverse=True):
        start -= line[start - 1 : start] == b" " and line[end : end + 1] not in (b"", b"\n", b"\r")
        line = line[:start] + line[end:]
    return LineEdit(number, 1, (line.rstrip(b" \r\n"),) if line.strip() else ())
