# SPDX-License-Identifier: Apache-2.0
"""The numbers that estimates are made of: for a layer whose numbers can be counted by hand."""

from __future__ import annotations

from mcugen import kernels
from mcugen.ir.kernel import Kernel
from mcugen.ops._filter_examples import example
from mcugen.ops.conv2d import Conv2D
from mcugen.solve import costs
from tests.support.cases import graph_of


def layer(images: int) -> tuple[Kernel, dict[str, float]]:
    """3x3 taps over 8x6 pixels of 5 channels, to 7 channels of 6x4 pixels."""
    graph = graph_of(example(Conv2D(padding="VALID"), 0, (images, 8, 6, 5), (7, 3, 3, 5), 0, gain=0.002))
    call = graph.call(graph.nodes[-1], "tflm")
    kernel = next(k for k in kernels.of(call.op) if k.symbol == "mg_conv2d_s8")
    return kernel, costs.features(kernel, call)


def test_a_layer_s_numbers() -> None:
    kernel, found = layer(images=1)
    outputs, taps = 6 * 4 * 7, 3 * 3 * 5
    assert found == {
        "macs": outputs * taps,
        "outputs": outputs,
        "inputs": 8 * 6 * 5,
        "bytes": outputs,
        "pixels": 6 * 4,
        "patches": 6 * 4 * taps,
        "rest": 6 * 4 * 3 * taps,
        "odd": 6 * 4 * taps,
        "runs": outputs * 3,
        "calls": 6,
        "once": 1,
    }
    assert kernel.slides


def test_two_images_take_twice_as_much_but_one_start() -> None:
    one, two = layer(images=1)[1], layer(images=2)[1]
    assert {name: value / one[name] for name, value in two.items()} == {
        name: 1 if name == "once" else 2 for name in one
    }
