"""ONNX operators as nodes of a graph, so that the pass `follow_orders` can choose the order of their axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mcugen.ir.axis_order import Order
from mcugen.ir.call import Call
from mcugen.ir.op import Op, Reordered
from mcugen.ops import _ordered


@dataclass(frozen=True, eq=False)
class OnnxOperator(Op):
    """An operator of ONNX. attributes: also axes, shapes and bounds, which files may have as operands.

    Source: the ONNX specification (docs/Operators.md).
    """

    name: str
    attributes: Mapping[str, Any]

    def reordered(self, call: Call, orders: Sequence[Order | None]) -> Reordered | None:
        rule = _RULES.get(self.name)
        return None if rule is None else rule(self, call, orders)

    def with_attributes(self, **changed: Any) -> OnnxOperator:
        return replace(self, attributes={**self.attributes, **changed})


Rule = Callable[[OnnxOperator, Call, Sequence[Order | None]], Reordered | None]


def _elementwise(op: OnnxOperator, call: Call, orders: Sequence[Order | None]) -> Reordered | None:
    return _ordered.elementwise(op, call, orders)


def _joined(op: OnnxOperator, call: Call, orders: Sequence[Order | None]) -> Reordered | None:
    found = _ordered.joined(call, orders, op.attributes["axis"] % len(call.output.shape))
    return None if found is None else replace(found[1], op=op.with_attributes(axis=found[0]))


def _along_axis(op: OnnxOperator, call: Call, orders: Sequence[Order | None]) -> Reordered | None:
    """Rule of operators whose results have the sizes of operand 0 except along attribute `axis`."""
    axis = op.attributes["axis"] % len(call.input(0).shape)
    found = _ordered.resized(call, orders, (axis,))
    return None if found is None else replace(found[1], op=op.with_attributes(axis=found[0][axis]))


def _sliced(op: OnnxOperator, call: Call, orders: Sequence[Order | None]) -> Reordered | None:
    axes = op.attributes["axes"]
    found = _ordered.resized(call, orders, axes)
    if found is None:
        return None
    return replace(found[1], op=op.with_attributes(axes=tuple(found[0][axis] for axis in axes)))


def _reduced(op: OnnxOperator, call: Call, orders: Sequence[Order | None]) -> Reordered | None:
    """Rule of reductions: the stored axes are reduced, and stay with size 1."""
    order, axes = orders[0], op.attributes["axes"]
    stored = [] if order is None else [order.stored_axis(axis) for axis in axes]
    result = None if order is None else order.resized(dict.fromkeys(axes, 1))
    if order is None or result is None or None in stored:
        return None
    kept = result if op.attributes["keepdims"] else result.dropped(axes)
    return Reordered(op.with_attributes(axes=tuple(stored), keepdims=1), (order,), (kept,))


def _product(op: OnnxOperator, call: Call, orders: Sequence[Order | None]) -> Reordered | None:
    """Rule of Gemm: vectors may have permuted elements, if the weights [outputs, elements] are permuted alike."""
    x = orders[0]
    if x is None or call.constants[1] is None or not op.attributes.get("transB") or not x.leads(0):
        return None
    vectors = x.in_shape(x.logical_shape)
    rest = [None if t is None else Order.plain(t.shape) for t in call.inputs[2:]]
    weights = _ordered.along(vectors, call.input(1).shape, 1)
    return Reordered(op, (vectors, weights, *rest), (Order.plain(call.output.shape),))


REDUCTIONS = ("ReduceL1", "ReduceL2", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum")
_ELEMENTWISE = """
    Abs Acos Acosh Add And Asin Asinh Atan Atanh BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Cast Ceil Celu Clip
    Cos Cosh Div Elu Equal Erf Exp Floor Gelu Greater GreaterOrEqual HardSigmoid HardSwish Identity IsInf IsNaN
    LeakyRelu Less LessOrEqual Log Max Min Mish Mod Mul Neg Not Or PRelu Pow Reciprocal Relu Round Selu Sigmoid Sign Sin
    Sinh Softplus Softsign Sqrt Stored Sub Sum Tan Tanh ThresholdedRelu Where Xor
"""
_RULES: Mapping[str, Rule] = {
    **dict.fromkeys(_ELEMENTWISE.split(), _elementwise),
    **dict.fromkeys(REDUCTIONS, _reduced),
    **dict.fromkeys(("CumSum", "LogSoftmax", "LpNormalization", "Softmax", "Split", "TopK"), _along_axis),
    **dict.fromkeys(("Pad", "Slice"), _sliced),
    "Concat": _joined,
    "Gemm": _product,
}
"""Rules for operators that can follow the order of their operands; others are written with their original axes."""
