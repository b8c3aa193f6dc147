"""NNEF operations on single elements, reductions of axes, and softmax."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.formats.nnef.operators._layer import Names, Quant, axes_of, imported, layer, met
from mcugen.ir.imports import Expansion, Source
from mcugen.ir.op import Op
from mcugen.ops.abs import Abs
from mcugen.ops.add import Add
from mcugen.ops.arg_max import ArgMax
from mcugen.ops.arithmetic import Arithmetic
from mcugen.ops.div import Div
from mcugen.ops.float_functions import (
    Acos,
    Acosh,
    Asin,
    Asinh,
    Atan,
    Atanh,
    Ceil,
    Cos,
    Cosh,
    Elu,
    Exp,
    Floor,
    Log,
    Reciprocal,
    Sin,
    Sinh,
    Softplus,
    Tan,
)
from mcugen.ops.leaky_relu import LeakyRelu
from mcugen.ops.logistic import Logistic
from mcugen.ops.maximum import Maximum
from mcugen.ops.mean import Mean
from mcugen.ops.minimum import Minimum
from mcugen.ops.mul import Mul
from mcugen.ops.neg import Neg
from mcugen.ops.prelu import Prelu
from mcugen.ops.reduce_max import ReduceMax
from mcugen.ops.reduce_min import ReduceMin
from mcugen.ops.relu import Relu
from mcugen.ops.reshape import Reshape
from mcugen.ops.rsqrt import Rsqrt
from mcugen.ops.softmax import Softmax
from mcugen.ops.sqrt import Sqrt
from mcugen.ops.square import Square
from mcugen.ops.sub import Sub
from mcugen.ops.sum import Sum
from mcugen.ops.tanh import Tanh
from mcugen.ops.transpose import Transpose


def unary(op: Op, source: Source, e: Expansion, names: Names, quant: Quant) -> str:
    return e.node(op, names[0], quant=quant)


def binary(op: Op, source: Source, e: Expansion, names: Names, quant: Quant) -> str:
    """Operands of lower rank are aligned with the first axes. Source: NNEF 3.3.3."""
    return e.node(op, *met(e, names), quant=quant)


def square_of(source: Source, e: Expansion, names: Names, quant: Quant) -> str:
    return e.node(Reciprocal(), e.node(Square(), names[0]))


def log2(source: Source, e: Expansion, names: Names, quant: Quant) -> str:
    return e.node(Mul(), e.node(Log(), names[0]), e.constant(np.array(1 / np.log(2), np.float32)))


def clamp(source: Source, e: Expansion, names: Names, quant: Quant) -> str:
    """max(min(x, b), a), which is an activation (Relu) if a and b are constant numbers. Source: NNEF 4.2.3."""
    x, *bounds = met(e, names)
    low, high = (e.data(name) for name in bounds)
    if low is not None and high is not None and low.size == high.size == 1 and e.type(bounds[0]).quant is None:
        return e.node(Relu(float(low.reshape(-1)[0]), float(high.reshape(-1)[0])), x, quant=quant)
    if quant is not None:
        raise UnsupportedError("clamping integers to bounds that are tensors is not supported")
    return e.node(Maximum(), e.node(Minimum(), x, bounds[1]), bounds[0])


def power(source: Source, e: Expansion, names: Names, quant: Quant) -> str:
    """x to the power of y; the constant exponents 2, 1/2, -1/2 and -1 have their own operators. Source: NNEF 4.2.2."""
    y = e.data(names[1])
    ops: dict[float, Op] = {2.0: Square(), 0.5: Sqrt(), -0.5: Rsqrt(), -1.0: Reciprocal()}
    op = ops.get(float(y.reshape(-1)[0])) if y is not None and y.size == 1 else None
    return e.node(Arithmetic("pow"), *met(e, names)) if op is None else e.node(op, names[0])


def prelu(source: Source, e: Expansion, names: Names, quant: Quant) -> str:
    x, alpha = met(e, names)
    slope = e.data(alpha)
    if slope is not None and slope.size == 1 and e.type(alpha).quant is None:
        return e.node(LeakyRelu(float(slope.reshape(-1)[0])), x, quant=quant)
    return e.node(Prelu(), x, alpha, quant=quant)


def leaky_relu(source: Source, e: Expansion, names: Names, quant: Quant) -> str:
    return e.node(LeakyRelu(float(source.attributes["alpha"])), names[0], quant=quant)


def elu(source: Source, e: Expansion, names: Names, quant: Quant) -> str:
    """max(x, 0) + alpha * (exp(min(x, 0)) - 1)."""
    alpha = float(source.attributes.get("alpha", 1.0))
    if alpha == 1.0:
        return e.node(Elu(), names[0])
    low = e.node(Minimum(), e.node(Elu(), names[0]), e.constant(np.array(0, np.float32)))
    scaled = e.node(Mul(), low, e.constant(np.array(alpha, np.float32)))
    return e.node(Add(), scaled, e.node(Maximum(), names[0], e.constant(np.array(0, np.float32))))


def silu(source: Source, e: Expansion, names: Names, quant: Quant) -> str:
    return e.node(Mul(), names[0], e.node(Logistic(), names[0]))


def softmax(source: Source, e: Expansion, names: Names, quant: Quant) -> str:
    """exp(x) / sum of exp(x) over one or more axes, which are moved to the end for it. Source: NNEF 4.9.2."""
    x, shape = names[0], e.type(names[0]).shape
    axes = axes_of(source, shape)
    if not axes:
        raise ShapeError("attribute `axes` of softmax is empty")
    order = (*(k for k in range(len(shape)) if k not in axes), *axes)
    last = e.node(Transpose(order), x, quant=e.type(x).quant)
    ordered = e.type(last).shape
    flat = e.node(Reshape((*ordered[: len(shape) - len(axes)], -1)), last, quant=e.type(x).quant)
    y = e.node(Reshape(ordered), e.node(Softmax(1.0), flat, quant=quant), quant=quant)
    return e.node(Transpose(tuple(order.index(k) for k in range(len(shape)))), y, quant=quant)


Reducer = Callable[[tuple[int, ...], bool], Op]


def reduce(kind: Reducer, source: Source, e: Expansion, names: Names, quant: Quant) -> str:
    """Reduced axes stay, with size 1. Source: NNEF 4.5."""
    axes = axes_of(source, e.type(names[0]).shape)
    return e.node(kind(axes, True), names[0], quant=quant) if axes else names[0]


def sum_reduce(source: Source, e: Expansion, names: Names, quant: Quant) -> str:
    kind = Mean if source.attributes["normalize"] else Sum
    return reduce(kind, source, e, names, quant)


def position(smallest: bool, source: Source, e: Expansion, names: Names, quant: Quant) -> str:
    """The index of the largest or smallest element of one axis. Source: NNEF 4.5."""
    shape = e.type(names[0]).shape
    axes = axes_of(source, shape)
    if len(axes) != 1:
        raise UnsupportedError(f"argmax and argmin over {len(axes)} axes are not supported, only over one")
    y = e.node(ArgMax(axes[0], "s32", smallest), names[0])
    return e.node(Reshape(tuple(1 if k == axes[0] else d for k, d in enumerate(shape))), y)


_INTEGERS: tuple[tuple[str, Op], ...] = (("relu", Relu()), ("sigmoid", Logistic()), ("tanh", Tanh()))
_FLOATS: tuple[tuple[str, Op], ...] = (
    ("neg", Neg()),
    ("rcp", Reciprocal()),
    ("exp", Exp()),
    ("log", Log()),
    ("sin", Sin()),
    ("cos", Cos()),
    ("tan", Tan()),
    ("sinh", Sinh()),
    ("cosh", Cosh()),
    ("asin", Asin()),
    ("acos", Acos()),
    ("atan", Atan()),
    ("asinh", Asinh()),
    ("acosh", Acosh()),
    ("atanh", Atanh()),
    ("abs", Abs()),
    ("floor", Floor()),
    ("ceil", Ceil()),
    ("sqr", Square()),
    ("sqrt", Sqrt()),
    ("rsqrt", Rsqrt()),
    ("softplus", Softplus()),
)
IMPORTS = (
    *(imported(name, layer(partial(unary, op), integers=1)) for name, op in _INTEGERS),
    *(imported(name, layer(partial(unary, op))) for name, op in _FLOATS),
    imported("add", layer(partial(binary, Add()), integers=2)),
    imported("sub", layer(partial(binary, Sub()), integers=2)),
    imported("mul", layer(partial(binary, Mul()), integers=2)),
    imported("div", layer(partial(binary, Div()))),
    imported("min", layer(partial(binary, Minimum()))),
    imported("max", layer(partial(binary, Maximum()))),
    imported("rsqr", layer(square_of)),
    imported("log2", layer(log2)),
    imported("pow", layer(power)),
    imported("clamp", layer(clamp, integers=1)),
    imported("prelu", layer(prelu)),
    imported("leaky_relu", layer(leaky_relu, integers=1)),
    imported("elu", layer(elu)),
    imported("silu", layer(silu)),
    imported("softmax", layer(softmax, integers=1)),
    imported("sum_reduce", layer(sum_reduce, integers=1)),
    imported("mean_reduce", layer(partial(reduce, Mean), integers=1)),
    imported("max_reduce", layer(partial(reduce, ReduceMax), integers=1)),
    imported("min_reduce", layer(partial(reduce, ReduceMin), integers=1)),
    imported("argmax_reduce", layer(partial(position, False))),
    imported("argmin_reduce", layer(partial(position, True))),
)
