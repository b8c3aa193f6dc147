# SPDX-License-Identifier: Apache-2.0
"""SPACE_TO_BATCH, a convolution and BATCH_TO_SPACE become a dilated convolution with the same bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mcugen
from mcugen.ir.graph import Graph
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from mcugen.verify import host
from mcugen.verify.cases import cases
from tests.passes.net import Net, simplified


class Apart(Net):
    """A convolution of an image in blocks; with one axis, of a signal [N, W, C] that gets a second one."""

    def __init__(self, size: int, dtype: str = "s8", channels: int = 3, axes: int = 2) -> None:
        super().__init__(channels, size, dtype)
        if axes == 1:
            self.x = self.tensor((1, size, channels), 0)
            self.shape[self.x] = (1, size, channels)

    def ints(self, values: object) -> int:
        data = np.array(values, np.int32)
        return self.m.tensor("i", data.shape, "s32", data=data)

    def taken_apart(self, x: int, block: list[int], pads: list[list[int]]) -> int:
        n, *sizes, c = self.shape[x]
        inner = [(d + sum(p)) // b for d, p, b in zip(sizes, pads, block, strict=True)]
        shape = (n * int(np.prod(block)), *inner, c)
        return self.op("SPACE_TO_BATCH_ND", [x, self.ints(block), self.ints(pads)], shape)

    def together(self, x: int, block: list[int], crops: list[list[int]]) -> int:
        n, *sizes, c = self.shape[x]
        outer = [d * b - sum(p) for d, p, b in zip(sizes, crops, block, strict=True)]
        shape = (n // int(np.prod(block)), *outer, c)
        return self.op("BATCH_TO_SPACE_ND", [x, self.ints(block), self.ints(crops)], shape)

    def filtered(self, x: int, kernel: tuple[int, int], *, single: bool = False, stride: int = 1) -> int:
        n, h, w, c = self.shape[x]
        side = ((h - kernel[0]) // stride + 1, (w - kernel[1]) // stride + 1)
        shape, axis = ((1, *kernel, c), 3) if single else ((4, *kernel, c), 0)
        made = c if single else 4
        weights = self.weights(shape, axis, {})[1]
        y = self.result((n, *side, made), 0)
        options = {"padding": "VALID", "stride_h": stride, "stride_w": stride}
        options |= {"depth_multiplier": 1} if single else {}
        name = "DEPTHWISE_CONV_2D" if single else "CONV_2D"
        self.m.op(name, [x, weights, self.bias([3, -4, 5, 6][:made])], [y], options)
        return y


def names(graph: Graph) -> list[str]:
    return [type(node.op).__name__ for node in graph.nodes]


def signal(net: Apart, block: int, pads: list[int], crops: list[int], taps: int = 3) -> bytes:
    x = net.taken_apart(net.x, [block], [pads])
    n, w, c = net.shape[x]
    image = net.op("EXPAND_DIMS", [x, net.ints(1)], (n, 1, w, c))
    y = net.filtered(image, (1, taps))
    n, _, w, c = net.shape[y]
    flat = net.op("RESHAPE", [y, net.ints([n, w, c])], (n, w, c))
    return net.build(net.together(flat, [block], [crops]))


@pytest.mark.parametrize("dtype", ["s8", "f32"])
@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize(
    ("pads", "crops"), [([[0, 0], [0, 0]], [[0, 0], [0, 0]]), ([[2, 4], [3, 3]], [[0, 2], [0, 0]])]
)
def test_images(dtype: str, single: bool, pads: list[list[int]], crops: list[list[int]], tmp_path: Path) -> None:
    net = Apart(6, dtype)
    y = net.filtered(net.taken_apart(net.x, [2, 3], pads), (2, 2), single=single)
    data = net.build(net.together(y, [2, 3], crops))
    graph = simplified(data, tmp_path, "litert")
    assert names(graph) == ["DepthwiseConv2D" if single else "Conv2D"]
    op = graph.nodes[0].op
    assert isinstance(op, Conv2D | DepthwiseConv2D) and op.dilation == (2, 3)


@pytest.mark.parametrize(("pads", "crops"), [([0, 0], [0, 0]), ([4, 0], [0, 0]), ([2, 4], [0, 2])])
def test_signals(pads: list[int], crops: list[int], tmp_path: Path) -> None:
    graph = simplified(signal(Apart(8, axes=1), 2, pads, crops), tmp_path, "litert")
    assert set(names(graph)) <= {"Conv2D", "Reshape", "Copy"} and names(graph).count("Conv2D") == 1
    assert next(node.op for node in graph.nodes if isinstance(node.op, Conv2D)).dilation == (1, 2)


def test_a_crop_of_more_than_was_added_stays(tmp_path: Path) -> None:
    graph = simplified(signal(Apart(8, axes=1), 2, [0, 0], [1, 0]), tmp_path, "litert")
    assert "StridedSlice" in names(graph) and "Transpose" not in names(graph)


@pytest.mark.parametrize("change", ["stride", "block", "read"])
def test_what_is_no_dilation_stays(change: str, tmp_path: Path) -> None:
    net, none = Apart(12), [[0, 0], [0, 0]]
    parts = net.taken_apart(net.x, [2, 3], none)
    y = net.filtered(parts, (1, 1), stride=2 if change == "stride" else 1)
    whole = net.together(y, [3, 2] if change == "block" else [2, 3], none)
    ends = [whole, net.op("RELU", [parts], net.shape[parts])] if change == "read" else [whole]
    assert "Transpose" in names(simplified(net.build(*ends), tmp_path, "litert"))


def test_the_emitted_c_has_the_same_bits(tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(signal(Apart(16, axes=1), 4, [8, 0], [0, 0]))
    artifact = mcugen.compile(tmp_path / "m.tflite", name="m", reference="litert")
    assert host.verify(artifact, cases(artifact.imported, 3)).agrees
