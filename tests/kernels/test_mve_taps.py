# SPDX-License-Identifier: Apache-2.0
"""Depthwise convolutions of rows as they are on Helium: blocks of channels, taps outside the image, groups of taps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mcugen import kernels, target
from mcugen.call import Call
from mcugen.channels import Range
from mcugen.kernels.helium import packing, taps
from mcugen.op import Example
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
            deep((2, 35, 1), (1, 3), zero=0, out_zero=7, activation="RELU"),
        ]


def test_shapes_on_the_host_and_on_an_emulated_core(tmp_path: Path) -> None:
    assert all(not KERNEL.refusals(call_of(found), CORE.features) for found in Shapes.examples())
    assert {packing.finish_of(call_of(found)) for found in Shapes.examples()} == {0, 1, 2, 4, 5}
    result = conformance.check(Shapes, tmp_path / "host", lambda kernel, reference: True)
    assert not result.problems and result.cases >= len(Shapes.examples())
    assert not emulated.check_core(CORE.name, [Shapes], tmp_path / "core")


def test_a_group_ends_before_its_sums_leave_16_bits() -> None:
    call = call_of(deep((3, 5, 16), (3, 3)))
    sizes = (np.abs(taps.matrix(call)) * 128).max(axis=0)
    (counts,) = taps.groups(call)
    assert sum(counts) == 9 and len(counts) > 1 and sizes.max() * 9 > taps.MOST_SUM
    parts = np.split(np.abs(taps.matrix(call)) * 128, np.cumsum(counts)[:-1], axis=1)
    sums = [part.sum(axis=1).max() for part in parts]
    assert max(sums) <= taps.MOST_SUM

    w = np.array([[127, 127, -127], [1, 1, 1]])
    assert taps._grouped(np.abs(w) * 128) == (2, 1)
    assert taps._grouped(np.abs(np.array([[-128, -128, 127]])) * 128) == (1, 2)
    assert taps._grouped(np.abs(w) * 64) == (3,)


def test_known_data_makes_larger_groups() -> None:
    call = call_of(deep((3, 5, 16), (3, 3), zero=0))
    small = Range(np.full(16, -3), np.full(16, 3))
    known = replace(call, input_range=(small,))
    assert taps.groups(known) == ((9,),) != taps.groups(call)
    padded = replace(call_of(deep((3, 5, 16), (3, 3), zero=-90)), input_range=(small,))
    assert taps._largest(known).max() == 3 and taps._largest(padded).max() == 90


def test_it_takes_a_word_for_each_tap() -> None:
    assert KERNEL.scratch is not None
    assert KERNEL.scratch(call_of(deep((3, 5, 64), (3, 3)))) == 48
    assert KERNEL.scratch(call_of(deep((9, 1, 64), (2, 4)))) == 32


def test_few_channels_of_pixels_side_by_side_fill_a_vector() -> None:
    together = [taps._together(call_of(deep((3, 9, c), (3, 3)))) for c in (1, 5, 8, 9, 16)]
    assert together == [16, 3, 2, 1, 1]
    assert taps._together(call_of(deep((3, 9, 8), (3, 3), stride=(2, 2)))) == 1
