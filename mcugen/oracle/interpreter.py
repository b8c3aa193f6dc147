"""The oracle: runs a graph in NumPy through each operator's own reference. Never calls C."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from mcugen.errors import UsageError
from mcugen.ir.graph import Graph
from mcugen.ir.op import evaluate

FLOAT_TOLERANCE = 1e-5
"""Error limit of a float tensor, since C adds in float32 and the oracle in float64.

It is relative to the largest magnitude of the tensor's sums before a clamp, over all inputs tried.
"""
HALF_TOLERANCE = 1e-2
"""Error limit of tensors stored as float16, relative to the same magnitude, for all layers of a network together."""


def tolerance_text(tolerance: float) -> str:
    """A tolerance as text: 1e-5, 0.01."""
    return f"{tolerance:g}".replace("e-0", "e-")


def run(
    graph: Graph,
    inputs: Sequence[np.ndarray],
    reference: str,
    states: Mapping[str, np.ndarray] | None = None,
    seen: Mapping[str, np.ndarray] = MappingProxyType({}),
) -> dict[str, np.ndarray]:
    """Every tensor of the graph by name for these inputs (in the model's order), as runtime `reference` computes it.

    states: the values of `State.before` tensors; None: the initial values. seen: tensor name -> values from another
    computation, which operators read instead of the values computed here.
    """
    if len(inputs) != len(graph.inputs):
        raise UsageError(f"{len(inputs)} inputs given, the model has {len(graph.inputs)}")
    values: dict[str, np.ndarray] = {n: t.data for n, t in graph.tensors.items() if t.data is not None}
    for name, array in zip(graph.inputs, inputs, strict=True):
        expected = graph.type(name)
        if (array.shape, array.dtype) != (expected.shape, expected.np_dtype):
            raise UsageError(f"input {name} is {array.dtype} {list(array.shape)}, the model takes {expected}")
        values[name] = array
    values |= {s.before: s.initial for s in graph.states} if states is None else states
    for node in graph.nodes:
        operands = [None if name is None else seen.get(name, values[name]) for name in node.inputs]
        values.update(zip(node.outputs, evaluate(graph.call(node, reference), operands), strict=True))
    return values


def runs(graph: Graph, calls: Iterable[Sequence[np.ndarray]], reference: str) -> Iterator[dict[str, np.ndarray]]:
    """The tensors of several runs in sequence. Each run starts with the states that the previous run left."""
    states: dict[str, np.ndarray] | None = None
    for inputs in calls:
        values = run(graph, inputs, reference, states)
        states = {state.before: values[state.after] for state in graph.states}
        yield values
