# SPDX-License-Identifier: Apache-2.0
"""Words of two channels: the sums of a group stay apart at their worst, and what does not fit is left to others."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from mcugen import kernels
from mcugen.ir.call import Call
from mcugen.ir.types import QuantParams, TensorType
from mcugen.kernels.swar import channel_pairs
from mcugen.ops._weighted import matrix
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D

KERNEL = next(k for k in kernels.of(Conv2D) if k.symbol == "mg_conv2d_s8__swar")

DEPTHWISE = next(k for k in kernels.of(DepthwiseConv2D) if k.symbol == "mg_depthwise_conv2d_s8__swar")


def call(w: np.ndarray, bias: np.ndarray, scale: float = 0.01, zero_point: int = -128) -> Call:
    """A convolution with those weights [channels, taps] as 1x1 taps on an image of two pixels."""
    o, k = w.shape
    data = w.astype(np.int8).reshape(o, 1, 1, k)
    types = (
        TensorType((1, 1, 2, k), "s8", QuantParams((0.5,), (3,))),
        TensorType(data.shape, "s8", QuantParams((scale,), (0,))),
        TensorType((o,), "s32"),
    )
    y = TensorType((1, 1, 2, o), "s8", QuantParams((1.0,), (zero_point,)))
    return Call(Conv2D(), types, (y,), (None, data, bias.astype(np.int32)), "tflm")


def groups(stream: list[int]) -> Iterator[tuple[int, list[int]]]:
    """(start, words) of the groups of the first pair."""
    at = 3
    for _ in range(stream[2]):
        n = stream[at] % 32
        yield stream[at], stream[at + 1 : at + 1 + n]
        at += 1 + n
    assert stream[at] >= 16


def halves(word: int) -> tuple[int, int]:
    """The signed lower half, and what the upper half is once the lower is taken away."""
    lower = (word + 2**15) % 2**16 - 2**15
    upper = (word - lower) // 2**16 % 2**16
    return lower, (upper + 2**15) % 2**16 - 2**15


@pytest.mark.parametrize("seed", range(4))
def test_both_sums_of_a_group_stay_in_their_halves(seed: int) -> None:
    rng = np.random.default_rng(seed)
    w = rng.choice([-128, -127, -1, 0, 1, 64, 127], (2, 41)) if seed % 2 else rng.integers(-127, 128, (2, 41))
    c = call(w, np.zeros(2))
    stream = [int(v) for v in channel_pairs.fields(c, channel_pairs.channels(c, matrix(c), "NONE"), "NONE")["stream"]]
    taps = []
    for start, words in groups(stream):
        s0, s1 = start % 2**16, (start // 2**16 + 2**15) % 2**16 - 2**15
        pairs = np.array([halves(word) for word in words])
        for sign in (1, -1):
            reached = 255 * np.maximum(sign * pairs, 0).sum(axis=0) * sign
            assert 0 <= s0 + reached[0] < 2**16
            assert -(2**15) <= s1 + reached[1] < 2**15
        taps += pairs.tolist()
    np.testing.assert_array_equal(np.array(taps).T, w)


def test_a_sum_beyond_23_bits_is_refused() -> None:
    w = np.full((2, 9), 100)
    within, beyond = 2**23 - 255 * 900 - 200_000, 2**23
    assert not KERNEL.refusals(call(w, np.full(2, within), 2e-5), frozenset())
    why = KERNEL.refusals(call(w, np.full(2, beyond), 2e-5), frozenset())
    assert why == ["sums stay below 2^23, and the multipliers scale them down"]


def test_a_multiplier_that_does_not_scale_down_is_refused() -> None:
    w = np.full((2, 9), 1)
    assert not KERNEL.refusals(call(w, np.zeros(2), 0.9), frozenset())
    assert KERNEL.refusals(call(w, np.zeros(2), 2.5), frozenset())


def test_a_channel_with_one_output_needs_no_range() -> None:
    w = np.array([[0] * 9, [5] * 9])
    c = call(w, np.array([2**30, 7]))
    assert not KERNEL.refusals(c, frozenset())
    made = channel_pairs.channels(c, matrix(c), "NONE")
    assert made.constant.tolist() == [True, False] and made.value[0] == 127


def depthwise(w: np.ndarray, bias: np.ndarray, scale: float, outputs: int) -> Call:
    """A depthwise convolution with those weights [channels, taps] in one row, on an image of two pixels."""
    c, k = w.shape
    data = np.ascontiguousarray(w.T.astype(np.int8).reshape(1, 1, k, c))
    types = (
        TensorType((1, 1, 2, c // outputs), "s8", QuantParams((0.5,), (3,))),
        TensorType(data.shape, "s8", QuantParams((scale,), (0,))),
        TensorType((c,), "s32"),
    )
    y = TensorType((1, 1, 2, c), "s8", QuantParams((1.0,), (-128,)))
    return Call(DepthwiseConv2D(), types, (y,), (None, data, bias.astype(np.int32)), "tflm")


def test_a_depthwise_sum_beyond_21_bits_or_a_second_output_is_refused() -> None:
    w = np.full((4, 5), 100)
    within, beyond = 2**20, 2**21
    assert not DEPTHWISE.refusals(depthwise(w, np.full(4, within), 1e-4, 1), frozenset())
    why = DEPTHWISE.refusals(depthwise(w, np.full(4, beyond), 1e-4, 1), frozenset())
    assert why == ["sums stay below 2^21, and the multipliers scale them down"]
    why = DEPTHWISE.refusals(depthwise(w, np.zeros(4), 1e-4, 2), frozenset())
    assert why == ["each input channel has one output channel"]


def test_depthwise_taps_come_in_threes() -> None:
    w = np.arange(1, 21).reshape(4, 5)
    c = depthwise(w, np.arange(4), 0.1, 1)
    assert DEPTHWISE.params is not None
    fields = DEPTHWISE.params(c)
    assert fields["taps"] == 6
    words = np.asarray(fields["stream"]).astype(np.int32).reshape(4, 1 + 6 + 5)
    np.testing.assert_array_equal(words[:, 0], np.arange(4) - 3 * w.sum(axis=1))
    np.testing.assert_array_equal(words[:, 1:6], w)
    assert not words[:, 6].any()
