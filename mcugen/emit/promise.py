"""Promise on results printed into emitted files: equal bits for integers, a tolerance for floats."""

from __future__ import annotations

from mcugen.graph import Graph
from mcugen.reference import FLOAT_TOLERANCE, HALF_TOLERANCE, tolerance_text

REFERENCE_TITLES = {"tflm": "TensorFlow Lite Micro", "litert": "LiteRT's reference kernels", "ort": "ONNX Runtime"}


def promise(graph: Graph, reference: str) -> str:
    """How the results of a graph relate to those of the runtime `reference`, as a sentence."""
    computed = {name for node in graph.nodes for name in node.outputs}
    floats = [graph.type(name).is_float for name in computed or graph.outputs]
    title = REFERENCE_TITLES[reference]
    if not any(floats):
        return f"Computes the same bits as {title}."
    tolerance = tolerance_text(HALF_TOLERANCE if graph.stores_halves else FLOAT_TOLERANCE)
    near = f"within {tolerance} of {title}, relative to the magnitude of the sums."
    return f"Computes results {near}" if all(floats) else f"Computes integers with the bits of {title}; floats {near}"
