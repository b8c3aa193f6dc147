# SPDX-License-Identifier: Apache-2.0
"""Operators of `--preprocess`: their formulas, how near they come to float64, and operands that do not fit."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from mcugen import pipeline
from mcugen.errors import McugenError
from mcugen.ir.op import Op
from mcugen.ir.types import TensorType
from mcugen.ops.autocorrelation import Autocorrelation
from mcugen.ops.banded import Banded
from mcugen.ops.biquad import Biquad
from mcugen.ops.framing import Framing
from mcugen.ops.natural_log import NaturalLog
from mcugen.ops.power import Power
from mcugen.ops.real_fourier import RealFourier
from mcugen.ops.window_statistics import STATISTICS, WindowStatistics
from mcugen.options import Options
from mcugen.oracle import interpreter
from mcugen.samples.front_end import FrontEnd
from mcugen.system import resources


def test_windows_begin_every_hop() -> None:
    x = np.arange(2 * 23).reshape(2, 23)
    found = Framing(5, 4).reference(x)
    assert np.array_equal(found, np.stack([x[:, k : k + 5] for k in range(0, 19, 4)], axis=1))
    assert Framing(5, 4).infer(TensorType((2, 23), "s16"))[0].shape == found.shape


def test_a_banded_matrix_is_a_sparse_one_moved_on_after_its_last_row() -> None:
    rng = np.random.default_rng(1)
    op, w, x = Banded(1, (-2, 1, 0), 8, 3), rng.standard_normal((3, 4)), rng.standard_normal((2, 10, 2))
    w[0, 0] = w[2, 3] = 0
    dense = np.zeros((8, 10))
    for j in range(8):
        for k in range(4):
            at = j // 3 * 3 + op.first[j % 3] + k
            if 0 <= at < 10:
                dense[j, at] = w[j % 3, k]
    assert np.allclose(op.reference(x, w), np.einsum("ji,bic->bjc", dense, x), atol=1e-6)


def test_logarithms_and_transforms_come_near_to_those_of_float64() -> None:
    rng = np.random.default_rng(2)
    x = np.float32(10 ** rng.uniform(-37, 38, 20000))
    exact = np.log(x.astype(np.float64))
    assert (np.abs(NaturalLog().reference(x) - exact) <= 8e-8 * np.abs(exact)).all()
    least = np.log(2.0**-126)
    assert np.allclose(NaturalLog().reference(np.array([0, -1, np.nan, 1e-40])), least, rtol=1e-7)
    for length in (240, 512):
        frames = rng.standard_normal((3, length)).astype(np.float32)
        found = RealFourier(length).reference(frames)
        exact = np.fft.rfft(frames.astype(np.float64)).view(np.float64)
        assert np.abs(found - exact).max() <= 1e-6 * np.abs(exact).max()
        assert np.array_equal(Power().reference(found), found[:, ::2] ** 2 + found[:, 1::2] ** 2)


@pytest.mark.parametrize(
    ("op", "types", "message"),
    [
        (Framing(5, 0), ((9,),), "windows of 5 every 0 do not fit"),
        (Framing(10, 1), ((9,),), "windows of 10 every 1 do not fit"),
        (Framing(1, 1), ((),), "axis -1 does not exist"),
        (Power(), ((3, 5),), "must be even: real and imaginary"),
        (Banded(2, (0,), 1), ((4, 4), (1, 2)), "axis 2 does not exist"),
        (Banded(0, (0, 1), 1), ((4,), (1, 2)), "must have 2 rows"),
        (Banded(0, (0,), 0), ((4,), (1, 2)), "count=0 must be positive"),
    ],
)
def test_operands_that_do_not_fit(op: Op, types: tuple[tuple[int, ...], ...], message: str) -> None:
    with pytest.raises(McugenError, match=message):
        op.infer(*(TensorType(shape, "f32") for shape in types))


def test_element_types_that_do_not_fit() -> None:
    byte, real = TensorType((4,), "u8"), TensorType((1, 2), "f32")
    for op, operands in ((Power(), (byte,)), (Banded(0, (0,), 1), (byte, real)), (Banded(0, (0,), 1), (real, None))):
        with pytest.raises(McugenError, match=r"needed|must be f32 and f32"):
            op.infer(*operands)


def test_zeros_and_numbers_that_are_not_finite_have_the_bits_of_the_oracle() -> None:
    front = FrontEnd(TensorType((1, 6, 70, 3), "f32"))
    unit, sections = front.constant(np.ones((1, 1), np.float32)), front.constant(np.array([[0.2, 0.4, 0.2, -0.5, 0.3]]))
    results = [
        front.node(Banded(1, (0,), 6, 1), front.given, unit),
        front.node(Banded(2, (0,), 70, 1), front.given, unit),
        front.node(Biquad(2), front.given, sections),
        front.node(WindowStatistics(STATISTICS), front.given),
        front.node(Autocorrelation((0, 1)), front.given),
    ]
    graph = dataclasses.replace(front.graph(results[0]), outputs=tuple(results), format="tflite")
    prepared = pipeline.prepare_graph(graph, Options(board="host"), "net")
    model = pipeline.finish(prepared, pipeline.solve.solve(prepared.graph, prepared.board, prepared.options))
    rng = np.random.default_rng(6)
    for special in (np.nan, np.inf, -np.inf, -0.0, 3e38, 1e-40):
        x = rng.standard_normal((1, 6, 70, 3)).astype(np.float32)
        x[rng.random(x.shape) < [[[[0.01, 0.5, 1]]]]] = special
        wanted = interpreter.run(graph, [x], "tflm")
        for name, found in zip(results, model.run(x), strict=True):
            bits, exact = (np.where(np.isnan(v), np.nan, v).tobytes() for v in (found, wanted[name]))
            assert bits == exact, (special, name)


_PROGRAM = """#include <stdio.h>
#include "mcugen/natural_log.h"
int main(void)
{
    float x;
    while (fread(&x, 4u, 1u, stdin) == 1u) {
        const float y = mg_natural_log(x);
        (void)fwrite(&y, 4u, 1u, stdout);
    }
    return 0;
}
"""


def test_every_compiler_gives_the_bits_of_the_logarithm(tmp_path: Path) -> None:
    """gcc, and clang where it is installed, at two levels of optimization."""
    rng = np.random.default_rng(5)
    special = [0, -1, np.nan, np.inf, 1, 2.0**-126, 2.0**-127, 0.5**0.5, 3e38]
    x = np.concatenate([10 ** rng.uniform(-39, 38, 20000), rng.uniform(0.5, 2, 20000), special]).astype(np.float32)
    (tmp_path / "main.c").write_text(_PROGRAM, encoding="utf-8")
    _write_headers(tmp_path)
    compilers = [name for name in ("gcc", "clang") if shutil.which(name)]
    assert compilers
    for name in compilers:
        for level in ("-O0", "-O3"):
            flags = ["-std=c99", "-ffp-contract=off", level, "-I."]
            subprocess.run([name, *flags, "main.c", "-o", "main"], cwd=tmp_path, check=True)
            done = subprocess.run([tmp_path / "main"], input=x.tobytes(), capture_output=True, check=True)
            assert done.stdout == NaturalLog().reference(x).tobytes(), (name, level)


def _write_headers(folder: Path) -> None:
    """Write natural_log.h and the headers that it includes."""
    (folder / "mcugen").mkdir()
    for header in ("natural_log.h", "runtime.h", "interface.h"):
        (folder / "mcugen" / header).write_text(resources.c_files()[header].text, encoding="utf-8")
