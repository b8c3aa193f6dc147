"""ONNX operators along one axis: TopK, CumSum, CumProd, ReverseSequence, LpNormalization, Compress."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.formats.operators.elements import operands
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ops.abs import Abs
from mcugen.ops.div import Div
from mcugen.ops.gather import Gather
from mcugen.ops.maximum import Maximum
from mcugen.ops.reshape import Reshape
from mcugen.ops.reverse_sequence import ReverseSequence
from mcugen.ops.scan import Scan
from mcugen.ops.sqrt import Sqrt
from mcugen.ops.square import Square
from mcugen.ops.sum import Sum
from mcugen.ops.top_k import TopK


def top_k(source: Source, e: Expansion) -> Sequence[str]:
    """The largest or smallest elements and their indices. Source: ONNX TopK-11."""
    (x, _), count, a = operands(e, 2), source.ints(1), source.attributes
    a.ignore("sorted")  # with sorted=0 any order is allowed; the C always sorts
    if count is None or len(count) != 1:
        raise UnsupportedError("the number of elements is computed at run time", hint="make it a constant")
    return list(e.nodes(TopK(count[0], a["axis"], not a["largest"], "s64"), x))


def running(how: str, source: Source, e: Expansion) -> Sequence[str]:
    """Running sums or products. Source: ONNX CumSum-14, CumProd-26."""
    (x, _), axis, a = operands(e, 2), source.ints(1), source.attributes
    if axis is None or len(axis) != 1:
        raise UnsupportedError("the axis is computed at run time", hint="make it a constant")
    return [e.node(Scan(axis[0], how, bool(a["exclusive"]), bool(a["reverse"])), x)]


def reverse_sequence(source: Source, e: Expansion) -> Sequence[str]:
    """The first `length` elements of each sequence, reversed; later elements stay. Source: ONNX ReverseSequence-10."""
    x, lengths = operands(e, 2)
    return [e.node(ReverseSequence(source.attributes["time_axis"], source.attributes["batch_axis"]), x, lengths)]


def lp_normalization(source: Source, e: Expansion) -> Sequence[str]:
    """x / norm of x along an axis; 0 if the norm is 0. Source: ONNX LpNormalization-22."""
    (x,), axis, p = operands(e, 1), source.attributes["axis"], source.attributes["p"]
    if p not in (1, 2):
        raise UnsupportedError(f"a norm of power {p} is not supported")
    total = e.node(Sum((axis,), True), e.node(Abs() if p == 1 else Square(), x))
    norm = total if p == 1 else e.node(Sqrt(), total)
    least = e.constant(np.array(np.finfo(np.float32).tiny, np.float32))
    return [e.node(Div(), x, e.node(Maximum(), norm, least))]


def compress(source: Source, e: Expansion) -> Sequence[str]:
    """The slices for which a constant condition holds. Source: ONNX Compress-11."""
    x, axis, chosen = operands(e, 2)[0], source.attributes["axis"], source.constant(1)
    if chosen is None:
        raise UnsupportedError(
            "the condition is computed at run time, so the result has no fixed size", hint="make it a constant"
        )
    if axis is None:
        x, axis = e.node(Reshape((-1,)), x), 0
    shape = e.type(x).shape
    index = np.flatnonzero(chosen)
    if not -len(shape) <= axis < len(shape) or not index.size or index.max() >= shape[axis]:
        raise ShapeError(f"a condition of {chosen.size} values does not fit axis {axis} of {list(shape)}")
    return [e.node(Gather(axis), x, e.constant(index.astype(np.int64)))]


IMPORTS = (
    Import("onnx", "TopK", since=10, expand=top_k),
    Import("onnx", "CumSum", expand=partial(running, "sum")),
    Import("onnx", "CumProd", expand=partial(running, "prod")),
    Import("onnx", "ReverseSequence", expand=reverse_sequence),
    Import("onnx", "LpNormalization", expand=lp_normalization),
    Import("onnx", "Compress", expand=compress),
)
