# SPDX-License-Identifier: Apache-2.0
"""Networks with states, made of the repository's operators: delay lines, sums over time, recursive filters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from mcugen import pipeline, solve
from mcugen.ir.graph import Graph, Node, State, Tensor, verify
from mcugen.ir.op import Op
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops.add import Add
from mcugen.ops.concatenation import Concatenation
from mcugen.ops.max_pool_2d import MaxPool2D
from mcugen.ops.mean import Mean
from mcugen.ops.mul import Mul
from mcugen.ops.reshape import Reshape
from mcugen.ops.strided_slice import StridedSlice
from mcugen.ops.sub import Sub
from mcugen.options import Options
from mcugen.pipeline import Artifact

SCALE = {"s8": 0.05, "s16": 0.0005, "u8": 0.05}


@dataclass
class Sketch:
    """Collects the tensors, nodes and states of a graph, and gives it with its types checked."""

    dtype: str = "s8"
    tensors: dict[str, Tensor] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)
    states: list[State] = field(default_factory=list)

    def type(self, shape: Sequence[int], scale: float = 1.0, zero: int = 0) -> TensorType:
        """A type of the sketch's element type; scale: a multiple of that type's."""
        if self.dtype == "f32":
            return TensorType(tuple(shape), "f32")
        quant = QuantParams((SCALE[self.dtype] * scale,), ({"s8": zero, "u8": zero + 128}.get(self.dtype, 0),))
        return TensorType(tuple(shape), self.dtype, quant)

    def tensor(self, name: str, t: TensorType, data: np.ndarray | None = None) -> str:
        assert name not in self.tensors
        self.tensors[name] = Tensor(name, t, data, f"the {name}")
        return name

    def input(self, name: str, shape: Sequence[int], scale: float = 1.0, zero: int = 0) -> str:
        self.inputs.append(self.tensor(name, self.type(shape, scale, zero)))
        return name

    def real(self, name: str, value: float, shape: Sequence[int] = (1,)) -> str:
        """A constant of this real value, as fine as its type can."""
        if self.dtype == "f32":
            return self.tensor(name, TensorType(tuple(shape), "f32"), np.full(shape, value, np.float32))
        stored = 100 if self.dtype == "s8" else 20000
        t = TensorType(tuple(shape), self.dtype, QuantParams((abs(value) / stored,), (0,)))
        return self.tensor(name, t, np.full(shape, stored if value > 0 else -stored, t.np_dtype))

    def node(self, op: Op, inputs: Sequence[str], name: str, t: TensorType) -> str:
        """One more node with one result."""
        self.nodes.append(Node(f"n{len(self.nodes)}", op, tuple(inputs), (self.tensor(name, t),), f"node {name}"))
        return name

    def state(self, name: str, t: TensorType, initial: np.ndarray | None = None) -> str:
        """A state tensor, which `keep` describes; its initial value is `initial`, or its zero point."""
        zero = t.quant.zero_point[0] if t.quant else 0
        self._initial[self.tensor(name, t)] = np.full(t.shape, zero, t.np_dtype) if initial is None else initial
        return name

    _initial: dict[str, np.ndarray] = field(default_factory=dict)

    def keep(self, before: str, after: str) -> None:
        self.states.append(State(before, after, self._initial[before]))

    def graph(self, *outputs: str) -> Graph:
        made = Graph("sketch", self.tensors, tuple(self.nodes), tuple(self.inputs), outputs, "0" * 64, "tflite")
        for node in self.nodes:
            types = [None if n is None else made.type(n) for n in node.inputs]
            wanted = [(t.shape, t.dtype) for t in node.op.infer(*types)]
            assert wanted == [(made.type(n).shape, made.type(n).dtype) for n in node.outputs], node.name
        return verify(made.updated(states=self.states), "sketch")


def accumulator(dtype: str, shape: Sequence[int] = (1, 5)) -> Graph:
    """y(t) = y(t - 1) + x(t)."""
    s = Sketch(dtype)
    x, total = s.input("x", shape, zero=3), s.state("total", s.type(shape, 4, -7))
    s.keep(total, s.node(Add(), (total, x), "sum", s.type(shape, 4, -7)))
    return s.graph("sum")


def filtered(dtype: str, shape: Sequence[int] = (1, 5)) -> Graph:
    """y(t) = 0.7 y(t - 1) + 0.3 x(t), a recursive filter that begins at something else than zero."""
    s = Sketch(dtype)
    t = s.type(shape, 1, 5)
    first = np.arange(np.prod(shape)).reshape(shape).astype(t.np_dtype)
    x, y = s.input("x", shape, 1, -4), s.state("y", t, first)
    old = s.node(Mul(), (y, s.real("a", 0.7)), "old", s.type(shape, 0.8, 1))
    new = s.node(Mul(), (x, s.real("b", 0.3)), "new", s.type(shape, 0.4, 2))
    s.keep(y, s.node(Add(), (old, new), "next", t))
    return s.graph("next")


def _rows(first: int, count: int, channels: int) -> StridedSlice:
    """Some rows of an image one pixel wide."""
    shape = (1, count, 1, channels)
    return StridedSlice(tuple((first if k == 1 else 0, n, 1) for k, n in enumerate(shape)), shape)


def delay_line(dtype: str, taps: int = 3, channels: int = 4) -> Graph:
    """y(t) = x(t - taps) + x(t): the last inputs are rows of one tensor, which moves up by one row."""
    s = Sketch(dtype)
    row, t = (1, 1, 1, channels), s.type((1, taps, 1, channels))
    x, line = s.input("x", row), s.state("line", t)
    joined = s.node(Concatenation(1), (line, x), "joined", s.type((1, taps + 1, 1, channels)))
    oldest = s.node(_rows(0, 1, channels), (joined,), "oldest", s.type(row))
    s.keep(line, s.node(_rows(1, taps, channels), (joined,), "moved", t))
    return s.graph(s.node(Add(), (oldest, x), "y", s.type(row, 2)))


def averaged(dtype: str, shape: Sequence[int] = (1, 8, 6, 3)) -> Graph:
    """Images averaged over time, row by row, and the largest of each neighbourhood, averaged over the image."""
    s = Sketch(dtype)
    n, h, w, c = shape
    x, mean = s.input("x", shape), s.state("mean", s.type(shape))
    old = s.node(Mul(), (mean, s.real("a", 0.75)), "old", s.type(shape, 0.75))
    new = s.node(Mul(), (x, s.real("b", 0.25)), "new", s.type(shape, 0.25))
    s.keep(mean, s.node(Add(), (old, new), "next", s.type(shape)))
    pooled = s.node(MaxPool2D(kernel=(3, 2), stride=(1, 2)), ("next",), "pooled", s.type((n, h - 2, w // 2, c)))
    return s.graph(s.node(Mean((1, 2)), (pooled,), "y", s.type((n, c), 0.5)))


def smoothed_windows(dtype: str, rows: int = 7, channels: int = 4) -> Graph:
    """A window over time, its largest neighbours averaged, and that smoothed by a recursive filter."""
    s = Sketch(dtype)
    x = s.input("x", (1, rows, 1, channels))
    pooled = s.node(MaxPool2D(kernel=(3, 1)), (x,), "pooled", s.type((1, rows - 2, 1, channels)))
    mean, t = s.node(Mean((1, 2)), (pooled,), "mean", s.type((1, channels))), s.type((1, channels))
    y = s.state("y", t)
    old = s.node(Mul(), (y, s.real("a", 0.5)), "old", s.type(t.shape, 0.5))
    new = s.node(Mul(), (mean, s.real("b", 0.5)), "new", s.type(t.shape, 0.5))
    s.keep(y, s.node(Add(), (old, new), "next", t))
    return s.graph("next")


def unit_delays(dtype: str, count: int = 3, channels: int = 5) -> Graph:
    """y(t) = x(t - count): each state becomes what the one before it was."""
    s = Sketch(dtype)
    t = s.type((1, channels))
    names = [s.input("x", t.shape), *(s.state(f"d{k}", t) for k in range(count))]
    for given, before in pairwise(names):
        s.keep(before, given)
    return s.graph(names[-1])


def swapped(dtype: str) -> Graph:
    """Two states that change places in each run, in another shape; the output is one of them, seen as a column."""
    s = Sketch(dtype)
    t, column = s.type((1, 4)), s.type((4, 1))
    x = s.input("x", t.shape)
    a = s.state("a", t, np.arange(4).reshape(t.shape).astype(t.np_dtype))
    b = s.state("b", column, np.arange(4, 8).reshape(column.shape).astype(t.np_dtype))
    s.keep(a, s.node(Reshape((1, 4)), (b,), "row", t))
    s.keep(b, s.node(Reshape((4, 1)), (a,), "column", column))
    return s.graph("column", s.node(Add(), (x, a), "sum", s.type(t.shape, 2)))


def both_read(dtype: str) -> Graph:
    """y(t) = s(t + 1) - s(t), where s is a sum over time: the value before is still read when the next is there."""
    s = Sketch(dtype)
    t = s.type((1, 6))
    x, total = s.input("x", t.shape), s.state("total", t)
    s.keep(total, s.node(Add(), (total, x), "sum", t))
    return s.graph(s.node(Sub(), ("sum", total), "y", s.type(t.shape, 2)))


GRAPHS = (accumulator, filtered, delay_line, averaged, smoothed_windows, unit_delays, swapped, both_read)


def built(graph: Graph, name: str = "net", **choices: object) -> Artifact:
    """The graph as C."""
    options = Options(**choices)  # type: ignore[arg-type]
    model = pipeline.prepare_graph(graph, options, name)
    return pipeline.finish(model, solve.solve(model.graph, model.board, model.options))
