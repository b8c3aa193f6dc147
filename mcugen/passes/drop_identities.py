"""Removes nodes whose result always equals their operand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import singledispatch

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.graph import Graph, Node, Removed
from mcugen.ir.op import Op
from mcugen.ops._bytes import ByteFunction, between, byte_table
from mcugen.ops.concatenation import Concatenation
from mcugen.ops.pad import Pad
from mcugen.ops.reshape import Reshape

_WHY = "it has the type of its operand, and the same value for every value that its operand can have"


def drop_identities(graph: Graph, reference: str) -> Graph:
    """The graph without nodes whose result equals their operand.

    If the result is an output or a state, the operand takes its name, which requires that the operand is neither.
    """
    renamed: dict[str, str] = {}
    dropped = [node for node in graph.nodes if _goes(graph, node, reference, renamed)]
    if not dropped:
        return graph
    nodes = [_with_names(node, renamed) for node in graph.nodes if node not in dropped]
    return graph.updated(nodes=nodes, removed=_report(graph, dropped, renamed))


def _goes(graph: Graph, node: Node, reference: str, renamed: dict[str, str]) -> bool:
    """Whether the node is an identity that can be removed; one of its two names then replaces the other."""
    if len(node.outputs) != 1 or not node.inputs or not is_identity(node.op, graph.call(node, reference)):
        return False
    x, y = node.inputs[0], node.outputs[0]
    x = renamed.get(x, x) if x is not None else None
    if x is None or graph.tensors[x].is_constant:
        return False
    if y not in graph.kept:
        renamed.update({name: x for name, to in renamed.items() if to == y} | {y: x})
        return True
    if x in graph.given or x in graph.kept:
        return False
    renamed.update({name: y for name, to in renamed.items() if to == x} | {x: y})
    return True


def _with_names(node: Node, renamed: dict[str, str]) -> Node:
    return replace(
        node,
        inputs=tuple(None if name is None else renamed.get(name, name) for name in node.inputs),
        outputs=tuple(renamed.get(name, name) for name in node.outputs),
    )


def _report(graph: Graph, dropped: list[Node], renamed: dict[str, str]) -> Iterator[Removed]:
    for node in dropped:
        x, y = str(node.inputs[0]), node.outputs[0]
        origin = graph.tensors[y if y in renamed else x].origin
        if origin is not None:
            yield Removed("identities", origin.tensor, _WHY)


@singledispatch
def is_identity(op: Op, call: Call) -> bool:
    """Whether the only result always equals operand 0, in type and in value."""
    return False


@is_identity.register(Pad)
@is_identity.register(Reshape)
def _(op: Op, call: Call) -> bool:
    return call.input(0) == call.output


@is_identity.register(Concatenation)
def _(op: Concatenation, call: Call) -> bool:
    return len(call.inputs) == 1 and call.input(0) == call.output


@is_identity.register(ByteFunction)
def _(op: ByteFunction, call: Call) -> bool:
    values, x = byte_table(call), call.range_of(0)
    if values is None or x is None or call.input(0) != call.output:
        return False
    low, high = x.hull
    return np.array_equal(between(values.view(call.output.np_dtype), low, high), np.arange(low, high + 1))
