# SPDX-License-Identifier: Apache-2.0
"""Winograd's F(4, 3): the transforms are the convolution, halves hold their data, and sums beyond 2^28 are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mcugen import kernels
from mcugen.ir.call import Call
from mcugen.ir.types import QuantParams, TensorType
from mcugen.kernels.dsp import winograd
from mcugen.ops.conv2d import Conv2D

KERNEL = next(k for k in kernels.of(Conv2D) if k.symbol == "mg_conv2d_s8__winograd")
DATA = np.array(
    [[4, 0, -5, 0, 1, 0], [0, -4, -4, 1, 1, 0], [0, 4, -4, -1, 1, 0], [0, -2, -1, 2, 1, 0], [0, 2, -1, -2, 1, 0],
     [0, 4, 0, -5, 0, 1]]
)  # fmt: skip
OUTPUTS = np.array([[1, 1, 1, 1, 1, 0], [0, 1, -1, 2, -2, 0], [0, 1, 1, 4, 4, 0], [0, 1, -1, 8, -8, 1]])


def call(bias: int = 0, size: tuple[int, int] = (4, 9), c: int = 8, o: int = 4, scale: float = 1e-3, **op: Any) -> Call:
    window = op.pop("window", (3, 3))
    w = np.random.default_rng(3).integers(-127, 128, (o, *window, c)).astype(np.int8)
    types = (
        TensorType((1, *size, c), "s8", QuantParams((0.5,), (3,))),
        TensorType(w.shape, "s8", QuantParams((scale,), (0,))),
        TensorType((o,), "s32"),
    )
    made = Conv2D(**op)
    y = TensorType(made.infer(*types)[0].shape, "s8", QuantParams((1.0,), (-128,)))
    return Call(made, types, (y,), (None, w, np.full(o, bias, np.int32)), "tflm")


def test_the_transforms_make_24_times_the_sums() -> None:
    d, w = np.eye(6, dtype=int), np.eye(3, dtype=int)
    direct = np.stack([d[:, k : k + 3] for k in range(4)], axis=1) @ w
    sums = np.einsum("yp,pd,pw->dyw", OUTPUTS, DATA, winograd.WEIGHTS)
    np.testing.assert_array_equal(sums, 24 * direct)


def test_data_and_weights_at_their_worst_fit_halves() -> None:
    reach = 255 * np.stack([np.minimum(DATA, 0).sum(axis=1), np.maximum(DATA, 0).sum(axis=1)])
    assert reach.min() + winograd.OFFSET >= 0 and reach.max() + winograd.OFFSET < 2**15
    assert 128 * np.abs(winograd.WEIGHTS).sum(axis=1).max() < 2**15


def test_the_sums_that_a_stream_begins_with_take_out_the_offset_and_bring_the_bias() -> None:
    c = call(bias=7)
    assert KERNEL.params is not None
    words = np.asarray(KERNEL.params(c)["stream"]).astype(np.int64).reshape(2, -1)[:, :-6].reshape(2, 6, -1)
    first, u = words[:, :, :2], words[:, :, 2:].reshape(2, 6, -1, 2)
    halves = np.stack([(u + 2**15) % 2**16 - 2**15, u >> 16], axis=-1)
    w = np.asarray(c.constants[1], np.int64)
    bias = 7 - (3 + 128) * w.sum(axis=(1, 2, 3)).reshape(2, 2)
    want = -winograd.OFFSET * halves.sum(axis=(2, 4))
    want[:, 1] += 24 * bias
    np.testing.assert_array_equal(first, want)


def test_a_sum_that_reaches_28_bits_is_refused() -> None:
    reach = 9 * 8 * 127 * 131
    assert not KERNEL.refusals(call(2**28 - reach, scale=1.5e-6), KERNEL.needs)
    assert KERNEL.refusals(call(2**28, scale=1.5e-6), KERNEL.needs) == ["no sum of products reaches 2^28"]


@pytest.mark.parametrize(
    "other",
    [
        {"c": 6}, {"o": 3}, {"size": (4, 4)}, {"c": 172}, {"window": (3, 5)}, {"window": (1, 3)}, {"stride": (1, 2)},
        {"dilation": (1, 2)}, {"scale": 4.0},
    ],
)  # fmt: skip
def test_other_shapes_and_scales_are_left_to_others(other: dict[str, Any]) -> None:
    assert len(KERNEL.refusals(call(**other), KERNEL.needs)) == 1


def test_rows_may_be_strided_and_dilated() -> None:
    for op in ({"stride": (2, 1)}, {"dilation": (2, 1)}, {"padding": "VALID"}, {"activation": "RELU"}):
        assert not KERNEL.refusals(call(**op), KERNEL.needs)
