"""Finds the bounds of every tensor's stored integers, channel by channel, from the operators' own rules."""

from __future__ import annotations

from dataclasses import replace

from mcugen.channels import MAX_CHANNELS, Range, channels_of, measured, whole
from mcugen.graph import Graph, Tensor


def measure_ranges(graph: Graph, reference: str) -> Graph:
    """The graph with `Tensor.range` filled in: inputs take every value of their type, all else follows."""
    known: dict[str, Range | None] = {name: whole(graph.type(name)) for name in graph.inputs}
    known |= {t.name: measured(t.data) for t in graph.tensors.values() if t.data is not None}
    for node in graph.nodes:
        if any(channels_of(graph.type(name)) > MAX_CHANNELS for name in node.outputs):
            known.update(dict.fromkeys(node.outputs))
            continue
        call = replace(
            graph.call(node, reference), input_range=tuple(None if n is None else known[n] for n in node.inputs)
        )
        known.update(zip(node.outputs, node.op.bounds(call), strict=True))
    return graph.updated(tensors=(_with_range(t, known.get(t.name)) for t in graph.tensors.values()))


def _with_range(tensor: Tensor, found: Range | None) -> Tensor:
    return replace(tensor, range=found)
