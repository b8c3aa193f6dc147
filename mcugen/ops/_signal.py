"""Shared recipe of the operators of TFLM's signal library: checks of operands and options."""

from __future__ import annotations

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call, Rule
from mcugen.ir.imports import Source
from mcugen.ir.types import TensorType
from mcugen.system import flexbuffer


def no_options(source: Source) -> None:
    """Raise UnsupportedError if the file has options for an operator that takes none."""
    flexbuffer.options(source.attributes["custom_options"])


def data_is(dtype: str) -> Rule:
    """A rule: operand 0 has this element type."""

    def rule(call: Call) -> bool:
        return call.input(0).dtype == dtype

    rule.__doc__ = f"the data are {dtype}"
    return rule


def vector(what: str, t: TensorType | None, dtype: str) -> TensorType:
    """t. Raises UnsupportedError or ShapeError unless t is a non-empty vector of `dtype`. what: its name in errors."""
    if t is None or t.dtype != dtype:
        raise UnsupportedError(f"{what} {t} must have the type {dtype}")
    if len(t.shape) != 1 or not t.size:
        raise ShapeError(f"{what} {t} must be a vector with at least one element")
    return t
