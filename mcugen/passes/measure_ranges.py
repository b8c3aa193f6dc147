"""Finds the bounds of every tensor's stored integers, channel by channel, from the operators' own rules."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import numpy as np

from mcugen.ir.graph import Graph, Tensor
from mcugen.ir.ranges import MAX_CHANNELS, Range, channels_of, measured, whole

_ROUNDS = 4
"""Number of times that the bounds of a state are widened step by step. After that, the bounds of its type are used."""

_Known = dict[str, Range | None]


def measure_ranges(graph: Graph, reference: str) -> Graph:
    """The graph with `Tensor.range` filled in.

    Inputs may have every value of their type. Operators give the bounds of all other tensors (`Op.bounds`). The bounds
    of a state include its initial value and the values after any number of runs.
    """
    given: _Known = {name: whole(graph.type(name)) for name in graph.inputs}
    given |= {t.name: measured(t.data) for t in graph.tensors.values() if t.data is not None}
    given |= {state.before: measured(state.initial) for state in graph.states}
    known = _followed(graph, reference, given)
    for rounds in count():
        grown = [s for s in graph.states if not _is_within(known[s.after], given[s.before])]
        if not grown:
            break
        for state in grown:
            found = _union(given[state.before], known[state.after])
            given[state.before] = found if found is None or rounds < _ROUNDS else whole(graph.type(state.before))
        known = _followed(graph, reference, given)
    return graph.updated(tensors=(_with_range(t, known.get(t.name)) for t in graph.tensors.values()))


def _followed(graph: Graph, reference: str, given: _Known) -> _Known:
    """The bounds of all tensors. given: bounds of inputs, constants and states."""
    known = dict(given)
    for node in graph.nodes:
        if any(channels_of(graph.type(name)) > MAX_CHANNELS for name in node.outputs):
            known.update(dict.fromkeys(node.outputs))
            continue
        call = replace(
            graph.call(node, reference), input_range=tuple(None if n is None else known[n] for n in node.inputs)
        )
        known.update(zip(node.outputs, node.op.bounds(call), strict=True))
    return known


def _is_within(inner: Range | None, outer: Range | None) -> bool:
    """Whether all values of one range are in the other; None means any value."""
    if inner is None or outer is None:
        return outer is None
    return bool((inner.low >= outer.low).all() and (inner.high <= outer.high).all())


def _union(a: Range | None, b: Range | None) -> Range | None:
    if a is None or b is None:
        return None
    return Range(np.minimum(a.low, b.low), np.maximum(a.high, b.high))


def _with_range(tensor: Tensor, found: Range | None) -> Tensor:
    return replace(tensor, range=found)
