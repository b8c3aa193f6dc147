# SPDX-License-Identifier: Apache-2.0
"""Kernels on floats for x86-64: tiles of all sizes, parts of blocks of channels; sigmoid and tanh in vectors."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mcugen
from mcugen import kernels
from mcugen.ir.op import Example, Op
from mcugen.ir.types import TensorType
from mcugen.kernels.simd import FAMILY, float_tiles
from mcugen.machines.toolchain.host_gcc import SANITIZE
from mcugen.ops import _recurrent
from mcugen.ops._filter_examples import example
from mcugen.ops.add import Add
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from mcugen.ops.fully_connected import FullyConnected
from mcugen.ops.gru import Gru
from mcugen.ops.lstm import Lstm
from mcugen.ops.max_pool_2d import MaxPool2D
from mcugen.system import resources
from tests.kernels.test_mve_taps import served_by
from tests.support import conformance, program
from tests.support.cases import cases_of, graph_of
from tests.support.this_processor import has

ROOT = Path(__file__).resolve().parents[2]
SETS = [most for most, flags in ((0, ""), (1, "avx2 fma"), (3, "avx512f")) if has(flags)]
"""The values of MCUGEN_SIMD_MOST that choose another set for floats on this processor."""


def own(operator: type[Op]) -> tuple[Any, ...]:
    return tuple(kernel for kernel in kernels.of(operator) if kernel.needs & float_tiles.NEEDS)


def layer(op: Op, data: Sequence[int], weights: Sequence[int], axis: int = 0, **types: Any) -> Example:
    return example(op, 7, data, weights, axis, **{"kind": "f32", **types})


class Windows(Conv2D):
    """Rows of 1 to 25 pixels, one segment of taps or several, 16 channels, fewer and more. Source: none."""

    kernels = own(Conv2D)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        made = [
            layer(Conv2D(), (1, 4, 9, 3), (17, 3, 3, 3)),
            layer(Conv2D((2, 2), activation="RELU6"), (1, 7, 8, 4), (16, 3, 3, 4)),
            layer(Conv2D(dilation=(2, 3)), (1, 5, 7, 5), (3, 3, 2, 5), bias=False),
            layer(Conv2D(padding="VALID"), (2, 3, 6, 17), (33, 2, 2, 17)),
            layer(Conv2D(), (1, 2, 25, 2), (5, 1, 3, 2)),
            layer(Conv2D(), (2, 3, 5, 9), (31, 1, 1, 9)),
            layer(Conv2D(activation="RELU"), (1, 12, 17, 1), (1, 1, 1, 1)),
            layer(Conv2D((1, 2)), (1, 4, 1, 3), (100, 3, 3, 3)),
        ]
        return [served_by(cls, found) for found in made]


class Depthwise(DepthwiseConv2D):
    """Channels that divide 16, whole blocks and parts; four pixels and fewer. Source: none."""

    kernels = own(DepthwiseConv2D)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        made = [
            layer(DepthwiseConv2D(), (1, 4, 6, 8), (1, 3, 3, 8), 3),
            layer(DepthwiseConv2D((2, 1), activation="RELU6"), (1, 5, 9, 16), (1, 3, 3, 16), 3),
            layer(DepthwiseConv2D((2, 2)), (1, 6, 7, 37), (1, 5, 3, 37), 3),
            layer(DepthwiseConv2D(dilation=(2, 2)), (2, 6, 6, 2), (1, 3, 3, 2), 3),
            layer(DepthwiseConv2D(padding="VALID"), (1, 4, 5, 19), (1, 1, 1, 19), 3, bias=False),
            layer(DepthwiseConv2D(), (1, 6, 5, 1), (1, 3, 3, 12), 3),
        ]
        return [served_by(cls, found) for found in made]


class Vectors(FullyConnected):
    """One vector and several; one, two, four and more blocks of channels. Source: none."""

    kernels = own(FullyConnected)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        made = [
            layer(FullyConnected(), (1, 64), (10, 64)),
            layer(FullyConnected("RELU"), (7, 21), (35, 21)),
            layer(FullyConnected(), (1, 3), (119, 3), bias=False),
            layer(FullyConnected("RELU6"), (3, 40), (64, 40)),
            layer(FullyConnected(), (130, 19), (7, 19)),
        ]
        return [served_by(cls, found) for found in made]


class LongMemory(Lstm):
    """Several steps and batches, whole blocks of sums and parts, peepholes, bounds. Source: none."""

    kernels = own(Lstm)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        def one(op: Lstm, sizes: tuple[int, int, int, int], *more: tuple[int, ...]) -> Example:
            state = (sizes[1], sizes[3])
            return _recurrent.example(op, 4, sizes, ((4 * sizes[3],), state, state, *more), 11)

        made = [
            one(Lstm(), (3, 1, 5, 4)),
            one(Lstm(("Relu", "Sigmoid", "Tanh"), clip=0.7, coupled="input"), (2, 2, 3, 17)),
            one(Lstm(cell_clip=0.2), (35, 1, 4, 3), (9,)),
            one(Lstm(coupled="forget"), (3, 1, 20, 32)),
        ]
        return [served_by(cls, found) for found in made]


class Gated(Gru):
    """Several steps and batches, whole blocks of sums and parts, both places of the reset gate. Source: none."""

    kernels = own(Gru)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        def one(op: Gru, sizes: tuple[int, int, int, int]) -> Example:
            bias = (3 * sizes[3],)
            return _recurrent.example(op, 3, sizes, (bias, bias, (sizes[1], sizes[3])), 11)

        made = [
            one(Gru(), (3, 1, 3, 2)),
            one(Gru(after=True), (2, 2, 3, 5)),
            one(Gru(clip=0.6), (33, 1, 2, 17)),
            one(Gru(("Relu", "Tanh"), 0.6), (1, 2, 1, 7)),
            one(Gru(("Sigmoid", "Sigmoid"), after=True), (3, 3, 9, 32)),
        ]
        return [served_by(cls, found) for found in made]


class Largest(MaxPool2D):
    """Whole blocks of channels and overlapping ones; windows beyond all sides of the image. Source: none."""

    kernels = own(MaxPool2D)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        def one(op: MaxPool2D, shape: tuple[int, ...]) -> Example:
            x = TensorType(shape, "f32")
            return Example(op, (x,), op.infer(x), {}, 11)

        made = [
            one(MaxPool2D((3, 3), (2, 2), "VALID"), (1, 7, 9, 16)),
            one(MaxPool2D((3, 2), (1, 2), "SAME", "RELU6"), (2, 4, 5, 37)),
            one(MaxPool2D((2, 2), (2, 2), ((1, 1), (1, 1))), (1, 6, 6, 48)),
        ]
        return [served_by(cls, found) for found in made]


class Sums(Add):
    """Whole blocks of elements, a rest, both. Source: none."""

    kernels = own(Add)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        def one(op: Add, shape: tuple[int, ...]) -> Example:
            x = TensorType(shape, "f32")
            return Example(op, (x, x), op.infer(x, x), {}, 11)

        return [served_by(cls, one(Add(act), shape)) for act, shape in (("NONE", (1, 2, 16)), ("RELU", (5, 7)))]


OPERATORS: tuple[type[Op], ...] = (Windows, Depthwise, Vectors, LongMemory, Gated, Largest, Sums)


def test_all_operators_with_kernels_on_floats_are_tested() -> None:
    served = {op for op, made in FAMILY.serves.items() if any(kernel.needs & float_tiles.NEEDS for kernel in made)}
    assert {operator.__base__ for operator in OPERATORS} == served


def test_results_are_the_oracles_with_and_without_vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program with the sanitizers runs once in plain C, and once with each set that this processor has."""
    cases = []
    for k, operator in enumerate(OPERATORS):
        made, refused = cases_of(operator, float_tiles.NEEDS, prefix=f"o{k}_", variants=False)
        assert not refused and len(made) >= len(operator.examples())
        cases += made
    flags = ("-O0", "-g1", *SANITIZE, "-includestdlib.h", '-DMCUGEN_SIMD_MOST=(unsigned)atoi(getenv("MOST"))')
    built = conformance.compile_host(program.Group("floats", tuple(cases)), tmp_path, flags)
    for most in SETS:
        monkeypatch.setenv("MOST", str(most))
        assert not conformance.run_host(built, cases), f"set {most}"


def test_computed_weights_of_recurrent_layers_are_refused() -> None:
    made = _recurrent.example(Gru(), 3, (2, 1, 3, 4), ((12,), (12,), (1, 4)), 2)
    call = graph_of(made).call(graph_of(made).nodes[0], "ort")
    taking = [kernel.symbol for kernel in kernels.of(Gru) if not kernel.refusals(call, float_tiles.NEEDS)]
    assert taking == ["mg_gru_f32"]


_CURVES = """
#include "mcugen/simd_activate.h"
#include <stdio.h>
int main(void)
{
    float x[1024];
    while (fread(x, sizeof(x), 1, stdin) == 1) {
        for (uint32_t kind = MG_SIGMOID; kind <= MG_TANH; kind += 1u) {
            float y[1021]; /* a rest of five */
            memcpy(y, x, sizeof(y));
            mg_simd_activate(kind, 0.0f, y, 1021u);
            fwrite(y, sizeof(y), 1, stdout);
        }
    }
    return 0;
}
"""


def test_sigmoid_and_tanh_are_within_four_units_of_the_last_place(tmp_path: Path) -> None:
    headers = tmp_path / "mcugen"
    headers.mkdir()
    for name, file in resources.c_files().items():
        if file.path.parent.name in ("simd", "mcugen"):
            (headers / name).write_text(file.text)
    (tmp_path / "curves.c").write_text(_CURVES)
    subprocess.run(["gcc", "-O1", f"-I{tmp_path}", "curves.c", "-o", "curves"], cwd=tmp_path, check=True)
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.uniform(-12, 12, (40, 1024)), 10.0 ** rng.uniform(-30, 3, (40, 1024))]).astype(np.float32)
    x[0, :4] = np.inf, -np.inf, 0.0, -0.0
    done = subprocess.run([tmp_path / "curves"], input=x.tobytes(), stdout=subprocess.PIPE, check=True)
    sigmoid, tanh = np.frombuffer(done.stdout, np.float32).reshape(80, 2, 1021).swapaxes(0, 1)
    real = x[:, :1021].astype(np.float64)
    for found, expected in ((sigmoid, 1 / (1 + np.exp(-np.maximum(real, -87)))), (tanh, np.tanh(real))):
        assert (np.abs(found - expected) <= 4 * np.spacing(np.abs(expected).astype(np.float32))).all()


def test_features_choose_kernels_on_floats() -> None:
    model = ROOT / "tests/models/f32_conv_2d.tflite"
    built = mcugen.compile(model, board="x86-64")
    assert any("fma" in step.choice.kernel.symbol for step in built.schedule.steps)
    portable = mcugen.compile(model, board="x86-64", features="-fma")
    assert not any("fma" in step.choice.kernel.symbol for step in portable.schedule.steps)


def test_blocks_of_vectors_hold_whole_tiles() -> None:
    assert [float_tiles.block_of(*sizes) for sizes in ((1000, 64), (1000, 9000), (7, 64), (0, 0))] == [96, 48, 7, 1]
