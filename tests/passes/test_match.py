# SPDX-License-Identifier: Apache-2.0
"""Patterns of nodes: what they fit, what they leave alone, and what is put in their place."""

from __future__ import annotations

import numpy as np
import pytest

from mcugen.ir.graph import Graph, Node, with_origins
from mcugen.ir.types import TensorType
from mcugen.ops._bytes import byte_table
from mcugen.ops.add import Add
from mcugen.ops.dequantize import Dequantize
from mcugen.ops.logistic import Logistic
from mcugen.ops.mul import Mul
from mcugen.ops.quantize import Quantize
from mcugen.ops.relu import Relu
from mcugen.ops.table import Table
from mcugen.oracle import interpreter
from mcugen.passes._match import Made, Match, Pattern, rewritten
from mcugen.verify.cases import cases
from tests.states.graphs import Sketch

GATE = Pattern("product", (Mul,), ("x", Pattern("gate", (Logistic,), ("x",))), commutes=True)
FLOAT_ISLAND = Pattern("quantize", (Quantize,), (Pattern("middle", (), (Pattern("dequantize", (Dequantize,)),)),))
SHAPE = (1, 6)


def gated(order: tuple[str, str] = ("x", "gate"), other: str = "x") -> Sketch:
    """x * sigmoid(other), and a clamp of that."""
    s = Sketch()
    s.input("x", SHAPE, zero=-3)
    s.input("z", SHAPE, zero=-3)
    s.node(Logistic(), (other,), "gate", TensorType(SHAPE, "s8", s.type(SHAPE, 1 / 12.8, -128).quant))
    s.node(Mul(), order, "product", s.type(SHAPE, 1, 5))
    s.node(Relu(), ("product",), "y", s.type(SHAPE, 1, 5))
    return s


def composed(graph: Graph) -> Graph:
    """The graph with a table for each gate: both operands of the product are functions of the same byte."""

    def make(match: Match) -> Made:
        gate, product = match.nodes["gate"], match.nodes["product"]
        first = byte_table(graph.call(gate, "tflm"))
        assert first is not None
        every = np.arange(256).astype(np.uint8).view(np.int8)
        operands = [every if name == match.tensors["x"] else first.view(np.int8) for name in product.inputs]
        result = product.op.reference_q(graph.call(product, "tflm"), *operands)
        table = Table(np.asarray(result).astype(np.int8).tobytes(), "s8")
        return Made((Node(product.name, table, (match.tensors["x"],), product.outputs, product.source),))

    return rewritten(graph, GATE, make, "fused gates", "both operands are functions of one byte")


def names(graph: Graph) -> list[str]:
    return [type(node.op).__name__ for node in graph.nodes]


@pytest.mark.parametrize("order", [("x", "gate"), ("gate", "x")])
def test_a_pattern_fits_in_either_order_and_keeps_the_bits(order: tuple[str, str]) -> None:
    before = with_origins(gated(order).graph("y"))
    after = composed(before)
    assert names(after) == ["Table", "Relu"]
    assert [(r.what, r.tensor) for r in after.removed] == [("fused gates", "gate")]
    assert "gate" not in after.tensors
    for case in cases(before, 4):
        wanted, got = (interpreter.run(g, case.inputs, "tflm")["y"] for g in (before, after))
        np.testing.assert_array_equal(wanted, got)


def test_a_name_stands_for_one_tensor() -> None:
    graph = gated(other="z").graph("y")
    assert composed(graph) is graph


@pytest.mark.parametrize("outputs", [("y", "gate"), ("gate", "y")])
def test_what_stays_after_the_run_is_no_inside(outputs: tuple[str, str]) -> None:
    graph = gated().graph(*outputs)
    assert composed(graph) is graph


def test_what_becomes_of_a_state_is_no_inside() -> None:
    s = gated()
    s.state("old", s.tensors["gate"].type)
    s.keep("old", "gate")
    s.node(Add(), ("y", "old"), "sum", s.type(SHAPE, 2))
    graph = s.graph("sum")
    assert composed(graph) is graph


def test_what_others_read_is_no_inside() -> None:
    s = gated()
    s.node(Add(), ("gate", "x"), "more", s.type(SHAPE, 2))
    graph = s.graph("y", "more")
    assert composed(graph) is graph


def test_a_pattern_of_three_nodes_and_a_chain_of_matches() -> None:
    """A float operator between a dequantization and a quantization, twice in a row."""
    s = Sketch()
    last = s.input("x", SHAPE)
    for k in range(2):
        s.node(Dequantize(), (last,), f"f{k}", TensorType(SHAPE, "f32"))
        s.node(Relu(), (f"f{k}",), f"g{k}", TensorType(SHAPE, "f32"))
        last = s.node(Quantize("s8"), (f"g{k}",), f"q{k}", s.type(SHAPE))
    graph = with_origins(s.graph(last))

    def make(match: Match) -> Made:
        nodes = match.nodes
        last = nodes["quantize"]
        return Made((Node(last.name, nodes["middle"].op, nodes["dequantize"].inputs, last.outputs),))

    after = rewritten(graph, FLOAT_ISLAND, make, "islands", "why")
    assert names(after) == ["Relu", "Relu"]
    assert sorted(r.tensor for r in after.removed) == ["f0", "f1", "g0", "g1"]
    assert after.nodes[1].inputs == after.nodes[0].outputs


def test_one_node_may_be_both_operands() -> None:
    s = Sketch()
    s.input("x", SHAPE)
    s.node(Relu(), ("x",), "r", s.type(SHAPE))
    s.node(Mul(), ("r", "r"), "y", s.type(SHAPE, 2))
    graph = s.graph("y")
    square = Pattern("product", (Mul,), (Pattern("part", (Relu,)), Pattern("part", (Relu,))))
    seen: list[Match] = []

    def make(match: Match) -> None:
        seen.append(match)

    assert rewritten(graph, square, make, "", "") is graph
    assert [node.name for node in seen[0].nodes.values()] == ["n1", "n0"]
