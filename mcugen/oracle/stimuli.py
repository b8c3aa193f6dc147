"""Inputs to compare on: random over the full range, and the extremes where integer kernels go wrong first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.ir.graph import Graph
from mcugen.ir.types import TensorType

Inputs = list[np.ndarray]
_Fill = Callable[[TensorType], np.ndarray]
_FLOAT_EXTREME = 64.0
FURTHER_RUNS = 5
"""Runs after the first in a case of a model with states."""

MOST_TOLD = 32
"""Most cases that separate a right from a slightly wrong implementation of one operator."""


@dataclass(frozen=True, eq=False)
class Case:
    """Inputs of the model, in its order, under a name that describes how they were generated.

    then: the inputs of further runs that follow, where the model has states.
    """

    name: str
    inputs: Inputs
    then: tuple[Inputs, ...] = ()

    @property
    def calls(self) -> tuple[Inputs, ...]:
        """The inputs of all runs, in order."""
        return (self.inputs, *self.then)


RECORDED = "recorded"
"""The first word in the names of cases that were recorded with a runtime."""


def draw(graph: Graph, seed: int) -> Inputs:
    """Random inputs: integers over their full range, floats standard normal."""
    rng = np.random.default_rng(seed)
    return [_draw(rng, graph.type(name)) for name in graph.inputs]


def cases(graph: Graph, random: int) -> Iterator[Case]:
    """`random` random cases, all-min, all-max, all-zero-point, min/max alternating three ways, extreme sums.

    Those of a model with states are sequences of runs: of other random inputs, or of the same extreme ones and then of
    random ones, which show how it comes back from there.
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
    yield from steepest(graph)
    yield from telling(graph)


def overlapping(calls: Sequence[Inputs], k: int) -> list[Inputs]:
    """The inputs of runs whose input k is a window over time: each window is the one before, moved by one row.

    The new rows are the last ones of each result.
    """
    found = [list(calls[0])]
    for inputs in calls[1:]:
        window = np.concatenate([found[-1][k][:, 1:], inputs[k][:, -1:]], axis=1)
        found.append([*inputs[:k], window, *inputs[k + 1 :]])
    return found


def steepest(graph: Graph) -> Iterator[Case]:
    """Cases that drive a sum of products to either end, for each operator that sums over an input of the model."""
    further = range(1, FURTHER_RUNS + 1) if graph.states else ()
    for node in graph.nodes:
        if not node.inputs or node.inputs[0] not in graph.inputs:
            continue
        call, k = graph.call(node, ""), graph.inputs.index(node.inputs[0])
        up = node.op.steepest(call) if all(c is not None for c in call.constants[1:2]) else None
        if up is not None:
            for name, array in (("greatest", up), ("least", np.invert(up))):
                inputs = [*draw(graph, 0)[:k], array, *draw(graph, 0)[k + 1 :]]
                label = f"{name} sum of {node.source or node.name}"
                yield Case(label, inputs, tuple(draw(graph, j) for j in further))


def telling(graph: Graph) -> Iterator[Case]:
    """Cases of values that reveal a slightly wrong implementation, for operators that read an input."""
    further = range(1, FURTHER_RUNS + 1) if graph.states else ()
    for node in graph.nodes:
        if not node.inputs or node.inputs[0] not in graph.inputs:
            continue
        k, arrays = graph.inputs.index(node.inputs[0]), node.op.telling(graph.call(node, ""))
        for j, array in enumerate(arrays[:: max(1, -(-len(arrays) // MOST_TOLD))]):
            inputs = [*draw(graph, 0)[:k], array, *draw(graph, 0)[k + 1 :]]
            yield Case(
                f"telling values {j} of {node.source or node.name}", inputs, tuple(draw(graph, j) for j in further)
            )


def limits(t: TensorType) -> tuple[float, float]:
    """Least and greatest value to feed: the whole range of integers, +-64 for floats."""
    if t.is_float:
        return -_FLOAT_EXTREME, _FLOAT_EXTREME
    return t.limits


def _draw(rng: np.random.Generator, t: TensorType) -> np.ndarray:
    if t.is_float:
        return rng.standard_normal(t.shape).astype(t.np_dtype)
    low, high = limits(t)
    return np.asarray(rng.integers(int(low), int(high), t.shape, endpoint=True)).astype(t.np_dtype)


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
