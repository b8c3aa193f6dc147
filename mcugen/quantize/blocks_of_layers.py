"""Layers whose weights of 4 bits get a scale for each block of weights."""

from __future__ import annotations

from mcugen.errors import UsageError
from mcugen.ir.graph import Graph, Node
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.fully_connected import FullyConnected
from mcugen.quantize.layer_bits import label_of
from mcugen.quantize.layers import is_constant
from mcugen.quantize.recipe import Widths

_FEW_BITS = 4
_SHOWN = 4


def block_of(graph: Graph, node: Node, widths: Widths) -> int:
    """The weights of a block of a layer; 0 if its weights have a scale for each output alone.

    Only layers of 4 bits have blocks, if these divide the weights of an output, and are no convolutions with several
    groups.
    """
    if not widths.block or widths.of_weights(node.name) != _FEW_BITS:
        return 0
    if not isinstance(node.op, Conv2D | FullyConnected):
        return 0
    x, w = (graph.type(str(name)) for name in node.inputs[:2])
    able = is_constant(graph, node) and (isinstance(node.op, FullyConnected) or x.shape[-1] == w.shape[-1])
    return widths.block if able and w.size // w.shape[0] % widths.block == 0 else 0


def blocks_of(graph: Graph, widths: Widths, file_format: str) -> tuple[str, ...]:
    """A note that names the layers of 4 bits without blocks, if blocks are asked for and there are such layers.

    Raises UsageError if no layer can have them, or the format of the file cannot.
    """
    if not widths.block:
        return ()
    if file_format != "onnx":
        what = "a .tflite that runtimes compute on int8 data has no weights in blocks"
        raise UsageError(what, where="--block", hint="write an .onnx")
    layers = [n for n in graph.nodes if n.op.weight_operands and widths.of_weights(n.name) == _FEW_BITS]
    without = [label_of(graph, n.name) for n in layers if not block_of(graph, n, widths)]
    if len(without) == len(layers):
        sizes = sorted({t.size // t.shape[0] for n in layers for t in [graph.type(str(n.inputs[1]))] if t.shape})
        what = f"blocks of {widths.block} divide the weights of no layer: an output has {', '.join(map(str, sizes))}"
        raise UsageError(what, where="--block", hint="leave --block out: each output then has a scale")
    if not without:
        return ()
    more = f" and {len(without) - _SHOWN} more" if len(without) > _SHOWN else ""
    return (f"a scale for each output, no blocks, have: {', '.join(without[:_SHOWN])}{more}",)
