# SPDX-License-Identifier: Apache-2.0
"""Convolutions on cores with SMLAD without memory of their own: sides of the image, short rows, words, what is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from mcugen import kernels
from mcugen.boards import target
from mcugen.ir.call import Call
from mcugen.ir.kernel import Kernel, Window
from mcugen.ir.op import Example
from mcugen.kernels.dsp import windows
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from tests.kernels.test_mve_direct import one_channel
from tests.kernels.test_mve_pairs import filtered
from tests.kernels.test_mve_taps import served_by
from tests.support import conformance, emulated
from tests.support.cases import graph_of
from tests.support.copies import code_of_copy

CORE = target.load("cortex-m4")
SYMBOLS = ("mg_conv2d_s8__dsp16_direct", "mg_conv2d_s8__dsp8_direct")
KERNELS = tuple(k for k in kernels.of(Conv2D) if k.symbol in SYMBOLS)


def call_of(found: Example) -> Call:
    graph = graph_of(found)
    return replace(graph.call(graph.nodes[0], "tflm"), features=CORE.features)


class Shapes(Conv2D):
    """Kernel rows of less than a word, of words and of some more; loops; windows beyond both sides at once, or beyond
    by whole words; rows of one word. Source: none.
    """

    kernels = KERNELS

    @classmethod
    def examples(cls) -> Sequence[Example]:
        made = [
            filtered((4, 5, 16), (3, 3), 8),
            filtered((5, 6, 3), (3, 3), 5, stride=(2, 2), zero=3, out_zero=-7),
            filtered((3, 4, 1), (2, 3), 7, zero=127, activation="RELU6"),
            filtered((12, 9, 1), (10, 8), 8, stride=(2, 2), zero=83),
            filtered((2, 4, 1), (1, 4), 3, zero=-1, out_zero=9),
            filtered((9, 4, 1), (4, 9), 6, stride=(2, 1), zero=83, rounding="single", out_zero=5),
            filtered((3, 2, 2), (3, 1), 4, zero=0, out_zero=0),
            filtered((2, 7, 40), (1, 1), 4, stride=(1, 2), rounding="even", activation="RELU6", gain=0.01),
            filtered((2, 2, 17), (2, 2), 4, padding="VALID"),
            filtered((9, 6, 7), (3, 5), 1, dilation=(2, 1), zero=-9),
            filtered((2, 14, 4), (2, 3), 6, padding=((1, 1), (2, 1)), zero=7, out_zero=1),
            filtered((2, 3, 4), (2, 7), 5, zero=127, out_zero=-128, activation="RELU"),
            filtered((3, 5, 68), (2, 2), 3, stride=(1, 2), zero=-3, gain=3e-4),
        ]
        return [served_by(cls, found) for found in made]


class Channels(DepthwiseConv2D):
    """One channel, of which many are made. Source: none."""

    kernels = tuple(k for k in kernels.of(DepthwiseConv2D) if k.symbol in SYMBOLS)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return one_channel(cls)


@pytest.mark.whole
@pytest.mark.parametrize("operator", [Shapes, Channels])
def test_shapes_on_the_host_and_on_an_emulated_core(operator: type[Conv2D], tmp_path: Path) -> None:
    wide, narrow = operator.kernels
    assert all(not wide.refusals(call_of(found), CORE.features) for found in operator.examples())
    assert sum(not narrow.refusals(call_of(found), CORE.features) for found in operator.examples()) > 1
    result = conformance.check(operator, tmp_path / "host")
    assert not result.problems and result.cases >= len(operator.examples())
    assert not emulated.check_core(CORE.name, [operator], tmp_path / "core")


def test_shapes_differ_in_what_is_beyond_the_image() -> None:
    calls = [call_of(found) for found in Shapes.examples()]
    found = [kernel.text.variant(call) for kernel in KERNELS[:1] for call in calls if kernel.text.variant]
    assert {sizes["edges"] for sizes in found} == {0, 1, 2}
    assert {sizes["tail"] for sizes in found} == {0, 1, 2, 3}
    assert {sizes["loop"] for sizes in found} == {0, 1}


def test_a_word_beyond_the_image_is_read_in_it_and_moved() -> None:
    """Windows of five in rows of six, from two before: offsets, bits to shift up and down, and added values."""
    row = windows.WindowRow(6, 5, 2, 3, 3)
    assert row.inside == (1, 2)
    assert row.edges(-1).tolist() == [
        [[0 << 16 | 0 << 8 | 16, 0xFFFF], [0 << 16 | 8, 0xFF]],
        [[2 << 16 | 16 << 8, 0xFFFF0000], [2 << 16 | 24 << 8, 0xFFFFFF00]],
    ]


def test_words_beyond_the_image_are_left_out_where_they_are_whole() -> None:
    row = windows.WindowRow(12, 12, 4, 4, 3)
    assert row.is_whole and row.inside == (1, 2)
    assert row.left_out(32).tolist() == [[0, 8, 32, 0], [4, 8, 0, 32]]
    assert not windows.WindowRow(12, 12, 2, 4, 3).is_whole


def test_they_refuse_pixels_apart_long_rows_and_images_of_less_than_a_word() -> None:
    runs, words = str(windows.in_runs.__doc__), str(windows.in_words.__doc__)
    for found, why in (
        (filtered((3, 9, 4), (1, 2), 4, dilation=(1, 2)), {runs}),
        (filtered((3, 9, 4), (1, 1), 4, dilation=(1, 2)), set()),
        (filtered((1, 1, 4096), (1, 1), 4, gain=1e-5), {runs}),
        (filtered((1, 1, 4092), (1, 1), 4, gain=1e-5), set()),
        (filtered((3, 3, 1), (1, 1), 4), {words}),
        (filtered((3, 4, 1), (1, 1), 4), set()),
    ):
        call = call_of(found)
        assert all(why == {runs, words} & set(kernel.refusals(call, CORE.features)) for kernel in KERNELS)


@pytest.mark.parametrize("kernel", KERNELS, ids=SYMBOLS)
@pytest.mark.parametrize("image", [(5, 6, 3), (4, 5, 16), (3, 5, 68)])
def test_the_stated_code_is_near_its_size(kernel: Kernel, image: tuple[int, ...], tmp_path: Path) -> None:
    call = call_of(filtered(image, (3, 3), 5, zero=3, out_zero=-7))
    assert kernel.cost.code is not None
    assert kernel.cost.code(call) == pytest.approx(code_of_copy(kernel, call, tmp_path), rel=0.03)


def test_they_take_no_memory_of_their_own() -> None:
    assert all(kernel.scratch is None and isinstance(kernel.form, Window) for kernel in KERNELS)
