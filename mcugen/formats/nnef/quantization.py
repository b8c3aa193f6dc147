"""graph.quant: the quantization of tensors, as scales and zero points."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from mcugen.errors import CorruptModelError, QuantizationError, UnsupportedError
from mcugen.ir.types import NUMPY_DTYPES, QuantParams

_DTYPES = {8: "s8", 16: "s16", 32: "s32"}
Stored = tuple[str, QuantParams]


def of(name: str, stated: Mapping[str, Any]) -> Stored:
    """The element type and quantization of a tensor. uint8 becomes int8, with the zero point moved by 128.

    Raises UnsupportedError or QuantizationError.
    """
    kind = stated.get("op-name")
    if kind == "zero_point_linear_quantize":
        scales, zeros = _numbers(stated, "scale"), _numbers(stated, "zero_point")
    elif kind in ("linear_quantize", "min_max_linear_quantize"):
        scales, zeros = _of_bounds(name, stated)
    else:
        raise UnsupportedError(f"{name!r} is quantized by {kind}, which is not supported")
    bits = stated.get("bits", 8)
    if bits not in _DTYPES:
        raise UnsupportedError(f"{name!r} is quantized to {bits} bits; 8, 16 and 32 are supported")
    is_signed = bool(stated.get("signed", kind != "linear_quantize"))
    if not is_signed and bits != 8:
        raise UnsupportedError(f"{name!r} is quantized to {bits} bits without a sign, which is not supported")
    if not all(math.isfinite(s) and s > 0 for s in scales):
        raise QuantizationError(f"{name!r} has a scale that is not finite and positive")
    if not all(math.isfinite(z) and z == int(z) for z in zeros) or len(zeros) not in (1, len(scales)):
        raise QuantizationError(f"{name!r} must have zero points that are integers, one for each scale")
    found = [int(z) - (0 if is_signed else 128) for z in zeros] * (len(scales) if len(zeros) == 1 else 1)
    ends = np.iinfo(NUMPY_DTYPES[_DTYPES[bits]])
    if not all(ends.min <= z <= ends.max for z in found):
        raise QuantizationError(f"{name!r} has a zero point outside the range of {bits} bits")
    return _DTYPES[bits], QuantParams(tuple(float(np.float32(s)) for s in scales), tuple(found), 0)


def _numbers(stated: Mapping[str, Any], name: str) -> list[float]:
    """Entry `name` as a list of floats. The file may state a number, a list, or [[...]] for scales of the second axis.

    Raises CorruptModelError for anything else.
    """
    given = stated.get(name)
    values: list[Any] = given if isinstance(given, list) else [given]
    values = values[0] if len(values) == 1 and isinstance(values[0], list) else values
    if not values or not all(isinstance(v, int | float) for v in values):
        raise CorruptModelError(
            f"graph.quant states {name} {str(given)[:40]}, which is not a number or a list of numbers"
        )
    return [float(v) for v in values]


def _of_bounds(name: str, stated: Mapping[str, Any]) -> tuple[list[float], list[float]]:
    """Scales and zero points from the least and the greatest real value. Raises QuantizationError."""
    bits = stated.get("bits", 8)
    if bits not in _DTYPES:
        raise UnsupportedError(f"{name!r} is quantized to {bits} bits; 8, 16 and 32 are supported")
    is_signed = bool(stated.get("signed", stated.get("op-name") != "linear_quantize"))
    steps = (1 << bits) - 1 - int(is_signed and bool(stated.get("symmetric", False)))
    scales, zeros = [], []
    for low, high in zip(_numbers(stated, "min"), _numbers(stated, "max"), strict=False):
        scale = (high - low) / steps
        if not scale > 0:
            raise QuantizationError(
                f"{name!r} is quantized to the range from {low} to {high}", hint="state min below max"
            )
        least = -(1 << (bits - 1)) + int(is_signed and bool(stated.get("symmetric", False))) if is_signed else 0
        zero = least - low / scale
        if not math.isfinite(zero) or abs(zero - round(zero)) > 1e-3:
            what = f"{name!r}: 0 lies between two steps of its quantization"
            raise QuantizationError(what, hint="change min or max so that 0 is a step")
        scales.append(scale)
        zeros.append(float(round(zero)))
    return scales, zeros


def stored(data: np.ndarray, kind: Stored | None, where: str) -> tuple[np.ndarray, QuantParams | None]:
    """A constant as the graph stores it: quantized integers, or int32, float32 or booleans without quantization.

    Per-channel scales belong to the first axis, or to the second if the first has one element, as in a bias.
    """
    if kind is None:
        if data.dtype == np.bool_ or data.dtype in (np.int32, np.int64):
            return data.astype(np.int32) if data.dtype.kind == "i" else data, None
        return data.astype(np.float32), None
    dtype, quant = kind
    if quant.per_channel:
        quant = replace(quant, axis=int(data.ndim > 1 and data.shape[0] == 1))
        if not data.ndim or data.shape[quant.axis] != len(quant.scale):
            raise QuantizationError(
                f"{len(quant.scale)} scales do not fit a tensor of shape {list(data.shape)}", where=where
            )
    ends = np.iinfo(NUMPY_DTYPES[dtype])
    if data.dtype.kind == "f":
        along = tuple(-1 if k == quant.axis else 1 for k in range(data.ndim)) if quant.per_channel else ()
        scale, zero = np.array(quant.scale).reshape(along), np.array(quant.zero_point).reshape(along)
        with np.errstate(invalid="ignore", over="ignore"):
            steps = np.nan_to_num(np.rint(data.astype(np.float64) / scale) + zero)
        return np.clip(steps, ends.min, ends.max).astype(ends.dtype), quant
    whole = data.astype(np.int64) - (128 if data.dtype == np.uint8 and dtype == "s8" else 0)
    if whole.size and not ends.min <= whole.min() <= whole.max() <= ends.max:
        raise CorruptModelError(f"the constant holds {data.dtype} data that {dtype} cannot store", where=where)
    return whole.astype(ends.dtype), quant
