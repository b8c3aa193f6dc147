"""Inputs to compare on: random inputs, extremes where integer kernels fail first, and boundary values of operators."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.graph import Graph, Node
from mcugen.ir.types import TensorType
from mcugen.oracle.stimuli import Inputs, draw, limits
from mcugen.verify.probes import boundary_values, greatest_sum

_Fill = Callable[[TensorType], np.ndarray]
FURTHER_RUNS = 5
"""Number of runs after the first in a case of a model with states."""
MOST_BOUNDARIES = 32
"""Most cases of boundary values per operator."""


@dataclass(frozen=True, eq=False)
class Case:
    """Inputs of the model, in order, with a name that describes how they were generated.

    then: inputs of the runs that follow, for a model with states.
    """

    name: str
    inputs: Inputs
    then: tuple[Inputs, ...] = ()

    @property
    def calls(self) -> tuple[Inputs, ...]:
        """The inputs of all runs, in order."""
        return (self.inputs, *self.then)


RECORDED = "recorded"
"""First word in the names of cases that were recorded with a runtime."""


def cases(graph: Graph, random: int) -> Iterator[Case]:
    """`random` random cases, then fixed ones: all minimum, all maximum, all zero point, alternating minimum and maximum
    by element, row and channel, greatest sums, and boundary values. The last two only for inputs that are no stream.

    For a model with states a case is a sequence of runs. A random case continues with other random inputs. A fixed case
    repeats its inputs and ends with a random input, which shows whether the state recovers.
    """
    further = range(1, FURTHER_RUNS + 1) if graph.states else ()
    for seed in range(random):
        yield Case(f"random {seed}", draw(graph, seed), tuple(draw(graph, 1000 * k + seed) for k in further))
    fills: tuple[tuple[str, _Fill], ...] = (
        ("all minimum", lambda t: np.full(t.shape, limits(t)[0])),
        ("all maximum", lambda t: np.full(t.shape, limits(t)[1])),
        ("all zero point", lambda t: np.full(t.shape, t.quant.zero_point[0] if t.quant else 0)),
        ("alternating by element", lambda t: _alternating(t, np.arange(t.size).reshape(t.shape))),
        ("alternating by row", lambda t: _alternating(t, _index(t, 1 if len(t.shape) > 2 else 0))),
        ("alternating by channel", lambda t: _alternating(t, _index(t, -1))),
    )
    for name, fill in fills:
        inputs = [fill(graph.type(n)).astype(graph.type(n).np_dtype) for n in graph.inputs]
        yield Case(name, inputs, tuple(inputs if k < FURTHER_RUNS - 1 else draw(graph, k) for k in further))
    if graph.stream is None:  # a stream moves the values through its windows
        yield from _greatest_sums(graph)
        yield from _boundaries(graph)


def _greatest_sums(graph: Graph) -> Iterator[Case]:
    """For each operator that sums products of a model input: a case with the greatest sum, and one with the least."""
    for node, call, k in _readers_of_inputs(graph):
        up = greatest_sum(node.op, call) if all(c is not None for c in call.constants[1:2]) else None
        if up is not None:
            for name, array in (("greatest", up), ("least", np.invert(up))):
                yield _with_input(graph, k, array, f"{name} sum of {node.source or node.name}")


def _boundaries(graph: Graph) -> Iterator[Case]:
    """Cases of boundary values, for operators that read an input of the model."""
    for node, call, k in _readers_of_inputs(graph):
        arrays = boundary_values(node.op, call)
        for j, array in enumerate(arrays[:: max(1, -(-len(arrays) // MOST_BOUNDARIES))]):
            yield _with_input(graph, k, array, f"boundary values {j} of {node.source or node.name}")


def _readers_of_inputs(graph: Graph) -> Iterator[tuple[Node, Call, int]]:
    """(node, its call, index of the input) for each node whose operand 0 is an input of the model."""
    for node in graph.nodes:
        if node.inputs and node.inputs[0] in graph.inputs:
            yield node, graph.call(node, ""), graph.inputs.index(node.inputs[0])


def _with_input(graph: Graph, k: int, array: np.ndarray, name: str) -> Case:
    """A case of random inputs, except for input k."""
    further = range(1, FURTHER_RUNS + 1) if graph.states else ()
    inputs = draw(graph, 0)
    inputs[k] = array
    return Case(name, inputs, tuple(draw(graph, j) for j in further))


def _alternating(t: TensorType, index: np.ndarray) -> np.ndarray:
    low, high = limits(t)
    return np.where(
        np.broadcast_to(index, t.shape) % 2 == 0, np.array(low).astype(t.np_dtype), np.array(high).astype(t.np_dtype)
    )


def _index(t: TensorType, axis: int) -> np.ndarray:
    if not t.shape:
        return np.zeros((), np.int64)
    shape = [1] * len(t.shape)
    shape[axis] = t.shape[axis]
    return np.arange(t.shape[axis]).reshape(shape)
