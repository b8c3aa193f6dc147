"""Chains of nodes, each of which reads the result of the one before it: trial runs in the oracle, and replacements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from mcugen.ir.graph import Graph, Node
from mcugen.ir.op import Op, evaluate


def results(graph: Graph, chain: Sequence[Node], reference: str, x: np.ndarray) -> np.ndarray:
    """The results of a chain of elementwise nodes for stored values x of the chain's operand.

    Each node reads the result of the node before it, and constants. x may have any shape that the constants broadcast
    to; the results have the shape of x.
    """
    for node in chain:
        call = graph.call(node, reference)
        types = tuple(
            t if data is not None or t is None else t.with_shape(x.shape)
            for t, data in zip(call.inputs, call.constants, strict=True)
        )
        inner = replace(call, inputs=types, outputs=(call.output.with_shape(x.shape),), input_range=())
        operands = [
            x if t is not None and data is None else data for t, data in zip(types, call.constants, strict=True)
        ]
        (x,) = evaluate(inner, operands)
    return x


def replaced(
    graph: Graph, chains: Iterable[Sequence[Node]], made: Callable[[Sequence[Node]], Op | None], what: str, why: str
) -> Graph:
    """The graph with a node in place of each chain for which `made` returns an operator; the same graph if none does.

    The first node of a chain reads one computed tensor. Only the last result of a chain may be read elsewhere.
    what, why: fields of `Removed`.
    """
    nodes, gone = {node.outputs[0]: node for node in graph.nodes}, list[str]()
    for chain in chains:
        op, last = made(chain), chain[-1]
        if op is None:
            continue
        (operand,) = {name for name in chain[0].inputs if name is not None and not graph.tensors[name].is_constant}
        nodes[last.outputs[0]] = Node(last.name, op, (operand,), last.outputs, last.source)
        for node in chain[:-1]:
            gone += node.outputs
            del nodes[node.outputs[0]]
    return graph.updated(nodes=nodes.values(), removed=graph.removals(gone, what, why)) if gone else graph
