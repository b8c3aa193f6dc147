"""Explains differences of a whole model by single last bits: a float near a tie is rounded to the other integer.

If a model makes integers from floats at run time, two computations that agree in every operator may still differ by one
step in one of them, and then in all that follow. This module searches the numbers near a tie for such flips.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.ir.graph import Graph
from mcugen.oracle import interpreter, near_ties

TOLERANCE = 1e-4
"""Largest error of a whole model without a flip, relative to the largest magnitude of an output."""
MOST = 3
"""Most flips that may explain the results of one input."""
_TRIED = 24
"""Numbers near a tie that are tried for each flip, nearest first."""

Values = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Explained:
    """The tensors of a run, and the flips after which its outputs are close enough to the recording."""

    values: dict[str, np.ndarray]
    flips: tuple[str, ...] = ()


def explained(graph: Graph, inputs: Sequence[np.ndarray], which: str, wanted: Values) -> Explained:
    """The run of a graph with the fewest flips after which its outputs are within the tolerance of the recorded
    outputs.
    """
    found = Explained(interpreter.run(graph, inputs, which))
    chosen: dict[str, np.ndarray] = {}
    while _distance(found.values, wanted) > TOLERANCE and len(found.flips) < MOST:
        near = _near(graph, found.values, which)
        tried = [(_run(graph, inputs, which, {**chosen, n: v}, found, text), n, v) for n, v, text in near]
        best = min(tried, key=lambda one: _distance(one[0].values, wanted), default=None)
        if best is None or _distance(best[0].values, wanted) >= _distance(found.values, wanted):
            return found
        found, name, value = best
        chosen[name] = value
    return found


def _run(
    graph: Graph, inputs: Sequence[np.ndarray], which: str, seen: dict[str, np.ndarray], before: Explained, text: str
) -> Explained:
    values = interpreter.run(graph, inputs, which, seen=seen)
    return Explained({**values, **seen}, (*before.flips, text))


def _near(graph: Graph, values: Values, which: str) -> list[tuple[str, np.ndarray, str]]:
    """(tensor, its value with one element flipped, the flip as text), nearest to a tie first."""
    nearest = sorted(near_ties.of_run(graph, values, which), key=lambda one: one[1].distance)[:_TRIED]
    flipped = []
    for node, flip in nearest:
        name = node.outputs[flip.output]
        value = values[name].copy()
        place = f"{node.source}: {name} {list(flip.index)}"
        text = f"{place} {value[flip.index]} as {flip.value}, {flip.distance:.1e} from a tie"
        value[flip.index] = flip.value
        flipped.append((name, value, text))
    return flipped


def _distance(values: Values, wanted: Values) -> float:
    """The largest difference of an output, relative to its largest magnitude."""
    shares = [0.0]
    for name, want in wanted.items():
        if want.dtype.kind == "f":
            size = float(np.abs(want).max(initial=0.0)) or 1.0
            shares.append(float(np.abs(values[name].astype(np.float64) - want).max(initial=0.0)) / size)
    return max(shares)
