"""Writer of TensorFlow Lite: a Graph becomes a .tflite file that LiteRT and TensorFlow Lite Micro run."""

from __future__ import annotations

from dataclasses import replace

from mcugen.formats import _nodes
from mcugen.formats._halves import held
from mcugen.formats.tflite.write import _flatbuffer, _states
from mcugen.formats.tflite.write._flatbuffer import Subgraph, TfliteOperator
from mcugen.formats.tflite.write._subgraph_sink import TfliteSink
from mcugen.ir.graph import Graph

FORMAT = "tflite"
SIGNATURE = "serving_default"
"""The name of the signature, by which runtimes find inputs and outputs by name."""


def write(graph: Graph, halves: bool = False) -> bytes:
    """The bytes of a .tflite file; equal graphs give equal bytes. halves: store weights as float16 if that is exact.

    Raises one UnsupportedError that lists all nodes that the format has no operator for.
    """
    network = TfliteSink()
    values = {name: network.value(graph.type(name)) for name in graph.inputs} | _states.begin(graph, network)
    for name, tensor in graph.tensors.items():
        if tensor.data is not None:
            values[name] = network.constant_of(tensor.type, tensor.data)
    _nodes.append(graph, FORMAT, network, values, "tflm")
    further = _states.finish(graph, network, values)
    for name in (*graph.inputs, *graph.outputs, *_in_reverse(graph), *graph.tensors):
        network.label(values[name], graph.tensors[name].label or name)
    ends = [tuple(values[name] for name in names) for names in (graph.inputs, graph.outputs)]
    main = network.subgraph("main", *ends)
    return _flatbuffer.serialized([_with_halves(main) if halves else main, *further], SIGNATURE, graph.features)


def _with_halves(graph: Subgraph) -> Subgraph:
    """The network with weights as float16, each followed by a DEQUANTIZE, if float16 represents them exactly."""
    values, first = list(graph.values), []
    for k, value in enumerate(graph.values):
        narrow = held(value.data)
        if narrow is not None:
            first.append(TfliteOperator("DEQUANTIZE", 3, (len(values),), (k,), {}))
            values[k] = replace(value, data=None)
            values.append(replace(value, name=f"{value.name}_half", type=replace(value.type, dtype="f16"), data=narrow))
    return replace(graph, values=tuple(values), operators=(*first, *graph.operators))


def _in_reverse(graph: Graph) -> list[str]:
    """The results of all nodes, last node first: if several nodes have the same label, the last of them gets it."""
    return [name for node in reversed(graph.nodes) for name in node.outputs]
