"""Bit widths that the runtimes have kernels for."""

from __future__ import annotations

import numpy as np

from mcugen.errors import UsageError
from mcugen.ir.graph import Graph
from mcugen.quantize.float_values import FloatRun
from mcugen.quantize.layer_bits import label_of
from mcugen.quantize.recipe import Recipe, Widths, weights_in_words
from mcugen.quantize.solve import solved

RUNTIMES = ("tflm", "litert")


def refused(floats: FloatRun, widths: Widths) -> dict[str, str]:
    """Nodes that no runtime can run with these bits, each with the reason."""
    one = floats.part(np.arange(1))
    reasons = [reasons_of(solved(one, Recipe(), widths), runtime) for runtime in RUNTIMES]
    return {name: why for name, why in reasons[0].items() if name in reasons[1]}


def reasons_of(graph: Graph, runtime: str) -> dict[str, str]:
    """Nodes of an integer network that a runtime cannot run, each with the reason."""
    found = {n.name: n.op.refused_by(graph.call(n, runtime), runtime) for n in graph.nodes}
    return {name: why for name, why in found.items() if why}


def require_offered(floats: FloatRun, widths: Widths) -> None:
    """Raise UsageError if no runtime can run a layer with the user's bits for it."""
    if widths == Widths():
        return
    graph, reference = floats.graph, floats.reference
    known = {n.name for n in graph.nodes if not n.op.quantized(graph.call(n, reference)).apart}  # others are mcugen's
    for name, why in refused(floats, widths).items():
        if name in known:
            bits = f"{weights_in_words(widths.of_weights(name))} and data of {widths.of_data(name)}"
            what = f"no runtime has a kernel for {bits}: {why}"
            raise UsageError(what, where=label_of(floats.graph, name), hint="give this layer other bits")
