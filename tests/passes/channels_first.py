# SPDX-License-Identifier: Apache-2.0
"""Builds graphs as channels-first exporters write them: images as [N, C, H, W], with transposes around each window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mcugen.ir.graph import Graph, Node, Tensor, verify
from mcugen.ir.op import Op
from mcugen.ir.types import QuantParams, Shape, TensorType
from mcugen.ops.add import Add
from mcugen.ops.concatenation import Concatenation
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from mcugen.ops.fully_connected import FullyConnected
from mcugen.ops.mean import Mean
from mcugen.ops.pad import Pad
from mcugen.ops.relu import Relu
from mcugen.ops.reshape import Reshape
from mcugen.ops.split import Split
from mcugen.ops.transpose import Transpose

TO_LAST = (0, 2, 3, 1)
TO_FIRST = (0, 3, 1, 2)
QUANT = QuantParams((0.05,), (3,))


@dataclass
class Builder:
    """Appends operators to an int8 graph; values are named by what they return."""

    seed: int
    tensors: dict[str, Tensor] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)

    def input(self, shape: Shape) -> str:
        self.inputs.append(self._tensor(TensorType(shape, "s8", QUANT)))
        return self.inputs[-1]

    def shape(self, name: str) -> Shape:
        return self.tensors[name].type.shape

    def node(self, op: Op, *inputs: str | None) -> list[str]:
        types = [None if name is None else self.tensors[name].type for name in inputs]
        outputs = [self._tensor(TensorType(t.shape, t.dtype, QUANT)) for t in op.infer(*types)]
        self.nodes.append(Node(f"n{len(self.nodes)}", op, inputs, tuple(outputs), f"operator {len(self.nodes)}"))
        return outputs

    def graph(self, *outputs: str) -> Graph:
        return verify(Graph("g", self.tensors, tuple(self.nodes), tuple(self.inputs), outputs), "test")

    def transpose(self, x: str, perm: Sequence[int]) -> str:
        return self.node(Transpose(tuple(perm)), x)[0]

    def reshape(self, x: str, shape: Shape) -> str:
        return self.node(Reshape(shape), x)[0]

    def conv(self, x: str, outputs: int, kernel: int = 3) -> str:
        channels = self.shape(x)[1]
        w = self._weights((outputs, kernel, kernel, channels), 0)
        y = self.node(Conv2D(padding="SAME"), self.transpose(x, TO_LAST), w, self._bias(outputs))[0]
        return self.transpose(y, TO_FIRST)

    def depthwise(self, x: str) -> str:
        channels = self.shape(x)[1]
        w = self._weights((1, 3, 3, channels), 3)
        y = self.node(DepthwiseConv2D(padding="SAME"), self.transpose(x, TO_LAST), w, self._bias(channels))[0]
        return self.transpose(y, TO_FIRST)

    def dense(self, x: str, outputs: int) -> str:
        length = self.shape(x)[-1]
        w = self._weights((outputs, length), 0)
        return self.node(FullyConnected(), x, w, self._bias(outputs))[0]

    def relu(self, x: str) -> str:
        return self.node(Relu(), x)[0]

    def add(self, a: str, b: str) -> str:
        return self.node(Add(), a, b)[0]

    def add_channels(self, x: str) -> str:
        shape = (self.shape(x)[1], 1, 1)
        data = self.rng.integers(-90, 90, shape).astype(np.int8)
        return self.add(x, self._tensor(TensorType(shape, "s8", QUANT), data))

    def concat(self, xs: Sequence[str], axis: int = 1) -> str:
        return self.node(Concatenation(axis), *xs)[0]

    def pad(self, x: str) -> str:
        return self.node(Pad(((0, 0), (0, 0), (1, 2), (0, 1))), x)[0]

    def halves(self, x: str) -> list[str]:
        channels = self.shape(x)[1]
        return self.node(Split(1, (channels // 2, channels - channels // 2)), x)

    def mean(self, x: str, keep: bool = False) -> str:
        return self.node(Mean((2, 3), keep), x)[0]

    def flatten(self, x: str) -> str:
        return self.reshape(x, (self.shape(x)[0], int(np.prod(self.shape(x)[1:]))))

    def shuffle(self, x: str, groups: int) -> str:
        n, c, h, w = self.shape(x)
        split = self.reshape(x, (n, groups, c // groups, h, w))
        return self.reshape(self.transpose(split, (0, 2, 1, 3, 4)), (n, c, h, w))

    def _tensor(self, t: TensorType, data: np.ndarray | None = None) -> str:
        name = f"t{len(self.tensors)}"
        self.tensors[name] = Tensor(name, t, data, f"value {name}")
        return name

    def _weights(self, shape: Shape, axis: int) -> str:
        scale = tuple(0.001 * (1 + k % 7) for k in range(shape[axis]))
        data = self.rng.integers(-127, 128, shape).astype(np.int8)
        return self._tensor(TensorType(shape, "s8", QuantParams(scale, (0,) * len(scale), axis)), data)

    def _bias(self, count: int) -> str:
        data = self.rng.integers(-900, 900, count).astype(np.int32)
        return self._tensor(TensorType((count,), "s32"), data)
