"""Integer operators in place of float ones between Dequantize and Quantize: every Quantize is exact.

A Quantize gets the exact real value of the operators before it, back to the stored integers that they read, rounded
once, halves to even. Each tensor of floats is asked whether it is stored integers in disguise (`Dequantize`, and moves
of it); then each Quantize whether the operator before it, moves and clamps aside, has a form on stored integers
(`Op.rounded`), or is a function of one byte. What has none stays float.
"""

from __future__ import annotations

from dataclasses import replace

from mcugen.ir.graph import Graph
from mcugen.ops.dequantize import Dequantize
from mcugen.ops.quantize import Quantize
from mcugen.passes.qdq.cleaning import folded, islands, live
from mcugen.passes.qdq.rewriting import Rewriting


def with_integers(graph: Graph, reference: str, *, by_columns: bool) -> Graph:
    """The graph with integer operators where a Quantize follows, and a note of what stays float between integers.

    by_columns: whether the runtime adds the columns of a window of floats first, and then their sums.
    """
    if not any(isinstance(node.op, Quantize | Dequantize) for node in graph.nodes):
        return graph
    rewriting = Rewriting(graph, reference, by_columns=by_columns)
    for node in graph.nodes:
        rewriting.take(node)
    done = folded(live(rewriting.result()), reference)
    return replace(done, notes=(*done.notes, *islands(done)), rounds_once=any(rewriting.made.values()))
