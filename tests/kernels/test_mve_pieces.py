# SPDX-License-Identifier: Apache-2.0
"""Convolutions on Helium of a few woven pixels at a time: sides of the image, steps, odd pieces, rests of outputs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from mcugen import kernels
from mcugen.ir.op import Example
from mcugen.kernels.helium import packing, pieces, woven
from mcugen.ops.conv2d import Conv2D
from tests.kernels.test_mve_pairs import CORE, call_of, filtered
from tests.kernels.test_mve_taps import served_by
from tests.support import conformance, emulated

KERNEL = next(k for k in kernels.of(Conv2D) if k.symbol == "mg_conv2d_s8__mve_pieces")


class Shapes(Conv2D):
    """One piece and several; of one to three steps; chunks of one vector and of three; four rows, of which each output
    row has others outside the image. Source: none.
    """

    kernels = (KERNEL,)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        made = [
            filtered((7, 96, 3), (3, 3), 8, stride=(2, 2)),
            filtered((5, 7, 3), (3, 3), 5, zero=3, out_zero=-7),
            filtered((12, 9, 1), (10, 4), 7, stride=(2, 2), zero=127, activation="RELU6"),
            filtered((4, 60, 1), (3, 3), 4, zero=-1, out_zero=9),
            filtered((5, 23, 5), (3, 2), 6, stride=(2, 1), zero=83, rounding="single", out_zero=5),
            filtered((3, 40, 4), (1, 3), 12, rounding="even", activation="RELU6", gain=0.01),
            filtered((2, 3, 8), (2, 2), 4, padding="VALID"),
            filtered((9, 30, 2), (5, 4), 9, dilation=(2, 1), zero=-9),
            filtered((2, 9, 3), (4, 3), 5, dilation=(2, 1), zero=-9),
            filtered((3, 20, 16), (1, 3), 6, padding=((0, 0), (2, 1)), zero=7, out_zero=1),
        ]
        return [served_by(cls, found) for found in made]


@pytest.mark.whole
def test_shapes_on_the_host_and_on_an_emulated_core(tmp_path: Path) -> None:
    calls = [call_of(found) for found in Shapes.examples()]
    assert all(not KERNEL.refusals(call, CORE.features) for call in calls)
    assert {packing.finish_of(call) for call in calls} == {0, 1, 2, 4, 5}
    assert {woven.woven_of(call).steps for call in calls} == {1, 2, 3}
    result = conformance.check(Shapes, tmp_path / "host")
    assert not result.problems and result.cases >= len(Shapes.examples())
    assert not emulated.check_core(CORE.name, [Shapes], tmp_path / "core")


def test_pieces_take_little_memory_whatever_the_row() -> None:
    assert KERNEL.scratch is not None
    for width in (24, 95, 960):
        call = call_of(filtered((7, width, 3), (3, 3), 8, stride=(2, 2)))
        assert KERNEL.scratch(call) <= pieces.MOST_BYTES and pieces.piece_of(call) > 2


def test_it_refuses_single_pixels_and_many_outputs() -> None:
    assert "at least 2 pixels" in str(KERNEL.refusals(call_of(filtered((5, 1, 3), (3, 3), 8)), CORE.features))
    assert "255 channels" in str(KERNEL.refusals(call_of(filtered((5, 9, 3), (3, 3), 256)), CORE.features))
