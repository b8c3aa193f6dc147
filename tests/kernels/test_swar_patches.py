# SPDX-License-Identifier: Apache-2.0
"""Taps of columns that read beyond the row, where results of others will be: of none, one and two; odd numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from mcugen import kernels
from mcugen.ir.call import Call
from mcugen.ir.op import Example
from mcugen.kernels.swar import conv_direct
from mcugen.ops._filter_examples import example
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from tests.support import conformance, emulated
from tests.support.cases import graph_of

KERNEL = next(k for k in kernels.of(Conv2D) if k.symbol == "mg_conv2d_s8__swar_direct")


def filtered(image: Sequence[int], window: Sequence[int], outputs: int, **types: Any) -> Example:
    made = {name: types.pop(name) for name in ("stride", "dilation", "padding") if name in types}
    types = {"gain": 1e-3, "zero": -128, "out_zero": -128, **types}
    return example(Shapes(**made), 5, (1, *image), (outputs, *window, image[2]), 0, **types)


def call_of(found: Example) -> Call:
    graph = graph_of(found)
    return graph.call(graph.nodes[0], "tflm")


class Shapes(Conv2D):
    """Even and odd numbers of columns on both sides, and within; no column within. Source: none."""

    kernels = (KERNEL,)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [
            filtered((4, 12, 3), (3, 3), 8, zero=3),
            filtered((3, 13, 3), (3, 3), 8, zero=127),
            filtered((3, 12, 2), (2, 2), 7, zero=5),
            filtered((3, 13, 2), (2, 2), 7, zero=-9),
            filtered((12, 17, 1), (10, 8), 8, stride=(2, 2), zero=83),
            filtered((3, 12, 1), (3, 6), 3, zero=9),
            filtered((3, 7, 3), (3, 3), 5, zero=9),
            filtered((3, 3, 3), (3, 5), 20, zero=9),
            filtered((4, 21, 3), (2, 3), 9, dilation=(1, 2), zero=-7),
        ]


class Channels(DepthwiseConv2D):
    """One channel, of which many are made. Source: none."""

    kernels = tuple(k for k in kernels.of(DepthwiseConv2D) if k.symbol == KERNEL.symbol)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        op = cls(stride=(2, 2))
        return [example(op, 5, (1, 12, 20, 1), (1, 10, 8, 8), 3, gain=1e-3, zero=-128, out_zero=-5)]


@pytest.mark.whole
@pytest.mark.parametrize("operator", [Shapes, Channels])
def test_shapes_on_the_host_and_on_emulated_cores(operator: type[Conv2D], tmp_path: Path) -> None:
    (kernel,) = operator.kernels
    assert all(not kernel.refusals(call_of(found), frozenset()) for found in operator.examples())
    result = conformance.check(operator, tmp_path / "host")
    assert not result.problems and result.cases >= len(operator.examples())
    for core in ("cortex-m0plus", "rv32imc"):
        assert not emulated.check_core(core, [operator], tmp_path / core)


def test_memory_is_taken_only_where_results_have_no_room() -> None:
    assert KERNEL.scratch is not None
    found = {conv_direct.patches_of(call): KERNEL.scratch(call) for call in map(call_of, Shapes.examples())}
    assert set(found) == {0, 1, 2} and found[0] > 0 and found[1] == found[2] == 0


def test_two_columns_need_room_beside_a_result_that_is_computed_with_one() -> None:
    """Taps are 27, or two columns of them as many as the results within; of these one is not to be where taps are."""
    for width, outputs, patches in ((4, 27, 2), (4, 26, 1), (3, 27, 1), (3, 54, 1), (3, 26, 0)):
        assert conv_direct.patches_of(call_of(filtered((3, width, 3), (3, 3), outputs))) == patches
