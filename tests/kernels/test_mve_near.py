# SPDX-License-Identifier: Apache-2.0
"""Depthwise convolutions whose taps are read where they are on Helium: sides of the image, sums of 16 bits, steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mcugen import kernels
from mcugen.ir.call import Call
from mcugen.ir.op import Example
from mcugen.ir.ranges import Range
from mcugen.kernels.helium import near, packing
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from tests.kernels.test_mve_taps import CORE, call_of, deep, served_by
from tests.support import conformance, emulated

KERNEL = next(k for k in kernels.of(DepthwiseConv2D) if k.symbol == "mg_depthwise_conv2d_s8__mve_near")


class Shapes(DepthwiseConv2D):
    """Pixels that share a vector, with one left; one block, several, a rest of one; far taps; steps. Source: none."""

    kernels = (KERNEL,)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        made = [
            deep((4, 6, 16), (3, 3)),
            deep((4, 9, 8), (3, 3), zero=3, out_zero=-1),
            deep((6, 5, 48), (5, 5), zero=127, out_zero=9, activation="RELU6"),
            deep((6, 9, 17), (2, 4), dilation=(2, 2), padding="VALID", zero=-7),
            deep((9, 2, 32), (5, 1), stride=(3, 1), rounding="single", out_zero=4),
            deep((3, 7, 40), (1, 3), dilation=(1, 2), rounding="even", activation="RELU6", gain=0.01),
            deep((5, 21, 1), (3, 4), zero=55, out_zero=0),
            deep((5, 9, 60), (3, 3), stride=(2, 2)),
            deep((4, 5, 127), (3, 3), padding=((1, 0), (2, 2)), zero=-9, out_zero=5, gain=1e-3),
            deep((4, 7, 30), (3, 3), rounding="single"),
            deep((2, 60, 117), (1, 2), stride=(1, 36), gain=1e-4),
        ]
        return [served_by(cls, found) for found in made]


def bounded(weights: Sequence[int], most: int) -> Call:
    """A layer of one row of taps, with these weights, of data up to `most`."""
    found = deep((1, 20, 16), (1, len(weights)), zero=0, padding="VALID")
    w = np.broadcast_to(np.array(weights, np.int8)[None, None, :, None], (1, 1, len(weights), 16)).copy()
    call = call_of(replace(found, constants={**found.constants, 1: w}))
    return replace(call, input_range=(Range(np.full(16, -most), np.full(16, most)),))


@pytest.mark.whole
def test_shapes_on_the_host_and_on_an_emulated_core(tmp_path: Path) -> None:
    assert all(not KERNEL.refusals(call_of(found), CORE.features) for found in Shapes.examples())
    assert {packing.finish_of(call_of(found)) for found in Shapes.examples()} == {0, 1, 2, 4, 5}
    result = conformance.check(Shapes, tmp_path / "host")
    assert not result.problems and result.cases >= len(Shapes.examples())
    assert not emulated.check_core(CORE.name, [Shapes], tmp_path / "core")


def test_as_many_taps_as_fit_make_a_sum_of_16_bits() -> None:
    assert near.lasts_of(bounded((127, 127, 1, 100, 100, 50, 6), 128)) == (2, 5, 6)
    assert near.lasts_of(bounded((127, 128 - 256, 1), 128)) == (1, 2)
    assert near.lasts_of(bounded((127,) * 5, 51)) == (4,)


def test_refused_are_windows_beyond_its_registers_and_vectors_that_are_not_full() -> None:
    def refused(found: Example) -> str:
        return str(KERNEL.refusals(call_of(found), CORE.features))

    assert "at most 5 rows" in refused(deep((8, 5, 16), (6, 1), padding="VALID"))
    assert "at most 127 bytes apart" in refused(deep((4, 5, 64), (3, 3), dilation=(1, 2), padding="VALID"))
    assert "at least 16 channels" in refused(deep((4, 9, 12), (3, 3)))
    assert "at least 16 channels" in refused(deep((4, 9, 8), (3, 3), stride=(2, 2)))
    assert "skip at most 4095 bytes" in refused(deep((2, 60, 117), (1, 2), stride=(1, 37), gain=1e-4))
    assert "adjacent windows" in refused(deep((4, 3, 4), (3, 3)))
    assert "adjacent windows" in refused(deep((2, 5, 16), (4, 3)))
