"""Lets dense layers read an image itself, not its reshape to a vector, if a kernel can take the image row by row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from mcugen import kernels
from mcugen.ir.graph import Graph
from mcugen.ir.kernel import Accumulate
from mcugen.ops.fully_connected import FullyConnected
from mcugen.ops.reshape import Reshape
from mcugen.passes._match import Made, Match, Pattern, rewritten

_WHY = "the layer after it takes the elements in this order, whatever their shape"
_PATTERN = Pattern("dense", (FullyConnected,), (Pattern("flat", (Reshape,)),))


def read_images(features: frozenset[str]) -> Callable[[Graph, str], Graph]:
    """The pass for a core with these features. It leaves images that are read elsewhere too: they stay in memory."""

    def fuse(graph: Graph, reference: str) -> Graph:
        reads = Counter(name for node in graph.nodes for name in node.inputs)
        reads.update(graph.kept)

        def made(match: Match) -> Made | None:
            dense, flat = match.nodes["dense"], match.nodes["flat"]
            assert isinstance(dense.op, FullyConnected)
            node = replace(dense, inputs=(flat.inputs[0], *dense.inputs[1:]))
            call = graph.call(node, reference)
            same = call.input(0).quant == graph.type(flat.outputs[0]).quant
            if reads[flat.inputs[0]] > 1 or dense.op.keep_dims or not same:
                return None
            by_rows = [k for k in kernels.of(dense.op) if isinstance(k.form, Accumulate)]
            return Made((node,)) if any(not k.refusals(call, features) for k in by_rows) else None

        return rewritten(graph, _PATTERN, made, "fused reshapes", _WHY)

    fuse.__name__ = read_images.__name__
    return fuse
