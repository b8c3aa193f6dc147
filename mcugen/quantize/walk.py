"""Evaluation of a graph on many samples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcugen.ir.graph import Graph
from mcugen.quantize import batch_evaluation


def outputs(graph: Graph, reference: str, inputs: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
    """Outputs of a graph for samples, each [samples, *shape]; values are dropped after their last reader."""
    values = dict(zip(graph.inputs, inputs, strict=True))
    last = {name: k for k, node in enumerate(graph.nodes) for name in (*node.inputs, *node.outputs)}
    for index, node in enumerate(graph.nodes):
        operands = [None if n is None else _operand(graph, values, n) for n in node.inputs]
        found = batch_evaluation.results(graph.call(node, reference), operands)
        values.update(zip(node.outputs, found, strict=True))
        for name in (*node.inputs, *node.outputs):
            if name in values and last[name] == index and name not in graph.outputs:
                del values[str(name)]
    return tuple(values[name] for name in graph.outputs)


def _operand(graph: Graph, values: dict[str, np.ndarray], name: str) -> np.ndarray:
    data = graph.tensors[name].data
    return values[name] if data is None else data
