"""Chooses a kernel for every node and the order of rows, and says why."""

from __future__ import annotations

from mcugen.graph import Graph
from mcugen.options import Options
from mcugen.select import solver
from mcugen.select.budget import Solution, ranges
from mcugen.select.candidates import menus_of
from mcugen.select.solver import front
from mcugen.target import Target

__all__ = ["Solution", "front", "menus_of", "ranges", "solve"]


def solve(graph: Graph, target: Target, options: Options) -> Solution:
    """A planned schedule with one kernel per node. Raises NoKernelError that lists every node without one."""
    return solver.solve(graph, menus_of(graph, target, options), options, target)
