# SPDX-License-Identifier: Apache-2.0
"""An ONNX graph under construction: each operator is run by ONNX Runtime as it is appended, so that shapes are right.

A value is exact where every right implementation computes the same bits: inputs, what moves them, and single operations
of IEEE 754 on such. Operators with jumps, such as rounding, comparing and ArgMax, read exact values only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from tests.random import ort
from tests.random.drawing import UnjudgedError

OPSETS = (7, 23)
MOST_ELEMENTS = 600
LARGEST = 1e4
"""Magnitude beyond which a result is left out, so that floats stay comparable."""
SETS = 2
ML, MICROSOFT = "ai.onnx.ml", "com.microsoft"
_SIZES = (1, 2, 2, 3, 3, 4, 5, 6, 7, 9)


class ImpossibleError(Exception):
    """The operator cannot be appended with what was drawn: another one is."""


@dataclass(frozen=True, eq=False)
class Value:
    """A value of the graph. data: of the first input set. constant: whether it is so for all sets."""

    name: str
    data: np.ndarray
    exact: bool = True
    constant: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        return self.data.shape

    @property
    def rank(self) -> int:
        return self.data.ndim


@dataclass
class Sketch:
    """Collects the nodes of a graph."""

    rng: np.random.Generator
    opset: int
    values: list[Value] = field(default_factory=list)
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)
    functions: list[onnx.FunctionProto] = field(default_factory=list)
    inputs: list[Value] = field(default_factory=list)
    feeds: list[list[np.ndarray]] = field(default_factory=lambda: [[] for _ in range(SETS)])
    names: int = 0
    ml: int = 3
    """The version of ai.onnx.ml."""

    def name(self, stem: str) -> str:
        self.names += 1
        return f"{stem}{self.names}"

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def pick(self, choices: Sequence[Any]) -> Any:
        return choices[int(self.rng.integers(len(choices)))]

    def number(self, low: int, high: int) -> int:
        """An integer from low to high, both included."""
        return int(self.rng.integers(low, high + 1))

    def need(self, condition: bool) -> None:
        if not condition:
            raise ImpossibleError

    # Operands

    def shape(self, rank: int | None = None) -> tuple[int, ...]:
        """Sizes of a tensor of that rank, by default 1 to 5."""
        rank = self.pick((1, 2, 2, 3, 3, 4, 4, 5)) if rank is None else rank
        while True:
            found = tuple(self.pick(_SIZES) for _ in range(rank))
            if int(np.prod(found)) <= MOST_ELEMENTS:
                return found

    def floats(self, shape: Sequence[int]) -> np.ndarray:
        """Data of a float tensor: normal, or multiples of a quarter, among which there are equal ones."""
        if self.chance(0.3):
            return (self.rng.integers(-12, 13, shape) / 4).astype(np.float32)
        return self.rng.normal(0, self.pick((0.5, 1.0, 2.0)), shape).astype(np.float32)

    def ints(self, shape: Sequence[int], dtype: Any = np.int32, low: int = -9, high: int = 9) -> np.ndarray:
        low = max(low, 0) if np.dtype(dtype).kind == "u" else low
        return self.rng.integers(low, high + 1, shape).astype(dtype)

    def input(self, shape: Sequence[int], draw: Callable[[Sequence[int]], np.ndarray] | None = None) -> Value:
        """A new input of the graph; draw: its data."""
        sets = [np.asarray((draw or self.floats)(tuple(shape))) for _ in range(SETS)]
        value = Value(self.name("x"), sets[0])
        for feed, array in zip(self.feeds, sets, strict=True):
            feed.append(array)
        self.inputs.append(value)
        self.values.append(value)
        return value

    def const(self, data: Any, dtype: Any = None) -> Value:
        """A constant: an initializer, or the result of a Constant node."""
        array = np.asarray(data, dtype)
        value = Value(self.name("c"), array, constant=True)
        if self.chance(0.25):
            tensor = numpy_helper.from_array(array, "")
            self.nodes.append(helper.make_node("Constant", [], [value.name], value=tensor))
        else:
            self.constants.append(numpy_helper.from_array(array, value.name))
        return value

    def int64(self, *numbers: int) -> Value:
        return self.const(np.array(numbers, np.int64))

    def weights(self, *shape: int) -> Value:
        return self.const(self.rng.normal(0, 0.5, shape).astype(np.float32))

    def take(
        self, rank: int | Sequence[int] | None = None, *, exact: bool = False, kind: str = "f", shape: Any = None
    ) -> Value:
        """A value of the graph, else a new input. rank: those allowed; kind: of the dtype; shape: the only one."""
        ranks = None if rank is None else (rank,) if isinstance(rank, int) else tuple(rank)
        fitting = [
            v for v in self.values
            if v.data.dtype.kind in kind and (v.exact or not exact) and v.rank and v.data.size <= MOST_ELEMENTS
            and (ranks is None or v.rank in ranks) and (shape is None or v.shape == tuple(shape))
        ]  # fmt: skip
        if fitting and self.chance(0.85):
            weights = np.arange(1, len(fitting) + 1) ** 2.0  # the newest most often, so that graphs grow deep
            return fitting[int(self.rng.choice(len(fitting), p=weights / weights.sum()))]
        shape = shape if shape is not None else self.shape(None if ranks is None else self.pick(ranks))
        if kind == "f":
            others = [v for v in self.values if v.data.dtype.kind == "f" and (v.exact or not exact)]
            same = [v for v in others if v.data.size == int(np.prod(shape))]
            return self.reshaped(self.pick(same), shape) if same else self.input(shape)
        if kind == "b":
            return self.input(shape, lambda s: self.rng.random(s) < 0.5)
        return self.input(shape, lambda s: self.ints(s, np.int64 if "l" in kind else np.int32))

    def reshaped(self, value: Value, shape: Sequence[int]) -> Value:
        return self.node("Reshape", [value, self.int64(*shape)], exact=True)

    def bounded(self, value: Value, low: float, high: float) -> Value:
        """The value clipped."""
        if value.data.min(initial=low) >= low and value.data.max(initial=high) <= high and value.constant:
            return value
        ends = [np.float32(low), np.float32(high)]
        if self.opset < 11:
            return self.node("Clip", [value], exact=True, min=float(ends[0]), max=float(ends[1]))
        return self.node("Clip", [value, *map(self.const, ends)], exact=True)

    def positive(self, value: Value, least: float = 0.5) -> Value:
        """The magnitude of the value, and `least` more."""
        return self.node("Add", [self.node("Abs", [value], exact=True), self.const(np.float32(least))], exact=True)

    def axis(self, rank: int, least: int = 0) -> int:
        """An axis from `least` on, also counted from the end."""
        found = self.number(least, rank - 1)
        return found - rank if self.chance(0.4) else found

    # Nodes

    def node(self, kind: str, inputs: Sequence[Value | None], exact: bool = False, **attributes: Any) -> Value:
        """The first result of an operator, appended."""
        return self.results(kind, inputs, 1, exact, **attributes)[0]

    def results(
        self, kind: str, inputs: Sequence[Value | None], count: int, exact: bool | Sequence[bool] = False,
        domain: str = "", captured: Sequence[Value] = (), skip: Sequence[int] = (), **attributes: Any,
    ) -> list[Value]:  # fmt: skip
        """The results of an operator, appended. exact: whether each is so where all operands are. captured: values that
        its subgraphs read. skip: results that are not named. Raises ImpossibleError where the runtime refuses it.
        """
        outputs = ["" if k in skip else self.name("v") for k in range(count)]
        names = ["" if value is None else value.name for value in inputs]
        attributes = {key: value for key, value in attributes.items() if value is not None}
        node = helper.make_node(kind, names, outputs, name=self.name(kind), domain=domain, **attributes)
        operands = [value for value in (*inputs, *captured) if value is not None]
        arrays = self.run(node, operands)
        self.need(all(a.size and self._is_plain(a) for a in arrays))
        self.nodes.append(node)
        exacts = [exact] * count if isinstance(exact, bool) else list(exact)
        all_exact = all(value.exact for value in operands)
        named = [(name, exacts[k]) for k, name in enumerate(outputs) if name]
        made = [
            Value(name, array, is_exact and all_exact, bool(operands) and all(v.constant for v in operands))
            for (name, is_exact), array in zip(named, arrays, strict=True)
        ]
        self.values += made
        return made

    def run(self, node: onnx.NodeProto, operands: Sequence[Value]) -> list[np.ndarray]:
        """The results of the runtime for the first input set. Raises ImpossibleError."""
        ends = list({value.name: value for value in operands}.values())
        outputs = [helper.make_empty_tensor_value_info(name) for name in node.output if name]
        graph = helper.make_graph([node], "g", [info(v) for v in ends if not v.constant], outputs)
        graph.initializer.extend(numpy_helper.from_array(v.data, v.name) for v in ends if v.constant)
        feed = [v.data for v in ends if not v.constant]
        try:
            return [np.asarray(a) for a in ort.outputs(self._model(graph).SerializeToString(), [feed])[0]]
        except UnjudgedError as error:
            raise ImpossibleError(str(error)) from error

    def _is_plain(self, array: np.ndarray) -> bool:
        if array.dtype.kind != "f":
            return array.dtype.kind in "iub"
        return bool(np.isfinite(array).all() and np.abs(array).max(initial=0.0) <= LARGEST)

    def _model(self, graph: onnx.GraphProto) -> onnx.ModelProto:
        sets = [
            helper.make_opsetid("", self.opset),
            helper.make_opsetid(ML, self.ml),
            helper.make_opsetid(MICROSOFT, 1),
        ]
        used = {node.domain for node in graph.node} | {"", *(f.domain for f in self.functions)}
        sets = [s for s in sets if s.domain in used]
        sets += [helper.make_opsetid(f.domain, 1) for f in self.functions[:1]]
        version = helper.find_min_ir_version_for(sets[:1], ignore_unknown=True)
        model = helper.make_model(graph, opset_imports=sets, ir_version=max(version, 8 if self.functions else 4))
        model.functions.extend(self.functions)
        return model

    def model(self) -> onnx.ModelProto:
        """The model: what nothing reads is a result, and some of what is read, too."""
        read = {name for node in self.nodes for name in _read(node)}
        given = {value.name for value in self.inputs}
        computed = [v for v in self.values if v.name not in given and not v.constant]
        ends = [v for v in computed if v.name not in read or self.chance(0.1)]
        self.need(bool(ends))
        graph = helper.make_graph(self.nodes, "g", [info(v) for v in self.inputs], [info(v) for v in ends])
        graph.initializer.extend(self.constants)
        if self.opset < 9:  # initializers are inputs there
            graph.input.extend(helper.make_tensor_value_info(t.name, t.data_type, t.dims) for t in self.constants)
        return self._model(graph)


def _read(node: onnx.NodeProto) -> set[str]:
    """The values that an operator or its subgraphs read."""
    inner = (a.g for a in node.attribute if a.type == onnx.AttributeProto.GRAPH)
    return {*node.input, *(name for graph in inner for part in graph.node for name in _read(part))}


def info(value: Value) -> onnx.ValueInfoProto:
    kind = helper.np_dtype_to_tensor_dtype(value.data.dtype)
    return helper.make_tensor_value_info(value.name, kind, value.shape)
