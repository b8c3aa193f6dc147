"""Scaler, Normalizer and FeatureVectorizer: features prepared for a classical model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ops import _forest, _scores
from mcugen.ops.abs import Abs
from mcugen.ops.add import Add
from mcugen.ops.concatenation import Concatenation
from mcugen.ops.div import Div
from mcugen.ops.maximum import Maximum
from mcugen.ops.minimum import Minimum
from mcugen.ops.mul import Mul
from mcugen.ops.reduce_max import ReduceMax
from mcugen.ops.reshape import Reshape
from mcugen.ops.sqrt import Sqrt
from mcugen.ops.square import Square
from mcugen.ops.sub import Sub
from mcugen.ops.sum import Sum

_TINY = np.array(1e-45, np.float32)
"""The least positive float32: as a divisor it leaves zeros as they are."""

_HUGE = np.array(1e30, np.float32)


def scaler(source: Source, e: Expansion) -> Sequence[str]:
    """(x - offset) * scale, with one offset and scale, or one for each feature. Source: ONNX ai.onnx.ml Scaler-1."""
    shape = e.type(str(e.inputs[0])).shape if e.inputs and e.inputs[0] else ()
    y = _scores.features(e)
    for op, name, neutral in ((Sub(), "offset", 0.0), (Mul(), "scale", 1.0)):
        numbers = _forest.numbers(source.attributes, name)
        if numbers.size not in (0, 1, e.type(y).shape[1]):
            raise ShapeError(f"attribute {name} has {numbers.size} numbers, but x has {e.type(y).shape[1]} features")
        if numbers.size and (numbers != neutral).any():
            y = e.node(op, y, e.constant(numbers))
    return [_shaped(e, y, shape)]


def normalizer(source: Source, e: Expansion) -> Sequence[str]:
    """Rows of x divided by their maximum, sum of magnitudes, or root of the sum of squares; rows of zeros stay.

    Source: ONNX ai.onnx.ml Normalizer-1; normalizer.cc, which takes the maximum of values, not of magnitudes.
    """
    kind = source.attributes["norm"]
    shape = e.type(str(e.inputs[0])).shape if e.inputs and e.inputs[0] else ()
    x = _scores.features(e)
    if kind == "MAX":
        y = e.node(Div(), x, _not_zero(e, e.node(ReduceMax((1,), True), x)))
    elif kind == "L1":
        total = e.node(Sum((1,), True), e.node(Abs(), x))
        y = e.node(Div(), x, e.node(Maximum(), total, e.constant(_TINY)))
    elif kind == "L2":
        squares = e.node(Square(), x)
        total = e.node(Maximum(), e.node(Sum((1,), True), squares), e.constant(_TINY))
        sign = e.node(Div(), x, e.node(Maximum(), e.node(Abs(), x), e.constant(_TINY)))
        y = e.node(Mul(), e.node(Sqrt(), e.node(Div(), squares, total)), sign)
    else:
        raise UnsupportedError(f"norm {kind[:40]} is not supported; MAX, L1 and L2 are")
    return [_shaped(e, y, shape)]


def _not_zero(e: Expansion, x: str) -> str:
    """x, or 1 where x is 0."""
    large = e.node(Mul(), e.node(Mul(), e.node(Abs(), x), e.constant(_HUGE)), e.constant(_HUGE))
    there = e.node(Minimum(), large, e.constant(np.array(1, np.float32)))
    return e.node(Add(), x, e.node(Sub(), e.constant(np.array(1, np.float32)), there))


def _shaped(e: Expansion, y: str, shape: Sequence[int]) -> str:
    return y if e.type(y).shape == tuple(shape) else e.node(Reshape(tuple(shape)), y)


def vectorizer(source: Source, e: Expansion) -> Sequence[str]:
    """The features of all operands, concatenated. Source: ONNX ai.onnx.ml FeatureVectorizer-1."""
    sizes = source.attributes.get("inputdimensions") or ()
    names = [_scores.features(e, k) for k in range(len(e.inputs))]
    if sizes and tuple(sizes) != tuple(e.type(name).shape[1] for name in names):
        raise ShapeError(f"inputdimensions {list(sizes)} differ from the operands' numbers of features")
    return [e.node(Concatenation(1), *names)]


IMPORTS = (
    Import("onnx", "ai.onnx.ml:Scaler", expand=scaler),
    Import("onnx", "ai.onnx.ml:Normalizer", expand=normalizer),
    Import("onnx", "ai.onnx.ml:FeatureVectorizer", expand=vectorizer),
)
