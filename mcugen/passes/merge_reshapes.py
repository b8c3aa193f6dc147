"""Merges successive reshapes into one."""

from __future__ import annotations

from dataclasses import replace

from mcugen.ir.graph import Graph
from mcugen.ops.reshape import Reshape
from mcugen.passes._match import Made, Match, Pattern, rewritten

_WHY = "it has the same elements in the same order as its operand and its result"
_PATTERN = Pattern("last", (Reshape,), (Pattern("first", (Reshape,)),))


def merge_reshapes(graph: Graph, reference: str) -> Graph:
    """The graph without reshapes that only another reshape reads."""

    def fuse(match: Match) -> Made:
        return Made((replace(match.nodes["last"], inputs=match.nodes["first"].inputs),))

    return rewritten(graph, _PATTERN, fuse, "fused reshapes", _WHY)
