"""Folds factors and addends of float channels, such as batch normalization, into the weights beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.graph import Graph, Node, Tensor
from mcugen.ir.ranges import Affine
from mcugen.ir.types import TensorType
from mcugen.passes._match import Made, Match, Pattern, rewritten

WHAT = "folded factors"
_WHY = "its factors and addends are in the weights and biases of the operator beside it, which were rounded once"
_AFTER = Pattern("second", inputs=(Pattern("first"),), commutes=True)
_BEFORE = Pattern("second", inputs=(Pattern("first"),))
_LARGEST = float(np.finfo(np.float32).max)
_STORED = frozenset({"s8", "u8", "s16"})


def fold_factors(graph: Graph, reference: str) -> Graph:
    """The graph with factors and addends of channels in the weights before them, or else in those after them.

    The new weights and biases are computed in float64 and rounded once. Models that round floats to integers are left
    alone: there the last bit of a float may decide about a step of an integer.
    """
    if any(_quantizes(graph, node) for node in graph.nodes):
        return graph
    for pattern in (_AFTER, _BEFORE):
        folding = _Folding(graph, reference)
        make = folding.after if pattern is _AFTER else folding.before
        graph = rewritten(graph, pattern, make, WHAT, _WHY, exact=False)
    return graph


def _quantizes(graph: Graph, node: Node) -> bool:
    computed = (graph.tensors[name] for name in node.inputs if name is not None)
    stored = any(graph.type(name).dtype in _STORED for name in node.outputs)
    return stored and any(t.type.is_float and not t.is_constant for t in computed)


@dataclass
class _Folding:
    """The replacements of a pass. exact: new constants in float64."""

    graph: Graph
    reference: str
    made: dict[str, Tensor] = field(default_factory=dict)
    exact: dict[str, np.ndarray] = field(default_factory=dict)

    def after(self, match: Match) -> Made | None:
        """Folds factors and addends into the weights before them."""
        weighted, reader = match.nodes["first"], match.nodes["second"]
        then = self._affine(reader)
        if then is None:
            return None
        call = self._call(weighted)
        return self._folded(weighted, reader, call.op.followed_by(call, then))

    def before(self, match: Match) -> Made | None:
        """Folds factors and addends into the weights after them."""
        maker, weighted = match.nodes["first"], match.nodes["second"]
        first = self._affine(maker)
        if first is None:
            return None
        call = self._call(weighted)
        data = call.op.preceded_by(call, first)
        operand = next(name for name in maker.inputs if name is not None and not self._tensor(name).is_constant)
        moved = replace(weighted, inputs=(operand, *weighted.inputs[1:]))
        return self._folded(moved, weighted, data)

    def _affine(self, node: Node) -> Affine | None:
        call = self._call(node)
        found = call.op.affine(call) if len(node.outputs) == 1 else None
        return found if found is not None and found.is_finite else None

    def _call(self, node: Node) -> Call:
        """The node as a call, with this pass's constants before rounding."""
        operands = [None if name is None else self._tensor(name) for name in node.inputs]
        return Call(
            node.op,
            tuple(t.type if t else None for t in operands),
            tuple(self.graph.type(name) for name in node.outputs),
            tuple(self.exact.get(t.name, t.data) if t else None for t in operands),
            self.reference,
        )

    def _tensor(self, name: str) -> Tensor:
        return self.made.get(name) or self.graph.tensors[name]

    def _folded(self, node: Node, reader: Node, data: Mapping[int, np.ndarray] | None) -> Made | None:
        """The node with other constants, in place of its reader. None where they are too large for a float."""
        if data is None or not all((np.abs(values) <= _LARGEST).all() for values in data.values()):
            return None
        inputs = list(node.inputs) + [None] * (max(data) + 1 - len(node.inputs))
        tensors = []
        for k, values in data.items():
            tensors.append(self._constant(f"{reader.outputs[0]}_folded{k}", values))
            inputs[k] = tensors[-1].name
        return Made((replace(node, inputs=tuple(inputs), outputs=reader.outputs),), tuple(tensors))

    def _constant(self, name: str, values: np.ndarray) -> Tensor:
        while name in self.graph.tensors or name in self.made:
            name += "_"
        tensor = Tensor(name, TensorType(values.shape, "f32"), values.astype(np.float32))
        self.made[name], self.exact[name] = tensor, values
        return tensor
