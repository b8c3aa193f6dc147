# SPDX-License-Identifier: Apache-2.0
"""Imports point down only, families stay apart, and outside libraries stay in the layer that owns them."""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcugen import kernels, resources

PACKAGE = Path(__file__).resolve().parents[2] / "mcugen"
C_RUNTIME = PACKAGE.parent / "c_runtime/mcugen"

# From the bottom up; a module imports from layers below its own, or from its own package.
LAYERS: tuple[frozenset[str], ...] = tuple(
    frozenset(layer.split())
    for layer in (
        "errors",
        "resources plugins files tabular training forked",
        "toml_file",
        "packed flexbuffer scales machine",
        "types isa",
        "order",
        "channels",
        "call numeric staircase",
        "alike",
        "element",
        "kernel oracle",
        "grid",
        "halves",
        "op graph options choices",
        "imports writes",
        "ops",
        "decompositions",
        "kernels",
        "registry target qdq",
        "frontends layouts passes reference",
        "writers",
        "samples",
        "quantize",
        "plan",
        "schedule",
        "select",
        "emit",
        "report",
        "exports",
        "toolchain",
        "cycles native",
        "pipeline",
        "verify inspection sharing mixed packing new_board",
        "pareto evaluation tuning device_bench",
        "gemm c_bench",
        "cli __main__ pytest_plugin",
    )
)
# Layers below may be mutually used only as written here: graph on op, op on no one, and so on.
WITHIN = {"graph": {"op"}, "__main__": {"cli"}}
OWNERS = {
    "flatbuffers": ("frontends", "writers"),
    "tflite": ("frontends", "writers"),
    "onnx": ("frontends", "writers", "verify"),
    "google": ("frontends",),
    "nnef": ("frontends",),
    "jinja2": ("emit",),
    "pycparser": ("emit",),
    "subprocess": ("toolchain",),
    "click": ("cli",),
    "rich": ("cli",),
    "pytest": ("pytest_plugin",),
    "PIL": ("samples",),
    "distributed": ("quantize",),
    "ai_edge_litert": ("toolchain",),
    "tflite_micro": ("toolchain",),
    "onnxruntime": ("toolchain",),
}


def sources() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def level(part: str) -> int:
    found = [k for k, layer in enumerate(LAYERS) if part in layer]
    assert len(found) == 1, f"{part} belongs to no layer: add it to LAYERS"
    return found[0]


def imported(path: Path) -> Iterator[str]:
    """Full names of the modules that a file imports, at run time or for type checking, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: relative import"
            yield from ([f"mcugen.{alias.name}" for alias in node.names] if node.module == "mcugen" else [node.module])


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down(path: Path) -> None:
    own = part_of(path)
    if own == "__init__":
        return
    for name in imported(path):
        words = name.split(".")
        if words[0] != "mcugen" or len(words) == 1 or words[1] in (own, "__version__"):
            continue
        below = level(words[1]) < level(own) or words[1] in WITHIN.get(own, ())
        assert below, f"{own} imports {name}, which is not below it"


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_libraries_stay_with_their_owner(path: Path) -> None:
    for name in imported(path):
        owners = OWNERS.get(name.split(".")[0])
        assert owners is None or part_of(path) in owners, f"{part_of(path)} imports {name}"


def test_every_family_has_its_folder_of_c() -> None:
    assert {*kernels.families(), *kernels.device_families(), "portable"} == {
        path.name for path in C_RUNTIME.iterdir() if path.is_dir()
    }


@pytest.mark.parametrize("path", sorted((PACKAGE / "kernels").rglob("*.py")), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_families_see_operators_and_never_each_other(path: Path) -> None:
    own = path.relative_to(PACKAGE).parts[1]
    for name in imported(path):
        words = name.split(".")
        if words[:2] == ["mcugen", "kernels"]:
            assert words[2:3] == [own], f"{path.name} of {own} imports {name}"


@pytest.mark.parametrize("path", sorted(C_RUNTIME.rglob("*.[ch]")), ids=lambda path: path.name)
def test_c_of_a_family_includes_its_own_folder_and_the_ground(path: Path) -> None:
    for name in re.findall(r'^\s*#\s*include "mcugen/(.+)"$', path.read_text(encoding="utf-8"), re.MULTILINE):
        folder = resources.c_files()[name].parent
        assert folder in (path.parent, C_RUNTIME), f"{path.name} of {path.parent.name} includes {name} of {folder.name}"


def test_only_families_name_instruction_sets() -> None:
    parts = ("ops", "select", "schedule", "plan", "emit")
    word = re.compile(r"mve|helium|smlad|\bdsp|swar|quads", re.IGNORECASE)
    assert [str(p) for p in sources() if part_of(p) in parts and word.search(p.read_text(encoding="utf-8"))] == []


def test_names_of_c_files_are_unique() -> None:
    assert len(resources.c_files()) == len(list(C_RUNTIME.rglob("*.[ch]")))


def test_only_kernels_of_asks_for_kernels() -> None:
    """Whatever chooses, prints or tests kernels asks `mcugen.kernels.of`, and so names no family."""
    asking = [path for path in sources() if part_of(path) not in ("kernels", "registry", "ops", "passes")]
    assert [
        path.name for path in asking if re.search(r"\b(op|kind)\.kernels\b", path.read_text(encoding="utf-8"))
    ] == []
    inside = [name for path in asking for name in imported(path) if name.startswith("mcugen.kernels.")]
    assert inside == []


def test_only_declared_libraries() -> None:
    used = {name.split(".")[0] for path in sources() for name in imported(path)}
    outside = used - set(sys.stdlib_module_names) - {"mcugen"}
    assert outside <= {*OWNERS, "numpy"}


@pytest.mark.parametrize(
    "path", sorted((PACKAGE / "decompositions").glob("*/*.py")), ids=lambda p: f"{p.parent.name}/{p.name}"
)
def test_decompositions_in_the_folder_of_a_format_are_of_that_format(path: Path) -> None:
    name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    entries = getattr(importlib.import_module(name), "IMPORTS", ())
    assert {entry.format for entry in entries} <= {path.parent.name}
    for other in imported(path):
        words = other.split(".")
        if words[:2] == ["mcugen", "decompositions"] and len(words) > 3:
            assert words[2] == path.parent.name, f"{path.name} imports {other}"
