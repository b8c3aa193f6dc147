# SPDX-License-Identifier: Apache-2.0
"""Emitted requantization equals exact rational arithmetic at every step, its neighbours and random sums."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mcugen import kernels
from mcugen.boards import target
from mcugen.ir.op import Example, Op
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops.fully_connected import FullyConnected
from tests.rounding.sums import FEWER_SUMS, NETWORKS, RANDOM_SUMS, REACH, cases, pixels, weights
from tests.support import conformance, emulated, program
from tests.support.cases import cases_of


def test_pixels_make_their_sums() -> None:
    sums = np.array([-REACH, REACH, 0, 1, -1, 126, 127, 128, -12345])
    assert np.array_equal(pixels(sums).astype(np.int64) @ weights(1).reshape(-1).astype(np.int64), sums)


def test_halves_occur_where_scales_are_powers_of_two() -> None:
    factors = NETWORKS["ties"].factors
    assert all((1 / (2 * f)).denominator == 1 for f in factors[:3])


def sums(config: pytest.Config) -> int:
    """The number of random sums of each kernel; with --whole, ten times as many."""
    return RANDOM_SUMS if config.getoption("--whole") else FEWER_SUMS


def test_all_kernels_have_every_step_on_the_host(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    count = sums(pytestconfig)
    found = [case for name, c in NETWORKS.items() for case in cases(c, kernels.features(), name[0], count)]
    assert {"mg_conv2d_s8_line", "mg_conv2d_s8__dsp16", "mg_dense_s8__mve_once", "mg_conv2d_s8__swar"} <= {
        word for case in found for word in case.label.split()
    }
    group = program.Group("sums", tuple(found))
    problems = conformance.run_host(conformance.compile_host(group, tmp_path, ("-O0",)), found)
    assert not problems, "\n".join(map(str, problems[:8]))


@pytest.mark.whole
@pytest.mark.parametrize("core", ["cortex-m0plus", "cortex-m4", "cortex-m55"])
def test_all_kernels_have_every_step_on_emulated_cores(core: str, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    board, count = target.load(core), sums(pytestconfig)
    found = [case for name, c in NETWORKS.items() for case in cases(c, board.features, name[0], count)]
    problems = emulated.run_groups(board, [program.Group("sums", tuple(found))], tmp_path)
    assert not problems, "\n".join(map(str, problems[:8]))


def test_sums_beyond_float32_that_are_no_line_run_on_cores_without_floats(tmp_path: Path) -> None:
    """Rows of equal data make sums up to 2**24, of which float32 drops bits: over 4,096 results are off any line."""
    inputs, outputs = 1100, 54
    scales = tuple((2.0**-9 * np.linspace(1, 1.02, outputs)).astype(np.float32).tolist())
    types = (
        TensorType((64, inputs), "s8", QuantParams((2.0**-8,), (0,))),
        TensorType((outputs, inputs), "s8", QuantParams(scales, (0,) * outputs)),
        None,
    )
    y = TensorType((64, outputs), "s8", QuantParams((1.0,), (3,)))
    w = np.full((outputs, inputs), 127, np.int8)
    example = Example(FullyConnected(rounding="single"), types, (y,), {1: w})
    kind: type[Op] = type("Far", (FullyConnected,), {"examples": classmethod(lambda cls: [example])})
    found, refused = cases_of(kind, target.load("cortex-m0plus").features, 1, "far", variants=False)
    assert not refused
    assert {case.label.split()[-1] for case in found} == {"mg_fully_connected_s8_single"}
    noise = np.random.default_rng(1).integers(-2, 3, (64, inputs))
    x = (noise + np.linspace(-126, 125, 64).astype(np.int64)[:, None]).astype(np.int8)
    sums = (x.astype(np.int64) @ w.T.astype(np.int64)).astype(np.float32)
    factors = (np.float32(2.0**-8) * np.array(scales, np.float32)).astype(np.float32)
    want = np.clip(np.rint(sums * factors) + 3, -128, 127).astype(np.int8)
    case = replace(found[0], set_names=("far",), inputs=([x],), expected=dict.fromkeys(found[0].expected, ([want],)))
    problems = conformance.run_host(conformance.compile_host(program.Group("far", (case,)), tmp_path), [case])
    assert not problems, "\n".join(map(str, problems[:8]))
    assert np.abs(sums).max() > 2**24 and len(np.unique(want)) > 60
