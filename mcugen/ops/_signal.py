"""Shared recipe of the operators of the signal library: types of operands and of vectors."""

from __future__ import annotations

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call, Rule
from mcugen.ir.imports import Source
from mcugen.ir.types import TensorType
from mcugen.system import flexbuffer


def no_options(source: Source) -> None:
    """Raise UnsupportedError where an operator that has no options carries some."""
    flexbuffer.options(source.attributes["custom_options"])


def data_is(dtype: str) -> Rule:
    """A rule: operand 0 has this element type."""

    def rule(call: Call) -> bool:
        return call.input(0).dtype == dtype

    rule.__doc__ = f"the data are {dtype}"
    return rule


def vector(what: str, t: TensorType | None, dtype: str) -> TensorType:
    """t if it is a vector of that type; raises UnsupportedError or ShapeError if not."""
    if t is None or t.dtype != dtype:
        raise UnsupportedError(f"{what} {t} is not of {dtype}")
    if len(t.shape) != 1 or not t.size:
        raise ShapeError(f"{what} {t} is not a vector")
    return t
