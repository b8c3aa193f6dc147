# SPDX-License-Identifier: Apache-2.0
"""Imports point down only, families stay apart, and outside libraries stay in the layer that owns them."""

from __future__ import annotations

import ast
import functools
import importlib
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from mcugen import kernels
from mcugen.system import resources
from tests.support.syntax import nodes_of, tree_of

PACKAGE = Path(__file__).resolve().parents[2] / "mcugen"
C_RUNTIME = PACKAGE.parent / "c_runtime/mcugen"
ARCHITECTURE = PACKAGE.parent / "docs/architecture.md"
MOST_ROWS, MOST_MODULES, MOST_PACKAGES = 16, 8, 18
ROLES = {"__init__", "read", "write"}
"""Names of modules that say their role in a package, as every format has a reader."""
MOST_SHARED_STEMS = 5

LAYERS: tuple[tuple[str, ...], ...] = tuple(
    tuple(row.split())
    for row in (
        "cli __main__ pytest_plugin",
        "builds",
        "verify opencl_bench",
        "pipeline ext interop",
        "report machines",
        "quantize emit",
        "solve",
        "formats",
        "passes boards",
        "kernels samples",
        "ops",
        "oracle",
        "ir",
        "options system",
        "errors",
    )
)
"""Packages and modules of mcugen. One imports itself and rows below its own, never its neighbours in a row."""
WITHIN = {("__main__", "cli")}
OWNERS = {
    "flatbuffers": ("formats",),
    "tflite": ("formats",),
    "onnx": ("formats", "verify"),
    "google": ("formats",),
    "nnef": ("formats",),
    "jinja2": ("emit",),
    "pycparser": ("emit",),
    "subprocess": ("machines",),
    "click": ("cli",),
    "rich": ("cli",),
    "pytest": ("pytest_plugin",),
    "PIL": ("samples",),
    "distributed": ("quantize",),
    "ai_edge_litert": ("machines",),
    "tflite_micro": ("machines",),
    "onnxruntime": ("machines",),
}


def sources() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def level(part: str) -> int:
    rows = [k for k, row in enumerate(LAYERS) if part in row]
    assert len(rows) == 1, f"{part} stands in no row of LAYERS"
    return rows[0]


@functools.cache
def imported(path: Path) -> tuple[str, ...]:
    """Full names of the modules that a file imports, at run time or for type checking, anywhere in it."""
    return tuple(_imported(path))


def _imported(path: Path) -> Iterator[str]:
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: relative import"
            yield from ([f"mcugen.{alias.name}" for alias in node.names] if node.module == "mcugen" else [node.module])


def test_imports_point_down() -> None:
    wrong = []
    for path in sources():
        own = part_of(path)
        for name in imported(path) if own != "__init__" else ():
            part = next(iter(name.split(".")[1:]), "") if name.startswith("mcugen.") else ""
            if part not in ("", own, "__version__") and level(part) <= level(own) and (own, part) not in WITHIN:
                wrong.append(f"{path.relative_to(PACKAGE)} imports {name}, which is not below it")
    assert not wrong


def test_the_street_plan_is_small() -> None:
    modules = {path.name for path in PACKAGE.glob("*.py")}
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert len(LAYERS) <= MOST_ROWS and len(modules) <= MOST_MODULES and len(packages) <= MOST_PACKAGES
    parts = {name.removesuffix(".py") for name in modules} | packages
    assert parts - {"__init__"} == {part for row in LAYERS for part in row}


def test_a_public_class_name_means_one_thing() -> None:
    trees = [tree_of(path) for path in sources()]
    names = [n.name for tree in trees for n in tree.body if isinstance(n, ast.ClassDef) and n.name[0] != "_"]
    assert [name for name, count in Counter(names).items() if count > 1] == []


def test_a_module_name_says_what_is_in_it() -> None:
    stems = Counter(path.stem for path in sources() if path.stem not in ROLES)
    shared = sorted(stem for stem, count in stems.items() if count > 1)
    assert len(shared) <= MOST_SHARED_STEMS, shared


def job_of(part: str) -> str:
    """The first sentence of a part's docstring, of one line in the table."""
    path = PACKAGE / part
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    text = ast.get_docstring(tree_of(source))
    return " ".join((text or "").split("\n\n")[0].split()).partition(". ")[0].rstrip(".")


def table() -> str:
    """The table of layers, as docs/architecture.md has it."""
    lines = ["| row | package | job |", "|---|---|---|"]
    for k, row in enumerate(LAYERS):
        parts = [part for part in row if part != "__main__"]
        lines += [f"| {k + 1} | `{part}{'/' * (PACKAGE / part).is_dir()}` | {job_of(part)} |" for part in parts]
    return "\n".join(lines) + "\n"


def test_the_documented_layers_are_those_of_this_test() -> None:
    assert table() in ARCHITECTURE.read_text(encoding="utf-8"), f"docs/architecture.md lacks this table:\n{table()}"


def test_libraries_stay_with_their_owner() -> None:
    uses = {(part_of(path), name.split(".")[0]) for path in sources() for name in imported(path)}
    assert not {(part, name) for part, name in uses if part not in OWNERS.get(name, (part,))}


def test_every_family_has_its_folder_of_c() -> None:
    assert {*kernels.families(), *kernels.device_families(), "portable"} == {
        path.name for path in C_RUNTIME.iterdir() if path.is_dir()
    }


def test_families_see_operators_and_never_each_other() -> None:
    modules = {path.stem for path in (PACKAGE / "kernels").glob("*.py")}
    for path in (PACKAGE / "kernels").glob("*/**/*.py"):
        own = path.relative_to(PACKAGE).parts[1]
        others = [name for name in imported(path) if name.startswith("mcugen.kernels.")]
        assert not [name for name in others if name.split(".")[2] not in {own, *modules}], path


def test_c_of_a_family_includes_its_own_folder_and_the_ground() -> None:
    for own, file in resources.c_files().items():
        for name in re.findall(r'^\s*#\s*include "mcugen/(.+)"$', file.text, re.MULTILINE):
            folder = resources.c_files()[name].path.parent
            assert folder in (file.path.parent, C_RUNTIME), f"{own} includes {name} of {folder.name}"


def test_only_families_name_instruction_sets() -> None:
    parts = ("ops", "solve", "emit")
    word = re.compile(r"mve|helium|smlad|\bdsp|swar|quads", re.IGNORECASE)
    assert [str(p) for p in sources() if part_of(p) in parts and word.search(p.read_text(encoding="utf-8"))] == []


def test_only_kernels_of_asks_for_kernels() -> None:
    """Whatever chooses, prints or tests kernels asks `mcugen.kernels.of`, and so names no family."""
    asking = [path for path in sources() if part_of(path) not in ("kernels", "formats", "ops", "passes")]
    assert [
        path.name for path in asking if re.search(r"\b(op|kind)\.kernels\b", path.read_text(encoding="utf-8"))
    ] == []
    families = {path.parent.name for path in (PACKAGE / "kernels").glob("*/__init__.py")}
    names = {name for path in asking for name in imported(path) if name.startswith("mcugen.kernels.")}
    assert not [name for name in names if name.split(".")[2] in families]


def test_only_declared_libraries() -> None:
    used = {name.split(".")[0] for path in sources() for name in imported(path)}
    outside = used - set(sys.stdlib_module_names) - {"mcugen"}
    assert outside <= {*OWNERS, "numpy"}


def test_operators_in_the_folder_of_a_format_are_of_that_format() -> None:
    for path in sorted((PACKAGE / "formats").glob("*/operators/*.py")):
        own = path.parents[1].name
        name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        entries = getattr(importlib.import_module(name), "IMPORTS", ())
        assert {entry.format for entry in entries} <= {own}
        others = [re.match(r"mcugen\.formats\.(\w+)\.operators", name) for name in imported(path)]
        assert {other[1] for other in others if other} <= {own}, path
