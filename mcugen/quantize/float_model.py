"""The float network to be quantized: read, checked, and simplified as for a build."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from mcugen import passes
from mcugen.errors import UnsupportedError, UsageError
from mcugen.formats import read, registry
from mcugen.ir.graph import Graph, Node
from mcugen.ir.types import Shape
from mcugen.passes import layouts
from mcugen.passes.fold_gammas import fold_gammas
from mcugen.passes.integer_softmax_form import integer_softmax_form
from mcugen.passes.join_functions import join_functions
from mcugen.passes.join_norms import join_norms
from mcugen.passes.join_resizing import join_resizing
from mcugen.passes.multiply_instead import multiply_instead
from mcugen.passes.unpack_blocks import unpack_blocks
from mcugen.passes.weigh_lines import weigh_lines
from mcugen.quantize.recipe import Widths

REFERENCE = "tflm"
"""The runtime in whose arithmetic a quantization is solved and judged."""

_SHOWN, _BYTE = 6, 8


def load(path: Path, shapes: Mapping[str, Shape] = MappingProxyType({}), signature: str = "") -> Graph:
    """The network of a model file, unchanged.

    Raises UsageError if the network is quantized, UnsupportedError if it has states, and all errors of `read.load`.
    """
    graph = read.load(path, registry.load(()), shapes, signature)
    stored = [t for t in graph.tensors.values() if t.type.quant is not None]
    if stored:
        name = stored[0].label or stored[0].name
        raise UsageError(
            f"{path.name} is quantized already: {name!r} is {stored[0].type}",
            hint="give the float model that it was made from; `mcugen build` takes the quantized one as it is",
        )
    if graph.states:
        raise UnsupportedError(
            f"{path.name} keeps values from run to run, but samples are independent of each other",
            hint="export its states as inputs and outputs of the model, and name these by --state",
        )
    return graph


def prepared(
    graph: Graph,
    input_layout: str,
    output_layout: str,
    *,
    all_channels: bool = False,
    file_format: str = "tflite",
    activations: int = 8,
) -> Graph:
    """The network after the passes of a build, with its interface in these layouts ("" for the file's).

    all_channels: do not remove constant channels. file_format: of the file to write. In .onnx, a function of one tensor
    is one operator, and so is a softmax with its mask; .tflite has no operators for that. activations: bits.
    """
    turned = layouts.applied(unpack_blocks(graph, REFERENCE), input_layout, output_layout, read.layout(graph.format))
    simple = passes.simplified(turned, REFERENCE, all_channels=all_channels)
    simple = multiply_instead(weigh_lines(join_resizing(simple, REFERENCE), REFERENCE), REFERENCE)
    if file_format == "tflite":
        return integer_softmax_form(simple, REFERENCE, masked_only=True)
    return _joined(simple, wide=activations > _BYTE)


def _joined(simple: Graph, *, wide: bool = False) -> Graph:
    """The network with softmaxes, normalizations and functions of one tensor as single operators of integers.

    wide: of softmaxes only those with masks; the others are TensorFlow Lite's on int16.
    """
    masked = integer_softmax_form(simple, REFERENCE, masked_only=wide)
    return join_functions(fold_gammas(join_norms(masked, REFERENCE), REFERENCE), REFERENCE)


def require_integers(simple: Graph, widths: Widths, file_format: str = "tflite") -> None:
    """Raise UnsupportedError that lists the operators without an integer form in the format of the file to write."""
    refusals = [*dict.fromkeys(text for node in simple.nodes if (text := _refusal(simple, node, widths, file_format)))]
    if refusals:
        more = f"\n  and {len(refusals) - _SHOWN} more" if len(refusals) > _SHOWN else ""
        raise UnsupportedError(
            "these operators cannot be quantized:\n  " + "\n  ".join(refusals[:_SHOWN]) + more,
            hint=_way(simple, widths, file_format),
        )


def needs_onnx(simple: Graph, widths: Widths) -> bool:
    """Whether an .onnx can hold the integer form of a network prepared for .tflite, and a .tflite cannot."""
    other = _joined(simple)
    lacking = any(_refusal(simple, node, widths, "tflite") for node in simple.nodes)
    return lacking and not any(_refusal(other, node, widths, "onnx") for node in other.nodes)


def _way(simple: Graph, widths: Widths, file_format: str) -> str:
    """Hint for a network with operators that have no integer form in a format."""
    if not any(node.op.macs(simple.call(node, REFERENCE)) for node in simple.nodes):
        return "no layer multiplies, so integers would gain nothing: `mcugen build` the file as it is, not quantized"
    if file_format == "tflite" and needs_onnx(simple, widths):
        return "write an .onnx: unlike .tflite, it can hold their integer forms"
    return "export the model without them and compute them in the calling code, or keep the model in floats"


def _refusal(graph: Graph, node: Node, widths: Widths, file_format: str) -> str:
    """Reason why a node has no integer form; "" if it has one, or computes no floats."""
    names = (*node.inputs, *node.outputs)
    if not any(name is not None and graph.type(name).is_float for name in names):
        return ""
    rule = node.op.quantized(graph.call(node, REFERENCE))
    place = f"{type(node.op).__name__} ({node.source or node.name})"
    if rule.kind == "refused":
        return f"{place}: {rule.why}"
    if rule.apart and file_format == "tflite":
        return f"{place}: {rule.apart}"
    bits = widths.of_data(node.name)
    return "" if bits in rule.widths else f"{place}: there is no kernel for activations of {bits} bits"
