"""Fuses the sum of a convolution and another tensor into the convolution, if a device has a kernel for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from mcugen import kernels
from mcugen.ir.call import Call
from mcugen.ir.graph import Graph, Node
from mcugen.ops._residual import ResidualConv2D
from mcugen.ops._summed import SummedConv2D
from mcugen.ops.add import Add
from mcugen.ops.conv2d import Conv2D, groups_of
from mcugen.passes._match import Made, Match, Pattern, rewritten
from mcugen.passes.fuse_clamps import clamped, float_clamp

WHAT = "fused sums"
_WHY = "the convolution before it adds the other tensor before its activation"
_WHY_STORED = "the convolution before it adds the other tensor to what it would store"
_SUMS = tuple(
    Pattern("sum", (Add,), inputs)
    for inputs in ((Pattern("conv", (Conv2D,)), "other"), ("other", Pattern("conv", (Conv2D,))))
)
_CLAMP = Pattern("clamp", inputs=(Pattern("conv", (ResidualConv2D,)),))


def fuse_residuals(features: frozenset[str]) -> Callable[[Graph, str], Graph]:
    """The pass for a target with these features. It changes graphs for devices only."""

    def fuse(graph: Graph, reference: str) -> Graph:
        if not features & kernels.device_features():
            return graph

        def summed(match: Match) -> Made | None:
            conv, reader, other = match.nodes["conv"], match.nodes["sum"], match.tensors["other"]
            call = graph.call(conv, reference)
            if not _is_plain(call) or graph.type(other) != call.output or _is_known(graph, other, conv):
                return None
            bias = conv.inputs[2] if len(conv.inputs) > 2 else None
            assert isinstance(conv.op, Conv2D) and isinstance(reader.op, Add)
            op = ResidualConv2D(conv.op.stride, conv.op.dilation, conv.op.padding, reader.op.activation)
            inputs = (*conv.inputs[:2], bias, other)
            return Made((replace(conv, op=op, inputs=inputs, outputs=reader.outputs),))

        def stored(match: Match) -> Made | None:
            node = _of_stored(graph, match)
            fitting = kernels.on_device(SummedConv2D) if node else ()
            fits = node and any(not k.refusals(graph.call(node, reference), features) for k in fitting)
            return Made((node,)) if node and fits else None

        def activated(match: Match) -> Made | None:
            conv, reader = match.nodes["conv"], match.nodes["clamp"]
            limits = float_clamp(reader.op, graph.call(reader, reference))
            op = clamped(conv.op, graph.call(conv, reference), *limits) if limits else None
            return Made((replace(conv, op=op, outputs=reader.outputs),)) if op else None

        for pattern in _SUMS:
            graph = rewritten(graph, pattern, summed, WHAT, _WHY, exact=False)
            graph = rewritten(graph, pattern, stored, WHAT, _WHY_STORED)
        return rewritten(graph, _CLAMP, activated, WHAT, _WHY, exact=False)

    fuse.__name__ = fuse_residuals.__name__
    return fuse


def _of_stored(graph: Graph, match: Match) -> Node | None:
    """An int8 convolution that also adds the other tensor, if this has the shape and type of the result; else None."""
    conv, reader, other = match.nodes["conv"], match.nodes["sum"], match.tensors["other"]
    result, added = graph.type(conv.outputs[0]), graph.type(other)
    if type(conv.op) is not Conv2D or result.dtype != "s8" or _is_known(graph, other, conv):
        return None
    assert isinstance(reader.op, Add)
    op = SummedConv2D(conv.op, reader.op, result.quant, reader.inputs[0] == conv.outputs[0])
    bias = conv.inputs[2] if len(conv.inputs) > 2 else None
    node = replace(conv, op=op, inputs=(*conv.inputs[:2], bias, other), outputs=reader.outputs)
    return node if (added.shape, added.dtype) == (result.shape, result.dtype) else None


def _is_known(graph: Graph, other: str, conv: Node) -> bool:
    """Whether the other addend is a constant, or the convolution's own result."""
    return graph.tensors[other].is_constant or other in conv.outputs


def _is_plain(call: Call) -> bool:
    """Whether a convolution of floats in one group, with constant weights, has no activation."""
    constant = all(data is not None for data, t in zip(call.constants[1:], call.inputs[1:], strict=True) if t)
    plain = type(call.op) is Conv2D and call.op.activation == "NONE" and call.output.is_float
    return plain and constant and groups_of(call) == 1
