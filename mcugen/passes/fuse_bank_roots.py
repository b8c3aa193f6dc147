"""Fuses a filter bank with the roots of its sums."""

from __future__ import annotations

from mcugen.ir.graph import Graph, Node
from mcugen.ops.filter_bank import FilterBank, in_pairs
from mcugen.ops.filter_bank_roots import FilterBankRoots
from mcugen.ops.filter_bank_square_root import FilterBankSquareRoot
from mcugen.passes._match import Made, Match, Pattern, rewritten

_PATTERN = Pattern("roots", (FilterBankSquareRoot,), (Pattern("bank", (FilterBank,), ("spectrum",)),))
_WHY = "one loop sums each band and takes its root"


def fuse_bank_roots(graph: Graph, reference: str) -> Graph:
    """The graph with each filter bank and its roots as one operator, if its kernel supports the tables of the bank."""

    def made(match: Match) -> Made | None:
        bank, roots = match.nodes["bank"], match.nodes["roots"]
        if not in_pairs(graph.call(bank, reference)):
            return None
        op = FilterBankRoots(graph.type(bank.outputs[0]).size)
        return Made((Node(roots.name, op, (*bank.inputs, roots.inputs[1]), roots.outputs, roots.source),))

    return rewritten(graph, _PATTERN, made, "fused roots", _WHY)
