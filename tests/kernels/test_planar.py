# SPDX-License-Identifier: Apache-2.0
"""When depthwise convolutions may run on planar rows, and how their work is divided."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mcugen import kernels
from mcugen.boards import target
from mcugen.ir.call import Call
from mcugen.ir.kernel import Kernel
from mcugen.ir.types import TensorType
from mcugen.kernels.dsp import planar
from mcugen.kernels.dsp.planar_sizes import MAX_SUMS, PlanarShape, shape_of
from mcugen.ops._filter_examples import example
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from mcugen.options import Options
from mcugen.solve.candidates import candidates_of
from tests.support import draw
from tests.support.cases import graph_of
from tests.support.copies import code_of_copy

LINE, COLUMN, KERNEL, BLOCKS, EACH, SLICES, LINE_SLICES = (
    next(k for k in kernels.of(DepthwiseConv2D) if k.symbol == f"mg_depthwise_conv2d_s8__{how}")
    for how in ("line", "column", "planar", "planar_blocks", "planar_each", "planar_slices", "line_slices")
)


def call_of(
    size: tuple[int, int] = (4, 9), c: int = 6, kernel: tuple[int, int] = (3, 3), multiplier: int = 1,
    stride: tuple[int, int] = (1, 1), dilation: tuple[int, int] = (1, 1), activation: str = "NONE",
    padding: str = "SAME", **types: Any,
) -> Call:  # fmt: skip
    op = DepthwiseConv2D(stride, dilation, padding, activation)
    weights = (1, *kernel, c * multiplier)
    made = example(op, 3, (1, *size, c), weights, 3, **{"gain": 0.03, **types})
    data = [
        draw.constant(t, made.constants[k], made.seed, k) if t is not None and k in made.constants else None
        for k, t in enumerate(made.inputs)
    ]
    return Call(op, made.inputs, made.outputs, tuple(data), "tflm")


def refusals(call: Call, *features: str, kernel: Kernel = KERNEL) -> list[str]:
    return kernel.refusals(call, frozenset(features))


def test_it_takes_the_usual_layers_on_a_core_that_can() -> None:
    for call in (call_of(), call_of(stride=(2, 2)), call_of(kernel=(5, 5), activation="RELU"), call_of((7, 1), 1)):
        assert not refusals(call, "dsp")
    assert refusals(call_of()) == ["the core has no dsp"]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"multiplier": 2}, "depth multiplier"),
        ({"dilation": (1, 2)}, "the dilation is 1"),
        ({"dilation": (2, 1)}, "the dilation is 1"),
        ({"stride": (1, 4)}, "horizontal stride of at most 3"),
        ({"size": (4, 600), "kernel": (3, 3)}, "4 KB"),
        ({"size": (256, 5), "c": 2, "kernel": (256, 5), "padding": "VALID"}, "its weights"),
        ({"size": (1, 2), "c": 65536, "kernel": (1, 1)}, "65535 channels"),
        ({"bias_max": 2**31 - 1}, "2^30"),
        ({"gain": 4.0}, "right shift of at most 22"),
        ({"kind": "s16"}, "int8"),
    ],
)
def test_it_refuses_what_it_cannot_do_exactly(changed: dict[str, Any], message: str) -> None:
    call = call_of(**changed)
    assert any(message in reason for reason in refusals(call, "dsp")), refusals(call, "dsp")
    others = [k for k in kernels.of(DepthwiseConv2D) if k is not KERNEL]
    assert any(not k.refusals(call, frozenset({"dsp"})) for k in others)


def test_it_takes_the_most_weights_that_are_in_reach() -> None:
    assert not refusals(call_of((256, 5), 2, (255, 5), padding="VALID"), "dsp")


def test_layers_of_other_channels_and_clamps_share_a_copy() -> None:
    usual = {"size": (5, 24), "c": 4, "activation": "RELU"}
    one, other = call_of(**usual), call_of((9, 24), 31, stride=(2, 1), zero=9, activation="RELU6")  # type: ignore[arg-type]
    assert KERNEL.identity(one) == KERNEL.identity(other)
    for changed in ({"size": (5, 25)}, {"stride": (1, 2)}, {"kernel": (5, 3)}, {"activation": "NONE"}):
        assert KERNEL.identity(one) != KERNEL.identity(call_of(**{**usual, **changed}))  # type: ignore[arg-type]


def test_layers_of_other_widths_share_a_copy_where_they_are_in_blocks() -> None:
    widths = (6, 12, 48)
    assert len({BLOCKS.identity(call_of((5, width))) for width in widths}) == 1
    assert len({KERNEL.identity(call_of((5, width))) for width in widths}) == len(widths)
    assert refusals(call_of((5, 14)), "dsp", kernel=BLOCKS) == [
        "a row is a whole number of blocks of at least 4 outputs"
    ]
    assert refusals(call_of((5, 25)), "dsp", kernel=BLOCKS) and not refusals(call_of((5, 28)), "dsp", kernel=BLOCKS)


def test_layers_of_other_widths_and_strides_share_a_copy_output_by_output() -> None:
    layers = [call_of((5, 3)), call_of((9, 25), 31, stride=(2, 2), activation="RELU"), call_of((7, 48), stride=(1, 3))]
    assert len({EACH.identity(call) for call in layers}) == 1
    assert not any(refusals(call, "dsp", kernel=EACH) for call in layers)
    for kernel in ((4, 3), (3, 5)):
        assert any("at most 3 rows of at most 4" in why for why in refusals(call_of(kernel=kernel), "dsp", kernel=EACH))
    unseen = call_of((5, 1), kernel=(3, 5))  # one column of taps sees the image
    assert not refusals(unseen, "dsp", kernel=EACH) and EACH.sizes(unseen)["taps"] == 1


def test_weights_that_stay_bytes_have_eight_bits() -> None:
    made = call_of()
    for value, fits in ((127, True), (-128, True), (128, False), (-129, False)):
        weights = made.constant(1).astype(np.int16)
        weights[0, 1, 1, 2] = value
        wide = replace(
            made,
            inputs=(made.inputs[0], replace(made.input(1), dtype="s16"), *made.inputs[2:]),
            constants=(None, weights, *made.constants[2:]),
        )
        why = refusals(wide, "dsp", kernel=EACH)
        assert not why if fits else why == ["weights lie between -128 and 127"]


@pytest.mark.parametrize(
    ("kernel", "changed"),
    [
        (KERNEL, {"size": (5, 24)}),
        (BLOCKS, {"size": (5, 24)}),
        (BLOCKS, {"size": (5, 24), "kernel": (7, 7)}),
        (KERNEL, {"size": (5, 6), "kernel": (5, 5), "stride": (2, 2)}),
        (KERNEL, {"size": (5, 56), "kernel": (3, 7), "out_zero": -128}),
        (EACH, {"size": (5, 24), "stride": (2, 2)}),
        (EACH, {"size": (5, 7), "kernel": (2, 2)}),
        (LINE, {"size": (40, 1), "kernel": (15, 1)}),
        (COLUMN, {"size": (40, 1), "kernel": (10, 1), "c": 40}),
        (SLICES, {"size": (5, 24), "c": 40}),
        (SLICES, {"size": (5, 6), "c": 99}),
        (LINE_SLICES, {"size": (40, 1), "kernel": (15, 1), "c": 40}),
    ],
)
def test_the_stated_code_of_a_copy_is_near_its_size(kernel: Kernel, changed: dict[str, Any], tmp_path: Path) -> None:
    call = call_of(**changed)
    assert kernel.cost.code is not None and kernel.cost.code(call) == pytest.approx(
        code_of_copy(kernel, call, tmp_path), rel=0.15
    )


def test_a_stride_of_rows_does_not_matter() -> None:
    assert not refusals(call_of((9, 9), stride=(5, 1)), "dsp")


@pytest.mark.parametrize("width", range(1, 60))
@pytest.mark.parametrize(("taps", "stride"), [(3, 1), (3, 2), (4, 1), (5, 1), (7, 1), (3, 3), (12, 2), (16, 1)])
def test_blocks_make_up_a_row(width: int, taps: int, stride: int) -> None:
    s = PlanarShape(3, 0, taps, stride, (width - 1) * stride + taps, width, 0, 4)
    count, block, tail = s.blocks
    most = MAX_SUMS[s.words]
    assert count * block + tail == width
    assert block <= most and tail <= most and (count > 0 or tail > 0)
    assert count == 0 or block * stride % 2 == 0
    assert s.parts * s.taps >= taps and (s.parts == 1 or s.taps % 2 == 0)
    assert s.columns % 2 == 0 and s.columns >= stride * (width - 1) + taps


@pytest.mark.parametrize(
    ("kernel", "changed", "message"),
    [
        (COLUMN, {"size": (7, 2)}, "one pixel wide"),
        (LINE, {"size": (7, 2)}, "one pixel wide"),
        (COLUMN, {"dilation": (2, 1)}, "the dilation is 1"),
        (LINE, {"dilation": (2, 1)}, "the dilation is 1"),
        (LINE, {"stride": (4, 1)}, "vertical stride of at most 3"),
        (LINE, {"batch": 2}, "batch"),
        (LINE_SLICES, {"batch": 2}, "batch"),
        (LINE_SLICES, {"c": 8}, "256 bytes"),
        (LINE, {"stride": (9, 1)}, "more than one row"),
        (LINE, {"size": (1100, 1)}, "4 KB"),
        (COLUMN, {"size": (120, 1), "kernel": (101, 1)}, "at most 100 rows"),
        (COLUMN, {"size": (2, 1), "kernel": (2, 1), "c": 65536}, "at most 65535 channels"),
    ],
)
def test_signals_have_kernels_of_their_own(kernel: Kernel, changed: dict[str, Any], message: str) -> None:
    usual = {"size": (9, 1), "kernel": (5, 1), "c": 50, "gain": 0.01}
    sizes = {k: v for k, v in changed.items() if k != "batch"}
    assert not refusals(call_of(**usual), "dsp", kernel=kernel)  # type: ignore[arg-type]
    call = batched(call_of(**{**usual, **sizes}), changed.get("batch", 1))
    assert any(message in reason for reason in refusals(call, "dsp", kernel=kernel))


def batched(call: Call, batch: int) -> Call:
    """The call on that many images."""
    x, y = (replace(t, shape=(batch, *t.shape[1:])) for t in (call.input(0), call.output))
    return replace(call, inputs=(x, *call.inputs[1:]), outputs=(y,))


@pytest.mark.parametrize(("mode", "symbol"), [("whole", LINE.symbol), ("rows", COLUMN.symbol)])
def test_a_signal_that_comes_by_rows_is_not_waited_for(mode: str, symbol: str) -> None:
    made = example(DepthwiseConv2D((1, 1), (1, 1), "VALID"), 1, (1, 28, 1, 40), (1, 5, 1, 40), 3)
    options = Options(input_mode=mode)
    listed = candidates_of(graph_of(made), target.load("cortex-m4"), options)[0]
    assert listed[0].choice.kernel.symbol == symbol


@pytest.mark.parametrize("kernel", [SLICES, LINE_SLICES])
@pytest.mark.parametrize("c", [29, 64, 127, 300])
def test_slices_take_little_memory(kernel: Kernel, c: int) -> None:
    call = call_of((40, 1 if kernel is LINE_SLICES else 5), c, (3, 1), padding="VALID")
    params = kernel.params(call) if kernel.params else {}
    assert kernel.scratch is not None and kernel.scratch(call) <= (1024 if kernel is SLICES else 384)
    assert params["slice"] % 4 == 0 and params["slice"] < c
    assert params["weights"].size == c * (3 if kernel is SLICES else 1) * (1 if kernel is SLICES else 2)


def test_channels_in_one_slice_are_not_sliced() -> None:
    assert any("1 KB" in reason for reason in refusals(call_of((6, 6), 20), "dsp", kernel=SLICES))
    assert not refusals(call_of((6, 6), 21), "dsp", kernel=SLICES)


def test_weights_of_a_signal_follow_each_other_from_every_slot() -> None:
    words = planar.pack_column(np.array([[1, 2, 3]])).view(np.int16).reshape(2, 6).tolist()
    assert words == [[1, 2, 3, 1, 2, 3], [2, 3, 1, 2, 3, 1]]


def test_columns_that_only_see_padding_are_left_out() -> None:
    call = call_of((6, 1), 3, (3, 5))
    s = shape_of(call)
    assert (s.first, s.width, s.pad, s.columns) == (2, 1, 0, 2)


def test_weights_are_pairs_in_two_rounds() -> None:
    s = PlanarShape(2, 0, 3, 1, 9, 9, 1, 1)
    words = planar.pack_weights(s, np.array([[1, 2, -3, 4, 5, 6]])).view(np.uint32)
    first, second = [0x00020001, 0xFFFD0002], [0x00050004, 0x00060005]
    assert words.tolist() == [*first, *second, *first]
    even = PlanarShape(1, 0, 3, 2, 9, 4, 0, 1)
    assert planar.pack_weights(even, np.array([[1, 2, -3]])).view(np.uint32).tolist() == [0x00020001, 0x0000FFFD]


def test_constant_channels_keep_their_value() -> None:
    call = call_of(gain=1e-9, bias=False)
    assert isinstance(call.output, TensorType)
    assert not refusals(call, "dsp")
    assert KERNEL.params is not None and not np.any(KERNEL.params(call)["weights"])
