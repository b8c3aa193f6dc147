# SPDX-License-Identifier: Apache-2.0
"""An operator that the package lacks is one new Python file, given by module or entry point; nothing else changes."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import mcugen
from mcugen.errors import UnsupportedError, UsageError
from mcugen.machines.toolchain.process import run_checked
from tests.emit.built import ROOT, WARNINGS, Built
from tests.support.tflite_writer import ModelWriter

PAGE = (ROOT / "docs/extending.md").read_text("utf-8")
OPERATOR = PAGE.partition("```python\n")[2].partition("```\n")[0]
"""The operator of the page, Triangle: |x - centre| of int8, with its C inside."""


def model(tmp_path: Path, options: bytes = b"\x05") -> Path:
    m = ModelWriter()
    x, y, z = (m.tensor(name, (1, 2, 3, 4), "s8", scale=1.0) for name in "xyz")
    m.op("CUSTOM", [x], [y], custom_code="Triangle", custom_options=options)
    m.op("RELU", [y], [z])
    path = tmp_path / "triangles.tflite"
    path.write_bytes(m.build([x], [z]))
    return path


def module(tmp_path: Path, text: str = OPERATOR) -> ModuleType:
    file = tmp_path / "their_triangle.py"
    file.write_text(textwrap.dedent(text))
    spec = importlib.util.spec_from_file_location("their_triangle", file)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    sys.modules["their_triangle"] = loaded
    spec.loader.exec_module(loaded)
    return loaded


def test_unknown_without_it(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="operator 0 CUSTOM:Triangle"):
        mcugen.compile(model(tmp_path))


@pytest.mark.parametrize("amalgamate", [False, True])
def test_given_as_a_module(tmp_path: Path, amalgamate: bool) -> None:
    artifact = mcugen.compile(model(tmp_path), ops=[module(tmp_path)], amalgamate=amalgamate, selftest=True)
    artifact.write(tmp_path / "out")
    built = Built(tmp_path / "out", artifact)
    if not amalgamate:
        names = re.findall(r"(kernels/triangle_s8|mcugen/triangle_s8)_\w{6}\.[ch]", " ".join(artifact.files))
        assert names == ["kernels/triangle_s8", "mcugen/triangle_s8"]
    x = np.arange(-12, 12, dtype=np.int8)
    program = built.program(["-std=c99", "-O2", *WARNINGS])
    got = np.frombuffer(run_checked([program], stdin=x.tobytes()).stdout, np.int8)
    np.testing.assert_array_equal(got, np.abs(x.astype(int) - 5))


def test_installed_by_entry_point(tmp_path: Path) -> None:
    site = tmp_path / "site"
    info = site / "their_triangle-1.0.dist-info"
    info.mkdir(parents=True)
    module(site)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-triangle\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[mcugen.ops]\ntriangle = their_triangle\n")
    script = "import sys, mcugen; print(*mcugen.compile(sys.argv[1]).files)"
    command = [sys.executable, "-c", script, str(model(tmp_path))]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{site}"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert re.search(r"kernels/triangle_s8_\w{6}\.c", done.stdout)


def test_its_options_may_not_be_ignored(tmp_path: Path) -> None:
    careless = OPERATOR.replace('source.attributes["custom_options"][0]', "0")
    assert careless != OPERATOR
    with pytest.raises(UnsupportedError, match="custom_options"):
        mcugen.compile(model(tmp_path), ops=[module(tmp_path, careless)])


@pytest.mark.parametrize("name", ["conv2d_s8.h", "runtime.h", "../evil.c", "evil.sh"])
def test_its_files_stay_apart_from_the_runtime(tmp_path: Path, name: str) -> None:
    clashing = OPERATOR.replace(
        'files={"triangle_s8.h": HEADER,', f'files={{"triangle_s8.h": HEADER, "{name}": HEADER,'
    )
    with pytest.raises(UsageError, match="mg_triangle_s8 has a file"):
        mcugen.compile(model(tmp_path), ops=[module(tmp_path, clashing)])


def test_two_modules_may_not_import_the_same(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"both import tflite CUSTOM:Triangle"):
        mcugen.compile(model(tmp_path), ops=[module(tmp_path), module(tmp_path)])


@pytest.mark.parametrize(
    ("part", "lacks"),
    [("Source: none, an invention.", "Source:"), ("kernels = (", "a kernel"), ("def examples", "examples")],
)
def test_an_incomplete_operator_is_refused(tmp_path: Path, part: str, lacks: str) -> None:
    assert part in OPERATOR
    broken = OPERATOR.replace(part, {"kernels = (": "others = (", "def examples": "def samples"}.get(part, ""))
    with pytest.raises(UsageError, match=lacks):
        mcugen.compile(model(tmp_path), ops=[module(tmp_path, broken)])


ELEMENTS = """
from dataclasses import dataclass

import numpy as np

from mcugen.ir.element import Element
from mcugen.ir.imports import Import
from mcugen.ir.op import Op
from mcugen.ops import _unary

@dataclass(frozen=True)
class Bump(Op):
    '''y = exp(-x * x). Source: none, an invention.'''

    imports = (Import("tflite", "CUSTOM:Bump"),)
    element = {"f32": Element("exp(-(a * a))")}
    kernels = _unary.kernels("mg_bump", element)

    def infer(self, x):
        return _unary.same_type(x, ("f32",))

    def reference(self, x):
        return np.exp(-x * x)

    @classmethod
    def examples(cls):
        return _unary.examples(cls(), "f32")
"""


def test_an_expression_is_enough_and_joins_chains(tmp_path: Path) -> None:
    """No C: the kernel is made of the expression, and the pass puts it into one loop with its neighbours."""
    m = ModelWriter()
    x, k, scaled, y, z = (m.tensor(n, s, "f32", data=d) for n, s, d in (
        ("x", (2, 12), None), ("k", (), np.array(0.5, np.float32)), ("s", (2, 12), None), ("y", (2, 12), None),
        ("z", (2, 12), None),
    ))  # fmt: skip
    m.op("MUL", [x, k], [scaled])
    m.op("CUSTOM", [scaled], [y], custom_code="Bump")
    m.op("NEG", [y], [z])
    path = tmp_path / "bumps.tflite"
    path.write_bytes(m.build([x], [z]))
    artifact = mcugen.compile(path, ops=[module(tmp_path, ELEMENTS)])
    assert len(artifact.schedule.steps) == 1
    artifact.write(tmp_path / "out")
    given = np.linspace(-3, 3, 24, dtype=np.float32)
    program = Built(tmp_path / "out", artifact).program(["-std=c99", "-O2", *WARNINGS])
    got = np.frombuffer(run_checked([program], stdin=given.tobytes()).stdout, np.float32)
    np.testing.assert_allclose(got, -np.exp(-((0.5 * given.astype(np.float64)) ** 2)), rtol=1e-6)
    alone = mcugen.compile(path, ops=[module(tmp_path, ELEMENTS)], no_simplify=True)
    assert [name for name in alone.files if name.startswith("kernels/bump_f32")]
