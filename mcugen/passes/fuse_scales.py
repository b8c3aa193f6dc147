"""Fuses factors, addends and a clamp before a float 1x1 convolution into it, if a device has a kernel for that.

Otherwise, networks with dense blocks would read and write all joined tensors once more before each convolution.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from mcugen import kernels
from mcugen.ir.call import Call
from mcugen.ir.fixed_point import activation_bounds
from mcugen.ir.graph import Graph, Node, Tensor
from mcugen.ir.ranges import Affine
from mcugen.ir.types import TensorType
from mcugen.ops._scaled import ScaledConv2D
from mcugen.ops._weighted import window_of
from mcugen.ops.conv2d import Conv2D, groups_of
from mcugen.passes._match import Made, Match, Pattern, rewritten
from mcugen.passes.fold_factors import affine
from mcugen.passes.fuse_clamps import ACTIVATIONS, float_clamp

WHAT = "fused factors"
_WHY = "the convolution after it scales, shifts and clamps what it reads"
_CLAMPED = Pattern("conv", (Conv2D,), (Pattern("clamp", inputs=(Pattern("scale"),)),))
_SCALED = Pattern("conv", (ScaledConv2D,), (Pattern("scale"),))
_CLAMPS = {activation_bounds(name): name for name in ACTIVATIONS}


def fuse_scales(features: frozenset[str]) -> Callable[[Graph, str], Graph]:
    """The pass for a target with these features. It changes graphs for devices only."""

    def fuse(graph: Graph, reference: str) -> Graph:
        if not features & kernels.device_features():
            return graph

        def clamped(match: Match) -> Made | None:
            conv, clamp, scale = (match.nodes[name] for name in ("conv", "clamp", "scale"))
            if not _is_known(graph, conv, clamp, scale):
                return None
            limits = float_clamp(clamp.op, graph.call(clamp, reference))
            found = _affine(graph.call(scale, reference))
            if limits not in _CLAMPS or found is None or not _is_plain(graph.call(conv, reference)):
                return None
            op = conv.op
            assert isinstance(op, Conv2D) and limits is not None
            scaled_op = ScaledConv2D(op.stride, op.dilation, op.padding, op.activation, first=_CLAMPS[limits])
            return _made(graph, replace(conv, op=scaled_op), scale, found)

        def scaled(match: Match) -> Made | None:
            conv, scale = match.nodes["conv"], match.nodes["scale"]
            if not _is_known(graph, conv, scale):
                return None
            first, then = _affine(graph.call(scale, reference)), graph.call(conv, reference).constants[3:]
            if first is None or then[0] is None or then[1] is None:
                return None
            found = Affine(first.factor * then[0], first.addend * then[0] + then[1])
            return _made(graph, conv, scale, found) if found.is_finite else None

        graph = rewritten(graph, _CLAMPED, clamped, WHAT, _WHY, exact=False)
        before = None
        while graph is not before:
            before = graph
            graph = rewritten(graph, _SCALED, scaled, WHAT, _WHY, exact=False)
        return graph

    fuse.__name__ = fuse_scales.__name__
    return fuse


def _is_known(graph: Graph, *nodes: Node) -> bool:
    """Whether all operands of the nodes are in the graph. New constants of the same round are not."""
    return all(name is None or name in graph.tensors for node in nodes for name in node.inputs)


def _made(graph: Graph, conv: Node, scale: Node, found: Affine) -> Made:
    """The convolution on the operand of the scaling node, with its factors and addends."""
    operand = next(name for name in scale.inputs if name is not None and not graph.tensors[name].is_constant)
    parts = (("factors", found.factor), ("addends", found.addend))
    tensors = [
        Tensor(f"{scale.outputs[0]}_{kind}", TensorType(data.shape, "f32"), data.astype(np.float32))
        for kind, data in parts
    ]
    bias = conv.inputs[2] if len(conv.inputs) > 2 else None
    return Made((replace(conv, inputs=(operand, conv.inputs[1], bias, *(t.name for t in tensors))),), tuple(tensors))


def _affine(call: Call) -> Affine | None:
    """The factors and addends per channel of a node; None if it does anything else."""
    found = affine(call.op, call) if call.output.is_float and len(call.outputs) == 1 else None
    shape = call.output.shape[-1:]
    if found is None or not found.is_finite or not shape:
        return None
    return Affine(*(np.broadcast_to(np.reshape(v, -1), shape) for v in (found.factor, found.addend)))


def _is_plain(call: Call) -> bool:
    """Whether a call is a 1x1 float convolution in one group, with constant weights."""
    constant = all(data is not None for data, t in zip(call.constants[1:], call.inputs[1:], strict=True) if t)
    window = window_of(call)
    point = window.kernel == (1, 1) and window.stride == (1, 1) and not window.leaves(call.input(0).shape)
    return type(call.op) is Conv2D and constant and point and call.output.is_float and groups_of(call) == 1
