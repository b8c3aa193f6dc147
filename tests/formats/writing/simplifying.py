# SPDX-License-Identifier: Apache-2.0
"""Graphs as they are given to writers: after the passes that are the same for any core."""

from __future__ import annotations

from mcugen import passes
from mcugen.ir.graph import Graph


def simplified(graph: Graph) -> Graph:
    """The graph in the orders that its operators work in, without what can be left out."""
    name = "ort" if graph.format == "onnx" else "litert"
    graph = passes.follow_orders(passes.with_origins(graph), name)
    while True:
        before = graph
        for step in passes.simplifying():
            graph = step(graph, name)
        if graph is before:
            return graph
