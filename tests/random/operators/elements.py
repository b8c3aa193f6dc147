# SPDX-License-Identifier: Apache-2.0
"""Operators that work element by element."""

from __future__ import annotations

import numpy as np

from tests.random.operators import draws
from tests.random.sketch import Sketch, Value


@draws("Abs", "Neg", "Relu", "Identity")
def plain(s: Sketch, name: str) -> None:
    x = s.take(kind="f" if name == "Relu" else "fi")
    s.need(not (name == "Relu" and x.data.dtype.kind == "i"))
    s.node(name, [x], exact=True)


@draws("Floor", "Ceil", "Sign")
def steps(s: Sketch, name: str) -> None:
    s.need(name != "Sign" or s.opset >= 9)
    s.node(name, [s.take(exact=True)], exact=True)


@draws("Round", since=11)
def rounded(s: Sketch) -> None:
    s.node("Round", [s.take(exact=True)], exact=True)


@draws("Sigmoid", "Tanh", "Softplus", "Softsign", "Sin", "Cos", "Atan")
def smooth(s: Sketch, name: str) -> None:
    s.node(name, [s.take()])


@draws("Erf", "Asinh", since=9)
def smooth_later(s: Sketch, name: str) -> None:
    s.node(name, [s.take()])


@draws("Sinh", "Cosh", since=9)
def hyperbolic(s: Sketch, name: str) -> None:
    s.node(name, [s.bounded(s.take(), -4, 4)])


@draws("Exp", "Tan", "Asin", "Acos")
def within(s: Sketch, name: str) -> None:
    low, high = {"Exp": (-9, 5), "Tan": (-1.25, 1.25)}.get(name, (-0.96875, 0.96875))
    s.node(name, [s.bounded(s.take(), low, high)])


@draws("Atanh", since=9)
def atanh(s: Sketch) -> None:
    s.node("Atanh", [s.bounded(s.take(), -0.96875, 0.96875)])


@draws("Acosh", since=9)
def acosh(s: Sketch) -> None:
    s.node("Acosh", [s.positive(s.take(), 1.5)])


@draws("Log", "Sqrt", "Reciprocal")
def of_positive(s: Sketch, name: str) -> None:
    s.node(name, [s.positive(s.take())], exact=name != "Log")


@draws("Elu", "LeakyRelu", "Selu", "HardSigmoid")
def slopes(s: Sketch, name: str) -> None:
    numbers = {"alpha": float(np.float32(s.rng.uniform(0, 1.5))) if s.chance(0.7) else None}
    if name == "Selu":
        numbers["gamma"] = float(np.float32(s.rng.uniform(0.5, 1.5))) if s.chance(0.7) else None
    if name == "HardSigmoid":
        numbers = {
            key: float(np.float32(s.rng.uniform(0, 0.6))) if s.chance(0.6) else None for key in ("alpha", "beta")
        }
    s.node(name, [s.take()], **numbers)


@draws("Celu", since=12)
def celu(s: Sketch) -> None:
    s.node("Celu", [s.take()], alpha=float(s.rng.uniform(0.3, 2)) if s.chance(0.7) else None)


@draws("ThresholdedRelu", "Shrink", since=10)
def thresholds(s: Sketch, name: str) -> None:
    x = s.take(exact=True)
    if name == "Shrink":
        s.node(name, [x], lambd=float(s.rng.uniform(0, 1)), bias=float(s.rng.uniform(-0.5, 0.5)))
    else:
        s.node(name, [x], exact=True, alpha=float(s.rng.uniform(-1, 2)) if s.chance(0.7) else None)


@draws("HardSwish", since=14)
def hard_swish(s: Sketch) -> None:
    s.node("HardSwish", [s.take()])


@draws("Mish", since=18)
def mish(s: Sketch) -> None:
    s.node("Mish", [s.take()])


@draws("Gelu", since=20)
def gelu(s: Sketch) -> None:
    s.node("Gelu", [s.take()], approximate=s.pick((None, "none", "tanh")))


@draws("Clip")
def clip(s: Sketch) -> None:
    x = s.take()
    low, high = sorted(np.float32(v) for v in s.rng.uniform(-2, 2, 2))
    low, high = (low if s.chance(0.8) else None), (high if s.chance(0.8) else None)
    if s.opset < 11:
        s.node(
            "Clip", [x], exact=True, min=None if low is None else float(low), max=None if high is None else float(high)
        )
    else:
        ends = [None if end is None else s.const(end) for end in (low, high)]
        while ends and ends[-1] is None:
            ends.pop()
        s.node("Clip", [x, *ends], exact=True)


@draws("Dropout")
def dropout(s: Sketch) -> None:
    x = s.take()
    if s.opset < 12:
        s.node("Dropout", [x], exact=True, ratio=0.3 if s.chance(0.5) else None)
    else:
        ratio = s.const(np.float32(0.3)) if s.chance(0.6) else None
        training = s.const(np.bool_(False)) if s.chance(0.3) else None
        operands = [x, ratio, training]
        while operands[-1] is None:
            operands.pop()
        s.results("Dropout", operands, s.number(1, 2), exact=True)


@draws("PRelu")
def prelu(s: Sketch) -> None:
    x = s.take()
    s.node("PRelu", [x, slope_of(s, x)], exact=True)


def slope_of(s: Sketch, x: Value) -> Value:
    """A constant that spreads over x alone: sizes of its last axes, or ones."""
    shape = tuple(d if s.chance(0.6) else 1 for d in x.shape[s.number(0, x.rank - 1) :])
    return s.const(s.floats(shape))


def partner(s: Sketch, x: Value, *, exact: bool = False) -> Value:
    """Another operand whose shape goes with x: the same shape, axes of one, fewer axes; computed or constant."""
    if s.chance(0.4):
        same = [v for v in s.values if v.shape == x.shape and v.data.dtype == x.data.dtype and (v.exact or not exact)]
        if same:
            return s.pick(same)
    shape = tuple(d if s.chance(0.7) else 1 for d in x.shape[s.number(0, x.rank) if s.chance(0.5) else 0 :])
    data = s.floats if x.data.dtype.kind == "f" else lambda t: s.ints(t, x.data.dtype)
    if x.data.dtype.kind == "b":
        data = lambda t: s.rng.random(t) < 0.5  # noqa: E731
    return s.const(data(shape)) if s.chance(0.5) or not shape else s.input(shape, data)


def both(s: Sketch, x: Value, y: Value) -> list[Value]:
    return [x, y] if s.chance(0.6) else [y, x]


@draws("Add", "Sub", "Mul")
def arithmetic(s: Sketch, name: str) -> None:
    x = s.take(kind=s.pick(("f", "f", "f", "i")))
    s.need(x.data.dtype != np.int8)
    s.node(name, both(s, x, partner(s, x)), exact=True)


@draws("Div")
def div(s: Sketch) -> None:
    if s.chance(0.25):
        x = s.take(kind="i")
        numbers = s.ints(x.shape[1:], x.data.dtype, 1, 7) * s.pick((1, -1))
        s.node("Div", [x, s.const(numbers.astype(x.data.dtype))], exact=True)
        return
    x = s.take()
    s.node("Div", [x, s.positive(partner(s, x))], exact=True)


@draws("Pow")
def power(s: Sketch) -> None:
    x = s.take()
    if s.chance(0.5):
        exponent = s.const(np.float32(s.pick((2, 3, 1, 0, -1, 0.5))))
        s.node("Pow", [s.positive(x) if exponent.data in (-1, 0.5) else x, exponent])
    else:
        s.node("Pow", [s.positive(x), s.bounded(partner(s, x), -2, 2)])


@draws("Mod", since=10)
def mod(s: Sketch) -> None:
    if s.chance(0.5):
        x = s.take(kind="i")
        y = s.const((s.ints(x.shape, x.data.dtype, 1, 7) * s.pick((1, -1))).astype(x.data.dtype))
        s.node("Mod", [x, y], exact=True, fmod=s.pick((None, 0, 1)))
    else:
        x = s.take(exact=True)
        s.node("Mod", [x, s.positive(partner(s, x, exact=True))], exact=True, fmod=1)


@draws("Min", "Max", "Sum", "Mean")
def variadic(s: Sketch, name: str) -> None:
    s.need(s.opset >= 8)
    x = s.take()
    operands = [x, *(partner(s, x) for _ in range(s.number(0, 2)))]
    s.node(name, operands, exact=name in ("Min", "Max") or (name == "Sum" and len(operands) < 3))


@draws("And", "Or", "Xor")
def logic(s: Sketch, name: str) -> None:
    x = s.take(kind="b")
    s.node(name, [x, partner(s, x)], exact=True)


@draws("Not")
def negation(s: Sketch) -> None:
    s.node("Not", [s.take(kind="b")], exact=True)


@draws("Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual")
def comparing(s: Sketch, name: str) -> None:
    s.need(s.opset >= (12 if "Or" in name else 11 if name == "Equal" else 9))
    x = s.take(exact=True, kind=s.pick(("f", "f", "i")))
    s.node(name, both(s, x, partner(s, x, exact=True)), exact=True)


@draws("IsNaN", "IsInf", since=13)
def odd_numbers(s: Sketch, name: str) -> None:
    x = s.take()
    if s.chance(0.6):
        odd = np.array([np.nan, np.inf, -np.inf, 0.0, 1.0], np.float32)
        x = s.input(s.shape(), lambda t: s.rng.choice(odd, t))
        s.values.remove(x)
    signs = {key: s.pick((None, 0, 1)) for key in ("detect_negative", "detect_positive")} if name == "IsInf" else {}
    s.node(name, [x], exact=True, **signs)


@draws("BitwiseAnd", "BitwiseOr", "BitwiseXor", since=18)
def bits(s: Sketch, name: str) -> None:
    x = s.take(kind="i")
    s.node(name, [x, partner(s, x)], exact=True)


@draws("BitwiseNot", since=18)
def bit_complement(s: Sketch) -> None:
    s.node("BitwiseNot", [s.take(kind="i")], exact=True)


@draws("BitShift", since=11)
def bit_shift(s: Sketch) -> None:
    x = s.input(s.shape(), lambda t: s.ints(t, np.uint8, 0, 255))
    y = s.const(s.ints(x.shape, np.uint8, 0, 7))
    s.node("BitShift", [x, y], exact=True, direction=s.pick(("LEFT", "RIGHT")))


@draws("Where", since=9)
def where(s: Sketch) -> None:
    x = s.take(kind=s.pick(("f", "f", "i")))
    condition = s.take(kind="b", shape=x.shape)
    s.node("Where", [condition, *both(s, x, partner(s, x))], exact=True)


@draws("Cast", since=9)
def cast(s: Sketch) -> None:
    """Numbers beyond the type have no defined result; other inputs than these may be negative."""
    x = s.take(exact=True, kind="fib")
    to = s.pick((1, 6, 7, 9, 2))
    x = s.node("Abs", [x]) if to == 2 and x.data.dtype != bool else x
    s.node("Cast", [x], exact=True, to=to)


@draws("CastLike", since=15)
def cast_like(s: Sketch) -> None:
    x = s.take(exact=True, kind="fib")
    s.node("CastLike", [x, s.const(np.zeros(1, s.pick((np.float32, np.int32, np.int64, np.bool_))))], exact=True)


@draws("Swish", since=24)
def swish(s: Sketch) -> None:
    s.node("Swish", [s.take()], alpha=s.pick((None, 0.5, 2.0)))
