"""Tensors of stored integers: zero points, ranges, fused activations and requantization, as runtimes derive them."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import DTypeLike

from mcugen.errors import QuantizationError, UnsupportedError
from mcugen.ir.call import Call
from mcugen.ir.types import TensorType
from mcugen.oracle.fixed import Ints, away, int64, scaled_twice
from mcugen.oracle.rational import binary32, binary64, exact, multiplier, nearest, quotient, scale_of

Multiplier = tuple[int, int]
_FAR = 2.0**40  # steps, beyond the range of every type
_INT32 = (-(1 << 31), (1 << 31) - 1)
_ACTIVATIONS: dict[str, tuple[int | None, int | None]] = {
    "NONE": (None, None),
    "RELU": (0, None),
    "RELU6": (0, 6),
    "RELU_N1_TO_1": (-1, 1),
}


def centred(x: np.ndarray, t: TensorType, axis: int = 0) -> Ints:
    """Stored integers minus their zero points. axis: the axis of the zero points, if there are several."""
    zeros = np.array(t.quant.zero_point if t.quant else (0,), np.int64)
    shape = [1] * x.ndim
    if zeros.size > 1:
        shape[axis] = zeros.size
    return int64(x) - (zeros.reshape(shape) if zeros.size > 1 else zeros[0])


def centred_floats(x: np.ndarray, t: TensorType, wide: DTypeLike) -> np.ndarray:
    """Stored integers minus their single zero point, as floats that hold them exactly."""
    if t.quant is not None and len(t.quant.zero_point) > 1:
        return centred(x, t).astype(wide)
    found = x.astype(wide)
    found -= t.zero_point if t.quant else 0
    return found


def ends(t: TensorType) -> tuple[int, int]:
    """The least and the greatest stored integer."""
    info = np.iinfo(t.np_dtype)
    return int(info.min), int(info.max)


def stored(x: Ints, t: TensorType) -> np.ndarray:
    """Numbers in steps of t as stored integers: with the zero point added, and saturated."""
    return np.asarray(np.clip(x + t.zero_point, *ends(t)))


def from_real(x: np.ndarray, t: TensorType) -> np.ndarray:
    """Float32 numbers as stored integers of t; NaN becomes the least value. Source: AffineQuantize."""
    with np.errstate(over="ignore", invalid="ignore"):
        steps = x.astype(np.float32) / np.float32(t.scale)
    return stored(away(np.clip(np.nan_to_num(steps, nan=-np.inf), -_FAR, _FAR)), t)


def to_real(x: np.ndarray, t: TensorType) -> np.ndarray:
    """Stored integers of t as float32 numbers: a float64 product, rounded. Source: reference_ops::Dequantize.

    Integers of at most 16 bits are exact in float32, so that a float32 product rounds only once, too.
    """
    if t.np_dtype.itemsize <= 2 and t.quant is not None and len(t.quant.zero_point) == 1:
        real = x.astype(np.float32)
        real -= np.float32(t.zero_point)
        real *= np.float32(t.scale)
        return real
    return np.asarray((np.float64(np.float32(t.scale)) * centred(x, t)).astype(np.float32))


def _activation(name: str) -> tuple[int | None, int | None]:
    if name not in _ACTIVATIONS:
        raise UnsupportedError(f"fused activation {name} is not supported")
    return _ACTIVATIONS[name]


def clamped(x: np.ndarray, activation: str) -> np.ndarray:
    """Real numbers after a fused activation."""
    low, high = _activation(activation)
    return x if low is None and high is None else np.asarray(np.clip(x, low, high))


def clamped_int32(x: Ints, activation: str) -> np.ndarray:
    """Plain int32 numbers after a fused activation. Source: kernel_util.h, CalculateActivationRange."""
    low, high = _activation(activation)
    return np.asarray(np.clip(x, _INT32[0] if low is None else low, _INT32[1] if high is None else high))


def activated(x: Ints, activation: str, t: TensorType) -> np.ndarray:
    """Stored integers of t after a fused activation."""
    return np.asarray(np.clip(x, *bounds(activation, t)))


def bounds(activation: str, t: TensorType) -> tuple[int, int]:
    """The stored integers of t to which a fused activation clamps.

    Source: kernel_util.cc, CalculateActivationRangeQuantized.
    """
    least, most = ends(t)
    low, high = _activation(activation)
    if low is not None:
        least = max(least, step_of(Fraction(low), t))
    if high is not None:
        most = min(most, step_of(Fraction(high), t))
    return least, most


def step_of(real: Fraction, t: TensorType) -> int:
    """The stored integer of a real number: real / scale in float32, rounded to the nearest, plus the zero point.

    Raises QuantizationError if the quotient does not fit int32.
    """
    steps = nearest(binary32(quotient(real, scale_of(t))))
    if not _INT32[0] <= steps <= _INT32[1]:
        raise QuantizationError(f"the clamp to {float(real):g} is {steps} steps of scale {t.scale:g}, beyond 32 bits")
    return t.zero_point + steps


def rescaled(x: Ints, a: TensorType, y: TensorType, *, in_double: bool, factor: float = 1.0) -> Ints:
    """Numbers in steps of a, times factor >= 0, in steps of y: the runtimes' requantization with two roundings.

    in_double: whether scale_a * factor / scale_y is computed in float64, else in float32.
    """
    return scaled_twice(x, *product_multiplier((a.scale, factor), y.scale, in_double=in_double))


@cache
def product_multiplier(factors: tuple[float, ...], divisor: float, *, in_double: bool) -> Multiplier:
    """(mult, shift) of the product of float32 factors over a float32 divisor, each step rounded."""
    rounded = binary64 if in_double else binary32
    real = Fraction(1)
    for factor in factors:
        real = rounded(real * binary32(exact(factor)))
    return multiplier(rounded(quotient(real, binary32(exact(divisor)))))


def gains(call: Call, factor: float) -> dict[str, Multiplier]:
    """(mult, shift) by name for an operator that multiplies negative numbers by a factor >= 0, and others by 1."""
    a, y, in_double = call.input(0).scale, call.output.scale, is_tflm(call)
    return {
        "positive": product_multiplier((a,), y, in_double=in_double),
        "negative": product_multiplier((a, factor), y, in_double=in_double),
    }


def is_tflm(call: Call) -> bool:
    """Whether the reference runtime is TensorFlow Lite Micro."""
    return call.reference == "tflm"
