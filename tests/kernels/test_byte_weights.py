# SPDX-License-Identifier: Apache-2.0
"""Weights of uint8 models in portable kernels: they are bytes that mean the same, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mcugen import kernels
from mcugen.ir.call import Call
from mcugen.ir.op import Op
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from mcugen.ops.fully_connected import FullyConnected
from tests.kernels.test_dsp import drawn, kernel_of

SHAPES: dict[type[Op], tuple[tuple[int, ...], tuple[int, ...]]] = {
    Conv2D: ((5, 1, 1, 6), (1, 3, 4, 6)),
    DepthwiseConv2D: ((1, 3, 3, 6), (1, 4, 5, 6)),
    FullyConnected: ((5, 6), (2, 6)),
}
ROUNDED = (
    (Conv2D, "mg_conv2d_s8w9_line"),
    (Conv2D, "mg_conv2d_s8w9_line__pointwise"),
    (DepthwiseConv2D, "mg_depthwise_conv2d_s8w9_line"),
    (FullyConnected, "mg_fully_connected_s8w9_line"),
)
SYMBOLS = (
    (Conv2D, "mg_conv2d_s8w9"),
    (Conv2D, "mg_conv2d_s8w9__pointwise"),
    (DepthwiseConv2D, "mg_depthwise_conv2d_s8w9"),
    (FullyConnected, "mg_fully_connected_s8w9"),
)


def drawn_for(op: type[Op], symbol: str) -> Call:
    """A layer with weights of nine bits that rounds as the kernel does."""
    made = op(**{"rounding": "even"} if "_line" in symbol else {})
    return drawn(made, *SHAPES[op], "litert", kind="s8w9", per_channel=False, bias=op is not DepthwiseConv2D)


@pytest.mark.parametrize("op, symbol", SYMBOLS + ROUNDED)
def test_bytes_less_zero_are_the_weights(op: type[Op], symbol: str) -> None:
    call = drawn_for(op, symbol)
    kernel, wide = kernel_of(call, symbol), kernel_of(call, symbol.replace("s8w9", "s8w16"))
    assert not kernel.refusals(call, frozenset()) and kernel.params is not None and wide.params is not None
    fields, plain = kernel.params(call), wide.params(call)
    stored, weights = fields["weights"], plain["weights"]
    assert isinstance(stored, np.ndarray) and isinstance(weights, np.ndarray) and isinstance(fields["zero"], int)
    assert stored.dtype == np.uint8 and weights.max() - weights.min() == 255
    np.testing.assert_array_equal(stored.astype(np.int16) - fields["zero"], weights)


@pytest.mark.parametrize("op, symbol", SYMBOLS + ROUNDED)
@pytest.mark.parametrize("least, most, fits", [(-255, 0, True), (0, 255, True), (-128, 128, False), (1, 256, False)])
def test_weights_that_span_more_than_a_byte_are_refused(
    op: type[Op], symbol: str, least: int, most: int, fits: bool
) -> None:
    call = drawn_for(op, symbol)
    w = np.clip(call.constant(1), least, most)
    w.reshape(-1)[:2] = least, most
    why = kernel_of(call, symbol).refusals(replace(call, constants=(None, w, *call.constants[2:])), frozenset())
    spans = "weights are int16, and their range, extended to 0, spans at most 255"
    assert (spans not in why) == fits and (why == []) == fits


def test_sums_of_bytes_may_leave_32_bits_where_those_of_weights_do_not() -> None:
    """Weights near 0 whose bytes are near 255: the least bias that the bytes do not leave room for is refused."""
    w = np.full((1, 4), -1, np.int16)
    w[0, 0] = -255
    call = drawn(FullyConnected(), (1, 4), (1, 4), "litert", kind="s8w9", per_channel=False)
    kernel = kernel_of(call, "mg_fully_connected_s8w9")
    stored = 128 * (3 * 254 + 4 * 255)
    for bias, fits in ((2**31 - 1 - stored, True), (2**31 - stored, False)):
        changed = replace(call, constants=(None, w, np.array([bias], np.int32)))
        assert changed.input(0).zero_point == 0
        found = kernel.refusals(changed, frozenset())
        assert found == [] if fits else ["32 bits" in why for why in found] == [True]
        wide = next(k for k in kernels.of(call.op) if k.symbol == "mg_fully_connected_s8w16")
        assert wide.refusals(changed, frozenset()) == []
