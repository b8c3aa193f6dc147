# SPDX-License-Identifier: Apache-2.0
"""Convolutions on Helium without memory of their own: rows that share a vector, long ones, sides of images, rests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from mcugen import kernels
from mcugen.ir.kernel import Window
from mcugen.ir.op import Example
from mcugen.kernels.helium import direct, packing
from mcugen.ops._filter_examples import example
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from tests.kernels.test_mve_pairs import CORE, call_of, filtered
from tests.kernels.test_mve_taps import served_by
from tests.support import conformance, emulated

KERNEL = next(k for k in kernels.of(Conv2D) if k.symbol == "mg_conv2d_s8__mve_direct")


class Shapes(Conv2D):
    """Kernel rows that share a vector, two that fill it, some more and some that are left; long ones with and without a
    rest; blocks of four outputs and of eight, and parts of them; windows beyond both sides at once. Source: none.
    """

    kernels = (KERNEL,)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        made = [
            filtered((4, 5, 16), (3, 3), 8),
            filtered((5, 6, 3), (3, 3), 5, stride=(2, 2), zero=3, out_zero=-7),
            filtered((3, 1, 9), (2, 4), 7, zero=127, activation="RELU6"),
            filtered((12, 9, 1), (10, 8), 8, stride=(2, 2), zero=83),
            filtered((7, 9, 2), (5, 4), 17, stride=(2, 1), zero=-1, out_zero=9),
            filtered((9, 4, 1), (10, 4), 6, stride=(2, 1), zero=83, rounding="single", out_zero=5),
            filtered((2, 7, 40), (1, 1), 4, rounding="even", activation="RELU6", gain=0.01),
            filtered((2, 2, 17), (2, 2), 3, padding="VALID"),
            filtered((4, 23, 3), (3, 3), 1, zero=3, out_zero=-7),
            filtered((3, 20, 9), (3, 9), 12, stride=(2, 3), zero=-9),
            filtered((9, 5, 1), (3, 1), 9, dilation=(3, 1), zero=5),
            filtered((3, 6, 4), (2, 17), 8, zero=-128, activation="RELU"),
            filtered((5, 9, 1), (5, 8), 16, stride=(2, 2), zero=127, out_zero=0),
            filtered((14, 13, 1), (3, 3), 4, stride=(2, 2), padding="VALID", zero=-128, out_zero=-128),
            filtered((7, 8, 1), (6, 3), 9, zero=-1),
            filtered((4, 9, 2), (3, 3), 5, zero=33),
            filtered((7, 5, 3), (5, 1), 4, zero=-7, out_zero=3),
            filtered((4, 7, 2), (2, 1), 8, zero=99),
            filtered((3, 3, 1), (2, 2), 4, zero=99),
            filtered((2, 14, 4), (2, 3), 6, padding=((1, 1), (2, 1)), zero=7, out_zero=1),
        ]
        return [served_by(cls, found) for found in made]


def one_channel(operator: type[DepthwiseConv2D]) -> list[Example]:
    """Layers of images of one channel: many outputs, one, an odd number."""
    made = ((12, 12, 1), (10, 8), 8, (2, 2)), ((5, 5, 1), (3, 3), 1, (1, 1)), ((3, 9, 1), (3, 6), 13, (1, 3))
    return [
        example(operator(stride=stride), 5, (1, *image), (1, *window, outputs), 3, gain=1e-3, zero=-128, out_zero=-5)
        for image, window, outputs, stride in made
    ]


class Channels(DepthwiseConv2D):
    """One channel, of which many are made. Source: none."""

    kernels = tuple(k for k in kernels.of(DepthwiseConv2D) if k.symbol == KERNEL.symbol)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return one_channel(cls)


@pytest.mark.whole
@pytest.mark.parametrize("operator", [Shapes, Channels])
def test_shapes_on_the_host_and_on_an_emulated_core(operator: type[Conv2D], tmp_path: Path) -> None:
    (kernel,) = operator.kernels
    assert all(not kernel.refusals(call_of(found), CORE.features) for found in operator.examples())
    result = conformance.check(operator, tmp_path / "host")
    assert not result.problems and result.cases >= len(operator.examples())
    assert not emulated.check_core(CORE.name, [operator], tmp_path / "core")


def test_shapes_differ_in_vectors_and_in_how_sums_are_finished() -> None:
    calls = [call_of(found) for found in Shapes.examples()]
    found = [direct.layout_of(call) for call in calls]
    assert {packing.finish_of(call) for call in calls} == {0, 1, 2, 4, 5}
    assert {(f.per, f.rows % f.per) for f in found if f.is_words} >= {(2, 0), (3, 0), (4, 1), (4, 2)}
    assert {(f.per, f.is_quick) for f in found if not f.is_words} >= {(1, True), (2, True), (2, False)}
    assert {f.together for f in found} == {4, 8} and {f.long for f in found} == {1, 3, 5, 6}


def test_masks_are_of_the_lanes_that_are_in_the_image() -> None:
    """Two rows of five taps share a vector; of rows of six, the first window begins two before."""
    shared = direct.VectorLayout(2, 5, 8, 6, np.array([-2, 0, 1, 4]))
    assert shared.inside == (1, 3) and not shared.is_quick
    assert shared.masks().tolist() == [0b11111, 0b11111 << 5, 0b11100, 0b11100 << 5, 0b11, 0b11 << 5]
    words = direct.VectorLayout(3, 3, 8, 6, np.array([-1, 2, 3]))
    assert words.inside == (1, 2) and words.is_quick
    assert words.masks().tolist() == [7, 7 << 8, 7 << 4, 6, 6 << 8, 6 << 4, 7, 7 << 8, 7 << 4]
    long = direct.VectorLayout(1, 20, 8, 30, np.array([-1, 11]))
    assert long.inside == (0, 0) and long.is_quick
    assert long.masks().tolist() == [0xFFFF, 0xF, 0xFFFE, 0xF, 0xFFFF, 0b111]


def test_it_refuses_pixels_apart_long_rows_and_many_outputs() -> None:
    runs, sizes = str(direct.in_runs.__doc__), str(direct.fits.__doc__)
    for found, why in (
        (filtered((3, 9, 4), (1, 2), 4, dilation=(1, 2)), {runs}),
        (filtered((3, 9, 4), (1, 1), 4, dilation=(1, 2)), set()),
        (filtered((1, 1, 8193), (1, 1), 4), {runs}),
        (filtered((1, 1, 8192), (1, 1), 4), set()),
        (filtered((1, 2, 1), (1, 1), 4097), {sizes}),
        (filtered((1, 2, 1), (1, 1), 4096), set()),
    ):
        assert why == {runs, sizes} & set(KERNEL.refusals(call_of(found), CORE.features))


def test_it_takes_no_memory_of_its_own() -> None:
    assert KERNEL.scratch is None and isinstance(KERNEL.form, Window)
