"""Shared recipe of operators on integers, floats and booleans without scales."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call, Rule
from mcugen.ir.types import TensorType

KINDS = {"s8": 0, "u8": 1, "s16": 2, "s32": 3, "s64": 4, "bool": 5}
"""Element type -> its number in mcugen/any_integer.h."""

FOLDS = {"sum": 0, "prod": 1, "max": 2, "min": 3}
"""Reduction -> its number in mcugen/fold.h."""

REDUCERS: Mapping[str, Callable[..., np.ndarray]] = {
    "sum": np.add.reduce,
    "prod": np.multiply.reduce,
    "max": np.maximum.reduce,
    "min": np.minimum.reduce,
}
ACCUMULATORS: Mapping[str, np.ufunc] = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}


def operand(x: TensorType | None) -> TensorType:
    """x. Raises ShapeError if it is None, UnsupportedError if its element type is not supported."""
    if x is None:
        raise ShapeError("the operand is missing")
    if x.dtype != "f32" and x.dtype not in KINDS:
        raise UnsupportedError(f"{x.dtype} data is not supported")
    return x


def integers(k: int) -> Rule:
    """A rule: operand k has integers or booleans."""

    def rule(call: Call) -> bool:
        return call.input(k).dtype in KINDS

    rule.__doc__ = f"operand {k} has integers or booleans"
    return rule


def floats(k: int) -> Rule:
    """A rule: operand k is float32."""

    def rule(call: Call) -> bool:
        return call.input(k).dtype == "f32"

    rule.__doc__ = f"operand {k} is float32"
    return rule


def kind_of(call: Call, k: int = 0) -> dict[str, int]:
    """The struct field `kind` of integer kernels, the number of operand k's element type; {} for floats."""
    dtype = call.input(k).dtype
    return {"kind": KINDS[dtype]} if dtype in KINDS else {}


def wrapped(x: np.ndarray, t: TensorType) -> np.ndarray:
    """64-bit integers wrapped to the type of t; booleans are x != 0."""
    return np.asarray(x != 0) if t.dtype == "bool" else np.asarray(x).astype(t.np_dtype)
