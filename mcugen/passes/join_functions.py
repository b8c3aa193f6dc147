"""Joins float operators that together are a function of one tensor, element by element, into ElementFunction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mcugen.ir.graph import Graph, Node
from mcugen.ops._links import Link
from mcugen.ops.element_function import ElementFunction
from mcugen.passes.drop_unread import drop_unread

_MOST_LINKS = 64


def join_functions(graph: Graph, reference: str) -> Graph:
    """The float graph with an ElementFunction in place of elementwise operators with one computed operand in common.

    An operator with an integer form of its own is replaced only together with others, or if one operand is a number.
    """
    sources = _sources(graph)
    makers = {node.outputs[0]: node for node in graph.nodes}
    ends = [node for node in graph.nodes if _ends(graph, node, sources)]
    made = {node.outputs[0]: _joined(graph, node, sources, makers, reference) for node in ends}
    nodes = tuple(made.get(node.outputs[0]) or node for node in graph.nodes)
    return drop_unread(replace(graph, nodes=nodes), reference) if any(made.values()) else graph


def function_of(graph: Graph, last: Node, reference: str) -> tuple[str, ElementFunction] | None:
    """The float tensor that a node's result is a function of, and this function; None if it is none."""
    sources = _sources(graph)
    if last.outputs[0] not in sources:
        return None
    found = _joined(graph, last, sources, {n.outputs[0]: n for n in graph.nodes}, reference, alone=True)
    if found is None or not isinstance(found.op, ElementFunction):
        return None
    return sources[last.outputs[0]], found.op


def _sources(graph: Graph) -> dict[str, str]:
    """Float tensor -> the tensor that it is a function of, element by element."""
    found: dict[str, str] = {}
    for node in graph.nodes:
        source = _source(graph, node, found)
        if source is not None:
            found[node.outputs[0]] = source
    return found


def _source(graph: Graph, node: Node, sources: Mapping[str, str]) -> str | None:
    """The only float tensor that a node's result is a function of, element by element; None if it is none."""
    if not node.op.is_elementwise or len(node.outputs) != 1:
        return None
    found: set[str] = set()
    for name in node.inputs:
        if name is None or (name not in sources and not graph.type(name).is_float):
            return None
        if not graph.tensors[name].is_constant:
            found.add(sources.get(name, name))
        elif graph.type(name).size != 1:
            return None
    source = found.pop() if len(found) == 1 else None
    return source if source is not None and graph.type(source).shape == graph.type(node.outputs[0]).shape else None


def _ends(graph: Graph, node: Node, sources: Mapping[str, str]) -> bool:
    """Whether a result has a reader, or is an output, that is no part of a function of the same tensor."""
    name = node.outputs[0]
    if name not in sources or not graph.type(name).is_float:
        return False
    readers = [reader.outputs[0] for reader in graph.nodes if name in reader.inputs]
    return name in graph.kept or any(sources.get(y) != sources[name] for y in readers)


def _joined(
    graph: Graph,
    last: Node,
    sources: Mapping[str, str],
    makers: Mapping[str, Node],
    reference: str,
    *,
    alone: bool = False,
) -> Node | None:
    """The function that ends in `last` as one node; None if it may stay as it is, or is too long.

    alone: whether to join an operator with an integer form of its own even if it is alone.
    """
    source, links, numbers = sources[last.outputs[0]], list[Link](), list[float]()
    lacks = False
    values: dict[str, int] = {}

    def operand(name: str) -> int:
        data = graph.tensors[name].data
        if data is not None:
            numbers.append(float(data.reshape(-1)[0]))
            return len(numbers)
        return 0 if name == source else values[name]

    pending = [last]
    while pending and len(links) <= _MOST_LINKS:
        node = pending[-1]
        before = [
            makers[name]
            for name in node.inputs
            if name and name != source and not graph.tensors[name].is_constant and name not in values
        ]
        if before:
            pending += before
        else:
            pending.pop()
            if node.outputs[0] not in values:
                links.append(Link(node.op, tuple(operand(str(name)) for name in node.inputs)))
                values[node.outputs[0]] = ~(len(links) - 1)
                rule = node.op.quantized(graph.call(node, reference))
                lacks |= rule.kind == "refused" or bool(rule.apart)
    if pending or not (lacks or alone or len(links) + len(numbers) > 1):
        return None
    return Node(last.name, ElementFunction(tuple(links), tuple(numbers)), (source,), last.outputs, last.source)
