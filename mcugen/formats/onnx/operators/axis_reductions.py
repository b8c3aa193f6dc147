"""Reductions over axes: mcugen's operators, alone or between elementwise functions such as square and root."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.formats.operators.elements import is_plain
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ir.op import Op
from mcugen.ops.abs import Abs
from mcugen.ops.add import Add
from mcugen.ops.arg_max import ArgMax
from mcugen.ops.arithmetic import Arithmetic
from mcugen.ops.float_functions import Exp, Log
from mcugen.ops.mean import Mean
from mcugen.ops.reduce_max import ReduceMax
from mcugen.ops.reduce_min import ReduceMin
from mcugen.ops.reduce_plain import ReducePlain
from mcugen.ops.reshape import Reshape
from mcugen.ops.reverse import Reverse
from mcugen.ops.sqrt import Sqrt
from mcugen.ops.square import Square
from mcugen.ops.sub import Sub
from mcugen.ops.sum import Sum

Step = Callable[[Expansion, str], str]


def _unchanged(e: Expansion, x: str) -> str:
    return x


def _each(op: Op) -> Step:
    """An elementwise operator as a step."""
    return lambda e, x: e.node(op, x)


def reduce(kind: type[Op], before: Step, after: Step, source: Source, e: Expansion) -> Sequence[str]:
    """after(reduction of before(x)), with elementwise functions. Source: ONNX ReduceSum-13, ReduceMean-18.

    Integers without a scale, and booleans, are reduced by ReducePlain.
    """
    x, keep = _operand(e), bool(source.attributes["keepdims"])
    rank = len(e.type(x).shape)
    axes, noop = _axes(source, rank), source.attributes.get("noop_with_empty_axes")
    if not axes and noop:
        return [after(e, before(e, x))]
    chosen = axes or tuple(range(rank))
    if 0 in e.type(x).shape:
        return [after(e, _of_nothing(e, x, chosen, keep, _EMPTY[kind]))]
    prepared = before(e, x)
    t = e.type(prepared)
    how = _PLAIN.get(kind) if is_plain(t) or t.dtype == "bool" else None
    op = ReducePlain(chosen, keep, how) if how else kind(chosen, keep)  # type: ignore[call-arg]
    return [after(e, e.node(op, prepared) if chosen else prepared)]


def _of_nothing(e: Expansion, x: str, axes: Sequence[int], keep: bool, value: float) -> str:
    """The reduction of a tensor without elements: the neutral element `value`, limited to the range of the type."""
    t = e.type(x)
    shape = tuple(1 if k in axes else d for k, d in enumerate(t.shape) if keep or k not in axes)
    low, high = (-math.inf, math.inf) if t.is_float else t.limits
    return e.constant(np.full(shape, min(max(value, low), high), t.np_dtype))


def product(source: Source, e: Expansion) -> Sequence[str]:
    """The product over axes. Source: ONNX ReduceProd-18."""
    x, keep = _operand(e), bool(source.attributes["keepdims"])
    rank = len(e.type(x).shape)
    axes, noop = _axes(source, rank), source.attributes.get("noop_with_empty_axes")
    chosen = axes or (() if noop else tuple(range(rank)))
    if 0 in e.type(x).shape:
        return [_of_nothing(e, x, chosen, keep, 1.0)]
    return [e.node(ReducePlain(chosen, keep, "prod"), x) if chosen else x]


def log_sum_exp(source: Source, e: Expansion) -> Sequence[str]:
    """max + log(sum of exp(x - max)), which is log(sum of exp(x)). Source: ONNX ReduceLogSumExp-18."""
    x, keep = _operand(e), bool(source.attributes["keepdims"])
    shape = e.type(x).shape
    axes, noop = _axes(source, len(shape)), source.attributes.get("noop_with_empty_axes")
    axes = axes or (() if noop else tuple(range(len(shape))))
    if 0 in shape:
        return [_of_nothing(e, x, axes, keep, -math.inf)]
    if not axes:
        return [x]
    largest = e.node(ReduceMax(axes, True), x)
    total = e.node(Sum(axes, True), e.node(Exp(), e.node(Sub(), x, largest)))
    found = e.node(Add(), e.node(Log(), total), largest)
    return [found if keep else e.node(Reshape(tuple(d for k, d in enumerate(shape) if k not in axes)), found)]


def log_softmax(source: Source, e: Expansion) -> Sequence[str]:
    """x - max - log(sum of exp(x - max)) along one axis. Source: ONNX LogSoftmax-13."""
    return [logarithm(e, _operand(e), source.attributes["axis"])]


def logarithm(e: Expansion, x: str, axis: int) -> str:
    """The logarithm of the softmax along an axis."""
    centred = e.node(Sub(), x, e.node(ReduceMax((axis,), True), x))
    total = e.node(Sum((axis,), True), e.node(Exp(), centred))
    return e.node(Sub(), centred, e.node(Log(), total))


def position(smallest: bool, source: Source, e: Expansion) -> Sequence[str]:
    """The index of the largest or smallest element of an axis. Source: ONNX ArgMax-13, ArgMin-13."""
    x, axis = _operand(e), source.attributes["axis"]
    shape = e.type(x).shape
    if not -len(shape) <= axis < len(shape):
        raise ShapeError(f"axis {axis} is not an axis of {list(shape)}")
    axis %= len(shape)
    last = source.attributes["select_last_index"]
    y = e.node(ArgMax(axis, "s64", smallest), e.node(Reverse((axis,)), x) if last else x)
    if last:  # the last largest element is the first one in reverse order
        y = e.node(Arithmetic("sub"), e.constant(np.array(shape[axis] - 1, np.int64)), y)
    kept = tuple(1 if k == axis else d for k, d in enumerate(shape))
    return [e.node(Reshape(kept), y) if source.attributes["keepdims"] else y]


def _axes(source: Source, rank: int) -> tuple[int, ...]:
    """The axes that an operand states, or an attribute in old versions; () if the file states no axes."""
    given = source.attributes.get("axes")
    if given is None and len(source.inputs) > 1 and source.inputs[1] is not None:
        given = source.ints(1)
        if given is None:
            raise UnsupportedError("the axes are computed at run time", hint="make them a constant")
    if any(not -rank <= axis < rank for axis in given or ()):
        raise ShapeError(f"axes {list(given or ())} are not axes of rank {rank}")
    return tuple(sorted({axis % rank for axis in given or ()}))


def _operand(e: Expansion) -> str:
    if not e.inputs or e.inputs[0] is None:
        raise ShapeError("the operator has no operand, needs 1")
    return e.inputs[0]


_KINDS: tuple[tuple[str, type[Op], tuple[Step, Step]], ...] = (
    ("ReduceSum", Sum, (_unchanged, _unchanged)),
    ("ReduceMean", Mean, (_unchanged, _unchanged)),
    ("ReduceMax", ReduceMax, (_unchanged, _unchanged)),
    ("ReduceMin", ReduceMin, (_unchanged, _unchanged)),
    ("ReduceL1", Sum, (_each(Abs()), _unchanged)),
    ("ReduceL2", Sum, (_each(Square()), _each(Sqrt()))),
    ("ReduceSumSquare", Sum, (_each(Square()), _unchanged)),
    ("ReduceLogSum", Sum, (_unchanged, _each(Log()))),
)
_EMPTY: dict[type[Op], float] = {Sum: 0.0, Mean: math.nan, ReduceMax: -math.inf, ReduceMin: math.inf}
_PLAIN: dict[type[Op], str] = {Sum: "sum", ReduceMax: "max", ReduceMin: "min"}
IMPORTS = (
    Import("onnx", "ReduceProd", expand=product),
    *(Import("onnx", name, expand=partial(reduce, kind, *steps)) for name, kind, steps in _KINDS),
    Import("onnx", "ReduceLogSumExp", expand=log_sum_exp),
    Import("onnx", "LogSoftmax", since=13, expand=log_softmax),
    Import("onnx", "ArgMax", expand=partial(position, False)),
    Import("onnx", "ArgMin", expand=partial(position, True)),
)
