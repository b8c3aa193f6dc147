"""Inputs and outputs in the layout that the user requests: images with channels last (nhwc) or first (nchw).

The layout in the model file follows from the operators on images that an input or output leads to. If the user requests
the other layout, the input or output gets a transpose. `follow_orders` then tries to store tensors in that order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from mcugen.ir.graph import Graph, Node, Tensor, verify
from mcugen.ir.types import Shape, TensorType
from mcugen.ops.reshape import Reshape
from mcugen.ops.transpose import Transpose
from mcugen.options import LAYOUTS

NHWC, NCHW = LAYOUTS
_Axes = tuple[int | None, ...]
"""For each axis of a tensor, the axis of the input or output; None for an axis of size 1 that it does not have."""


def applied(graph: Graph, inputs: str, outputs: str, own: str) -> Graph:
    """The imported graph with inputs and outputs in the requested layouts; "" keeps the file's.

    own: the layout of the file format, for tensors of rank 4 that lead to no operator on images.
    """
    if not (inputs or outputs):
        return graph
    turned = {name: perm for name in graph.inputs if (perm := _perm(graph, name, inputs, own, _read_as(graph, name)))}
    turned |= {
        name: perm for name in graph.outputs if (perm := _perm(graph, name, outputs, own, _made_as(graph, name)))
    }
    if not turned:
        return graph
    changed = _turned(graph, turned)
    return verify(changed, "layouts of the interface")


def in_interface(graph: Graph, names: Sequence[str], arrays: Iterable[np.ndarray]) -> list[np.ndarray]:
    """Arrays converted from the file's layouts to the requested ones. names: the inputs or outputs that they
    belong to.
    """
    perms = (graph.layouts.get(name) for name in names)
    return [a if p is None else np.ascontiguousarray(a.transpose(p)) for a, p in zip(arrays, perms, strict=True)]


def in_file(graph: Graph, names: Sequence[str], arrays: Iterable[np.ndarray]) -> list[np.ndarray]:
    """Arrays converted from the requested layouts to the file's. names: the inputs or outputs that they belong to."""
    perms = (graph.layouts.get(name) for name in names)
    pairs = zip(arrays, perms, strict=True)
    return [a if p is None else np.ascontiguousarray(a.transpose(np.argsort(p))) for a, p in pairs]


def _perm(graph: Graph, name: str, asked: str, own: str, channels: int | None) -> tuple[int, ...] | None:
    """The permutation from the file's axes to the requested ones; None if they are equal, or the tensor is not an
    image.

    channels: the axis of the channels; None if it is not known.
    """
    shape = graph.type(name).shape
    rank = len(shape)
    if not asked or (channels is None and rank != 4) or not 3 <= rank <= 5:
        return None
    if channels is None:
        channels = rank - 1 if own == NHWC else 1
    wanted = rank - 1 if asked == NHWC else 1
    if channels == wanted or channels not in (1, rank - 1):
        return None
    spatial = [k for k in range(1, rank) if k != channels]
    return (0, *spatial, channels) if wanted == rank - 1 else (0, channels, *spatial)


def _read_as(graph: Graph, name: str) -> int | None:
    """The axis of an input that operators on images read as channels; None if there is no such operator."""
    known: dict[str, _Axes] = {name: tuple(range(len(graph.type(name).shape)))}
    for node in graph.nodes:
        read = node.inputs[0] if node.inputs else None
        if read not in known or read is None:
            continue
        axes = known[read]
        if node.op.takes_images:
            return axes[-1] if len(axes) == 4 else None
        after = _through(graph, node, read, node.outputs[0], axes)
        if after is not None:
            known[node.outputs[0]] = after
    return None


def _made_as(graph: Graph, name: str) -> int | None:
    """The axis of an output that operators on images write as channels; None if there is no such operator."""
    makers = {result: node for node in graph.nodes for result in node.outputs}
    axes: _Axes | None = tuple(range(len(graph.type(name).shape)))
    while axes is not None:
        node = makers.get(name)
        read = next(_computed(graph, node), None) if node is not None else None
        if node is None or read is None:
            return None
        if node.op.takes_images:
            return axes[-1] if len(axes) == 4 else None
        axes, name = _back(graph, node, read, name, axes), read
    return None


def _computed(graph: Graph, node: Node) -> Iterator[str]:
    yield from (name for name in node.inputs if name is not None and not graph.tensors[name].is_constant)


def _through(graph: Graph, node: Node, read: str, result: str, axes: _Axes) -> _Axes | None:
    """The axes of a result, given those of its operand; None if they do not correspond."""
    if isinstance(node.op, Transpose):
        return tuple(axes[k] for k in node.op.perm)
    return _matched(graph.type(read).shape, graph.type(result).shape, axes, reshaped=isinstance(node.op, Reshape))


def _back(graph: Graph, node: Node, read: str, result: str, axes: _Axes) -> _Axes | None:
    """The axes of an operand, given those of its result; None if they do not correspond."""
    if isinstance(node.op, Transpose):
        perm = [k % len(axes) for k in node.op.perm]
        return tuple(axes[perm.index(k)] for k in range(len(axes)))
    return _matched(graph.type(result).shape, graph.type(read).shape, axes, reshaped=isinstance(node.op, Reshape))


def _matched(source: Shape, target: Shape, axes: _Axes, *, reshaped: bool) -> _Axes | None:
    """The axes of a tensor of shape `target`, given those of a tensor of shape `source`; None if they do not
    correspond.

    reshaped: whether a reshape is between them, which may add and drop axes of size 1. Other operators keep the rank.
    """
    if not reshaped:
        return axes if len(source) == len(target) else None
    found: list[int | None] = []
    k = 0
    for size in target:
        while k < len(source) and source[k] == 1 != size:
            k += 1
        if k < len(source) and source[k] == size:
            found.append(axes[k])
            k += 1
        elif size == 1:
            found.append(None)
        else:
            return None
    return tuple(found) if all(size == 1 for size in source[k:]) else None


def _turned(graph: Graph, perms: Mapping[str, tuple[int, ...]]) -> Graph:
    """The graph with transposes between its inputs and outputs and the file's tensors."""
    names = {name: f"{name}_given" for name in perms}
    tensors = [_in_order(graph.tensors[name], names[name], perm) for name, perm in perms.items()]
    before, after = [], []
    for name, perm in perms.items():
        where = f"layout of {graph.tensors[name].label or name!r}"
        if name in graph.inputs:
            back = tuple(int(k) for k in np.argsort(perm))
            before.append(Node(f"layout_{name}", Transpose(back), (names[name],), (name,), where))
        else:
            after.append(Node(f"layout_{name}", Transpose(perm), (name,), (names[name],), where))
    changed = graph.updated(
        tensors=tensors,
        nodes=(*before, *graph.nodes, *after),
        inputs=tuple(names.get(name, name) for name in graph.inputs),
        outputs=tuple(names.get(name, name) for name in graph.outputs),
    )
    layouts = {names[name]: perm for name, perm in perms.items()}
    return replace(changed, layouts=layouts, notes=(*graph.notes, *_notes(changed, layouts)))


def _in_order(tensor: Tensor, name: str, perm: Sequence[int]) -> Tensor:
    t = tensor.type
    return replace(tensor, name=name, type=TensorType(tuple(t.shape[k] for k in perm), t.dtype, t.quant))


def _notes(graph: Graph, names: Iterable[str]) -> Iterator[str]:
    for name in names:
        kind = "input" if name in graph.inputs else "output"
        yield f"{kind} {graph.tensors[name].label or name!r} is {list(graph.type(name).shape)} in the layout asked for"
