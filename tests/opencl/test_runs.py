# SPDX-License-Identifier: Apache-2.0
"""Joins whose operands lie in the result in runs, and what goes into the convolutions that read them."""

from __future__ import annotations

import numpy as np

from mcugen import passes, pipeline, solve
from mcugen.ir.graph import Graph, Node, Tensor, verify
from mcugen.ir.kernel import Grid
from mcugen.ir.op import Op
from mcugen.ir.types import TensorType
from mcugen.ops._scaled import ScaledConv2D
from mcugen.ops.add import Add
from mcugen.ops.average_pool_2d import AveragePool2D
from mcugen.ops.concatenation import Concatenation
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from mcugen.ops.max_pool_2d import MaxPool2D
from mcugen.ops.mul import Mul
from mcugen.ops.pad import Pad
from mcugen.ops.relu import Relu
from mcugen.options import Options
from mcugen.verify import checks

FEATURES = frozenset({"cl12", "fence"})
SIZE = 5


class Builder:
    """A network of images with SIZE rows and columns."""

    def __init__(self, batch: int) -> None:
        self.rng = np.random.default_rng(7)
        self.batch = batch
        self.tensors: list[Tensor] = []
        self.nodes: list[Node] = []
        self.add("x", 16)

    def add(self, name: str, channels: int, size: tuple[int, int] = (SIZE, SIZE)) -> str:
        self.tensors.append(Tensor(name, TensorType((self.batch, *size, channels), "f32"), None, name))
        return name

    def constant(self, *shape: int) -> str:
        data = self.rng.uniform(-1, 1, shape).astype(np.float32)
        self.tensors.append(Tensor(f"k{len(self.tensors)}", TensorType(shape, "f32"), data))
        return self.tensors[-1].name

    def node(self, op: Op, name: str, channels: int, *inputs: str, size: tuple[int, int] = (SIZE, SIZE)) -> str:
        self.nodes.append(Node(name, op, inputs, (self.add(name, channels, size),), f"node {len(self.nodes)}"))
        return name

    def conv(self, name: str, x: str, given: int, made: int, size: int) -> str:
        return self.node(Conv2D(), name, made, x, self.constant(made, size, size, given), self.constant(made))

    def graph(self, output: str) -> Graph:
        return verify(
            Graph("net", {t.name: t for t in self.tensors}, tuple(self.nodes), ("x",), (output,), format="tflite"),
            "test",
        )


def dense_block(batch: int) -> Graph:
    """Two layers of a dense block, pooling and a convolution of single channels beside each other, joined."""
    b = Builder(batch)
    b.conv("a", "x", 16, 12, 3)
    b.node(MaxPool2D((3, 3), (1, 1), "SAME"), "p", 16, "x")
    b.node(Concatenation(3), "ap", 28, "a", "p")
    b.node(Mul(), "m", 28, "ap", b.constant(28))
    b.node(Add(), "s", 28, "m", b.constant(28))
    b.node(Relu(), "r", 28, "s")
    b.conv("c", "r", 28, 8, 1)
    b.conv("c2", "c", 8, 8, 1)
    b.node(DepthwiseConv2D(), "d", 8, "c2", b.constant(1, 3, 3, 8), b.constant(8))
    b.node(Concatenation(3), "apd", 36, "a", "p", "d")
    b.node(Pad(((0, 0), (1, 0), (0, 2), (0, 0))), "z", 36, "apd", size=(SIZE + 1, SIZE + 2))
    b.node(AveragePool2D((2, 3), (1, 1), "VALID"), "y", 36, "z")
    return b.graph("y")


def built(graph: Graph) -> pipeline.Artifact:
    prepared = pipeline.prepare_graph(graph, Options(backend="opencl"), "net")
    return pipeline.finish(prepared, solve.solve(prepared.graph, prepared.board, prepared.options))


def test_a_dense_block_copies_and_normalizes_nothing() -> None:
    artifact = built(dense_block(2))
    graph = artifact.graph
    assert [type(node.op).__name__ for node in graph.nodes if isinstance(node.op, Mul | Add | Relu)] == []
    scaled = [node.op for node in graph.nodes if isinstance(node.op, ScaledConv2D)]
    assert [op.first for op in scaled] == ["RELU"]
    joins = [c for s in artifact.schedule.steps for c in [s.choice] if isinstance(c.node.op, Concatenation)]
    assert joins == []
    apart = {name: place for name, place in artifact.schedule.places.items() if place.pitch}
    assert {place.pitch for place in apart.values()} == {36 * 4}
    assert {place.start for place in apart.values()} == {0, 12 * 4, 28 * 4}
    assert "rows 144 bytes apart" in artifact.files["net.c"].decode()
    assert len({place.buffer for place in apart.values()}) == 1
    result = checks.verify(artifact, 1, None, None, lambda text: None)
    assert result.agrees, result.c


def test_parts_that_follow_each_other_lie_in_one_piece() -> None:
    b = Builder(1)
    b.conv("a", "x", 16, 16, 1)
    b.node(MaxPool2D((3, 3), (1, 1), "SAME"), "p", 16, "x")
    b.node(Concatenation(1), "ap", 16, "a", "p", size=(2 * SIZE, SIZE))
    schedule = built(b.graph("ap")).schedule
    assert {name: (p.start, p.pitch) for name, p in schedule.places.items() if p.buffer == "ap"} == {
        "ap": (0, 0),
        "a": (0, 0),
        "p": (SIZE * SIZE * 16 * 4, 0),
    }


def test_cores_copy_what_comes_more_than_once() -> None:
    graph = passes.run(dense_block(1), "tflm")
    assert all(not node.op.in_place for node in graph.nodes if isinstance(node.op, Concatenation))
    assert any(type(node.op).__name__ == "ElementChain" for node in graph.nodes)


def test_what_does_not_lie_at_sixteen_bytes_is_moved() -> None:
    """A kernel reads four floats at once: parts begin where it may."""
    b = Builder(1)
    b.conv("a", "x", 16, 3, 3)
    b.node(MaxPool2D((3, 3), (1, 1), "SAME"), "p", 16, "x")
    b.node(Concatenation(3), "ap", 19, "a", "p")
    steps = built(b.graph("ap")).schedule.steps
    assert [s.choice.kernel.symbol for s in steps if isinstance(s.choice.node.op, Concatenation)] == ["mg_join__cl"]
    assert all(isinstance(s.choice.kernel.form, Grid) for s in steps)
