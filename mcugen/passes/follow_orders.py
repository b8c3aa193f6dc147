"""Stores tensors in the order in which they are computed, so that transposes move no bytes.

Transposes and reshapes are not computed. Instead, the pass records for each value which tensor stores it, and in which
order of its axes (`mcugen.ir.axis_order`). Operators state whether they can run on the stored order (`Op.reordered`).
Bytes are moved only if an operator needs its operand in another order, and at the outputs.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import singledispatch

from mcugen.errors import InternalError
from mcugen.ir.axis_order import Order, move
from mcugen.ir.call import Call
from mcugen.ir.graph import Graph, Node, Tensor
from mcugen.ir.op import Op, Reordered
from mcugen.ir.types import Shape
from mcugen.ops.reshape import Reshape
from mcugen.ops.stored import Stored, same_bytes
from mcugen.ops.transpose import Transpose

_Stored = tuple[str, Order]
"""The name of a stored tensor, and the order in which it holds a value."""


def follow_orders(graph: Graph, reference: str) -> Graph:
    """The graph with as few moves of bytes as the orders of its operators allow."""
    if not any(_carries(graph, node, reference) for node in graph.nodes):
        return graph
    walk = _Walk(graph, reference)
    for node in graph.nodes:
        walk.add(node)
    for name in dict.fromkeys(graph.kept):
        walk.finish(name)
    return graph.updated(tensors=walk.tensors.values(), nodes=walk.nodes)


def _carries(graph: Graph, node: Node, reference: str) -> bool:
    call = graph.call(node, reference)
    if not node.inputs or call.inputs[0] is None or call.constants[0] is not None:
        return False
    found = carried(node.op, call, Order.plain(call.input(0).shape))
    return found is not None and (isinstance(node.op, Transpose) or not found.is_plain)


@dataclass
class _Walk:
    """The pass over the nodes in order.

    nodes, tensors: the new graph so far. known: value -> the tensors that store it, each with its order.
    """

    graph: Graph
    reference: str
    nodes: list[Node] = field(default_factory=list)
    tensors: dict[str, Tensor] = field(default_factory=dict)
    known: dict[str, list[_Stored]] = field(default_factory=dict)

    def add(self, node: Node) -> None:
        call = self.graph.call(node, self.reference)
        orders = [None if self._is_free(name) else self._stored(str(name))[0][1] for name in node.inputs]
        if orders and orders[0] is not None and len(node.outputs) == 1:
            order = carried(node.op, call, orders[0])
            if order is not None:
                self.known[node.outputs[0]] = [(self._stored(str(node.inputs[0]))[0][0], order)]
                return
        moved = any(order is not None and not _is_unmoved(order, call.input(k).shape) for k, order in enumerate(orders))
        found = node.op.reordered(call, orders) if moved else None
        if found is None:
            inputs = tuple(name if self._is_free(name) else self.plain(str(name)) for name in node.inputs)
            self.nodes.append(replace(node, inputs=inputs))
        else:
            self._add_reordered(node, found)

    def _add_reordered(self, node: Node, found: Reordered) -> None:
        inputs = tuple(
            None if name is None or order is None else self.stored_as(name, order)
            for name, order in zip(node.inputs, found.inputs, strict=True)
        )
        outputs = tuple(self._result(name, order) for name, order in zip(node.outputs, found.outputs, strict=True))
        self.nodes.append(replace(node, op=found.op, inputs=inputs, outputs=outputs))

    def finish(self, name: str) -> None:
        """Store an output of the model, or the next value of a state, under its own name."""
        stored = self.plain(name)
        if stored != name:
            self._append(Reshape(self.graph.type(name).shape), stored, name, name, self._stored(name)[0][1])

    def plain(self, name: str) -> str:
        """The name of the tensor that holds a value in the order of the original graph."""
        return self.stored_as(name, Order.plain(self.graph.type(name).shape))

    def stored_as(self, name: str, order: Order) -> str:
        """The name of the tensor that holds a value in that order and shape. If there is none, nodes that make it are
        added.
        """
        tensor = self.graph.tensors[name]
        if tensor.data is not None:
            return self._constant(tensor, order)
        for stored, known in self._stored(name):
            if known.same_bytes(order) and known.stored_shape == order.stored_shape:
                return stored
        stored, known = self._nearest(name, order)
        new = self._name(name, order)
        if known.same_bytes(order):
            self._append(Reshape(order.stored_shape), stored, new, name, order)
        else:
            self._move(name, stored, known, order, new)
        self._stored(name).append((new, order))
        return new

    def _nearest(self, name: str, order: Order) -> _Stored:
        """The stored tensor to start from: one with the same bytes, if there is one."""
        found = self._stored(name)
        return next((entry for entry in found if entry[1].same_bytes(order)), found[0])

    def _move(self, name: str, stored: str, known: Order, order: Order, new: str) -> None:
        """Append nodes that store the value `name` in another order.

        stored, known: a tensor that holds it, and its order. order, new: the new order and the new tensor's name.
        """
        path = move(known, order)
        if path is None:
            stored, known = self.plain(name), Order.plain(self.graph.type(name).shape)
            path = move(known, order)
        if path is None:
            raise InternalError(f"{name!r} cannot be stored in the order {order}")
        split, perm, moved = path
        if split.stored_shape != known.stored_shape:
            stored = self._append(Reshape(split.stored_shape), stored, f"{new}_split", name, split)
        last = moved.stored_shape == order.stored_shape
        stored = self._append(Transpose(perm), stored, new if last else f"{new}_moved", name, moved)
        if not last:
            self._append(Reshape(order.stored_shape), stored, new, name, order)

    def _append(self, op: Reshape | Transpose, source: str, new: str, name: str, order: Order) -> str:
        """Append a node that computes one tensor of the value `name` from another."""
        self._hold(name, new, order)
        label = self.graph.tensors[name].label or name
        self.nodes.append(Node(f"order_{new}", op, (source,), (new,), f"order of {label!r}"))
        return new

    def _hold(self, name: str, new: str, order: Order) -> None:
        """Add the tensor `new`, which holds the value `name` in that order."""
        tensor = self.graph.tensors[name]
        origin = None if tensor.origin is None else replace(tensor.origin, order=order)
        if new != name:
            self.tensors[new] = replace(tensor, name=new, type=order.stored_type(tensor.type), origin=origin)

    def _constant(self, tensor: Tensor, order: Order) -> str:
        if tensor.data is None or _is_unmoved(order, tensor.type.shape):
            return tensor.name
        new = self._name(tensor.name, order)
        self.tensors[new] = replace(
            tensor, name=new, type=order.stored_type(tensor.type), data=order.stored(tensor.data)
        )
        return new

    def _result(self, name: str, order: Order) -> str:
        """The name of the tensor for a result that a node computes in that order."""
        new = self._name(name, order)
        self._hold(name, new, order)
        self.known[name] = [(new, order)]
        return new

    def _name(self, name: str, order: Order) -> str:
        """A name for a tensor that holds the value in that order; the value's own name for the original order."""
        if _is_unmoved(order, self.graph.type(name).shape):
            return name
        taken = sum(stored.startswith(f"{name}_as") for stored in self.tensors)
        return f"{name}_as{taken}"

    def _stored(self, name: str) -> list[_Stored]:
        return self.known.setdefault(name, [(name, Order.plain(self.graph.type(name).shape))])

    def _is_free(self, name: str | None) -> bool:
        """Whether an operand is absent, or a constant, which can be stored in any order."""
        return name is None or self.graph.tensors[name].is_constant


def _is_unmoved(order: Order, shape: Shape) -> bool:
    return order.is_plain and order.stored_shape == shape


@singledispatch
def carried(op: Op, call: Call, order: Order) -> Order | None:
    """The order of the result, if its bytes are those of operand 0 stored in `order`; None where bytes change."""
    return None


@carried.register(Transpose)
def _(op: Transpose, call: Call, order: Order) -> Order | None:
    return order.transposed(op.perm)


@carried.register(Reshape)
def _(op: Reshape, call: Call, order: Order) -> Order | None:
    return order.reshaped(call.output.shape)


@carried.register(Stored)
def _(op: Stored, call: Call, order: Order) -> Order | None:
    """The unchanged order, if the operator changes neither bytes nor scale."""
    return order if call.input(0).quant == call.output.quant and same_bytes(call) else None
