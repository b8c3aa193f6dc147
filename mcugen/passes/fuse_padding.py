"""Merges padding of images into the windows that slide over them."""

from __future__ import annotations

from dataclasses import replace

from mcugen.ir.graph import Graph
from mcugen.ops.pad import Pad, constant_value, value_is_constant
from mcugen.passes._match import Made, Match, Pattern, rewritten

_WHY = "only rows and columns are added around an image, of the value that its reader takes outside of it"
_PATTERN = Pattern("window", inputs=(Pattern("pad", (Pad,)),))


def fuse_padding(graph: Graph, reference: str) -> Graph:
    """The graph without padded images, where the window that reads one can do the padding itself."""

    def fuse(match: Match) -> Made | None:
        producer, reader = match.nodes["pad"], match.nodes["window"]
        call, after = graph.call(producer, reference), graph.call(reader, reference)
        if not isinstance(producer.op, Pad) or call.input(0).quant != call.output.quant or not value_is_constant(call):
            return None
        widths = producer.op.widths
        if len(widths) != 4 or widths[0] != (0, 0) or widths[3] != (0, 0):
            return None
        op = reader.op.padded(after, (widths[1], widths[2]), constant_value(call))
        return Made((replace(reader, op=op, inputs=(producer.inputs[0], *reader.inputs[1:])),)) if op else None

    return rewritten(graph, _PATTERN, fuse, "fused paddings", _WHY)
