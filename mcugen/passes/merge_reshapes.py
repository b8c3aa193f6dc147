"""Makes one reshape of reshapes that follow each other."""

from __future__ import annotations

from dataclasses import replace

from mcugen.graph import Graph, Node
from mcugen.ops.reshape import Reshape
from mcugen.passes._pairs import fused

_WHY = "it has the same elements in the same order as its operand and its result"


def merge_reshapes(graph: Graph, reference: str) -> Graph:
    """The graph without reshapes that only another reshape reads."""

    def fuse(producer: Node, reader: Node) -> Node | None:
        both = isinstance(producer.op, Reshape) and isinstance(reader.op, Reshape)
        return replace(reader, inputs=producer.inputs) if both else None

    return fused(graph, fuse, "fused reshapes", _WHY)
