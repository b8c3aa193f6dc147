"""Merges successive functions of single bytes into one table."""

from __future__ import annotations

from mcugen.ir.graph import Graph, Node
from mcugen.ops._bytes import byte_table
from mcugen.ops.table import Table
from mcugen.passes._match import Made, Match, Pattern, rewritten

_WHY = "it and its reader are functions of single bytes: one table of 256 holds both"
_PATTERN = Pattern("second", inputs=(Pattern("first"),))


def compose_tables(graph: Graph, reference: str) -> Graph:
    """The graph with a single look-up for each chain of functions of single bytes."""

    def fuse(match: Match) -> Made | None:
        producer, reader = match.nodes["first"], match.nodes["second"]
        first, second = (byte_table(graph.call(node, reference)) for node in (producer, reader))
        if first is None or second is None:
            return None
        table = Table(second[first].tobytes(), graph.type(reader.outputs[0]).dtype)
        return Made((Node(reader.name, table, producer.inputs[:1], reader.outputs, reader.source),))

    return rewritten(graph, _PATTERN, fuse, "fused tables", _WHY)
