"""Operators whose integer results are real numbers rounded once, as in ONNX, and their proved fixed-point forms.

An operator's field `rounding`:

""        as the runtime `call.reference` rounds
"even"    the exact real value to the nearest integer, halves to even, before the zero point is added
"stored"  as "even", but halves go to the even stored value, zero point included
"single"  computed in float32 with a rounding after each operation, as in the fused kernels of ONNX Runtime
"float"   see `AveragePool2D`, the only operator that has it

Forms are proved for the sums that can occur, not for all 32-bit sums.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

import numpy as np

from mcugen.errors import QuantizationError, UnsupportedError
from mcugen.ir import requantize_proof
from mcugen.ir.call import Call, Param, fact
from mcugen.ir.fixed_point import activation_range
from mcugen.ir.ranges import Range
from mcugen.ir.requantize_proof import LinearRounding, Scaled, Stairs
from mcugen.ir.types import TensorType

HOW = ("", "even", "single", "stored", "float")
_SUMS = (-(2**31), 2**31 - 1)
_Key = tuple[str, tuple[Fraction, ...], tuple[Fraction, ...], tuple[int, int, int], bytes, bytes]


def rounding_of(call: Call) -> str:
    """The rounding that the operator defines; "" for the runtime's."""
    return str(getattr(call.op, "rounding", ""))


def is_stated(call: Call) -> bool:
    """Whether the operator, not the runtime, defines how integer results are rounded."""
    return rounding_of(call) != "" and not call.output.is_float


def flip_of(call: Call) -> int:
    """128 if the model's uint8 data are stored here as int8, else 0: the runtime's bytes minus the stored bytes."""
    return 128 if getattr(call.op, "flipped_u8", False) else 0


def scale_of(value: float) -> Fraction:
    """A scale, rounded to float32, as an exact fraction. Raises QuantizationError unless it is positive and finite."""
    stored = float(np.float32(value))
    if not np.isfinite(stored) or stored <= 0:
        raise QuantizationError(
            f"the scale {value:g} is not above 0", hint="quantize the float model again: its scales are damaged"
        )
    return Fraction(stored)


@fact
def factors(call: Call, channels: int) -> tuple[Fraction, ...]:
    """scale_x * scale_w / scale_y of each output channel: exact, or for "single" as computed in float32."""
    quant = call.input(1).quant
    if quant is None:
        raise QuantizationError(f"the weights {call.input(1)} have no scale")
    scales = quant.scale * (channels if len(quant.scale) == 1 else 1)
    if rounding_of(call) == "single":
        x, y = np.float32(call.input(0).scale), np.float32(call.output.scale)
        return tuple(scale_of(float(np.float32(np.float32(x * np.float32(w)) / y))) for w in scales)
    x_scale, y_scale = scale_of(call.input(0).scale), scale_of(call.output.scale)
    return tuple(x_scale * scale_of(w) / y_scale for w in scales)


def real_bias(call: Call, channels: int) -> tuple[Fraction, ...]:
    """A float bias divided by the scale of the sums, exact; zeros if the bias is an integer or absent."""
    if not call.has(2) or not call.input(2).is_float:
        return (Fraction(0),) * channels
    found, y = factors(call, channels), scale_of(call.output.scale)
    data = call.constant(2).reshape(-1).tolist()
    if not np.isfinite(data).all():
        raise QuantizationError("the bias has infinities or NaN")
    return tuple(Fraction(b) / y / f for b, f in zip(data, found, strict=True))


def whole_bias(call: Call, channels: int) -> np.ndarray:
    """`real_bias`, rounded to integers and saturated to 32 bits, int64 [channels]."""
    found = [min(max(round(b), _SUMS[0]), _SUMS[1]) for b in real_bias(call, channels)]
    return np.array(found, np.int64)


@fact
def stairs(call: Call, activation: str) -> Stairs:
    """The result of each output channel as a staircase of its sum (see `requantize_proof`), for sums that can occur."""
    found = call.accumulators
    if found is None:
        raise UnsupportedError(f"rounding {rounding_of(call)!r} needs constant weights")
    channels = found.low.size
    real = real_bias(call, channels)
    parts = tuple(b - int(w) for b, w in zip(real, whole_bias(call, channels), strict=True))
    return steps_of(rounding_of(call), factors(call, channels), parts, call.output, activation, found)


def steps_of(
    how: str,
    slopes: tuple[Fraction, ...],
    offsets: tuple[Fraction, ...],
    y: TensorType,
    activation: str,
    sums: Range,
) -> Stairs:
    """(sum + offset) * slope of each channel, as staircases (see `requantize_proof`) of type y over `sums`."""
    low, high = activation_range(activation, y)
    zero = y.zero_point
    ends = [np.clip(v, *_SUMS).astype(np.int64).tobytes() for v in (sums.low, sums.high)]
    return _stairs((how, slopes, offsets, (low - zero, high - zero, zero), *ends))


@lru_cache(maxsize=512)
def _stairs(key: _Key) -> Stairs:
    how, slopes, offsets, (first, last, zero), low, high = key
    least, most = (np.frombuffer(v, np.int64) for v in (low, high))
    if how == "single":
        return requantize_proof.single(np.array([float(f) for f in slopes], np.float32), (first, last), least, most)
    return requantize_proof.exact(slopes, offsets, (first, last), least, most, even=zero if how == "stored" else 0)


@lru_cache(maxsize=512)
def _scaled(found: Stairs) -> Scaled:
    return requantize_proof.scaled(found)


@lru_cache(maxsize=512)
def line(found: Stairs, margin: int) -> LinearRounding | None:
    """Each channel's proved constants of line.h; None if a channel has none. margin: see `requantize_proof.line`."""
    return requantize_proof.line(found, margin)


@fact
def scaled(call: Call, activation: str) -> Scaled:
    """Multiplier and shift of each channel, and whether they are proved."""
    return _scaled(stairs(call, activation))


@fact
def floats(call: Call, activation: str) -> tuple[np.ndarray, np.ndarray]:
    """The float32 factor of each channel, and whether it is proved, see `requantize_proof.floats`."""
    found = stairs(call, activation)
    return requantize_proof.floats(found, [float(f) for f in found.factor])


@fact
def line_of(call: Call, activation: str) -> LinearRounding | None:
    """Each channel's proved multiplier, shift, addend and exceptions (see line.h); None if a channel has none."""
    return line(stairs(call, activation), abs(call.output.zero_point))


def fields(call: Call, activation: str) -> dict[str, Param]:
    """The struct fields of line.h: the constants of `line_of` and the activation's bounds; {} if `line_of` is None."""
    found = line_of(call, activation)
    return {} if found is None else line_fields(found, call.output, activation, rounding_of(call))


def line_fields(
    found: LinearRounding, y: TensorType, activation: str, how: str, before: np.ndarray | int = 0
) -> dict[str, Param]:
    """The struct fields of line.h for results of type y.

    how: the rounding. before: the kernel's sums minus the sums that `found` rounds; one number, or one per channel.
    """
    low, high = activation_range(activation, y)
    return {
        "line.mult": found.mult.astype(np.int32),
        "line.addend": found.addend + (np.int64(y.zero_point) << found.shift) - found.mult * before,
        "line.shift": (found.shift + 64 * found.even + 128 * found.wide).astype(np.uint8),
        **_exception_fields(found, y, np.broadcast_to(before, found.mult.shape)),
        "line.tie_bits": found.tie_bits,
        "line.zero_point": 0 if how == "stored" else y.zero_point,
        "line.out_min": low,
        "line.out_max": high,
    }


def _exception_fields(found: LinearRounding, y: TensorType, before: np.ndarray) -> dict[str, Param]:
    """The sums that `found` rounds wrongly: pairs (sum, result), and the end of each channel's pairs."""
    channels = np.array([c for c, _, _ in found.exceptions], np.int64)
    ends = np.searchsorted(channels, np.arange(found.mult.size), side="right")
    pairs = [(acc + int(before[c]), value + y.zero_point) for c, acc, value in found.exceptions]
    return {
        "line.exceptions": np.array(pairs or [(0, 0)], np.int32).reshape(-1),
        "line.exception_end": (ends if pairs else ends[:1]).astype(np.uint16),
        "line.has_exceptions": int(bool(pairs)),
    }


def grid_fields(found: Mapping[str, Param], channels: int = 0) -> dict[str, Param]:
    """The fields of `line_fields` in the layout of OpenCL kernels (integers.cl, constant LINE), padded to `channels`.

    The array `line` has: the index of the first pair of exceptions; per channel the low and high word of its addend and
    the end of its pairs; the pairs.
    """
    mult, addend, shift = (np.asarray(found[f"line.{name}"], np.int64) for name in ("mult", "addend", "shift"))
    channels = max(channels, mult.size)
    pad = channels - mult.size
    has_pairs = bool(found["line.has_exceptions"])
    ends = np.asarray(found["line.exception_end"] if has_pairs else np.zeros_like(mult), np.int64)
    low = (addend & 0xFFFFFFFF).astype(np.uint32).view(np.int32)
    own = np.stack([low, addend >> 32, np.pad(ends, (0, mult.size - ends.size))], -1)
    pairs = np.asarray(found["line.exceptions"] if has_pairs else [])
    parts = ([1 + 3 * channels], np.pad(own, ((0, pad), (0, 0))).reshape(-1), pairs)
    return {
        "mult": np.pad(mult, (0, pad)).astype(np.int32),
        "shift": np.pad(shift, (0, pad)).astype(np.int32),
        "line": np.concatenate(parts).astype(np.int32),
        "rounding": found["line.tie_bits"],
        **{f"out_{name}": found[f"line.{key}"] for name, key in _ENDS},
    }


_ENDS = (("zero_point", "zero_point"), ("min", "out_min"), ("max", "out_max"))


def runtime_or_line(call: Call) -> bool:
    "the runtime defines rounding, or a multiplication, a shift and few exceptions give the stated results"
    return not is_stated(call) or has_line(call)


def has_line(call: Call) -> bool:
    "the operator states how it rounds; a multiplication, a shift and few exceptions give these results"
    if not is_stated(call) or call.accumulators is None:
        return False
    return line_of(call, str(call.op.activation)) is not None


def has_floats(call: Call) -> bool:
    "the operator is defined by float32 arithmetic, or only float32 is proved to give its stated results"
    if not is_stated(call) or call.accumulators is None:
        return False
    if rounding_of(call) == "single":
        return True
    activation = str(call.op.activation)
    return line_of(call, activation) is None and bool(floats(call, activation)[1].all())


def float_fields(call: Call, activation: str) -> dict[str, Param]:
    """The struct fields of single.h: the factors and the bounds of the activation."""
    low, high = activation_range(activation, call.output)
    return {
        "single.factor": floats(call, activation)[0].view(np.int32),
        "single.zero_point": call.output.zero_point,
        "single.out_min": low,
        "single.out_max": high,
    }


def is_scaled(call: Call) -> bool:
    "the runtime defines rounding, or a multiplication and a shift are proved to round sums as stated"
    if not is_stated(call):
        return True
    if call.accumulators is None:
        return False
    return bool(scaled(call, str(call.op.activation)).proved.all())


def bounds(call: Call, activation: str) -> tuple[Range, ...] | None:
    """Bounds of the stored results; None if the sums have no bounds, or exceed 32 bits."""
    found = call.accumulators
    if found is None or bool((found.low < _SUMS[0]).any() or (found.high > _SUMS[1]).any()):
        return None
    steps, zero = stairs(call, activation), call.output.zero_point
    return (Range(steps.at(found.low) + zero, steps.at(found.high) + zero),)


def check(how: str) -> None:
    """Raise UnsupportedError for a rounding that does not exist."""
    if how not in HOW:
        raise UnsupportedError(f"rounding {how!r} does not exist", hint=f"choose one of {HOW}")
