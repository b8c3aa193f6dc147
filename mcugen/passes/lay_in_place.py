"""Joins and splits without copies: parts are written directly to, or read directly from, their bytes of the whole.

If a join has more parts than kernels have arguments, parts that cannot lie inside the whole are copied one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import singledispatch

from mcugen import kernels
from mcugen.ir.call import Call
from mcugen.ir.graph import Graph, Node, Tensor
from mcugen.ir.kernel import Alias, Join, Kernel
from mcugen.ir.op import Op
from mcugen.kernels import halves
from mcugen.ops import _strided, _view, concatenation, pack, split, unpack
from mcugen.ops.concatenation import Concatenation
from mcugen.ops.copy import Copy
from mcugen.ops.pack import Pack
from mcugen.ops.split import Split
from mcugen.ops.strided_slice import StridedSlice
from mcugen.ops.unpack import Unpack
from mcugen.passes._runs import Runs

DEVICE_ALIGN = 16
"""Alignment of tensors that OpenCL kernels rely on, in bytes: they read four floats at once."""


MAX_COPIES = 1
"""Most operands of a join along the last axis that are copied separately. With more, one kernel for all is faster."""


def lay_in_place(features: frozenset[str]) -> Callable[[Graph, str], Graph]:
    """The pass for a core or a device with these features."""

    def lay_in_place(graph: Graph, reference: str) -> Graph:
        """The graph with parts placed inside joined tensors; operands of joins that cannot be placed are copied."""
        walk = _Walk(graph, reference, features)
        nodes = [made for node in graph.nodes for made in walk.laid(node)]
        return graph.updated(tensors=walk.copies, nodes=nodes) if walk.changed else graph

    return lay_in_place


class _Walk:
    """The pass over the nodes in order, which records whose bytes already lie inside another tensor.

    A tensor and its reshapes share their bytes. These can lie inside only one joined tensor, at one offset that has the
    alignment kernels rely on. Copies may lie at any offset, since they are only read as part of the joined tensor.
    """

    def __init__(self, graph: Graph, reference: str, features: frozenset[str]) -> None:
        self._graph, self._reference, self._features = graph, reference, features
        self._align = DEVICE_ALIGN if features & kernels.device_features() else 1
        self._runs = Runs(graph, reference, features)
        self._bytes = {name: name for name in graph.inputs}
        self._taken: set[str] = set()
        self.copies: list[Tensor] = []
        self.changed = False

    def laid(self, node: Node) -> Iterable[Node]:
        """The nodes in place of `node`: a join or split without code if possible, with the copies that it needs."""
        call = self._graph.call(node, self._reference)
        op = unmoved(node.op, call)
        kernel = None if op is None else self._without_code(call, op)
        form = None if kernel is None else kernel.form
        if op is None or not isinstance(form, (Alias, Join)) or form.starts is None:
            return [self._as_it_is(node, kernel_without_code(call))]
        starts = form.starts(call)
        if isinstance(form, Join) and form.pitch is not None:
            return self._in_runs(node, op, call, starts, form.pitch(call))
        lay = self._joined if isinstance(form, Join) else self._parted
        made = lay(node, op, call, starts, must=not _has_kernel(call))
        self.changed |= bool(made)
        return made or [self._as_it_is(node, None)]

    def _as_it_is(self, node: Node, kernel: Kernel | None) -> Node:
        """The unchanged node. Its results get their own memory or, with a kernel without code, share the operand's."""
        for name in node.outputs:
            source = name if kernel is None else self._bytes.get(str(node.inputs[0]))
            if source is not None:
                self._bytes[name] = source
        return node

    def _parted(self, node: Node, op: Op, call: Call, starts: Sequence[int], *, must: bool) -> list[Node]:
        """The nodes of a split whose results lie inside the operand; empty if a result cannot lie there.

        must: whether no other kernel can run the split. Results that cannot lie inside the operand are then copied.
        """
        moved = [start % max(t.align, self._align) != 0 for start, t in zip(starts, call.outputs, strict=True)]
        if call.constants[0] is not None or (any(moved) and not must):
            return []
        names = {name: f"{name}_in" for name, is_moved in zip(node.outputs, moved, strict=True) if is_moved}
        self.copies += [replace(self._graph.tensors[name], name=part) for name, part in names.items()]
        self._bytes |= {name: name for name in names}
        copies = [Node(f"copy_{part}", Copy(), (part,), (name,), node.source) for name, part in names.items()]
        return [replace(node, op=op, outputs=tuple(names.get(name, name) for name in node.outputs)), *copies]

    def _joined(self, node: Node, op: Op, call: Call, starts: Sequence[int], *, must: bool) -> list[Node]:
        """Copies of the operands that cannot lie inside the result, and the join without code; empty if no operand can.

        must: whether no other kernel can run the join. It is then made even if all operands are copied.
        """
        operands = [self._graph.tensors[str(name)] for name in node.inputs]
        there = [self._takes(tensor, start) for tensor, start in zip(operands, starts, strict=True)]
        moved = {k: tensor for k, tensor in enumerate(operands) if not there[k]}
        if (len(moved) == len(operands) and not must) or any(tensor.origin is None for tensor in moved.values()):
            self._taken -= {self._bytes[t.name] for t, taken in zip(operands, there, strict=True) if taken}
            return []
        names = {k: f"{node.outputs[0]}_{k}" for k in moved}
        self.copies += [replace(tensor, name=names[k], data=None) for k, tensor in moved.items()]
        self._bytes[node.outputs[0]] = node.outputs[0]
        copies = [Node(f"copy_{names[k]}", Copy(), (t.name,), (names[k],), node.source) for k, t in moved.items()]
        inputs = tuple(names.get(k, name) for k, name in enumerate(node.inputs))
        return [*copies, replace(node, op=op, inputs=inputs)]

    def _without_code(self, call: Call, op: Op) -> Kernel | None:
        """The kernel without code for an operator whose parts lie inside the whole, if there is one."""
        return kernel_without_code(replace(call, op=op, constants=(None,) * len(call.constants)), self._features)

    def _in_runs(self, node: Node, op: Op, call: Call, starts: Sequence[int], pitch: int) -> list[Node]:
        """The join along the last axis whose operands lie inside the result with gaps between their vectors.

        The node is unchanged if more than half of the bytes would have to be copied. pitch: bytes from one vector to
        the next.
        """
        names = [str(name) for name in node.inputs]
        fitting = pitch % self._align == 0 and not any(start % self._align for start in starts)
        there = [
            fitting and self._bytes.get(name) == name and name not in self._taken and self._runs.may_hold(name, node)
            for name in names
        ]
        sizes = [self._graph.type(name).nbytes for name in names]
        copied = sum(size for size, is_there in zip(sizes, there, strict=True) if not is_there)
        moved = [k for k, is_there in enumerate(there) if not is_there]
        known = all(self._graph.tensors[names[k]].origin is not None for k in moved)
        self._bytes[node.outputs[0]] = node.outputs[0]
        if not fitting or len(moved) > MAX_COPIES or 2 * copied > sum(sizes) or not known:
            return [node]
        parts = {k: f"{node.outputs[0]}_{k}" for k in moved}
        self.copies += [replace(self._graph.tensors[names[k]], name=part, data=None) for k, part in parts.items()]
        copies = [Node(f"copy_{part}", Copy(), (names[k],), (part,), node.source) for k, part in parts.items()]
        self._taken |= {name for name, is_there in zip(names, there, strict=True) if is_there}
        self._runs.joined.add(node.outputs[0])
        self.changed = True
        return [*copies, replace(node, op=op, inputs=tuple(parts.get(k, name) for k, name in enumerate(names)))]

    def _takes(self, tensor: Tensor, start: int) -> bool:
        """Record that the tensor lies inside the result from byte `start` on. Returns whether that is possible."""
        source = self._bytes.get(tensor.name)
        if source is None or source in self._taken or start % max(tensor.type.align, self._align):
            return False
        self._taken.add(source)
        return True


def _has_kernel(call: Call) -> bool:
    """Whether a portable kernel with code accepts the call. float16 counts as float32."""
    wide = halves.in_floats(call)
    return any(k.has_code and not k.refusals(wide, frozenset()) for k in call.op.kernels)


def kernel_without_code(call: Call, features: frozenset[str] = frozenset()) -> Kernel | None:
    """The kernel of a call that needs no code, if there is one for these features."""
    known = (*call.op.kernels, *(kernels.on_device(type(call.op)) if features else ()))
    return next((k for k in known if not k.has_code and not k.refusals(call, features)), None)


@singledispatch
def unmoved(op: Op, call: Call) -> Op | None:
    """The operator without code, whose operands lie inside the result, or whose results lie inside the operand.

    None if bytes have to move or change.
    """
    return None


@unmoved.register(Concatenation)
def _(op: Concatenation, call: Call) -> Op | None:
    """Concatenation without code, if operands and result have equal scales."""
    return replace(op, in_place=True) if concatenation.scales_agree(call) else None


@unmoved.register(Pack)
def _(op: Pack, call: Call) -> Op | None:
    """Packing without code along the outermost axis, where operands are adjacent in the result."""
    return replace(op, in_place=True) if pack.outer(call) == 1 else None


@unmoved.register(Split)
def _(op: Split, call: Call) -> Op | None:
    """Splitting without code along the outermost axis, where parts are adjacent in the operand."""
    return replace(op, in_place=True) if split.outer(call) == 1 else None


@unmoved.register(Unpack)
def _(op: Unpack, call: Call) -> Op | None:
    """Unpacking without code along the outermost axis, where slices are adjacent in the operand."""
    return replace(op, in_place=True) if unpack.outer(call) == 1 else None


@unmoved.register(StridedSlice)
def _(op: StridedSlice, call: Call) -> Op | None:
    """A slice without code, if its elements are adjacent in the operand. Rows of a camera are copied, so that not all
    rows have to be kept.
    """
    if _view.moves_pixels(call):
        return None
    loops = _strided.view_loops(op.view(_strided.blank(call.input(0).shape)))
    return replace(op, in_place=True) if [loop[1:] for loop in loops] in ([], [(1, 1)]) else None
