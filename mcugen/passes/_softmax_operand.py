"""The operand of a softmax without what is before it: a mask of keys, and factors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from mcugen.ir.graph import Node
from mcugen.ir.types import TensorType
from mcugen.ops.add import Add
from mcugen.ops.mul import Mul
from mcugen.ops.select import Select
from mcugen.ops.transpose import Transpose

HIDDEN = -1e4
"""Scores at or below this are no keys: their exponentials are 0."""


@dataclass(frozen=True)
class SoftmaxOperand:
    """A softmax's operand, beta * x. mask: constant booleans that fit x, true for keys; None if all are keys."""

    x: str
    beta: np.float32
    mask: np.ndarray | None = None

    def rows_of_keys(self, classes: int) -> np.ndarray | None:
        """The mask with one boolean for each element of a row; None if all are keys."""
        if self.mask is None:
            return None
        shape = np.broadcast_shapes(self.mask.shape, (classes,))
        return np.ascontiguousarray(np.broadcast_to(self.mask, shape))

    def hiding(self, x: str, keys: np.ndarray, hidden: np.ndarray) -> SoftmaxOperand | None:
        """The operand with fewer keys; None if a row has none by finite numbers, which give it equal scores instead.

        hidden: the scores, or addends of scores, of what is no key.
        """
        mask = keys if self.mask is None else keys & self.mask
        has_keys = bool(np.atleast_1d(mask).any(axis=-1).all())
        return SoftmaxOperand(x, self.beta, mask) if has_keys or bool((hidden == -np.inf).all()) else None


@dataclass(frozen=True)
class SearchedTensors:
    """Facts of a graph's tensors: the node that computes one, its data if it is constant, its type, and whether the
    search ends at it.
    """

    maker: Callable[[str], Node | None]
    constant: Callable[[str], np.ndarray | None]
    type_of: Callable[[str], TensorType]
    ends: Callable[[str], bool]


def operand_of(name: str, beta: float, values: SearchedTensors) -> SoftmaxOperand:
    """The tensor that a softmax of `name` is a function of, without factors and masks."""
    found = SoftmaxOperand(name, np.float32(beta))
    while not values.ends(found.x):
        node = values.maker(found.x)
        before = None if node is None else _before(node, found, values)
        if before is None or values.type_of(before.x).shape != values.type_of(name).shape:
            break
        found = before
    return found


def _before(node: Node, found: SoftmaxOperand, values: SearchedTensors) -> SoftmaxOperand | None:
    """The operand before a node that masks or scales; None for any other node."""
    if isinstance(node.op, Transpose) and node.op.perm == tuple(range(len(node.op.perm))):
        return replace(found, x=str(node.inputs[0]))
    data = [None if n is None else values.constant(n) for n in node.inputs]
    if isinstance(node.op, Select):
        if data[0] is None:
            return None
        for hidden, kept, keys in ((data[2], node.inputs[1], data[0]), (data[1], node.inputs[2], ~data[0])):
            if hidden is not None and bool((hidden <= HIDDEN).all()):
                return found.hiding(str(kept), keys, hidden)
        return None
    if not isinstance(node.op, Add | Mul) or node.op.activation != "NONE" or (data[0] is None) == (data[1] is None):
        return None
    x, given = (str(node.inputs[0]), data[1]) if data[0] is None else (str(node.inputs[1]), data[0])
    assert given is not None
    if isinstance(node.op, Mul):
        factor = given.reshape(-1)[0] if given.size == 1 else np.float32(-1)
        scaled = np.float32(found.beta * factor)
        return SoftmaxOperand(x, scaled, found.mask) if factor > 0 and 0 < scaled < np.inf else None
    keys = given > HIDDEN
    return None if bool(given[keys].any()) or bool(keys.all()) else found.hiding(x, keys, given[~keys])
