# SPDX-License-Identifier: Apache-2.0
"""Builds float networks without training: random layers, each scaled by what it sees, and a last layer fitted at once.

Every node is computed on a batch of samples as it is appended, so that the next one's weights can follow from data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mcugen.ir.graph import Graph, Node, Tensor
from mcugen.ir.op import Op
from mcugen.ir.types import TensorType
from mcugen.ops.batch_matmul import BatchMatmul
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from mcugen.ops.fully_connected import FullyConnected
from mcugen.ops.mean import Mean
from mcugen.ops.reshape import Reshape


class Builder:
    """A network of one input. Values are named by what appends them; `seen` has each of them on the batch."""

    def __init__(self, name: str, batch: np.ndarray, seed: int, label: str = "input") -> None:
        self.name, self.rng = name, np.random.default_rng(seed)
        self.tensors: dict[str, Tensor] = {}
        self.nodes: list[Node] = []
        self.seen: dict[str, np.ndarray] = {}
        self.input = self._tensor(TensorType((1, *batch.shape[1:]), "f32"), label)
        self.seen[self.input] = batch.astype(np.float32)

    def constant(self, data: np.ndarray, label: str) -> str:
        data = np.ascontiguousarray(data, np.float32)
        return self._tensor(TensorType(data.shape, "f32"), label, data)

    def node(self, op: Op, inputs: Sequence[str], label: str, batch: np.ndarray | None = None) -> str:
        """Append an operator of one result. batch: its result on the batch, for operators without a batch axis."""
        (t,) = op.infer(*(self.tensors[name].type for name in inputs))
        result = self._tensor(t, label)
        self.nodes.append(Node(f"n{len(self.nodes)}", op, tuple(inputs), (result,)))
        operands = [self.tensors[n].data if self.tensors[n].is_constant else self.seen[n] for n in inputs]
        self.seen[result] = np.asarray(op.reference(*operands) if batch is None else batch, np.float32)
        return result

    def conv(self, x: str, channels: int, size: tuple[int, int], label: str, **attributes: Any) -> str:
        """A convolution with random weights, whose sums have mean 0.3 and deviation 1 in each channel."""
        shape = (channels, *size, self.tensors[x].type.shape[3])
        return self._scaled(Conv2D(**attributes), x, shape, label)

    def depthwise(self, x: str, size: tuple[int, int], label: str, **attributes: Any) -> str:
        """A depthwise convolution, as `conv`."""
        return self._scaled(DepthwiseConv2D(**attributes), x, (1, *size, self.tensors[x].type.shape[3]), label)

    def dense(self, x: str, w: np.ndarray, b: np.ndarray, label: str, **attributes: Any) -> str:
        operands = (x, self.constant(w, f"{label}/w"), self.constant(b, f"{label}/b"))
        found = self.seen[x] @ w.T + b
        found = np.maximum(found, 0) if attributes.get("activation") == "RELU" else found
        return self.node(FullyConnected(**attributes), operands, label, found)

    def project(self, x: str, width: int, label: str, activation: str = "NONE") -> str:
        """A random function of the last axis, linear but for the activation, whose sums have deviation 1."""
        depth = self.tensors[x].type.shape[-1]
        w = self.rng.standard_normal((width, depth))
        w /= np.maximum((self.seen[x].reshape(-1, depth) @ w.T).std(axis=0), 1e-3)[:, None]
        return self.dense(x, w, self.rng.normal(0, 0.5, width), label, keep_dims=True, activation=activation)

    def product(self, a: str, b: str, label: str, **attributes: Any) -> str:
        return self.node(BatchMatmul(**attributes), (a, b), label)

    def mean(self, x: str, axes: tuple[int, ...], label: str) -> str:
        return self.node(Mean(axes), (x,), label)

    def reshape(self, x: str, shape: tuple[int, ...], label: str) -> str:
        return self.node(Reshape((1, *shape)), (x,), label, self.seen[x].reshape(-1, *shape))

    def fitted(self, x: str, targets: np.ndarray, label: str, ridge: float = 1e-3) -> str:
        """A fully connected layer that comes closest to targets [n, outputs] on the batch."""
        w, b = least_squares(self.seen[x].reshape(len(targets), -1), targets, ridge)
        return self.dense(x, w, b, label)

    def graph(self, *outputs: str) -> Graph:
        return Graph(self.name, self.tensors, tuple(self.nodes), (self.input,), outputs)

    def _scaled(self, op: Conv2D | DepthwiseConv2D, x: str, shape: tuple[int, ...], label: str) -> str:
        w = self.rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:3]))
        count = shape[0] if isinstance(op, Conv2D) else shape[3]
        sums = replace(op, activation="NONE").reference(
            self.seen[x][:200], w.astype(np.float32), np.zeros(count, np.float32)
        )
        axes = (0, 1, 2)
        deviation = np.maximum(sums.std(axis=axes), 1e-3)
        w = w / (deviation.reshape(-1, 1, 1, 1) if isinstance(op, Conv2D) else deviation)
        weights, bias = (
            self.constant(w, f"{label}/w"),
            self.constant(0.3 - sums.mean(axis=axes) / deviation, f"{label}/b"),
        )
        return self.node(op, (x, weights, bias), label)

    def _tensor(self, t: TensorType, label: str, data: np.ndarray | None = None) -> str:
        name = f"t{len(self.tensors)}"
        self.tensors[name] = Tensor(name, t, data, label)
        return name


def least_squares(x: np.ndarray, y: np.ndarray, ridge: float) -> tuple[np.ndarray, np.ndarray]:
    """(w, b) with x @ w.T + b next to y. ridge: share of the mean variance that is added to each."""
    x, y = x.astype(np.float64), y.astype(np.float64)
    mean, offset = x.mean(axis=0), y.mean(axis=0)
    centred = x - mean
    h = centred.T @ centred
    h[np.diag_indices_from(h)] += ridge * np.trace(h) / len(h) + 1e-12
    w = np.linalg.solve(h, centred.T @ (y - offset)).T
    return w, offset - w @ mean


def uneven(graph: Graph, factors: Callable[[int], np.ndarray]) -> Graph:
    """An equivalent graph in which channels between two convolutions are multiplied by positive factors(count).

    Such channels are written by a convolution without activation or with ReLU, and read by one other convolution, or
    by a mean over the image and then one fully connected layer.
    """
    data = {name: t.data for name, t in graph.tensors.items() if t.data is not None}
    for node in graph.nodes:
        if not isinstance(node.op, Conv2D | DepthwiseConv2D) or node.op.activation not in ("NONE", "RELU"):
            continue
        reader = _only_reader(graph, node.outputs[0])
        if reader is not None and isinstance(reader.op, Mean):
            reader = _only_reader(graph, reader.outputs[0])
        if reader is None or not isinstance(reader.op, Conv2D | DepthwiseConv2D | FullyConnected):
            continue
        s = factors(graph.type(node.outputs[0]).shape[-1])
        own, bias, read = str(node.inputs[1]), str(node.inputs[2]), str(reader.inputs[1])
        data[own] = data[own] * (s.reshape(-1, 1, 1, 1) if isinstance(node.op, Conv2D) else s)
        data[bias] = data[bias] * s
        data[read] = data[read] / s
    kept = {
        name: t if t.data is None else replace(t, data=data[name].astype(np.float32))
        for name, t in graph.tensors.items()
    }
    return replace(graph, name=f"{graph.name}_uneven", tensors=kept)


def _only_reader(graph: Graph, name: str) -> Node | None:
    found = [node for node in graph.nodes if name in node.inputs]
    return found[0] if len(found) == 1 and found[0].inputs[0] == name and name not in graph.outputs else None
