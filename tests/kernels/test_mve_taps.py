# SPDX-License-Identifier: Apache-2.0
"""Depthwise convolutions of rows as they are on Helium: blocks of channels, taps outside the image, groups of taps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mcugen import kernels
from mcugen.boards import target
from mcugen.ir.call import Call
from mcugen.ir.op import Example, Op
from mcugen.ir.ranges import Range
from mcugen.kernels.helium import packing, taps
from mcugen.ops._filter_examples import example
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from tests.support import conformance, emulated
from tests.support.cases import graph_of

CORE = target.load("cortex-m55")
KERNEL = next(k for k in kernels.of(DepthwiseConv2D) if k.symbol == "mg_depthwise_conv2d_s8__mve_taps")


def deep(image: Sequence[int], window: Sequence[int], **types: Any) -> Example:
    names = ("stride", "dilation", "activation", "padding", "rounding")
    made = {name: types.pop(name) for name in names if name in types}
    types = {"gain": 2e-3, "zero": -128, "out_zero": -128, **types}
    return example(Shapes(**made), 5, (1, *image), (1, *window, image[2]), 3, **types)


def served_by(op: type[Op], found: Example) -> Example:
    """The example as one of a class of the same operator that has other kernels."""
    return replace(found, op=op(**{field.name: getattr(found.op, field.name) for field in fields(found.op)}))


def call_of(found: Example) -> Call:
    graph = graph_of(found)
    return replace(graph.call(graph.nodes[0], "tflm"), features=CORE.features)


class Shapes(DepthwiseConv2D):
    """Few channels, a rest of a block, whole blocks; windows beyond all sides of the image; steps. Source: none."""

    kernels = (KERNEL,)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [
            deep((3, 5, 16), (3, 3)),
            deep((4, 6, 7), (3, 2), stride=(1, 2), zero=3, out_zero=-1),
            deep((5, 4, 37), (5, 5), zero=127, out_zero=9, activation="RELU6"),
            deep((6, 9, 17), (2, 4), dilation=(2, 2), padding="VALID", zero=-7),
            deep((9, 1, 32), (9, 1), stride=(3, 1), rounding="single", out_zero=4),
            deep((3, 7, 20), (1, 3), dilation=(1, 2), rounding="even", activation="RELU6", gain=0.01),
            deep((2, 2, 1), (4, 4), zero=55, out_zero=0),
            deep((3, 9, 5), (3, 2), dilation=(1, 2), zero=12, padding=((1, 0), (2, 2))),
            deep((6, 5, 16), (4, 1), zero=-3, out_zero=-1),
            deep((2, 35, 1), (1, 3), zero=0, out_zero=7, activation="RELU"),
        ]


@pytest.mark.whole
def test_shapes_on_the_host_and_on_an_emulated_core(tmp_path: Path) -> None:
    assert all(not KERNEL.refusals(call_of(found), CORE.features) for found in Shapes.examples())
    assert {packing.finish_of(call_of(found)) for found in Shapes.examples()} == {0, 1, 2, 4, 5}
    result = conformance.check(Shapes, tmp_path / "host")
    assert not result.problems and result.cases >= len(Shapes.examples())
    assert not emulated.check_core(CORE.name, [Shapes], tmp_path / "core")


def test_products_of_two_taps_must_fit_16_bits() -> None:
    """Only two weights of -128 beside each other do not, and they do where the data is known to be small."""
    found = deep((3, 5, 16), (3, 3), zero=0)
    w = call_of(found).constant(1).copy()
    w[0, 0, :2, 5] = -128, 127
    assert taps.pairs_fit(call_of(replace(found, constants={**found.constants, 1: w.copy()})))
    w[0, 0, :2, 5] = -128
    beyond = call_of(replace(found, constants={**found.constants, 1: w.copy()}))
    assert not taps.pairs_fit(beyond) and "fit 16 bits" in str(KERNEL.refusals(beyond, CORE.features))
    small = Range(np.full(16, -127), np.full(16, 127))
    assert taps.pairs_fit(replace(beyond, input_range=(small,)))
    w[0, 0, 0, 5] = 0
    w[0, 0, 1:, 5] = -128
    w[0, 1, 0, 5] = 0
    assert taps.pairs_fit(call_of(replace(found, constants={**found.constants, 1: w.copy()})))


def test_the_zero_point_counts_as_data() -> None:
    small = Range(np.full(16, -3), np.full(16, 3))
    near, far = (replace(call_of(deep((3, 5, 16), (3, 3), zero=z)), input_range=(small,)) for z in (0, -90))
    assert taps.largest(near).max() == 3 and taps.largest(far).max() == 90


def test_it_takes_a_word_for_each_tap() -> None:
    assert KERNEL.scratch is not None
    assert KERNEL.scratch(call_of(deep((3, 5, 64), (3, 3)))) == 48
    assert KERNEL.scratch(call_of(deep((9, 1, 64), (2, 4)))) == 32
    assert KERNEL.scratch(call_of(deep((9, 1, 64), (4, 1)))) == 32


def test_few_channels_of_pixels_side_by_side_fill_a_vector() -> None:
    together = [taps.together(call_of(deep((3, 9, c), (3, 3)))) for c in (1, 5, 8, 9, 16)]
    assert together == [16, 3, 2, 1, 1]
    assert taps.together(call_of(deep((3, 9, 8), (3, 3), stride=(2, 2)))) == 1
