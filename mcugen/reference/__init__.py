"""The oracle: runs a graph in NumPy through each operator's own reference. Never calls C."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcugen.errors import UsageError
from mcugen.graph import Graph
from mcugen.op import evaluate


def run(graph: Graph, inputs: Sequence[np.ndarray], reference: str) -> dict[str, np.ndarray]:
    """Every tensor of the graph by name for these inputs (in the model's order), as runtime `reference` computes it."""
    if len(inputs) != len(graph.inputs):
        raise UsageError(f"{len(inputs)} inputs given, the model has {len(graph.inputs)}")
    values: dict[str, np.ndarray] = {n: t.data for n, t in graph.tensors.items() if t.data is not None}
    for name, array in zip(graph.inputs, inputs, strict=True):
        expected = graph.type(name)
        if (array.shape, array.dtype) != (expected.shape, expected.np_dtype):
            raise UsageError(f"input {name} is {array.dtype} {list(array.shape)}, the model takes {expected}")
        values[name] = array
    for node in graph.nodes:
        operands = [None if name is None else values[name] for name in node.inputs]
        values.update(zip(node.outputs, evaluate(graph.call(node, reference), operands), strict=True))
    return values
