# SPDX-License-Identifier: Apache-2.0
"""An operator from outside that expands to several, with its own C and values kept from run to run, in a .tflite."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import mcugen
from mcugen.errors import CorruptModelError, UnsupportedError, UsageError
from mcugen.formats import registry
from mcugen.ir.imports import Import
from mcugen.oracle import interpreter
from mcugen.oracle.stimuli import draw
from mcugen.verify import emulated, host
from mcugen.verify.cases import cases
from tests.support.tflite_writer import ModelWriter

MODULE = '''
"""Smoothing, and sums over time: operators of somebody else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mcugen.ir.imports import Import
from mcugen.ir.kernel import Kernel, Run, Text
from mcugen.ir.op import Example, Op
from mcugen.ops.add import Add
from mcugen.ops.relu import Relu
from mcugen.ir.types import TensorType

HEADER = """/* y = (3 a + b) / 4, rounded down, s8. */
#ifndef LEAK_S8_H
#define LEAK_S8_H
#include "mcugen/runtime.h"
void mg_leak_s8(const int8_t *a, const int8_t *b, int8_t *out, uint32_t n);
#endif
"""
SOURCE = """#include "mcugen/leak_s8.h"
void mg_leak_s8(const int8_t *a, const int8_t *b, int8_t *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        out[i] = (int8_t)((3 * a[i] + b[i]) >> 2);
    }
}
"""


def is_int8(call):
    "data is int8"
    return call.input(0).dtype == "s8"


@dataclass(frozen=True)
class Leak(Op):
    """y = floor((3 a + b) / 4) on stored values. Source: none, an invention."""

    kernels = (
        Kernel(
            "mg_leak_s8",
            Run(lambda call: call.output.size),
            accepts=(is_int8,),
            in_place=(0,),
            text=Text(files={"leak_s8.h": HEADER, "leak_s8.c": SOURCE}),
        ),
    )

    def infer(self, a, b):
        return (TensorType(a.shape, a.dtype),)

    def reference(self, a, b):
        return np.floor((3 * a + b) / 4)

    def reference_q(self, call, a, b):
        return (3 * a.astype(np.int64) + b) >> 2

    @classmethod
    def examples(cls):
        x = TensorType((1, 5), "s8")
        return (Example(cls(), (x, x), (x,), {}),)


def smooth(source, e):
    """A leak into a value of the operator's own, twice; the larger of zero and that."""
    t = source.inputs[0]
    first = np.full(t.shape, t.zero_point, t.np_dtype)
    value = e.inputs[0]
    for name in ("once", "twice"):
        value = e.node(Leak(), e.read(e.own(name), first, t.quant), value, quant=t.quant)
        e.write(e.own(name), value)
    return [e.node(Relu(), value, quant=t.quant)]


def total(source, e):
    """The sum over time is kept in operand 1, a variable of the file."""
    t = source.inputs[1]
    before = e.read(e.variables[1], np.full(t.shape, t.zero_point, t.np_dtype), t.quant)
    after = e.node(Add(), before, e.inputs[0], quant=t.quant)
    e.write(e.variables[1], after)
    return [after]


IMPORTS = (
    Import("tflite", "CUSTOM:Smooth", since=2, expand=smooth),
    Import("tflite", "CUSTOM:Total", expand=total),
)
'''
SHAPE = (1, 2, 3, 4)


def module(tmp_path: Path, text: str = MODULE) -> ModuleType:
    file = tmp_path / "their_filters.py"
    file.write_text(text)
    spec = importlib.util.spec_from_file_location("their_filters", file)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    sys.modules["their_filters"] = loaded
    spec.loader.exec_module(loaded)
    return loaded


def model(tmp_path: Path, version: int = 2) -> Path:
    """Two smoothings one after the other, and a sum over time that two operators add to."""
    m = ModelWriter()
    x, y, z = (m.tensor(name, SHAPE, "s8", scale=0.1, zero_point=-4) for name in "xyz")
    sums = [m.tensor(f"s{k}", SHAPE, "s8", scale=0.4) for k in range(2)]
    kept = m.tensor("kept", SHAPE, "s8", scale=0.4, is_variable=True)
    m.op("CUSTOM", [x], [y], custom_code="Smooth", version=version)
    m.op("CUSTOM", [y], [z], custom_code="Smooth", version=version)
    m.op("CUSTOM", [z, kept], [sums[0]], custom_code="Total")
    m.op("CUSTOM", [x, kept], [sums[1]], custom_code="Total")
    path = tmp_path / "filters.tflite"
    path.write_bytes(m.build([x], sums))
    return path


def test_run_and_exact_on_an_emulated_core(tmp_path: Path) -> None:
    artifact = mcugen.compile(model(tmp_path), ops=[module(tmp_path)], board="cortex-m4")
    assert len(artifact.graph.states) == 5
    assert [s.in_place for s in artifact.report.states] == [True] * 5
    found = emulated.simulate(artifact, list(cases(artifact.imported, 1))[:2])
    assert found.agrees, found.verdict.first_difference
    assert found.repeatable
    assert host.verify(artifact, list(cases(artifact.imported, 1))[:3]).agrees


def test_the_variables_are_those_of_the_file_and_of_each_operator(tmp_path: Path) -> None:
    graph = mcugen.compile(model(tmp_path), ops=[module(tmp_path)]).imported
    inputs = [draw(graph, seed) for seed in range(6)]
    values = [[v[name] for name in graph.outputs] for v in interpreter.runs(graph, inputs, "tflm")]
    kept = [np.full(SHAPE, -4, np.int64) for _ in range(4)]
    total = np.zeros(SHAPE)
    for (x,), (first, second) in zip(inputs, values, strict=True):
        z = x.astype(np.int64)
        for k in range(4):
            kept[k] = (3 * kept[k] + z) >> 2
            z = np.maximum(kept[k], -4) if k % 2 else kept[k]
        for wanted, got in ((z, first), (x.astype(np.int64), second)):
            total = np.clip(total + 0.1 * (wanted + 4), -51.2, 50.8)
            assert np.abs(total - 0.4 * got).max() <= 0.45, "one step of the sum's scale"
            total = 0.4 * got


def test_another_version_is_not_taken(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="version 1 is not supported; versions 2 to the newest are"):
        mcugen.compile(model(tmp_path, version=1), ops=[module(tmp_path)])


def test_a_variable_is_refused_where_nobody_keeps_it(tmp_path: Path) -> None:
    m = ModelWriter()
    x, y = (m.tensor(name, SHAPE, "s8", scale=0.1) for name in "xy")
    kept = m.tensor("kept", SHAPE, "s8", scale=0.1, is_variable=True)
    m.op("ADD", [x, kept], [y])
    path = tmp_path / "m.tflite"
    path.write_bytes(m.build([x], [y]))
    with pytest.raises(UnsupportedError, match="variable tensor 'kept' is not supported"):
        mcugen.compile(path)


@pytest.mark.parametrize(
    ("sound", "broken", "error", "message"),
    [
        ("return [after]", "return [after, after]", CorruptModelError, "has 1 results, needs 2"),
        ("quant=t.quant)\n    e.write(e.var", "quant=None)\n    e.write(e.var", CorruptModelError, "given a value of"),
        ("np.full(t.shape, t.zero_point, t.np_dtype), t.quant)", "np.random.default_rng().integers(0, 9, t.shape, "
         "t.np_dtype), t.quant)", CorruptModelError, "is used with different types or initial values"),
        ("e.node(Relu(), value, quant=t.quant)", "e.node(Relu(), value, quant=source.inputs[0].quant.__class__((9.0,), "
         "(0,)))", mcugen.errors.QuantizationError, "the file declares"),
    ],
    ids=["results", "type", "initial", "quantization"],
)  # fmt: skip
def test_a_wrong_expansion_is_told(
    tmp_path: Path, sound: str, broken: str, error: type[Exception], message: str
) -> None:
    assert MODULE.count(sound) == 1
    with pytest.raises(error, match=message):
        mcugen.compile(model(tmp_path), ops=[module(tmp_path, MODULE.replace(sound, broken))])


@pytest.mark.parametrize(
    ("ranges", "clash"),
    [
        ([(1, 3), (4, None)], False),
        ([(1, 3), (3, None)], True),
        ([(1, None), (7, 7)], True),
        ([(5, None), (1, 4)], False),
        ([(2, None), (2, None)], True),
    ],
)
def test_imports_of_the_same_versions_clash(ranges: list[tuple[int, int | None]], clash: bool) -> None:
    def nothing(source: object, e: object) -> list[str]:
        return []

    modules = [ModuleType(f"m{k}") for k in range(2)]
    for made, (since, until) in zip(modules, ranges, strict=True):
        made.IMPORTS = (Import("tflite", "CUSTOM:Same", since=since, until=until, expand=nothing),)  # type: ignore[attr-defined]
    if clash:
        with pytest.raises(UsageError, match="m1 and m0 both import tflite CUSTOM:Same"):
            registry.load(modules)
        return
    found = registry.load(modules)
    for version in range(1, 9):
        wanted = next((k for k, (low, high) in enumerate(ranges) if low <= version <= (high or version)), None)
        got = found.find("tflite", "CUSTOM:Same", version)
        assert (got.module if got else None) == (None if wanted is None else f"m{wanted}")


def test_an_import_is_one_of_the_two() -> None:
    with pytest.raises(UsageError, match="both builds one operator and expands"):
        Import("tflite", "X", build=lambda source: source, expand=lambda source, e: [])  # type: ignore[arg-type, return-value]
    with pytest.raises(UsageError, match="ends at version 2, before 3"):
        Import("tflite", "X", since=3, until=2)
