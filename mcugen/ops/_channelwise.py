"""Operators that compute channel c of their result from channel c of each operand with the same number of channels."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from mcugen.ir.axis_order import Order
from mcugen.ir.call import Call
from mcugen.ir.op import Op, Reordered, Slimmed
from mcugen.ir.ranges import Removal, channels_of, chosen
from mcugen.ops import _ordered


class Channelwise(Op):
    """Base of operators that compute channel c of the result from channel c of each operand.

    Their attributes must not depend on the number of channels.

    Operands with one channel are broadcast, and keep this channel when channels are removed.
    """

    def removable(self, call: Call, asked: Removal) -> Removal:
        return alike(call, asked)

    def without(self, call: Call, removed: Removal) -> Slimmed:
        return sliced(self, call, removed)


class Pointwise(Channelwise):
    """Base of elementwise operators with broadcasting. They also run on tensors stored in another axis order."""

    is_elementwise = True

    def reordered(self, call: Call, orders: Sequence[Order | None]) -> Reordered | None:
        return _ordered.elementwise(self, call, orders)


def alike(call: Call, asked: Removal) -> Removal:
    """The requested channels that the results and all operands with the same number of channels can drop together."""
    count = channels_of(call.output)
    masks = [*asked.outputs, *(mask for mask in asked.inputs if mask is not None and mask.size == count)]
    common = reduce(np.logical_and, masks)
    nothing = asked.none
    return Removal(
        tuple(common if mask is not None and mask.size == count else mask for mask in nothing.inputs),
        tuple(common for _ in asked.outputs),
    )


def sliced(op: Op, call: Call, removed: Removal) -> Slimmed:
    """The operator without the removed channels; constants with the result's number of channels lose them, too."""
    keep = ~removed.outputs[0]
    constants = {
        k: (chosen(t, -1, keep), data[..., keep])
        for k, (t, data) in enumerate(zip(call.inputs, call.constants, strict=True))
        if t is not None and data is not None and t.shape and t.shape[-1] == keep.size
    }
    return Slimmed(op, constants)
