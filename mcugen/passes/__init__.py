"""Passes: Graph to Graph, a module each, verified after each; their order is a decision and stands here."""

from __future__ import annotations

from collections.abc import Callable

from mcugen.graph import Graph, verify
from mcugen.passes.copy_outputs import copy_outputs
from mcugen.passes.flip_unsigned import flip_unsigned
from mcugen.passes.measure_ranges import measure_ranges

Pass = Callable[[Graph, str], Graph]
"""From a graph and the runtime whose bits count to a graph of the same meaning."""

ORDER: tuple[Pass, ...] = (flip_unsigned, copy_outputs, measure_ranges)


def run(graph: Graph, reference: str) -> Graph:
    """All passes in order. Raises InternalError if one leaves an ill-formed graph."""
    for step in ORDER:
        graph = verify(step(graph, reference), f"pass {step.__name__}")
    return graph
