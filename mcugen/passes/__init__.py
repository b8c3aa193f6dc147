"""Passes: Graph to Graph, a module each, verified after each; their order is a decision and stands here."""

from __future__ import annotations

from collections.abc import Callable

from mcugen.graph import Graph, verify
from mcugen.passes.copy_outputs import copy_outputs
from mcugen.passes.flip_unsigned import flip_unsigned

ORDER: tuple[Callable[[Graph], Graph], ...] = (flip_unsigned, copy_outputs)


def run(graph: Graph) -> Graph:
    """All passes in order. Raises InternalError if one leaves an ill-formed graph."""
    for step in ORDER:
        graph = verify(step(graph), f"pass {step.__name__}")
    return graph
