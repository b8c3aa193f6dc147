# SPDX-License-Identifier: Apache-2.0
"""The oracle and what makes the emitted constants share no function that depends on scales.

The oracle's side is all that `reference`, `reference_q` and `scaling_q` of operators reach; everything else builds.
Functions of both sides may say where data lies (windows, axes, shapes), but not what a stored integer means.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support.syntax import nodes_of, tree_of

PACKAGE = Path(__file__).resolve().parents[2] / "mcugen"
FOLDERS = ("ops", "kernels")
MEANINGS = {".reference", ".reference_q", "flips_of", "outputs_on", ".scaling_q"}
BUILDING, ORACLE = "mcugen.ir.fixed_point", "mcugen.oracle"
GROUND = ("mcugen.ir.call", "mcugen.ir.types", "mcugen.errors")
Key = tuple[str, str]


@dataclass
class Function:
    """The names that one function, or the code outside all functions of a module, refers to."""

    where: str
    uses: set[Key] = field(default_factory=set)
    libraries: set[str] = field(default_factory=set)
    reads_scales: bool = False


def functions(sources: dict[str, str]) -> dict[Key, list[Function]]:
    """(module, name) -> functions; ".name" for methods of all classes, "" for code outside functions."""
    trees = {name: ast.parse(text) for name, text in sources.items()}
    bases = {name: _imports(tree) for name, tree in trees.items()}
    found: dict[Key, list[Function]] = {}
    for name, tree in trees.items():
        for function, nodes in _bodies(tree):
            item = Function(f"{name}:{function or 'module'}")
            for node in nodes:
                _note(item, node, name, bases[name], set(trees))
            found.setdefault((name, function), []).append(item)
    return found


def _bodies(tree: ast.Module) -> Iterator[tuple[str, list[ast.AST]]]:
    """Each module-level function and each method, and what is left of the module, without imports."""
    outside: list[ast.AST] = []
    for node in tree.body:
        members = node.body if isinstance(node, ast.ClassDef) else [node]
        outside += [*node.decorator_list, *node.bases] if isinstance(node, ast.ClassDef) else []
        for member in members:
            if isinstance(member, ast.FunctionDef):
                method = "." if isinstance(node, ast.ClassDef) else ""
                yield method + member.name, list(ast.walk(member))
            elif not isinstance(member, ast.Import | ast.ImportFrom):
                outside += ast.walk(member)
    yield "", outside


def _imports(tree: ast.Module) -> dict[str, Key]:
    """A module's name for something imported -> (module, name), the name "" for a module as a whole."""
    found: dict[str, Key] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("mcugen"):
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                is_module = (PACKAGE.parent / Path(*whole.split("."))).with_suffix(".py").is_file()
                found[alias.asname or alias.name] = (whole, "") if is_module else (node.module, alias.name)
    return found


def _note(item: Function, node: ast.AST, module: str, imports: dict[str, Key], modules: set[str]) -> None:
    if isinstance(node, ast.Name):
        place = imports.get(node.id, (module, node.id))
        item.uses.add(place)
        item.libraries.add(place[0])
    elif isinstance(node, ast.Attribute):
        item.reads_scales |= node.attr == "scale"
        base = imports.get(node.value.id) if isinstance(node.value, ast.Name) else None
        if base is not None and base[1] == "":
            item.uses.add((base[0], node.attr))
        elif isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
            item.uses |= {
                (name, f".{node.attr}") for name in {module, *(place[0] for place in imports.values())} & modules
            }


def reached(found: dict[Key, list[Function]], roots: set[Key]) -> set[Key]:
    seen, todo = set(roots), list(roots)
    while todo:
        for item in found.get(todo.pop(), ()):
            new = {key for key in item.uses if key in found} - seen
            seen |= new
            todo += new
    return seen


def faults(sources: dict[str, str]) -> list[str]:
    """The violations of the rule, in sources by module name."""
    found = functions(sources)
    oracle = reached(found, {key for key in found if key[1] in MEANINGS})
    building = reached(found, set(found) - oracle)
    problems = []
    for key, items in sorted(found.items()):
        for item in items:
            own = [name for name in item.libraries if name.startswith((BUILDING, ORACLE))]
            if key in oracle and any(name.startswith(BUILDING) for name in own):
                problems.append(f"{item.where} belongs to the oracle and uses {BUILDING}")
            if key in building and key[1] not in MEANINGS and any(name.startswith(ORACLE) for name in own):
                problems.append(f"{item.where} builds and uses {ORACLE}")
            if key in oracle & building and item.reads_scales:
                problems.append(f"{item.where} reads scales for the oracle and for what it checks")
    return problems


def ours() -> dict[str, str]:
    paths = [path for folder in FOLDERS for path in sorted((PACKAGE / folder).rglob("*.py"))]
    return {".".join(p.relative_to(PACKAGE.parent).with_suffix("").parts): p.read_text("utf-8") for p in paths}


def test_the_oracle_shares_nothing_with_what_it_checks() -> None:
    assert not faults(ours())


def test_the_oracle_package_stands_alone() -> None:
    for path in sorted((PACKAGE / "oracle").glob("*.py")):
        for module, _ in _imports(tree_of(path)).values():
            runs_graphs = path.stem in ("actual_states", "interpreter", "near_ties", "stimuli", "streaming")
            ground = (*GROUND, "mcugen.ir.graph", "mcugen.ir.op") if runs_graphs else GROUND
            assert module.startswith((ORACLE, *ground)), f"{path}: {module}"


def imported_by(path: Path) -> set[str]:
    """The modules that a source imports, and the names that it takes from them, as modules."""
    found: set[str] = set()
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


WITNESSES = {"mcugen.verify.witnesses", "onnx.reference", "mcugen.machines.toolchain.runtimes"}
"""Other computations of a model's file, and what runs them."""
MAY_ASK = {"verify/checks.py", "verify/check_report.py", "cli/__init__.py"}
"""Outside their folder, the modules that may hear witnesses: to compare, and to print."""


def test_witnesses_are_a_source_of_nothing() -> None:
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE).as_posix()
        if not place.startswith("verify/witnesses/") and place not in MAY_ASK:
            assert not WITNESSES & imported_by(path), place


PLANTS = {
    "uses mcugen.ir.fixed_point": (
        "from mcugen.ir.fixed_point import wrap32\nclass A:\n    def reference_q(self): return wrap32(1)\n"
    ),
    "builds and uses": "from mcugen.oracle.fixed import each\ndef params(c): return each(c, 1)\nkernel = params\n",
    "reads scales": "def gain(t): return t.scale\nKERNEL = gain\nclass A:\n    def reference_q(self): return gain(1)\n",
}


@pytest.mark.parametrize("message", PLANTS)
def test_a_shared_derivation_is_found(message: str) -> None:
    assert any(message in problem for problem in faults({"mcugen.ops.planted": PLANTS[message]}))
