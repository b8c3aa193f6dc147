"""Convolutions of images that were split into batches become dilated convolutions of whole images.

Exporters write a dilated convolution as SPACE_TO_BATCH, a convolution and BATCH_TO_SPACE: every b-th pixel becomes part
of an image of its own. Imported, these are reshapes and transposes ("views"). The pass recognises them by where they
move each element, whatever nodes they consist of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mcugen.ir.graph import Graph, Node, Tensor
from mcugen.ir.op import Widths
from mcugen.ir.types import Shape, TensorType
from mcugen.ops import _filter
from mcugen.ops._weighted import window_of
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from mcugen.ops.pad import Pad, constant_value, value_is_constant
from mcugen.ops.reshape import Reshape
from mcugen.ops.strided_slice import StridedSlice
from mcugen.ops.transpose import Transpose

_WHY = "a dilated convolution computes the same of the whole image"
_MOST_VIEWS = 6
_MOST_ELEMENTS = 1 << 22
_NONE: Widths = ((0, 0), (0, 0))
_Pair = tuple[int, int]


@dataclass(frozen=True)
class _Apart:
    """A convolution with the views that split its image and those that merge its result, both nearest first.

    block: distance in rows and columns between the pixels that form an image. lone: the axis of size 1 that the tensors
    before and after the views do not have, or None.
    """

    conv: Node
    before: Sequence[Node]
    after: Sequence[Node]
    block: _Pair
    lone: int | None


class _Places:
    """The producer and the readers of each tensor of a graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.makers = {name: node for node in graph.nodes for name in node.outputs}
        self.reads = Counter(name for node in graph.nodes for name in node.inputs if name is not None)
        self.reads.update(graph.kept)
        self.readers = {name: node for node in graph.nodes for name in node.inputs if name is not None}

    def before(self, name: str | None) -> Iterator[Node]:
        """The views that lead to a tensor, nearest first, up to the first whose result has other readers."""
        for _ in range(_MOST_VIEWS):
            node = self.makers.get(str(name))
            if node is None or self.reads[str(name)] != 1 or not isinstance(node.op, Reshape | Transpose):
                return
            yield node
            name = node.inputs[0]

    def sole_reader(self, name: str) -> Node | None:
        return self.readers.get(name) if self.reads[name] == 1 else None

    def after(self, name: str) -> Iterator[Node]:
        """The views of a tensor, nearest first, each the only reader of its operand."""
        for _ in range(_MOST_VIEWS):
            node = self.sole_reader(name)
            if node is None or not isinstance(node.op, Reshape | Transpose):
                return
            yield node
            name = node.outputs[0]


def fold_batches(graph: Graph, reference: str) -> Graph:
    """The graph with dilated convolutions in place of convolutions of split images."""
    places = _Places(graph)
    for node in graph.nodes:
        found = _apart(places, node, reference)
        if found is not None:
            return fold_batches(_folded(places, found, reference), reference)
    return graph


def _apart(places: _Places, node: Node, reference: str) -> _Apart | None:
    if not isinstance(node.op, Conv2D | DepthwiseConv2D) or node.op.stride != (1, 1):
        return None
    graph, call = places.graph, places.graph.call(node, reference)
    x, y = call.input(0), call.output
    if max(x.size, y.size) > _MOST_ELEMENTS or window_of(call).leaves(x.shape):
        return None
    views = list(places.before(node.inputs[0]))
    for k in range(1, len(views) + 1):
        block = _block(graph, views[:k], x.shape)
        if block is None:
            continue
        readers = list(places.after(node.outputs[0]))
        for j in range(1, len(readers) + 1):
            outside = graph.type(str(views[k - 1].inputs[0])).shape, graph.type(readers[j - 1].outputs[0]).shape
            lone = _lone(outside, x.shape)
            if lone != 0 and _joins(graph, readers[:j], y.shape, block):
                return _Apart(node, views[:k], readers[:j], block, lone)
    return None


def _lone(outside: tuple[Shape, Shape], image: Shape) -> int | None:
    """The axis of size 1 that the outer tensors do not have; None if they have four axes, 0 if their shapes do
    not fit.
    """
    ranks = {len(shape) for shape in outside}
    if ranks == {4}:
        return None
    return 0 if ranks != {3} or 1 not in image[1:3] else 1 + image[1:3].index(1)


def _block(graph: Graph, views: Sequence[Node], image: Shape) -> _Pair | None:
    """The block (rows, columns) whose pixels the views move to separate images; None if they do anything else."""
    whole = graph.type(str(views[-1].inputs[0])).shape
    if len(whole) not in (3, 4) or whole[-1] != image[3]:
        return None
    sizes = whole[1:3] if len(whole) == 4 else ((1, whole[1]) if image[1] == 1 else (whole[1], 1))
    (h, w), c = image[1:3], image[3]
    block = sizes[0] // h, sizes[1] // w
    if block == (1, 1) or sizes != (h * block[0], w * block[1]) or whole[0] * block[0] * block[1] != image[0]:
        return None
    found = np.arange(np.prod(whole)).reshape(whole)
    for node in reversed(views):
        found = np.asarray(node.op.reference(found))
    wanted = np.arange(found.size).reshape(whole[0], h, block[0], w, block[1], c).transpose(2, 4, 0, 1, 3, 5)
    return block if np.array_equal(found.reshape(-1), wanted.reshape(-1)) else None


def _joins(graph: Graph, views: Sequence[Node], image: Shape, block: _Pair) -> bool:
    """Whether the views move the separate images back to the pixels of blocks."""
    n, h, w, c = image
    found = np.arange(np.prod(image)).reshape(image)
    for node in views:
        found = np.asarray(node.op.reference(found))
    parts = np.arange(found.size).reshape(*block, n // (block[0] * block[1]), h, w, c)
    return found.shape[-1] == c and np.array_equal(found.reshape(-1), parts.transpose(2, 3, 0, 4, 1, 5).reshape(-1))


def _folded(places: _Places, found: _Apart, reference: str) -> Graph:
    """The graph with a convolution of the whole image."""
    graph, op = places.graph, found.conv.op
    x, y = str(found.before[-1].inputs[0]), found.after[-1].outputs[0]
    gone = [*found.before, found.conv, *found.after]
    around = _around(places, found, x, y, reference)
    if around is not None:
        x, y, widths, ends = around
        gone += ends
    assert isinstance(op, Conv2D | DepthwiseConv2D)
    dilation = op.dilation[0] * found.block[0], op.dilation[1] * found.block[1]
    dilated = replace(op, dilation=dilation, padding=widths if around is not None else _NONE)
    nodes, tensors = _nodes(graph, replace(found.conv, op=dilated), x, y, found.lone)
    names = {node.name for node in gone}
    last = max(k for k, node in enumerate(graph.nodes) if node.name in names)
    kept = [n for n in graph.nodes[:last] if n.name not in names]
    lost = [name for node in gone for name in node.outputs if name != y]
    removed = graph.removals(lost, "dilated convolutions", _WHY)
    return graph.updated(tensors=tensors, nodes=(*kept, *nodes, *graph.nodes[last + 1 :]), removed=removed)


def _around(
    places: _Places, found: _Apart, x: str, y: str, reference: str
) -> tuple[str, str, Widths, list[Node]] | None:
    """(operand before the padding, result after the crop, remaining padding, nodes to remove).

    None if there is no padding and no crop, or if the remaining padding is negative or too wide.
    """
    graph, widths, crop = places.graph, _NONE, _NONE
    ends: list[Node] = []
    maker, reader = places.makers.get(x), places.sole_reader(y)
    if maker is not None and places.reads[x] == 1 and isinstance(maker.op, Pad):
        call = graph.call(maker, reference)
        given = _spatial(maker.op.widths, found.lone)
        outside = _filter.outside(graph.call(found.conv, reference))
        same = call.input(0).quant == call.output.quant and value_is_constant(call)
        if given is not None and same and constant_value(call) == outside:
            x, widths, ends = str(maker.inputs[0]), given, [maker]
    if reader is not None and isinstance(reader.op, StridedSlice):
        shape = graph.type(y).shape
        cut = tuple((a, d - a - n) for (a, n, step), d in zip(reader.op.ranges, shape, strict=True) if step == 1)
        stays = graph.type(reader.outputs[0]).shape == tuple(n for _, n, _ in reader.op.ranges)
        given = _spatial(cut, found.lone) if stays and len(cut) == len(shape) else None
        if given is not None:
            y, crop, ends = reader.outputs[0], given, [*ends, reader]
    left = tuple((p[0] - c[0], p[1] - c[1]) for p, c in zip(widths, crop, strict=True))
    call = graph.call(found.conv, reference)
    dilation = window_of(call).dilation
    extents = [(k - 1) * d * b + 1 for k, d, b in zip(window_of(call).kernel, dilation, found.block, strict=True)]
    if not ends or any(not 0 <= v < extents[d] for d in (0, 1) for v in left[d]):
        return None
    return x, y, (left[0], left[1]), ends


def _spatial(widths: Sequence[_Pair], lone: int | None) -> Widths | None:
    """The padding of rows and columns; None if other axes are padded."""
    given = [*widths]
    if lone is not None:
        given.insert(lone, (0, 0))
    if len(given) != 4 or given[0] != (0, 0) or given[3] != (0, 0):
        return None
    return given[1], given[2]


def _nodes(graph: Graph, conv: Node, x: str, y: str, lone: int | None) -> tuple[list[Node], list[Tensor]]:
    """The nodes and tensors of the convolution from x to y, with reshapes if x and y have only three axes."""
    if lone is None:
        return [replace(conv, inputs=(x, *conv.inputs[1:]), outputs=(y,))], []
    image, result = f"{x}_image", f"{y}_image"
    tensors = [_with_axis(graph.tensors[name], new, lone) for name, new in ((x, image), (y, result))]
    return [
        Node(f"{conv.name}_image", Reshape(tensors[0].type.shape), (x,), (image,)),
        replace(conv, inputs=(image, *conv.inputs[1:]), outputs=(result,)),
        Node(f"{conv.name}_result", Reshape(graph.type(y).shape), (result,), (y,)),
    ], tensors


def _with_axis(tensor: Tensor, name: str, axis: int) -> Tensor:
    t = tensor.type
    shape = (*t.shape[:axis], 1, *t.shape[axis:])
    return Tensor(name, TensorType(shape, t.dtype, t.quant), label=tensor.label, origin=tensor.origin)
