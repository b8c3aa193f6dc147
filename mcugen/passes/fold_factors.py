"""Folds factors and addends of float channels, such as batch normalization, into the weights beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import singledispatch

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.graph import Graph, Node, Tensor
from mcugen.ir.op import Op
from mcugen.ir.ranges import Affine, channels_of
from mcugen.ir.types import TensorType
from mcugen.ops import _filter
from mcugen.ops._weighted import window_of
from mcugen.ops.add import Add
from mcugen.ops.conv2d import Conv2D, groups_of
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D, multiplier_of
from mcugen.ops.div import Div
from mcugen.ops.fully_connected import FullyConnected
from mcugen.ops.mul import Mul
from mcugen.ops.neg import Neg
from mcugen.ops.sub import Sub
from mcugen.ops.transpose_conv import TransposeConv
from mcugen.passes._match import Made, Match, Pattern, rewritten

WHAT = "folded factors"
_WHY = "its factors and addends are in the weights and biases of the operator beside it, which were rounded once"
_AFTER = Pattern("second", inputs=(Pattern("first"),), commutes=True)
_BEFORE = Pattern("second", inputs=(Pattern("first"),))
_LARGEST = float(np.finfo(np.float32).max)
_STORED = frozenset({"s8", "u8", "s16"})


def fold_factors(graph: Graph, reference: str) -> Graph:
    """The graph with factors and addends of channels folded into the weights before them, or else into those after
    them.

    The new weights and biases are computed in float64 and rounded once. Models that round floats to integers at run
    time are not changed, since the last bit of a float may change an integer there.
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
    """The replacements of a pass. made: new constants by name. exact: their values in float64."""

    graph: Graph
    reference: str
    made: dict[str, Tensor] = field(default_factory=dict)
    exact: dict[str, np.ndarray] = field(default_factory=dict)

    def after(self, match: Match) -> Made | None:
        """The operator with weights, when it is followed by factors and addends."""
        weighted, reader = match.nodes["first"], match.nodes["second"]
        then = self._affine(reader)
        if then is None:
            return None
        call = self._call(weighted)
        return self._folded(weighted, reader, followed_by(call.op, call, then))

    def before(self, match: Match) -> Made | None:
        """The operator with weights, when it is preceded by factors and addends."""
        maker, weighted = match.nodes["first"], match.nodes["second"]
        first = self._affine(maker)
        if first is None:
            return None
        call = self._call(weighted)
        data = preceded_by(call.op, call, first)
        operand = next(name for name in maker.inputs if name is not None and not self._tensor(name).is_constant)
        moved = replace(weighted, inputs=(operand, *weighted.inputs[1:]))
        return self._folded(moved, weighted, data)

    def _affine(self, node: Node) -> Affine | None:
        call = self._call(node)
        found = affine(call.op, call) if len(node.outputs) == 1 else None
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
        """The node with new constants, which computes the reader's results. None if the constants do not fit float32.

        data: operand index -> constant in float64.
        """
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


@singledispatch
def affine(op: Op, call: Call) -> Affine | None:
    """The factor and addend per channel, if the float result is the only computed operand times factor plus addend.

    None for all other operators.
    """
    return None


@affine.register(Add)
def _(op: Add, call: Call) -> Affine | None:
    return _sum_of(call, 1)


@affine.register(Sub)
def _(op: Sub, call: Call) -> Affine | None:
    return _sum_of(call, -1)


@affine.register(Mul)
def _(op: Mul, call: Call) -> Affine | None:
    operands = _constant_by_channel(call)
    return None if operands is None else Affine(operands[1], np.zeros(operands[1].size))


@affine.register(Div)
def _(op: Div, call: Call) -> Affine | None:
    """x / constant has the factor 1 / constant, if no constant is 0."""
    operands = _constant_by_channel(call)
    if operands is None or operands[0] != 0 or not operands[1].all():
        return None
    return Affine(1 / operands[1], np.zeros(operands[1].size))


@affine.register(Neg)
def _(op: Neg, call: Call) -> Affine | None:
    count = channels_of(call.output)
    return Affine(-np.ones(count), np.zeros(count))


def _sum_of(call: Call, sign: int) -> Affine | None:
    """The factor and addend of x + constant; with sign -1, of x - constant or constant - x."""
    operands = _constant_by_channel(call)
    if operands is None:
        return None
    k, constant = operands
    ones = np.ones(constant.size)
    return Affine(ones, sign * constant) if k == 0 else Affine(sign * ones, constant)


def _constant_by_channel(call: Call) -> tuple[int, np.ndarray] | None:
    """(index of the computed operand, constant per channel) of an operator with two operands, one of them constant.

    None for integers, with an activation, and if the constant differs within a channel.
    """
    computed = [k for k in (0, 1) if call.constants[k] is None]
    if not call.output.is_float or getattr(call.op, "activation", "NONE") != "NONE" or len(computed) != 1:
        return None
    data, count = call.constants[1 - computed[0]], channels_of(call.output)
    if data is None or call.input(computed[0]) != call.output:
        return None
    if data.size != 1 and (data.size != count or data.shape[-1] != count):
        return None
    return computed[0], np.broadcast_to(data.reshape(-1), (count,)).astype(np.float64)


@singledispatch
def followed_by(op: Op, call: Call, then: Affine) -> Mapping[int, np.ndarray] | None:
    """Constant operands that fold `then` into an operator: with them, op(x) equals the original then(op(x)).

    Returns operand index -> float64 array; None if constants cannot do that.
    """
    return None


@followed_by.register(Conv2D)
@followed_by.register(FullyConnected)
@followed_by.register(TransposeConv)
def _(op: Op, call: Call, then: Affine) -> Mapping[int, np.ndarray] | None:
    return _weights_before(call, then, 0)


@followed_by.register(DepthwiseConv2D)
def _(op: DepthwiseConv2D, call: Call, then: Affine) -> Mapping[int, np.ndarray] | None:
    return _weights_before(call, then, 3)


def _weights_before(call: Call, then: Affine, axis: int) -> Mapping[int, np.ndarray] | None:
    """Weights and bias that include `then`. axis: the output axis of the weights."""
    if getattr(call.op, "activation", "") != "NONE" or not _has_float_weights(call):
        return None
    w = call.constant(1).astype(np.float64)
    bias = _filter.bias_of(call, then.factor.size)
    return {1: w * _along(then.factor, w.ndim, axis), 2: bias * then.factor + then.addend}


@singledispatch
def preceded_by(op: Op, call: Call, first: Affine) -> Mapping[int, np.ndarray] | None:
    """Constant operands that fold `first` into an operator: with them, op(x) equals the original op(first(x)).

    x is operand 0. Returns operand index -> float64 array; None if no constants do that.
    """
    return None


@preceded_by.register(Conv2D)
def _(op: Conv2D, call: Call, first: Affine) -> Mapping[int, np.ndarray] | None:
    skips = window_of(call).leaves(call.input(0).shape)
    return _weights_after(call, first, 3, outputs=0, skips=skips) if groups_of(call) == 1 else None


@preceded_by.register(DepthwiseConv2D)
def _(op: DepthwiseConv2D, call: Call, first: Affine) -> Mapping[int, np.ndarray] | None:
    spread = Affine(*(np.repeat(v, multiplier_of(call)) for v in (first.factor, first.addend)))
    skips = window_of(call).leaves(call.input(0).shape)
    return _weights_after(call, spread, 3, outputs=3, skips=skips)


@preceded_by.register(TransposeConv)
def _(op: TransposeConv, call: Call, first: Affine) -> Mapping[int, np.ndarray] | None:
    """The number of taps differs from pixel to pixel, so an addend cannot become part of the bias."""
    return _weights_after(call, first, 3, outputs=0, skips=True)


@preceded_by.register(FullyConnected)
def _(op: FullyConnected, call: Call, first: Affine) -> Mapping[int, np.ndarray] | None:
    """The factors repeat along the weights' input axis if the data are flattened rows of channels."""
    times, rest = divmod(call.input(1).shape[1], first.factor.size)
    spread = Affine(*(np.tile(v, times) for v in (first.factor, first.addend)))
    return None if rest else _weights_after(call, spread, 1, outputs=0, skips=False)


def _weights_after(
    call: Call, first: Affine, axis: int, *, outputs: int, skips: bool
) -> Mapping[int, np.ndarray] | None:
    """Weights and bias that include `first`, which has one number per index of the weights along `axis`.

    outputs: the output axis of the weights. skips: whether some results leave out taps, for example at the borders. If
    so, the result is None unless all addends are 0.
    """
    if not _has_float_weights(call) or (skips and first.addend.any()):
        return None
    w = call.constant(1).astype(np.float64)
    products = np.moveaxis(w * _along(first.addend, w.ndim, axis), outputs, 0)
    bias = _filter.bias_of(call, w.shape[outputs]) + products.reshape(w.shape[outputs], -1).sum(axis=1)
    return {1: w * _along(first.factor, w.ndim, axis), 2: bias}


def _has_float_weights(call: Call) -> bool:
    """Whether the call computes floats with constant weights."""
    return call.output.is_float and _filter.constant_weights(call)


def _along(values: np.ndarray, rank: int, axis: int) -> np.ndarray:
    return values.reshape([-1 if k == axis else 1 for k in range(rank)])
