# SPDX-License-Identifier: Apache-2.0
"""Rules of Helium kernels: a call that breaks one gets another kernel, and the reason is shown."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mcugen import kernels
from mcugen.ir.call import Call
from mcugen.ir.op import Example, Op
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops._filter_examples import example
from mcugen.ops.add import Add
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from mcugen.ops.fully_connected import FullyConnected
from tests.support.cases import graph_of

M55 = frozenset({"dsp", "fpu", "mve", "mve_float"})


def call_of(found: Example, reference: str = "tflm") -> Call:
    graph = graph_of(found)
    return graph.call(graph.nodes[0], reference)


def filtered(op: Op, image: tuple[int, ...], weights: tuple[int, ...], **types: Any) -> Example:
    axis = 3 if isinstance(op, DepthwiseConv2D) else 0
    return example(op, 1, image, weights, axis, **{"gain": 0.001, "zero": 4, "out_zero": -128, **types})


def dense(pixels: int, inputs: int, outputs: int, **types: Any) -> Example:
    return filtered(Conv2D(), (1, 1, pixels, inputs), (outputs, 1, 1, inputs), **types)


def chosen(found: Example, reference: str = "tflm") -> str:
    call = call_of(found, reference)
    return next(k.symbol for k in kernels.of(call.op) if not k.refusals(call, M55))


def deep(image: tuple[int, int, int], kernel: tuple[int, int], channels: int = 0, **op: Any) -> Example:
    c = image[2]
    return filtered(DepthwiseConv2D(**op), (1, *image), (1, *kernel, channels or c), gain=0.002)


def huge(found: Example) -> Example:
    """The example with a bias to which no product can be added."""
    bias = found.inputs[2]
    assert bias is not None
    return replace(found, constants={**found.constants, 2: np.full(bias.shape, 2**31 - 1, np.int32)})


def add(scale: float) -> Example:
    types = [TensorType((1, 2, 2, 8), "s8", QuantParams((s,), (3,))) for s in (0.5, 0.25, scale)]
    return Example(Add(), (types[0], types[1]), (types[2],), {})


CHOSEN: tuple[tuple[Example, str], ...] = (
    (dense(16, 16, 4), "mg_dense_s8__mve_narrow"),
    (dense(15, 16, 4), "mg_dense_s8__mve"),
    (dense(16, 17, 4), "mg_dense_s8__mve"),
    (dense(16, 16, 64), "mg_dense_s8__mve"),
    (dense(16, 16, 3), "mg_dense_s8__mve"),
    (dense(4, 240, 4), "mg_dense_s8__mve"),
    (dense(4, 241, 4), "mg_dense_s8__mve_long"),
    (dense(4, 40, 4, out_zero=-127), "mg_dense_s8__mve_linear"),
    (filtered(Conv2D(activation="RELU6"), (1, 1, 4, 40), (4, 1, 1, 40)), "mg_dense_s8__mve_clamp"),
    (filtered(Conv2D(), (1, 5, 5, 16), (4, 3, 3, 16)), "mg_conv2d_s8__mve"),
    (filtered(Conv2D(), (1, 5, 5, 16), (4, 4, 3, 16)), "mg_conv2d_s8__mve_patches"),
    (filtered(Conv2D(), (1, 9, 9, 64), (4, 4, 4, 64)), "mg_conv2d_s8__mve_shared"),
    (deep((5, 48, 8), (3, 3)), "mg_depthwise_conv2d_s8__mve_wide"),
    (deep((5, 7, 8), (3, 3)), "mg_depthwise_conv2d_s8__mve"),
    (deep((5, 48, 8), (3, 4)), "mg_depthwise_conv2d_s8__mve"),
    (deep((5, 48, 64), (3, 3)), "mg_depthwise_conv2d_s8__mve"),
    (deep((5, 48, 8), (3, 2), dilation=(1, 2)), "mg_depthwise_conv2d_s8__mve"),
    (deep((5, 48, 8), (3, 2), dilation=(1, 2), stride=(1, 2)), "mg_depthwise_conv2d_s8__mve_wide"),
    (deep((5, 48, 8), (3, 1), dilation=(1, 3)), "mg_depthwise_conv2d_s8__mve_wide"),
    (deep((1, 2048, 8), (1, 3)), "mg_depthwise_conv2d_s8__mve_wide"),
    (deep((1, 2049, 8), (1, 3)), "mg_depthwise_conv2d_s8__mve"),
    (filtered(Conv2D(dilation=(1, 4095)), (1, 1, 9, 8), (4, 1, 3, 8)), "mg_conv2d_s8__mve_patches"),
    (deep((20, 2, 8), (9, 1)), "mg_depthwise_conv2d_s8__mve_columns"),
    (deep((11, 1, 8), (9, 1)), "mg_depthwise_conv2d_s8__mve"),
    (deep((5, 5, 8), (5, 5)), "mg_depthwise_conv2d_s8__mve_taps"),
    (deep((20, 1, 8), (17, 1)), "mg_depthwise_conv2d_s8__mve_taps"),
    (filtered(Conv2D(dilation=(1, 4096)), (1, 1, 9, 8), (4, 1, 3, 8)), "mg_conv2d_s8__mve_pairs"),
    (add(0.6), "mg_add_s8__mve"),
)


@pytest.mark.parametrize(("found", "symbol"), CHOSEN, ids=[f"{k}_{s}" for k, (_, s) in enumerate(CHOSEN)])
def test_the_first_kernel_that_accepts(found: Example, symbol: str) -> None:
    assert chosen(found) == symbol


BROKEN: tuple[tuple[Example, str], ...] = (
    (huge(dense(4, 40, 8)), "all sums of products stay within 32 bits"),
    (dense(4, 40, 8, gain=3.0), "no multiplier is 1 or more"),
    (dense(4, 40, 8, gain=0.8, out_zero=3, per_channel=False), "all multipliers are below one half"),
    (huge(filtered(Conv2D(), (1, 5, 5, 4), (3, 3, 3, 4))), "at least 4 output channels"),
    (filtered(Conv2D(), (1, 5, 5, 8), (4, 3, 3, 4)), "there is one group"),
    (huge(filtered(Conv2D(), (1, 32, 32, 65), (4, 32, 32, 65))), "no row or patch is longer than 65535 bytes"),
    (huge(filtered(Conv2D(dilation=(1, 4096)), (1, 1, 9, 8), (4, 1, 3, 8))), "patches of at most 1008 elements"),
    (huge(filtered(Conv2D(), (1, 5, 5, 8), (4, 3, 3, 8))), "all sums of products stay within 32 bits"),
    (huge(deep((5, 5, 8), (5, 5))), "4x4, 8x2 or 16x1"),
    (huge(deep((20, 1, 8), (17, 1))), "at most 16 rows"),
    (deep((5, 5, 2), (3, 3), channels=4), "each input channel has one output channel"),
    (huge(deep((5, 7, 8), (3, 3))), "all sums of products stay within 32 bits"),
    (add(1.5e-6), "scaled by less than one half"),
)


@pytest.mark.parametrize(("found", "reason"), BROKEN, ids=[f"{k}_{r}" for k, (_, r) in enumerate(BROKEN)])
def test_a_broken_rule_leaves_the_call_to_others(found: Example, reason: str) -> None:
    call = call_of(found)
    refused = {k.symbol: "; ".join(k.refusals(call, M55)) for k in kernels.of(call.op) if "mve" in k.needs}
    assert any(reason in why for why in refused.values())
    assert all(refused.values())
    assert "__mve" not in chosen(found)


def test_without_helium_none_runs() -> None:
    call = call_of(dense(16, 16, 4))
    assert all(k.refusals(call, M55 - {"mve"}) for k in kernels.of(call.op) if "__mve" in k.symbol)


def test_a_single_rounding_is_left_to_others() -> None:
    found = example(FullyConnected(), 1, (1, 40), (8, 40), 0, gain=0.001, per_channel=False, out_zero=-128)
    assert chosen(found) == "mg_dense_s8__mve"
    assert "mve" not in chosen(found, "litert")


@pytest.mark.parametrize(("found", "reason"), [
    (deep((5, 5, 8), (3, 4)), "at most 3x3"), (deep((9, 9, 8), (3, 3), stride=(2, 1)), "1x1 or 2x2"),
    (deep((9, 9, 8), (3, 3), dilation=(2, 2)), "undilated"), (deep((1, 9, 8), (1, 3)), "at least 2 rows"),
    (deep((5, 3, 64), (3, 3)), "rows of 4"), (deep((5, 4, 3), (3, 3)), "at least 16 elements"),
    (deep((2, 8192, 8), (1, 3)), "within reach of 16-bit offsets"),
])  # fmt: skip
def test_squares_need_rows_and_columns_beside_each_other(found: Example, reason: str) -> None:
    call = call_of(found)
    squares = next(k for k in kernels.of(call.op) if k.symbol.endswith("mve_squares"))
    assert reason in "; ".join(squares.refusals(call, M55))
    assert not squares.refusals(call_of(deep((5, 4, 64), (3, 3))), M55)


@pytest.mark.parametrize("sizes", [(4, 16, 8), (4, 129, 8), (4, 40, 9), (4, 40, 6), (1, 40, 8)])
def test_eights_need_two_pixels_of_several_steps_and_even_outputs(sizes: tuple[int, int, int]) -> None:
    call = call_of(dense(*sizes))
    eights = next(k for k in kernels.of(call.op) if k.symbol.endswith("mve_eights"))
    assert "17 to 128 elements" in "; ".join(eights.refusals(call, M55))
    assert not eights.refusals(call_of(dense(2, 40, 8)), M55)


@pytest.mark.parametrize(("scale", "lies"), [(0.61, True), (0.6, False), (2.0**-9, False)])
def test_a_line_rounds_no_ties_away_from_zero_and_has_little_room(scale: float, lies: bool) -> None:
    """Five twelfths have ties; a result 256 times as fine leaves 32 bits."""
    call = call_of(add(scale))
    line = next(k for k in kernels.of(call.op) if k.symbol.endswith("mve_line"))
    assert (not line.refusals(call, M55)) == lies


@pytest.mark.parametrize(("image", "kernel", "slices"), [
    ((25, 5, 64), (3, 3), 4), ((9, 9, 17), (3, 3), 2), ((28, 1, 128), (5, 1), 2), ((9, 1, 40), (3, 1), 2),
])  # fmt: skip
def test_slices_hold_little_of_the_image(image: tuple[int, int, int], kernel: tuple[int, int], slices: int) -> None:
    call = call_of(deep(image, kernel))
    sliced = next(k for k in kernels.of(call.op) if k.symbol.endswith("mve_slices"))
    assert not sliced.refusals(call, M55) and sliced.params is not None and sliced.scratch is not None
    params = sliced.params(call)
    assert params["slice"] % 16 == 0 and params["stream"].size == 28 * slices * params["slice"]
    assert slices * params["slice"] >= image[2] and sliced.scratch(call) <= 1024
    few = call_of(deep((*image[:2], 16), kernel))
    assert any("more than 16 channels" in reason for reason in sliced.refusals(few, M55))


def test_floats_scale_sums_that_no_multiplication_scales_where_there_are_vectors_of_them() -> None:
    for op, first in ((Conv2D(rounding="single"), "mg_dense_s8__mve_float"), (Conv2D(), "mg_dense_s8__mve_linear")):
        call = replace(call_of(filtered(op, (1, 1, 3, 20), (9, 1, 1, 20), gain=0.003, out_zero=3)), features=M55)
        assert next(k.symbol for k in kernels.of(op) if not k.refusals(call, M55)) == first
        without = M55 - {"mve_float"}
        call = replace(call, features=without)
        taken = next(k.symbol for k in kernels.of(op) if not k.refusals(call, without))
        assert taken == ("mg_conv2d_s8__dsp16_pointwise" if op.rounding else first)


def nine_bits(found: Example, *beyond: tuple[int, int]) -> Example:
    """The example with int8 weights but for some: (index, weight)."""
    weights = np.clip(found.constants[1], -100, 100)
    for index, weight in beyond:
        weights.reshape(-1)[index] = weight
    return replace(found, constants={**found.constants, 1: weights})


def test_dense_kernels_take_nine_bits_and_no_more() -> None:
    wide = dense(4, 12, 8, kind="s8w16")
    assert chosen(nine_bits(wide, (5, 255), (13, -255))) == "mg_dense_s8__mve_outliers"
    assert "outliers" not in chosen(nine_bits(wide, (5, 256)))


def test_dense_kernels_of_nine_bits_have_no_outliers_where_all_weights_fit_eight() -> None:
    found = nine_bits(dense(4, 12, 8, kind="s8w16"))
    assert chosen(found) == "mg_dense_s8__mve_outliers"
    kernel = next(k for k in kernels.of(found.op) if k.symbol == "mg_dense_s8__mve_outliers")
    assert kernel.params is not None
    params = kernel.params(call_of(found))
    assert params["outliers.count"] == 0 and params["outliers.stream"].size == 0


@pytest.mark.parametrize(
    ("taps", "fits"),
    [
        ((), True),
        (((0, 0),), True),
        (((1, 2),), True),
        (((0, 1), (1, 1), (2, 0), (2, 2)), True),  # a column, and the last row
        (((0, 0), (0, 1)), False),
    ],
)
def test_depthwise_kernels_read_taps_twice_where_weights_leave_int8(
    taps: tuple[tuple[int, int], ...], fits: bool
) -> None:
    wide = filtered(DepthwiseConv2D(), (1, 4, 4, 8), (1, 3, 3, 8), kind="s8w16", gain=0.002)
    beyond = [(24 * row + 8 * column + 2, 254 if row < 2 else -254) for row, column in taps]
    symbol = chosen(nine_bits(wide, *beyond))
    assert symbol.startswith("mg_depthwise_conv2d_s8__mve") == fits
