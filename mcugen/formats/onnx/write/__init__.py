"""Writer of ONNX: a Graph becomes an .onnx file, with QuantizeLinear and DequantizeLinear around quantized operators.

Operators on images are written with channels first; the pass `follow_orders` finds the order of all other tensors.
"""

from __future__ import annotations

from mcugen.errors import UnsupportedError
from mcugen.formats import _nodes
from mcugen.formats.onnx.write import _model_proto
from mcugen.formats.onnx.write._graph_sink import OnnxSink
from mcugen.ir.graph import Graph, verify
from mcugen.passes.follow_orders import follow_orders

FORMAT = "onnx"
_REFERENCE = "ort"


def write(graph: Graph, halves: bool = False) -> bytes:
    """The bytes of an .onnx file; equal graphs give equal bytes. halves: store weights as float16 if that is exact.

    Raises one UnsupportedError that lists all nodes that the format has no operator for.
    """
    if graph.states:
        named = ", ".join(repr(graph.tensors[s.before].label or s.before) for s in graph.states)
        raise UnsupportedError(
            f"states, which are kept from run to run, cannot be written as .onnx: {named}",
            hint="build C from the model as it is",
        )
    network = OnnxSink()
    values = {name: network.value(graph.type(name)) for name in graph.inputs}
    for name, tensor in graph.tensors.items():
        if tensor.data is not None:
            values[name] = network.constant_of(tensor.type, tensor.data)
    _nodes.append(graph, FORMAT, network, values, _REFERENCE)
    for name in (*graph.inputs, *graph.outputs, *graph.tensors):
        network.label(values[name], graph.tensors[name].label or name)
    ends = [tuple(values[name] for name in names) for names in (graph.inputs, graph.outputs)]
    labels = [tuple(graph.tensors[name].label or name for name in names) for names in (graph.inputs, graph.outputs)]
    made = verify(follow_orders(network.graph(graph.name, *ends), _REFERENCE), "written as .onnx")
    steps = not any(getattr(node.op, "rounding", "") for node in graph.nodes)  # those define int16 otherwise
    return _model_proto.serialized(made, labels[0], labels[1], halves, steps)
