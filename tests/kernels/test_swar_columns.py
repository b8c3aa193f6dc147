# SPDX-License-Identifier: Apache-2.0
"""Depthwise convolutions of narrow images: the shorter multipliers give the runtime's output for every sum."""

from __future__ import annotations

import numpy as np
import pytest

from mcugen.ir.call import Call
from mcugen.ir.types import QuantParams, TensorType
from mcugen.kernels.swar import columns
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D


@pytest.mark.parametrize(("once", "offset", "span"), [(False, 0, 255), (True, 128, 255), (True, 60, 130)])
def test_short_multipliers_give_the_output_of_every_sum(once: bool, offset: int, span: int) -> None:
    rng = np.random.default_rng(span + offset)
    sums, found = np.arange(-(1 << 18), 1 << 18), 0
    for _ in range(16):
        mult, shift = rng.integers(1 << 30, 1 << 31, 1), -rng.integers(0, 10, 1)
        runtime = columns.RuntimeScaling(mult, shift, offset, once)
        ends = np.array([[-rng.integers(1, 1 << 18)], [rng.integers(1, 1 << 18)]])
        scales = columns.shortened(runtime, ends, span)
        if scales is None:
            continue
        found += 1
        low, high = scales.mult & 8191, scales.mult >> 13
        possible = sums[(ends[0] <= sums) & (sums <= ends[1])][:, None]
        short = ((possible * low >> 13) + possible * high + scales.rounding) >> scales.shift
        assert high < 8192
        np.testing.assert_array_equal(np.clip(short, 0, span), np.clip(runtime.outputs(possible), 0, span))
    assert found > 6


def test_negative_sums_that_are_rounded_twice_have_no_short_multiplier() -> None:
    """Halves are rounded away from zero, so that no straight line has the outputs of both signs."""
    twice = columns.RuntimeScaling(np.array([1_700_000_000]), np.array([-6]), 60, False)
    assert columns.shortened(twice, np.array([[-100_000], [100_000]]), 255) is None


def call(bias: int, width: int = 5, stride: int = 1, features: frozenset[str] = frozenset()) -> Call:
    data = np.full((1, 3, 3, 4), 100, np.int8)
    op = DepthwiseConv2D(stride=(1, stride), padding="SAME")
    types = (
        TensorType((1, 6, width, 4), "s8", QuantParams((0.5,), (3,))),
        TensorType(data.shape, "s8", QuantParams((1e-3,), (0,))),
        TensorType((4,), "s32"),
    )
    y = TensorType((1, 6, -(-width // stride), 4), "s8", QuantParams((1.0,), (-128,)))
    return Call(op, types, (y,), (None, data, np.full(4, bias, np.int32)), "tflm", features=features)


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (call(0, features=frozenset({"dsp"})), "the core has no SIMD instructions"),
        (call(0, width=7), columns.is_narrow.__doc__),
        (call(0, stride=2), columns.walks_columns.__doc__),
        (call(1 << 18), columns.has_short_multipliers.__doc__),
    ],
)
def test_other_layers_are_refused(made: Call, why: str) -> None:
    assert columns.KERNEL.refusals(made, frozenset()) == [why]
    assert not columns.KERNEL.refusals(call(0), frozenset())


def test_biases_hold_the_padding_beside_the_image() -> None:
    assert columns.KERNEL.params is not None
    stream = np.asarray(columns.KERNEL.params(call(7))["stream"]).astype(np.int32).reshape(4, 15)
    inner = 7 - 3 * 900
    assert stream[0, :3].tolist() == [inner + 3 * 300, inner, inner + 3 * 300]
    assert (stream[:, 3:12] == 100).all()
