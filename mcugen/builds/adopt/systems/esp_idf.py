"""ESP-IDF: adds sources to a component, and removes the library from its requirements and idf_component.yml."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mcugen.builds.adopt.build_files import LIBRARY, Edits, ModelCode, cmake_edits, cmake_targets
from mcugen.builds.adopt.patch_text import LineEdit, lines_of
from mcugen.builds.adopt.tree import FirmwareTree

EMBEDS = "CMakeLists.txt"
_TARGET = "${COMPONENT_LIB}"


def claims(tree: FirmwareTree, folder: str, sources: Sequence[str]) -> bool:
    path = f"{folder}CMakeLists.txt"
    return path in tree.known and bool(cmake_targets(tree, path, sources, ("idf_component_register",)))


def lines(tree: FirmwareTree, folder: str, sources: Sequence[str], code: ModelCode) -> Edits:
    path, manifest = f"{folder}CMakeLists.txt", f"{folder}idf_component.yml"
    edits: Edits = {path: cmake_edits(tree, path, [_TARGET], code)}
    if manifest in tree.known and not code.keeps_library and (gone := _dependency(tree.read(manifest))):
        edits[manifest] = gone
    return edits


def _dependency(text: bytes) -> list[LineEdit]:
    """Edits that remove the library, with all lines indented below it, from the dependencies."""
    rows, edits, k = lines_of(text), list[LineEdit](), 0
    while k < len(rows):
        entry = re.match(rb"(\s+)[\"']?([\w./-]+)[\"']?\s*:", rows[k])
        last = k + 1
        if entry and LIBRARY.fullmatch(entry[2].decode()):
            deeper = re.compile(rb"\s{%d,}\S" % (len(entry[1]) + 1))
            while last < len(rows) and deeper.match(rows[last]):
                last += 1
            edits.append(LineEdit(k, last - k, ()))
        k = last
    gone = {k for edit in edits for k in range(edit.first, edit.first + edit.count)}
    heads = [k for k, row in enumerate(rows) if row.startswith(b"dependencies:")]
    if edits and heads and not any(row[:1].isspace() and row.strip() for k, row in enumerate(rows) if k not in gone):
        edits.append(LineEdit(heads[0], 1, (b"dependencies: {}",)))
    return edits
