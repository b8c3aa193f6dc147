"""Rules for running operators on tensors that are stored in other orders (`Op.reordered`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mcugen.ir.axis_order import Order
from mcugen.ir.call import Call
from mcugen.ir.op import Op, Reordered
from mcugen.ir.types import Shape

MAX_BROADCAST = 6
"""Most axes of tensors that kernels broadcast."""

Orders = Sequence[Order | None]


def elementwise(op: Op, call: Call, orders: Orders) -> Reordered | None:
    """Element by element with broadcasting: in the order in which most elements of full operands are stored."""
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
    """The orders of operands that broadcast to results in an order; None where their stored shapes do not.

    They do not where an axis that is stored has several factors of which an operand has only some.
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
    """Operands one after the other along `axis`: the axis of the stored tensors, and their orders (`op` as it is)."""
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
    """Results that differ from operand 0 in the sizes of some axes: those axes in the stored tensor, and the orders.

    Further operands keep their order.
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
    """Indices of the parts into which the channel axis is split, if the stored order permutes channels alone; else
    None.

    They are indices into `order.factors`, in logical order.
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
    """The order of a constant of that shape, one axis of which is the last axis of `order` and is permuted alike."""
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
    """The order that holds most elements, from (order, size) pairs; pairs without an order do not count."""
    known = [(order, size) for order, size in orders if order is not None]
    best: Order | None = None
    most = -1
    for order, _ in known:
        total = sum(size for other, size in known if other.dims == order.dims and _alike(other, order))
        if total > most:
            best, most = order, total
    return best


def _alike(a: Order, b: Order) -> bool:
    """Whether the axes of two tensors have the same order, whatever their sizes."""
    return a.axes == b.axes
