# SPDX-License-Identifier: Apache-2.0
"""Kernels for x86-64: parts of blocks of pixels, channels and taps; the same bits with AVX2 and in plain C."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mcugen
from mcugen import kernels
from mcugen.boards import target
from mcugen.ir.op import Example, Op
from mcugen.ir.types import QuantParams, TensorType
from mcugen.kernels.simd import AVX2, FAMILY, VNNI, byte_dots, tap_pairs
from mcugen.machines.toolchain.host_gcc import SANITIZE
from mcugen.ops._filter_examples import example
from mcugen.ops.add import Add
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from mcugen.ops.fully_connected import FullyConnected
from mcugen.ops.sub import Sub
from mcugen.system import resources
from tests.kernels.test_mve_taps import served_by
from tests.support import conformance, program, this_processor
from tests.support.cases import cases_of, graph_of

ROOT = Path(__file__).resolve().parents[2]
DIGITS = ROOT / "examples/digits/digits.tflite"


def own(operator: type[Op]) -> tuple[Any, ...]:
    return tuple(kernel for kernel in kernels.of(operator) if kernel.needs & AVX2)


def layer(op: Op, data: Sequence[int], weights: Sequence[int], axis: int = 0, **types: Any) -> Example:
    return example(op, 7, data, weights, axis, **{"gain": 1e-3, "zero": -128, **types})


class Windows(Conv2D):
    """One to nine pixels of a row; taps that fill groups of four, or do not; 16 channels, fewer, more. Source: none."""

    kernels = own(Conv2D)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        made = [
            layer(Conv2D(), (1, 4, 9, 3), (17, 3, 3, 3), zero=3),
            layer(Conv2D((2, 2), activation="RELU6"), (1, 7, 8, 4), (16, 3, 3, 4)),
            layer(Conv2D(dilation=(2, 3)), (1, 5, 7, 5), (3, 3, 2, 5), zero=127),
            layer(Conv2D(padding="VALID"), (2, 3, 6, 17), (33, 2, 2, 17), zero=-1),
            layer(Conv2D(), (2, 3, 5, 9), (31, 1, 1, 9), zero=9),
            layer(Conv2D((3, 3), activation="RELU"), (1, 4, 4, 8), (5, 1, 1, 8), zero=-3),
            layer(Conv2D(), (1, 1, 13, 800), (9, 1, 1, 800), gain=1e-4),
            layer(Conv2D(), (1, 12, 17, 1), (1, 1, 1, 1)),
            layer(Conv2D((1, 2)), (1, 4, 9, 3), (17, 3, 3, 3), zero=3, kind="s8w16"),
            layer(Conv2D(activation="RELU6"), (1, 3, 5, 9), (18, 1, 1, 9), zero=-7, kind="s8w9"),
        ]
        return [served_by(cls, found) for found in made]


class Depthwise(DepthwiseConv2D):
    """Channels that divide 16, whole blocks and parts; odd numbers of taps; pixels apart. Source: none."""

    kernels = own(DepthwiseConv2D)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        made = [
            layer(DepthwiseConv2D(), (1, 4, 6, 8), (1, 3, 3, 8), 3, zero=5),
            layer(DepthwiseConv2D(), (2, 3, 5, 4), (1, 2, 2, 4), 3),
            layer(DepthwiseConv2D((2, 1), activation="RELU6"), (1, 5, 9, 16), (1, 3, 3, 16), 3, zero=-128),
            layer(DepthwiseConv2D((2, 2)), (1, 6, 7, 37), (1, 5, 3, 37), 3, zero=127),
            layer(DepthwiseConv2D(dilation=(2, 2)), (1, 6, 6, 2), (1, 3, 3, 2), 3, zero=-9),
            layer(DepthwiseConv2D(padding="VALID"), (1, 4, 5, 19), (1, 1, 1, 19), 3, kind="s8w16"),
            layer(DepthwiseConv2D(), (1, 6, 5, 1), (1, 3, 3, 12), 3, zero=33),
        ]
        return [served_by(cls, found) for found in made]


class Vectors(FullyConnected):
    """One vector and several, with and without a rest of taps; both roundings. Source: none."""

    kernels = own(FullyConnected)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        made = [
            layer(FullyConnected(), (1, 64), (10, 64), zero=4),
            layer(FullyConnected("RELU"), (7, 21), (35, 21), zero=-128),
            layer(FullyConnected(), (1, 3), (16, 3), zero=127, bias=False),
            layer(FullyConnected(), (5, 19), (7, 19), zero=-9, kind="s8w16"),
        ]
        return [served_by(cls, found) for found in made]


def summed(op: Op) -> list[Example]:
    """Sums of whole vectors of 16 elements, of a rest alone, and of both."""
    types = [TensorType((), "s8", QuantParams((scale,), (zero,))) for scale, zero in ((0.5, 3), (0.37, -9), (0.61, 1))]
    shapes = ((1, 2, 16), (5,), (1, 3, 7, 5))
    made = [[t.with_shape(shape) for t in types] for shape in shapes]
    return [Example(op, (a, b), (y,), {}, seed) for seed, (a, b, y) in enumerate(made)]


class Sums(Add):
    """Sums of two computed tensors. Source: none."""

    kernels = own(Add)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [served_by(cls, found) for found in (*summed(Add()), *summed(Add("RELU6")))]


class Differences(Sub):
    """Differences of two computed tensors. Source: none."""

    kernels = own(Sub)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [served_by(cls, found) for found in summed(Sub("RELU"))]


OPERATORS: tuple[type[Op], ...] = (Windows, Depthwise, Vectors, Sums, Differences)


def test_all_operators_of_the_family_are_tested() -> None:
    served = {op for op, made in FAMILY.serves.items() if any(kernel.needs & AVX2 for kernel in made)}
    assert {operator.__base__ for operator in OPERATORS} == served


@pytest.mark.parametrize("operator", OPERATORS)
def test_results_equal_the_oracle_with_and_without_vectors(
    operator: type[Op], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program with the sanitizers runs once in plain C, and once with each set that this processor has."""
    cases, refused = cases_of(operator, VNNI, variants=False)
    assert not refused and len(cases) >= len(operator.examples())
    flags = ("-O0", "-g1", *SANITIZE, "-includestdlib.h", '-DMCUGEN_SIMD_MOST=(unsigned)atoi(getenv("MOST"))')
    built = conformance.compile_host(program.Group(operator.__name__.lower(), tuple(cases)), tmp_path, flags)
    for most in (0, *_sets()):
        monkeypatch.setenv("MOST", str(most))
        assert not conformance.run_host(built, cases), f"set {most}"


def test_each_set_that_the_processor_has_equals_plain_c_on_random_layers(tmp_path: Path) -> None:
    headers = tmp_path / "mcugen"
    headers.mkdir()
    for name, file in resources.c_files().items():
        if file.path.parent.name in ("simd", "mcugen"):
            (headers / name).write_text(file.text)
    source = ROOT / "tests/kernels/simd_sets.c"
    subprocess.run(["gcc", "-O1", f"-I{tmp_path}", source, "-o", tmp_path / "sets"], check=True)
    done = subprocess.run([tmp_path / "sets", "40", "5"], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert len(done.stdout.splitlines()) == 1 + len(_sets())


def test_rows_of_few_channels_are_pixels_of_sixteen() -> None:
    found = [tap_pairs.lanes_of(_call(made)) for made in Depthwise.examples()[:4]]
    assert [(f.pixels, f.channels, f.step) for f in found] == [(3, 16, 16), (5, 4, 4), (9, 16, 16), (4, 37, 74)]


def test_adjacent_taps_are_one_segment_of_a_row() -> None:
    found = [byte_dots.window_segments(_call(made)) for made in Windows.examples()[:3]]
    assert [(f.rows, f.count, f.taps, f.groups) for f in found] == [(3, 1, 9, 3), (3, 1, 12, 3), (3, 2, 5, 2)]


def _sets() -> list[int]:
    """The numbers of the sets with instructions that this processor has."""
    return [k for k, flag in enumerate(("avx2", "avx_vnni", "avx512_vnni"), 1) if this_processor.has(flag)]


def _call(made: Example) -> Any:
    graph = graph_of(made)
    return graph.call(graph.nodes[0], "tflm")


def test_a_model_has_the_bits_of_portable_c_and_no_instruction_that_a_flag_must_allow(tmp_path: Path) -> None:
    built = mcugen.compile(DIGITS, board="x86-64", name="digits")
    assert any("avx2" in step.choice.kernel.symbol for step in built.schedule.steps)
    samples = np.load(ROOT / "examples/digits/digits_test.npz")["inputs"][:20]
    assert np.array_equal(built.run(samples), mcugen.load(DIGITS).run(samples))
    built.write(tmp_path)
    sources = [str(path) for path in sorted(tmp_path.rglob("*.c")) if path.parent.name != "examples"]
    subprocess.run(
        ["gcc", "-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{tmp_path}", *sources],
        check=True,
    )


def test_one_file_with_all_kernels_compiles_without_a_warning(tmp_path: Path) -> None:
    mcugen.compile(DIGITS, board="x86-64", name="digits", amalgamate=True).write(tmp_path)
    command = ["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-c", "digits.c", "-o", "digits.o"]
    subprocess.run(command, cwd=tmp_path, check=True)


def test_features_choose_when_the_model_is_built() -> None:
    assert target.load("x86-64").is_host
    portable = mcugen.compile(DIGITS, board="x86-64", features="-avx2")
    assert not any("avx2" in step.choice.kernel.symbol for step in portable.schedule.steps)


@pytest.mark.parametrize("most", range(4))
def test_the_processor_is_asked_when_the_model_runs(most: int, tmp_path: Path) -> None:
    """A program gives the number of the best set; MCUGEN_SIMD_MOST stands for a processor that has no better one."""
    built, source = tmp_path / "built", tmp_path / "asks.c"
    mcugen.compile(DIGITS, board="x86-64").write(built)
    header = next(path for path in (built / "mcugen").iterdir() if "mg_simd_set(void)" in path.read_text())
    source.write_text(
        f'#include "mcugen/{header.name}"\nint main(void)\n{{\n'
        "#if MG_HAS_X86\n    return (int)mg_simd_set();\n#else\n    return 0;\n#endif\n}\n"
    )
    subprocess.run(["gcc", f"-DMCUGEN_SIMD_MOST={most}u", f"-I{built}", source, "-o", tmp_path / "asks"], check=True)
    asked = subprocess.run([tmp_path / "asks"], check=False).returncode
    assert asked == max((k for k in _sets() if k <= most), default=0)
