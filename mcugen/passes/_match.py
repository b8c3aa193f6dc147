"""Search and replacement of patterns of nodes, each of which ends in one node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from mcugen.ir.graph import Graph, Node, Tensor
from mcugen.ir.op import Op


@dataclass(frozen=True)
class Pattern:
    """A node, and the patterns of its operands.

    name: the node's name in a match. ops: the classes that its operator may have; () for any. inputs: for each of the
    first operands, the pattern of the node that computes it, or a name for the tensor. A repeated name must be the same
    tensor. Further operands may be anything. commutes: whether the first two operands may come in either order.
    """

    name: str
    ops: tuple[type[Op], ...] = ()
    inputs: tuple[Pattern | str, ...] = ()
    commutes: bool = False


@dataclass(frozen=True)
class Match:
    """The nodes and tensors of one occurrence of a pattern, by the names in the pattern."""

    nodes: Mapping[str, Node] = field(default_factory=dict)
    tensors: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Made:
    """The replacement of a match: nodes in order, which compute the results of the match's last node, and new
    tensors.
    """

    nodes: tuple[Node, ...]
    tensors: tuple[Tensor, ...] = ()


Make = Callable[[Match], Made | None]


def rewritten(graph: Graph, pattern: Pattern, make: Make, what: str, why: str, *, exact: bool = True) -> Graph:
    """The graph with each match replaced by what `make` returns; unchanged where `make` returns None.

    Inner nodes of a match must have one result, which nothing outside the match reads and which is not an output or
    state. They are removed. New nodes may be part of later matches. what, why, exact: fields of `Removed`.
    """
    reads = Counter(name for node in graph.nodes for name in node.inputs if name is not None)
    reads.update(graph.kept)
    nodes: dict[str, Node] = {}
    makers: dict[str, Node] = {}
    tensors: list[Tensor] = []
    gone: list[str] = []
    for node in graph.nodes:
        match = _at(pattern, node, Match(), makers)
        inside = [] if match is None else _inside(match, node)
        replacement = make(match) if match is not None and _is_alone(inside, match, reads) else None
        for part in inside if replacement is not None else ():
            gone += part.outputs
            del nodes[part.outputs[0]]
        for new in (node,) if replacement is None else replacement.nodes:
            nodes[new.outputs[0]] = new
            makers.update(dict.fromkeys(new.outputs, new))
        tensors += () if replacement is None else replacement.tensors
    if not gone:
        return graph
    removed = graph.removals(gone, what, why, exact=exact)
    return graph.updated(tensors=tensors, nodes=nodes.values(), removed=removed)


def _at(pattern: Pattern, node: Node, found: Match, makers: Mapping[str, Node]) -> Match | None:
    """The match so far, extended by the pattern at this node; None if the pattern does not fit."""
    if (pattern.ops and not isinstance(node.op, pattern.ops)) or len(node.inputs) < len(pattern.inputs):
        return None
    if found.nodes.get(pattern.name, node) is not node:
        return None
    named = Match({**found.nodes, pattern.name: node}, found.tensors)
    for operands in _orders(node, pattern):
        matched = _operands(zip(pattern.inputs, operands, strict=False), named, makers)
        if matched is not None:
            return matched
    return None


def _orders(node: Node, pattern: Pattern) -> Iterator[tuple[str | None, ...]]:
    yield node.inputs
    if pattern.commutes and len(node.inputs) > 1:
        first, second, *rest = node.inputs
        yield (second, first, *rest)


def _operands(
    pairs: Iterable[tuple[Pattern | str, str | None]], found: Match, makers: Mapping[str, Node]
) -> Match | None:
    matched: Match | None = found
    for part, name in pairs:
        if name is None or matched is None:
            return None
        if isinstance(part, str):
            same = matched.tensors.get(part, name) == name
            matched = Match(matched.nodes, {**matched.tensors, part: name}) if same else None
        else:
            maker = makers.get(name)
            matched = None if maker is None or len(maker.outputs) != 1 else _at(part, maker, matched, makers)
    return matched


def _inside(match: Match, last: Node) -> list[Node]:
    """The nodes of a match except the last, each once."""
    return list({node.name: node for node in match.nodes.values() if node is not last}.values())


def _is_alone(inside: Iterable[Node], match: Match, reads: Mapping[str, int]) -> bool:
    """Whether nothing outside the match reads the results of its inner nodes."""
    own = Counter(name for node in {n.name: n for n in match.nodes.values()}.values() for name in node.inputs)
    return all(reads[node.outputs[0]] == own[node.outputs[0]] for node in inside)
