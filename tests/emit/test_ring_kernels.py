# SPDX-License-Identifier: Apache-2.0
"""Kernels that keep converted rows, in copies made for their sizes: every window, run whole, by rows and by frames."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import mcugen
from mcugen.machines.toolchain.process import run, run_checked
from mcugen.oracle import interpreter
from mcugen.pipeline import Artifact
from mcugen.verify import host
from mcugen.verify.cases import cases
from tests.emit.built import WARNINGS, Built
from tests.solve.schedule.test_frames import MAIN
from tests.support.tflite_writer import ModelWriter

OPERATOR = '''
"""COLUMN_SUM: an invention with a kernel that widens its rows, pads them by two elements, and knows its sizes."""

from dataclasses import dataclass

import numpy as np

from mcugen.ir.imports import Import, Imported
from mcugen.ir.kernel import Kernel, Ring, RowStorage, Text
from mcugen.ir.op import Example, Op
from mcugen.ops._window import SlidingWindow
from mcugen.ir.types import TensorType

HEADER = """#ifndef COLUMN_SUM_S8_WIDE_H
#define COLUMN_SUM_S8_WIDE_H
#include "mcugen/variant.h"
typedef struct { int32_t zero_point; } mg_column_sum_s8__wide_params;
#define MG_DECLARE_column_sum_s8__wide(f) \\\\
    MG_LINKAGE void MG_PART(f, row)(const mg_column_sum_s8__wide_params *p, const int8_t *in, mg_s16 *row); \\\\
    MG_LINKAGE void f(const mg_column_sum_s8__wide_params *p, const mg_s16 *const *rows, int8_t *out)
#endif
"""
TEMPLATE = """#include "mcugen/column_sum_s8__wide.h"
MG_DECLARE_column_sum_s8__wide(MG_KERNEL);
MG_LINKAGE void MG_VARIANT(row)(const mg_column_sum_s8__wide_params *p, const int8_t *in, mg_s16 *row)
{
    row[0] = row[MG_LENGTH + 1] = 99;
    for (int32_t i = 0; i < MG_LENGTH; i += 1) {
        row[i + 1] = (int16_t)(in == NULL ? 0 : in[i] - p->zero_point);
    }
}
MG_LINKAGE void MG_KERNEL(const mg_column_sum_s8__wide_params *p, const mg_s16 *const *rows, int8_t *out)
{
    for (int32_t i = 0; i < MG_LENGTH; i += 1) {
        int32_t sum = p->zero_point;
        for (int32_t k = 0; k < MG_SIZE; k += 1) {
            sum += (k + 1) * rows[k][i + 1];
        }
        out[i] = (int8_t)mg_clamp(sum, -128, 127);
    }
}
"""

def from_tflite(source):
    size, stride, dilation, same = source.attributes["custom_options"]
    return Imported(ColumnSum(SlidingWindow((size, 1), (stride, 1), (dilation, 1), "SAME" if same else "VALID")))

def length(call):
    return call.input(0).shape[2] * call.input(0).shape[3]

@dataclass(frozen=True)
class ColumnSum(Op):
    """y = z + sum of (k + 1) * (row k - z). Source: none."""

    window: SlidingWindow = SlidingWindow((3, 1), (1, 1), (1, 1), "SAME")
    imports = (Import("tflite", "CUSTOM:ColumnSum", from_tflite),)
    kernels = (
        Kernel(
            "mg_column_sum_s8__wide",
            Ring(lambda call: call.op.window.rows(call.input(0)), lambda call: RowStorage("s16", length(call) + 2)),
            params=lambda call: {"zero_point": call.input(0).zero_point},
            text=Text(
                lambda call: {"size": call.op.window.kernel[0], "length": length(call)},
                struct="mg_column_sum_s8__wide",
                files={"column_sum_s8__wide.h": HEADER, "column_sum_s8__wide_template.h": TEMPLATE},
            ),
        ),
    )

    def infer(self, x):
        n, h, w, c = x.shape
        return (TensorType((n, self.window.output((h, w))[0], w, c), x.dtype),)

    def reference_q(self, call, x):
        z = call.input(0).zero_point
        taps = self.window.taps(x.astype(np.int64) - z, 0)
        return np.clip(z + sum((i + 1) * tap for i, _, tap in taps), -128, 127)

    @classmethod
    def examples(cls):
        x = TensorType((1, 5, 3, 2), "s8")
        return (Example(cls(), (x,), (x,), {}),)
'''
Numbers = tuple[int, int, int, int]
WINDOWS = (
    (3, 1, 1, 1), (3, 1, 1, 0), (1, 1, 1, 1), (2, 2, 1, 1), (1, 3, 1, 0), (2, 3, 1, 1), (5, 2, 1, 1), (3, 1, 2, 0),
    (3, 1, 3, 1), (2, 1, 4, 0), (4, 1, 1, 1), (7, 1, 1, 1), (3, 2, 1, 0),
)  # fmt: skip


@pytest.fixture(name="ops", scope="module")
def their_ops(tmp_path_factory: pytest.TempPathFactory) -> list[ModuleType]:
    file = tmp_path_factory.mktemp("ring") / "their_column_sum.py"
    file.write_text(OPERATOR)
    spec = importlib.util.spec_from_file_location("their_column_sum", file)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    sys.modules["their_column_sum"] = loaded
    spec.loader.exec_module(loaded)
    return [loaded]


def rows_after(rows: int, window: Numbers) -> int:
    size, stride, dilation, same = window
    return -(-rows // stride) if same else (rows - (size - 1) * dilation - 1) // stride + 1


def chain(path: Path, windows: list[Numbers], rows: int = 13, images: int = 1) -> Path:
    """A chain of these window operators on [images, rows, 3, 2], then a mean over the remaining rows."""
    m = ModelWriter()
    x = m.tensor("x", (images, rows, 3, 2), "s8", scale=0.5, zero_point=-7)
    at = x
    for k, window in enumerate(windows):
        rows = rows_after(rows, window)
        y = m.tensor(f"y{k}", (images, rows, 3, 2), "s8", scale=0.5, zero_point=-7)
        m.op("CUSTOM", [at], [y], custom_code="ColumnSum", custom_options=bytes(window))
        at = y
    axes = m.tensor("axes", (2,), "s32", data=np.array([1, 2], np.int32))
    out = m.tensor("out", (images, 2), "s8", scale=0.5, zero_point=-7)
    m.op("MEAN", [at, axes], [out])
    path.write_bytes(m.build([x], [out]))
    return path


def check(artifact: Artifact) -> None:
    verdict = host.verify(artifact, cases(artifact.imported, random=3))
    assert verdict.agrees and verdict.tensors > 1, verdict


@pytest.mark.sampled(8)
@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_every_window_by_rows_and_whole(tmp_path: Path, ops: list[ModuleType], window: Numbers) -> None:
    path = chain(tmp_path / "net.tflite", [window, (3, 1, 1, 1)])
    for choices in ({}, {"optimize": "ram"}, {"input_mode": "rows"}):
        artifact = mcugen.compile(path, ops=ops, **choices)
        first = artifact.schedule.steps[0]
        assert first.ring_rows == (window[0] if first.refills else (window[0] - 1) * window[2] + 1)
        assert not first.refills or choices
        check(artifact)


def test_several_images(tmp_path: Path, ops: list[ModuleType]) -> None:
    check(mcugen.compile(chain(tmp_path / "net.tflite", [(3, 2, 1, 1)], images=3), ops=ops))


def test_equal_sizes_share_a_copy_and_others_do_not(tmp_path: Path, ops: list[ModuleType]) -> None:
    path = chain(tmp_path / "net.tflite", [(3, 1, 1, 1), (3, 1, 1, 1), (2, 1, 1, 1)])
    artifact = mcugen.compile(path, ops=ops)
    copies = [text.decode() for f, text in artifact.files.items() if f.startswith("kernels/")]
    assert sorted(re.findall(r"for (length \d+, size \d+):", "".join(copies))) == [
        "length 6, size 2",
        "length 6, size 3",
    ]


def test_amalgamated_they_are_static(tmp_path: Path, ops: list[ModuleType]) -> None:
    path = chain(tmp_path / "net.tflite", [(3, 1, 1, 1), (2, 1, 2, 0)])
    artifact = mcugen.compile(path, ops=ops, amalgamate=True)
    artifact.write(tmp_path / "out")
    built = Built(tmp_path / "out", artifact)
    built.gcc("-std=c99", "-O2", *WARNINGS, "-c", "net.c", "-o", "net.o")
    names = run_checked(["nm", "--defined-only", "--extern-only", tmp_path / "out/net.o"]).stdout.decode().split()
    assert {name for name in names if "column_sum" in name} == set() and "net_run" in names


def test_frame_by_frame(tmp_path: Path, ops: list[ModuleType]) -> None:
    path = chain(tmp_path / "net.tflite", [(3, 1, 1, 0), (2, 1, 2, 0), (1, 1, 1, 0)], rows=9)
    artifact = mcugen.compile(path, ops=ops, input_mode="frames")
    artifact.write(tmp_path / "out")
    program = Built(tmp_path / "out", artifact).program(driver=MAIN.format(c_type="int8_t"))
    frames = np.random.default_rng(5).integers(-128, 128, (40, 3, 2)).astype(np.int8)
    done = run([program], stdin=b"".join(b"-" + f.tobytes() for f in frames))
    got = np.frombuffer(done.stdout, np.int8).reshape(40, 3)
    for t in range(8, 40):
        window = frames[t - 8 : t + 1][None]
        want = interpreter.run(artifact.imported, [window], "tflm")[artifact.imported.outputs[0]]
        assert got[t, 0] == 1
        np.testing.assert_array_equal(got[t, 1:], want.reshape(-1))
