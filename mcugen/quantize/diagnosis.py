"""The whole of a diagnosis: facts of every layer, and sentences about what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mcugen.ir.graph import Graph
from mcugen.quantize.diagnose import LayerFacts, diagnosed
from mcugen.quantize.findings import Finding, Situation, found, of_answers, of_test
from mcugen.quantize.floats import Floats
from mcugen.quantize.overridden import of_overrides
from mcugen.quantize.recipe import Recipe


@dataclass(frozen=True)
class Diagnosis:
    """layers: inputs and layers in the order of the network; findings: the worst first."""

    layers: tuple[LayerFacts, ...]
    findings: tuple[Finding, ...]


def diagnosis(
    floats: Floats, solved: Floats, graph: Graph, method: str, recipe: Recipe, test: Floats | None = None
) -> Diagnosis:
    """What integers cost each layer, and what is wrong with the network or the samples.

    solved: the float network with channels as they were balanced; graph: the integer one; test: the float one on the
    samples of a test
    """
    layers = diagnosed(floats, solved, graph)
    outside = [*_answers(solved), *of_overrides(floats, graph), *(() if test is None else _of_test(floats, test))]
    return Diagnosis(layers, found(layers, outside, Situation(method, recipe, _can_be_wide(floats, graph))))


def _answers(floats: Floats) -> Iterator[Finding]:
    """Whether the answers differ, if the network looks like one that chooses: one output, unlike the inputs."""
    graph = floats.graph
    name, t = graph.outputs[0], graph.type(graph.outputs[0])
    same = any(graph.type(n).size == t.size for n in graph.inputs)
    values = floats.observed()[name].values if name in floats.observed() else np.zeros(0)
    if len(graph.outputs) == 1 and not same and values.size == floats.count * t.size == floats.count * t.shape[-1]:
        yield from of_answers(values.reshape(floats.count, -1), graph.tensors[name].label or name)


def _of_test(floats: Floats, test: Floats) -> Iterator[Finding]:
    for name, a, b in zip(floats.graph.inputs, floats.given(), test.given(), strict=True):
        if floats.graph.type(name).is_float:
            yield from of_test(floats.graph.tensors[name].label or name, a, b)


def _can_be_wide(floats: Floats, graph: Graph) -> bool:
    """Whether data may have 16 bits, and have not."""
    if floats.older is not None:
        return False
    rules = [node.op.quantized(floats.graph.call(node, floats.reference)) for node in floats.graph.nodes]
    return all(16 in rule.widths for rule in rules) and not any(t.type.dtype == "s16" for t in graph.tensors.values())
