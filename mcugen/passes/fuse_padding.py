"""Merges padding of images into the windows that slide over them."""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch

from mcugen.ir.call import Call
from mcugen.ir.graph import Graph
from mcugen.ir.op import Op, Widths
from mcugen.ops import _filter, max_pool_2d
from mcugen.ops._weighted import window_of
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from mcugen.ops.max_pool_2d import MaxPool2D
from mcugen.ops.pad import Pad, constant_value, value_is_constant
from mcugen.passes._match import Made, Match, Pattern, rewritten

_WHY = "it only adds rows and columns around an image, with the value that its reader assumes outside the image"
_PATTERN = Pattern("window", inputs=(Pattern("pad", (Pad,)),))


def fuse_padding(graph: Graph, reference: str) -> Graph:
    """The graph without padded images, where the window that reads one can do the padding itself."""

    def fuse(match: Match) -> Made | None:
        producer, reader = match.nodes["pad"], match.nodes["window"]
        call, after = graph.call(producer, reference), graph.call(reader, reference)
        if not isinstance(producer.op, Pad) or call.input(0).quant != call.output.quant or not value_is_constant(call):
            return None
        widths = producer.op.widths
        if len(widths) != 4 or widths[0] != (0, 0) or widths[3] != (0, 0):
            return None
        op = padded(reader.op, after, (widths[1], widths[2]), constant_value(call))
        return Made((replace(reader, op=op, inputs=(producer.inputs[0], *reader.inputs[1:])),)) if op else None

    return rewritten(graph, _PATTERN, fuse, "fused paddings", _WHY)


@singledispatch
def padded(op: Op, call: Call, widths: Widths, value: int | float) -> Op | None:
    """The operator that pads by itself, for an image that is now padded with `widths` rows and columns of `value`.

    call: the present call, on the padded image. None if the operator cannot do this padding with the same bits.
    """
    return None


@padded.register(Conv2D)
@padded.register(DepthwiseConv2D)
def _(op: Conv2D | DepthwiseConv2D, call: Call, widths: Widths, value: int | float) -> Op | None:
    """The convolution pads by itself if `value` is the value that it assumes outside the image."""
    h, w = call.input(0).shape[1:3]
    window = window_of(call).around((h - sum(widths[0]), w - sum(widths[1])), widths)
    return None if window is None or value != _filter.outside(call) else replace(op, padding=window.padding)


@padded.register(MaxPool2D)
def _(op: MaxPool2D, call: Call, widths: Widths, value: int | float) -> Op | None:
    """The pooling pads by itself if `value` is the smallest integer, which never changes a maximum."""
    h, w = call.input(0).shape[1:3]
    window = op.window.around((h - sum(widths[0]), w - sum(widths[1])), widths)
    is_least = not call.input(0).is_float and value == max_pool_2d.smallest(call)
    return replace(op, padding=window.padding) if window is not None and is_least else None
