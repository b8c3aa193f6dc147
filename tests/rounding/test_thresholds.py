# SPDX-License-Identifier: Apache-2.0
"""Emitted requantization equals exact rational arithmetic at every step, its neighbours and random sums."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mcugen import kernels, target
from tests.rounding.sums import NETWORKS, REACH, cases, pixels, weights
from tests.support import conformance, emulated, program


def test_pixels_make_their_sums() -> None:
    sums = np.array([-REACH, REACH, 0, 1, -1, 126, 127, 128, -12345])
    assert np.array_equal(pixels(sums).astype(np.int64) @ weights(1).reshape(-1).astype(np.int64), sums)


def test_halves_occur_where_scales_are_powers_of_two() -> None:
    factors = NETWORKS["ties"].factors
    assert all((1 / (2 * f)).denominator == 1 for f in factors[:3])


def test_all_kernels_have_every_step_on_the_host(tmp_path: Path) -> None:
    found = [case for name, c in NETWORKS.items() for case in cases(c, kernels.features(), name[0])]
    assert {"mg_conv2d_s8_line", "mg_conv2d_s8__dsp16", "mg_dense_s8__mve_once", "mg_conv2d_s8__swar"} <= {
        word for case in found for word in case.label.split()
    }
    group = program.Group("sums", tuple(found))
    problems = conformance.run_host(conformance.compile_host(group, tmp_path, ("-O0",)), found)
    assert not problems, "\n".join(map(str, problems[:8]))


@pytest.mark.parametrize("core", ["cortex-m0plus", "cortex-m4", "cortex-m55"])
def test_all_kernels_have_every_step_on_emulated_cores(core: str, tmp_path: Path) -> None:
    board = target.load(core)
    found = [case for name, c in NETWORKS.items() for case in cases(c, board.features, name[0])]
    problems = emulated.run_groups(board, [program.Group("sums", tuple(found))], tmp_path)
    assert not problems, "\n".join(map(str, problems[:8]))
