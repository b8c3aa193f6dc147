"""Differences of a whole model that come from one last bit: a float near a tie is rounded to the other integer.

Where integers are made of floats at run time, two computations that agree in every operator may differ by a step in one
of them, and in all that follows. Such a flip is looked for among the numbers next to a tie, and named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.ir.graph import Graph
from mcugen.oracle import interpreter, near_ties

TOLERANCE = 1e-4
"""Largest error of a whole model without a flip, as a share of the largest magnitude of an output."""
MOST = 3
"""Most flips that may explain the results of one input."""
_TRIED = 24
"""Numbers near a tie that are tried for each flip, nearest first."""

Values = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Explained:
    """The tensors of a run, and the flips that bring them close enough to the recording."""

    values: dict[str, np.ndarray]
    flips: tuple[str, ...] = ()


def explained(graph: Graph, inputs: Sequence[np.ndarray], which: str, wanted: Values) -> Explained:
    """The run of a graph, with the fewest flips that bring its outputs within the tolerance of the recorded ones."""
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
    """(tensor, its value with one element flipped, the flip in words), nearest to a tie first."""
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
    """The largest difference of an output, as a share of its largest magnitude."""
    shares = [0.0]
    for name, want in wanted.items():
        if want.dtype.kind == "f":
            size = float(np.abs(want).max(initial=0.0)) or 1.0
            shares.append(float(np.abs(values[name].astype(np.float64) - want).max(initial=0.0)) / size)
    return max(shares)
