"""Zephyr: adds sources to the target `app`, and removes the library's options from prj.conf."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from mcugen.builds.adopt.build_files import Edits, ModelCode, cmake_edits
from mcugen.builds.adopt.patch_text import LineEdit, lines_of
from mcugen.builds.adopt.systems import cmake
from mcugen.builds.adopt.tree import FirmwareTree


def claims(tree: FirmwareTree, folder: str, sources: Sequence[str]) -> bool:
    return bool(cmake.targets_of(tree, folder, sources)) and cmake.is_zephyr(tree, folder)


def lines(tree: FirmwareTree, folder: str, sources: Sequence[str], code: ModelCode) -> Edits:
    path = f"{folder}CMakeLists.txt"
    edits: Edits = {path: cmake_edits(tree, path, cmake.targets_of(tree, folder, sources), code)}
    for conf in tree.paths:
        beside = PurePosixPath(conf)
        if beside.suffix == ".conf" and conf.startswith(folder) and not code.keeps_library:
            rows = lines_of(tree.read(conf))
            gone = [k for k, row in enumerate(rows) if row.startswith(b"CONFIG_TENSORFLOW_LITE_MICRO")]
            edits |= {conf: [LineEdit(k, 1, ()) for k in gone]} if gone else {}
    return edits
