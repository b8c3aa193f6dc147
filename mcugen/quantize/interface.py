"""Interface of a quantized network: stored integers, or floats that are quantized and dequantized inside."""

from __future__ import annotations

from dataclasses import replace

from mcugen.ir.graph import Graph, Node, Tensor
from mcugen.ir.types import TensorType
from mcugen.ops.dequantize import Dequantize
from mcugen.ops.quantize import Quantize


def with_floats(graph: Graph) -> Graph:
    """The network with float inputs and outputs in place of quantized ones."""
    tensors: dict[str, Tensor] = {}
    first, last = [], []
    inputs, outputs = list(graph.inputs), list(graph.outputs)
    for k, name in enumerate(graph.inputs):
        t = graph.tensors[name]
        if t.type.quant is not None:
            inputs[k] = f"{name}@given"
            tensors[inputs[k]] = Tensor(inputs[k], _float(t), None, t.label, t.origin)
            tensors[name] = replace(t, label=f"{t.label}_quantized")
            first.append(Node(f"quantize_{inputs[k]}", Quantize(t.type.dtype), (inputs[k],), (name,), "interface"))
    for k, name in enumerate(graph.outputs):
        t = graph.tensors[name]
        if t.type.quant is not None:
            outputs[k] = f"{name}@returned"
            tensors[outputs[k]] = Tensor(outputs[k], _float(t), None, t.label, t.origin)
            tensors.setdefault(name, replace(t, label=f"{t.label}_quantized"))
            last.append(Node(f"dequantize_{outputs[k]}", Dequantize(), (name,), (outputs[k],), "interface"))
    nodes = (*first, *graph.nodes, *last)
    return graph.updated(tensors=tensors.values(), nodes=nodes, inputs=tuple(inputs), outputs=tuple(outputs))


def _float(t: Tensor) -> TensorType:
    return TensorType(t.type.shape, "f32")
