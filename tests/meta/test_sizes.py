# SPDX-License-Identifier: Apache-2.0
"""Files and functions stay small, start-up stays quick, and the repository speaks only of itself."""

from __future__ import annotations

import ast
import re
import resource
import statistics
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from mcugen import kernels
from mcugen.formats import registry
from mcugen.ir.kernel import Kernel, Whole
from mcugen.ir.op import Op
from tests.support.syntax import nodes_of

ROOT = Path(__file__).resolve().parents[2]
MAX_MODULE_LINES = 700
MEDIAN_MODULE_LINES = 125
MAX_FUNCTION_LINES = 60
MAX_OPERATOR_FUNCTIONS = 18
MAX_KERNEL_FIELDS = 15
FORBIDDEN = re.compile(
    r"(?<![\w.])/(?:work|root|home/\w+)/|pypi\.\w+|registry\.npm|artifactory|https?://(?:10|192\.168|127)\."
    r"|\b(?:TODO|FIXME|XXX)\b"
)
TEXT = {".py", ".c", ".h", ".j2", ".md", ".toml", ".ld", ".txt", ".sh", ".yml", ""}


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    names = listed.stdout.decode().split("\0")[:-1] if listed.returncode == 0 else []
    paths = [ROOT / name for name in names] or [p for p in ROOT.rglob("*") if ".git" not in p.parts]
    return sorted(p for p in paths if p.is_file())


def test_every_test_file_has_a_name_of_its_own() -> None:
    """Otherwise pytest confuses two files."""
    names = [path.name for path in tracked() if path.name.startswith("test_")]
    assert [name for name in names if names.count(name) > 1] == []


def functions(path: Path) -> list[tuple[str, int]]:
    found = (n for n in nodes_of(path) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))
    return [(n.name, (n.end_lineno or n.lineno) - n.lineno + 1) for n in found]


def package() -> list[Path]:
    return sorted((ROOT / "mcugen").rglob("*.py"))


def test_modules_are_small() -> None:
    emitted = (p for p in tracked() if p.relative_to(ROOT).parts[0] in ("c_runtime", "templates"))
    modules = (*package(), *(ROOT / "tests").rglob("*.py"), *emitted)
    sizes = {str(p.relative_to(ROOT)): p.read_text("utf-8").count("\n") for p in modules}
    assert not {name: lines for name, lines in sizes.items() if lines > MAX_MODULE_LINES}
    assert statistics.median(sizes.values()) <= MEDIAN_MODULE_LINES


def test_functions_are_small() -> None:
    sizes = {f"{p.relative_to(ROOT)}:{name}": lines for p in package() for name, lines in functions(p)}
    assert not {where: lines for where, lines in sizes.items() if lines > MAX_FUNCTION_LINES}
    ordered = sorted(sizes.values())
    assert statistics.median(ordered) <= 8
    assert ordered[len(ordered) * 9 // 10] <= 35


def test_the_base_class_of_operators_is_small() -> None:
    """It states what an operator is; a question that one module asks is a function of that module."""
    functions = [name for name in vars(Op) if not name.startswith("__") and callable(getattr(Op, name))]
    assert len(functions) <= MAX_OPERATOR_FUNCTIONS, functions


@pytest.mark.parametrize("suffix", sorted(TEXT))
def test_no_forbidden_words(suffix: str) -> None:
    own = Path(__file__)
    found = []
    for path in tracked():
        if path.suffix == suffix and path != own:
            text = path.read_text(encoding="utf-8", errors="replace")
            found += [f"{path.relative_to(ROOT)}: {m.group()}" for m in FORBIDDEN.finditer(text)]
    assert not found


def test_broad_exceptions_become_errors() -> None:
    """No bare except, and `except Exception` only where a McugenError is raised from it."""
    for path in package():
        for node in nodes_of(path):
            if isinstance(node, ast.ExceptHandler):
                broad = node.type is None or (isinstance(node.type, ast.Name) and node.type.id in _BROAD)
                assert not broad or any(isinstance(n, ast.Raise) for n in ast.walk(node)), f"{path}:{node.lineno}"


_BROAD = ("Exception", "BaseException")


def seconds(*command: str) -> float:
    """The least processor time of three runs: other programs may share the machine."""
    times = []
    for _ in range(3):
        before = _children()
        subprocess.run([sys.executable, *command], cwd=ROOT, check=True, capture_output=True)
        times.append(_children() - before)
    return min(times)


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def test_import_is_quick() -> None:
    assert seconds("-c", "import mcugen") < 0.15


def test_help_is_quick() -> None:
    assert seconds("-m", "mcugen", "--help") < 0.3


def test_import_loads_no_heavy_library() -> None:
    script = "import sys, mcugen, mcugen.cli; print(*sorted({m.split('.')[0] for m in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert not {"numpy", "tflite", "flatbuffers", "jinja2", "pycparser", "onnx"} & set(loaded.split())


def test_a_kernel_states_what_kernels_of_several_forms_have() -> None:
    """A property that one form alone has is a field of that form."""
    ops = {*registry.own(), *registry.load().ops}
    every = [kernel for op in ops for kernel in (*kernels.of(op), *kernels.on_device(op))]
    plain = Kernel("", Whole())
    stated = {f.name for f in fields(Kernel)} - {"symbol", "form"}
    users = {name: {type(k.form) for k in every if getattr(k, name) != getattr(plain, name)} for name in stated}
    assert len(stated) + 2 <= MAX_KERNEL_FIELDS
    assert {name: forms for name, forms in users.items() if len(forms) < 2} == {}
