"""Imputer, Binarizer and OneHotEncoder: features replaced or compared one by one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ops import _forest
from mcugen.ops.cast import Cast
from mcugen.ops.compare import Compare
from mcugen.ops.reshape import Reshape
from mcugen.ops.select import Select


def imputer(source: Source, e: Expansion) -> Sequence[str]:
    """x, or a constant where x is NaN or another stated value. Source: ONNX ai.onnx.ml Imputer-1."""
    a, x = source.attributes, _operand(e)
    t = e.type(x)
    if t.dtype == "f32":
        values, missing = _forest.numbers(a, "imputed_value_floats"), float(a["replaced_value_float"])
        a.ignore("imputed_value_int64s", "replaced_value_int64")
    else:
        values, missing = _forest.integers(a, "imputed_value_int64s"), int(a["replaced_value_int64"])
        a.ignore("imputed_value_floats", "replaced_value_float")
    if not t.shape or values.size not in (1, t.shape[-1]):
        raise ShapeError(f"{values.size} values do not fit features {list(t.shape)}")
    if missing != missing:
        gone = e.node(Compare("NOT_EQUAL"), x, x)
    else:
        gone = e.node(Compare("EQUAL"), x, e.constant(np.array(missing, t.np_dtype)))
    filled = np.broadcast_to(values.astype(t.np_dtype), t.shape).copy() if values.size > 1 else values
    return [e.node(Select(), gone, e.constant(filled.astype(t.np_dtype)), x)]


def binarizer(source: Source, e: Expansion) -> Sequence[str]:
    """1 where x is above the threshold, else 0. Source: ONNX ai.onnx.ml Binarizer-1."""
    x = _operand(e)
    threshold = e.constant(np.array(source.attributes["threshold"], e.type(x).np_dtype))
    return [e.node(Cast(e.type(x).dtype), e.node(Compare("GREATER"), x, threshold))]


def one_hot(source: Source, e: Expansion) -> Sequence[str]:
    """1 for the category equal to x, 0 for others, along a new last axis. Source: ONNX ai.onnx.ml OneHotEncoder-1."""
    a, x = source.attributes, _operand(e)
    categories = tuple(a.get("cats_int64s") or ())
    a.ignore("cats_strings")
    if not categories or e.texts(x):
        raise UnsupportedError("categories that are text are not supported", hint="number them before the model")
    a.ignore("zeros")  # with zeros=0 an unknown category makes ONNX Runtime fail; C gives zeros
    t = e.type(x)
    if t.dtype == "s64":
        known = np.array(categories, np.int64)
    else:
        x, known = e.node(Cast("f32"), x) if t.dtype != "f32" else x, np.array(categories, np.float32)
    wide = e.node(Reshape((*t.shape, 1)), x)
    same = e.node(Compare("EQUAL"), wide, e.constant(known))
    return [e.node(Cast("f32"), same)]


def _operand(e: Expansion) -> str:
    if not e.inputs or e.inputs[0] is None:
        raise ShapeError("the operator has no operand, needs 1")
    if e.texts(e.inputs[0]):
        raise UnsupportedError("features that are text are not supported", hint="number them before the model")
    return e.inputs[0]


IMPORTS = (
    Import("onnx", "ai.onnx.ml:Imputer", expand=imputer),
    Import("onnx", "ai.onnx.ml:Binarizer", expand=binarizer),
    Import("onnx", "ai.onnx.ml:OneHotEncoder", expand=one_hot),
)
