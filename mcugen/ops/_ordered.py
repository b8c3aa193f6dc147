"""Rules for running operators on tensors whose axes are stored in another order (`Op.reordered`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mcugen.ir.axis_order import Order
from mcugen.ir.call import Call
from mcugen.ir.op import Op, Reordered
from mcugen.ir.types import Shape

MAX_BROADCAST = 6
"""Most axes that broadcasting kernels support."""

Orders = Sequence[Order | None]


def elementwise(op: Op, call: Call, orders: Orders) -> Reordered | None:
    """The orders for an elementwise operator: the commonest order of the operands that have the result's shape."""
    shape = call.output.shape
    full = [k for k, t in enumerate(call.inputs) if t is not None and t.shape == shape and orders[k] is not None]
    chosen = _commonest([(orders[k], 1) for k in full])
    if chosen is None:
        return None
    split = chosen.in_shape(tuple(chosen.factors))
    for order in (chosen, split) if len(split.dims) <= MAX_BROADCAST else (chosen,):
        inputs = _broadcast(call, order)
        if inputs is not None:
            return Reordered(op, inputs, (order,) * len(call.outputs))
    return None


def _broadcast(call: Call, chosen: Order) -> tuple[Order | None, ...] | None:
    """The orders of the operands for results in the order `chosen`; None if their stored shapes do not broadcast.

    They do not if a stored axis merges several logical axes and an operand has size 1 in only some of these.
    """
    inputs: list[Order | None] = []
    for t in call.inputs:
        restricted = None if t is None else chosen.restricted(t.shape)
        if t is not None and (restricted is None or not _fits(restricted, chosen)):
            return None
        inputs.append(restricted)
    return tuple(inputs)


def _fits(operand: Order, result: Order) -> bool:
    return all(size in (1, own) for size, own in zip(operand.stored_shape, result.stored_shape, strict=True))


def joined(call: Call, orders: Orders, axis: int) -> tuple[int, Reordered] | None:
    """(stored axis, orders) for joining operands along the logical `axis`; None if their orders do not allow it."""
    sizes = [t.size for t in call.inputs if t is not None]
    chosen = _commonest(list(zip(orders, sizes, strict=True)))
    stored = None if chosen is None else chosen.stored_axis(axis)
    if chosen is None or stored is None:
        return None
    inputs = [chosen.resized({axis: t.shape[axis]}) for t in call.inputs if t is not None]
    output = chosen.resized({axis: call.output.shape[axis]})
    if output is None or None in inputs:
        return None
    return stored, Reordered(call.op, tuple(inputs), (output,))


def resized(call: Call, orders: Orders, axes: Sequence[int]) -> tuple[Mapping[int, int], Reordered] | None:
    """(logical axis -> stored axis, orders) for results that differ from operand 0 in the sizes of `axes`.

    None if operand 0 stores one of these axes split or merged. Further operands are stored as they are.
    """
    order = orders[0]
    stored = {} if order is None else {axis: order.stored_axis(axis) for axis in axes}
    if order is None or None in stored.values():
        return None
    outputs = [order.resized({axis: y.shape[axis] for axis in axes}) for y in call.outputs]
    if None in outputs:
        return None
    rest = [None if t is None else Order.plain(t.shape) for t in call.inputs[1:]]
    found = {axis: k for axis, k in stored.items() if k is not None}
    return found, Reordered(call.op, (order, *rest), tuple(y for y in outputs if y is not None))


def channels_permuted(order: Order | None) -> tuple[int, ...] | None:
    """The factors of the channel axis in logical order, as indices into `order.factors`.

    None unless the tensor has four axes and its order permutes nothing but channels.
    """
    if order is None or len(order.axes) != 4 or len(order.dims) != 4:
        return None
    for axis in range(4):
        group, own = order.groups[axis], order.axes[axis]
        moving = [f for f in own if order.factors[f] > 1]
        if moving != [f for f in group if order.factors[f] > 1] and (axis < 3 or set(moving) - set(group)):
            return None
    if order.stored_shape != order.logical_shape:
        return None
    return order.axes[3]


def along(order: Order, shape: Shape, axis: int) -> Order:
    """The order of a constant operand: axis `axis` of its `shape` is permuted like the last axis of `order`."""
    group = order.groups[-1]
    factors = tuple(order.factors[f] for f in group)
    places = tuple(group.index(f) for f in order.axes[-1] if f in group)
    before, after = shape[:axis], shape[axis + 1 :]
    return Order(
        (*before, *factors, *after),
        (*(1 for _ in before), len(factors), *(1 for _ in after)),
        (
            *((k,) for k in range(axis)),
            tuple(axis + p for p in places),
            *((axis + len(factors) + k,) for k in range(len(after))),
        ),
    )


def _commonest(orders: Sequence[tuple[Order | None, int]]) -> Order | None:
    """The order in which most elements are stored. orders: (order, number of elements) pairs; None is ignored."""
    known = [(order, size) for order, size in orders if order is not None]
    best: Order | None = None
    most = -1
    for order, _ in known:
        total = sum(size for other, size in known if other.dims == order.dims and _alike(other, order))
        if total > most:
            best, most = order, total
    return best


def _alike(a: Order, b: Order) -> bool:
    """Whether two orders permute axes in the same way. Sizes may differ."""
    return a.axes == b.axes
