"""CMake: adds sources and an include folder to each target that contains a model."""

from __future__ import annotations

from collections.abc import Sequence

from mcugen.builds.adopt.build_files import Edits, ModelCode, cmake_edits, cmake_targets
from mcugen.builds.adopt.tree import FirmwareTree

_MAKERS = ("add_executable", "add_library", "target_sources", "pico_add_executable")


def targets_of(tree: FirmwareTree, folder: str, sources: Sequence[str]) -> list[str]:
    """Targets of the folder's CMakeLists.txt that compile one of the sources; [] for a component of ESP-IDF."""
    path = f"{folder}CMakeLists.txt"
    if path not in tree.known or "idf_component_register" in tree.text(path):
        return []
    return cmake_targets(tree, path, sources, _MAKERS)


def is_zephyr(tree: FirmwareTree, folder: str) -> bool:
    return "find_package(Zephyr" in tree.text(f"{folder}CMakeLists.txt").replace(" (", "(")


def claims(tree: FirmwareTree, folder: str, sources: Sequence[str]) -> bool:
    return bool(targets_of(tree, folder, sources)) and not is_zephyr(tree, folder)


def lines(tree: FirmwareTree, folder: str, sources: Sequence[str], code: ModelCode) -> Edits:
    path = f"{folder}CMakeLists.txt"
    return {path: cmake_edits(tree, path, targets_of(tree, folder, sources), code)}
