"""Functions of int8 data that the runtimes compute byte by byte: they are imported as tables of 256 results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from mcugen.errors import QuantizationError, ShapeError
from mcugen.ir.fixed_point import multiply_double_rounding, quantize_multiplier, round_array_half_away
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops.curve import root_factor, shifts_too_far
from mcugen.ops.lookup import Lookup
from mcugen.ops.table import Table
from mcugen.oracle.gemmlowp import inverse_root

_BYTES = np.arange(-128, 128, dtype=np.int64)
_ROOT_BITS = 20
_Function = Callable[[TensorType, TensorType], np.ndarray]


def _is_int8(source: Source) -> bool:
    return bool(source.inputs) and source.inputs[0] is not None and source.inputs[0].dtype == "s8"


def expand(function: _Function, lacking: str, source: Source, e: Expansion) -> Sequence[str]:
    """The function as a table. lacking: the runtime that has no int8 kernel for the function; "" if both have one."""
    for name in source.attributes.unread():
        raise ShapeError(f"the operator has an attribute {name}, which is not supported")
    if not e.inputs or e.inputs[0] is None:
        raise ShapeError("the operator has no operand, needs 1")
    if lacking:
        e.refuse(lacking, "no kernel for s8")
    return [table(e, e.inputs[0], source.outputs[0], function)]


def table(e: Expansion, x: str, y: TensorType, function: _Function) -> str:
    """A table of a function. function: (type of x, type of y) -> stored results for all int8 values, unclamped.

    uint8 data is treated as int8.
    """
    t = e.type(x)
    if y.quant is None or t.quant is None or y.dtype != t.dtype:
        raise QuantizationError("operand and result must have one 8-bit type, each with a scale")
    values = (np.clip(function(_signed(t), _signed(y)), -128, 127) + 128).astype(np.uint8).tobytes()
    return e.node(Lookup(values, "s8") if t.dtype == "s8" else Table(values, "u8"), x, quant=y.quant)


def _signed(t: TensorType) -> TensorType:
    """The int8 type that stores the same real numbers."""
    return t if t.dtype == "s8" else TensorType(t.shape, "s8", QuantParams((t.scale,), (t.zero_point - 128,)))


def _magnitude(x: TensorType, y: TensorType) -> np.ndarray:
    """|x|. Source: TFLite elementwise.cc, AbsEvalQuantized."""
    value = np.abs(_BYTES - x.zero_point)
    if x.scale != y.scale:
        value = multiply_double_rounding(value, *quantize_multiplier(x.scale / y.scale))
    return np.asarray(value + y.zero_point)


def _inverse_root(x: TensorType, y: TensorType) -> np.ndarray:
    """1 / sqrt(x); the largest result for x <= 0. The runtimes fail below 0. Source: TFLite RsqrtEvalQuantized."""
    factor = root_factor(x, y)
    if shifts_too_far(factor):
        raise QuantizationError(f"for the result's scale {y.scale:.3g} the runtimes would shift by more than 31 bits")
    mult, shift = quantize_multiplier(factor)
    found = np.full(256, 127, np.int64)
    for k in range(x.zero_point + 129, 256):
        root, at = inverse_root(int(_BYTES[k]) - x.zero_point)
        data = multiply_double_rounding(np.array([1]), root, at + _ROOT_BITS)
        found[k] = multiply_double_rounding(data, mult, shift - _ROOT_BITS)[0] + y.zero_point
    return found


def in_float32(function: Callable[[np.ndarray], np.ndarray], x: TensorType, y: TensorType) -> np.ndarray:
    """A function in float32. Source: TFLite common.h, LUTPopulateInt8."""
    real = np.float32(x.scale) * (_BYTES - x.zero_point).astype(np.float32)
    with np.errstate(all="ignore"):
        steps = round_array_half_away(function(real).astype(np.float32) * (np.float32(1) / np.float32(y.scale)))
    return np.asarray(np.clip(steps.astype(np.float64), -1024, 1024) + y.zero_point)


def _root(x: TensorType, y: TensorType) -> np.ndarray:
    """sqrt(x) in float32, rounded down; 0 for x < 0, where the runtime fails. Measured with LiteRT 2.3.0."""
    real = np.float32(x.scale) * np.maximum(_BYTES - x.zero_point, 0).astype(np.float32)
    return np.asarray(np.floor(np.sqrt(real) / np.float32(y.scale)).clip(max=1024) + y.zero_point)


def _logarithm(x: np.ndarray) -> np.ndarray:
    """log(x); -inf for x <= 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(x > 0, np.log(x), -np.inf)


def _exponential_unit(x: np.ndarray) -> np.ndarray:
    return np.where(x < 0, np.expm1(np.minimum(x, 0)), x)


_FUNCTIONS: Mapping[str, tuple[_Function, str]] = {
    "ABS": (_magnitude, ""),
    "RSQRT": (_inverse_root, ""),
    "EXP": (partial(in_float32, np.exp), "tflm"),
    "LOG": (partial(in_float32, _logarithm), "tflm"),
    "SQRT": (_root, "tflm"),
    "ELU": (partial(in_float32, _exponential_unit), ""),
}
IMPORTS = tuple(Import("tflite", name, expand=partial(expand, *how), when=_is_int8) for name, how in _FUNCTIONS.items())
