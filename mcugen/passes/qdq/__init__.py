"""Integer operators in place of float operators between Dequantize and Quantize.

The result of a Quantize is the exact real value of the operators before it, rounded once, halves to even. The pass
finds the float tensors whose values are stored integers: results of Dequantize, also after data movement. It then
replaces the operator before each Quantize, apart from data movement and clamps, by its form on stored integers
(`Op.rounded`), or by a table if it is a function of one byte. Operators with neither stay float.
"""

from __future__ import annotations

from dataclasses import replace

from mcugen.ir.graph import Graph
from mcugen.ops.dequantize import Dequantize
from mcugen.ops.quantize import Quantize
from mcugen.passes.qdq.cleaning import folded, islands, live
from mcugen.passes.qdq.rewriting import Rewriting


def with_integers(graph: Graph, reference: str, *, by_columns: bool) -> Graph:
    """The graph with integer operators before each Quantize, and a note on the operators that stay float between
    integers.

    by_columns: whether the runtime averages float windows by adding up each column first, and then the column sums.
    """
    if not any(isinstance(node.op, Quantize | Dequantize) for node in graph.nodes):
        return graph
    rewriting = Rewriting(graph, reference, by_columns=by_columns)
    for node in graph.nodes:
        rewriting.take(node)
    done = folded(live(rewriting.result()), reference)
    return replace(done, notes=(*done.notes, *islands(done)), rounds_once=any(rewriting.made.values()))
