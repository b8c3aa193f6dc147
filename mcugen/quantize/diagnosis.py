"""Whole diagnosis of a quantization: facts of every layer, and findings about problems."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mcugen.ir.graph import Graph
from mcugen.quantize.diagnose import LayerFacts, diagnosed
from mcugen.quantize.findings import Finding, Situation, found, of_answers, of_test
from mcugen.quantize.float_values import FloatRun
from mcugen.quantize.overridden import of_overrides
from mcugen.quantize.recipe import Recipe


@dataclass(frozen=True)
class Diagnosis:
    """Facts of inputs and layers in the order of the network, and findings, the worst first."""

    layers: tuple[LayerFacts, ...]
    findings: tuple[Finding, ...]


def diagnosis(
    floats: FloatRun, solved: FloatRun, graph: Graph, method: str, recipe: Recipe, test: FloatRun | None = None
) -> Diagnosis:
    """Diagnosis of a quantized network and of its samples.

    floats, solved: the float network before and after equalization; graph: the integer network; test: the float
    network on the test samples, or None
    """
    layers = diagnosed(floats, solved, graph)
    outside = [*_answers(solved), *of_overrides(floats, graph), *(() if test is None else _of_test(floats, test))]
    return Diagnosis(layers, found(layers, outside, Situation(method, recipe, _can_be_wide(floats, graph))))


def _answers(floats: FloatRun) -> Iterator[Finding]:
    """Finding if all answers agree, for a network that is likely to be a classifier.

    A likely classifier has one output, whose size differs from the size of every input.
    """
    graph = floats.graph
    name, t = graph.outputs[0], graph.type(graph.outputs[0])
    same = any(graph.type(n).size == t.size for n in graph.inputs)
    values = floats.observed()[name].values if name in floats.observed() else np.zeros(0)
    is_vector = values.size == floats.count * t.size and t.size == (t.shape or (1,))[-1]
    if len(graph.outputs) == 1 and not same and is_vector:
        yield from of_answers(values.reshape(floats.count, -1), graph.tensors[name].label or name)


def _of_test(floats: FloatRun, test: FloatRun) -> Iterator[Finding]:
    for name, a, b in zip(floats.graph.inputs, floats.given(), test.given(), strict=True):
        if floats.graph.type(name).is_float:
            yield from of_test(floats.graph.tensors[name].label or name, a, b)


def _can_be_wide(floats: FloatRun, graph: Graph) -> bool:
    """Whether activations could have 16 bits but do not."""
    if floats.older is not None:
        return False
    rules = [node.op.quantized(floats.graph.call(node, floats.reference)) for node in floats.graph.nodes]
    return all(16 in rule.widths for rule in rules) and not any(t.type.dtype == "s16" for t in graph.tensors.values())
