"""Stored results of operators with weights, from exact sums of products. Operands: data, weights, optional bias."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache

import numpy as np

from mcugen.errors import QuantizationError
from mcugen.ir.call import Call
from mcugen.oracle import once as oracle_once
from mcugen.oracle.fixed import Ints, int64, scaled_down, scaled_once, scaled_twice, scaled_wide, wrapped
from mcugen.oracle.quantized import bounds, centred, centred_floats, clamped
from mcugen.oracle.rational import binary32, binary64, exact, multiplier, quotient

_WIDE, _ROWS = 1 << 10, 32
"""Sums are requantized in blocks that fit a cache: 32 rows of about 1,024 sums. A row joins several pixels if a pixel
has fewer channels.
"""
_SMALL, _RIGHT = 1 << 30, -5
"""Limits for `scaled_down`: sums in float32 are below 2**24, so none wraps with a bias below 2**30. A right shift by 5
or more bits leaves few results that need the slow path.
"""


def operands(call: Call, x: np.ndarray, w: np.ndarray, axis: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Data and weights minus their zero points, as floats that hold all sums exactly. axis: the output axis of the
    weights.
    """
    taps = w.size // w.shape[axis]
    wide = np.float32 if x.dtype.itemsize == w.dtype.itemsize == 1 and taps * 255 * 255 < 1 << 24 else np.float64
    return centred_floats(x, call.input(0), wide), centred(w, call.input(1), axis).astype(wide)


def real_results(sums: np.ndarray, b: np.ndarray | None, activation: str) -> np.ndarray:
    """Float results of sums [..., channels]: bias added, then the activation."""
    return clamped(sums if b is None else sums + b, activation)


def unblocked(w: np.ndarray, s: np.ndarray, z: np.ndarray | None, block: int) -> np.ndarray:
    """Real weights [outputs, inputs] of stored integers, with scales and zero points [outputs, blocks]; float64."""
    place = np.arange(w.shape[1]) // block
    less = w.astype(np.float64) if z is None else w - z[:, place].astype(np.float64)
    return np.asarray(less * s[:, place].astype(np.float64))


def results(call: Call, sums: np.ndarray, b: np.ndarray | None, activation: str, *, once: bool = False) -> np.ndarray:
    """The stored result of exact sums [..., channels] of stored integers.

    once: whether to multiply by the real factor and round once, as LiteRT's fully connected layers do. Source:
    reference_integer_ops (per channel), reference_ops (uint8).
    """
    if getattr(call.op, "rounding", ""):
        return oracle_once.results(call, sums, b, activation)
    channels, ends = sums.shape[-1], bounds(activation, call.output)
    rows, found = sums.reshape(-1, channels), np.empty(sums.shape, call.output.np_dtype)
    made = found.reshape(rows.shape)
    several = max(1, _WIDE // channels)
    whole = len(rows) - len(rows) % several
    for part, stored, times in (
        (rows[:whole].reshape(-1, several * channels), made[:whole].reshape(-1, several * channels), several),
        (rows[whole:], made[whole:], 1),
    ):
        steps = _scaled(call, part, b, times, once=once)
        for k in range(0, len(part), _ROWS):
            stored[k : k + _ROWS] = np.clip(steps(part[k : k + _ROWS]), *ends)
    return found


def _scaled(
    call: Call, rows: np.ndarray, b: np.ndarray | None, times: int, *, once: bool
) -> Callable[[np.ndarray], np.ndarray]:
    """A function from sums [rows, times * channels] to steps of the result. A row holds `times` pixels."""
    channels, y = rows.shape[1] // times, call.output.zero_point
    bias = np.zeros(1, np.int64) if b is None else np.tile(int64(b).reshape(-1), times)
    is_wide = _sums_are_wide(call)

    def total(sums: np.ndarray) -> Ints:
        return int64(sums) + bias if is_wide else wrapped(int64(sums) + bias)

    if once:
        factors = np.tile([float(v) for v in _real(*_scales(call), channels)], times)
        return lambda sums: wrapped(scaled_once(total(sums), factors) + y)
    mult, shift = (np.tile(v, times) for v in _multipliers(*_scales(call), channels))
    if rows.dtype == np.float32 and np.abs(bias).max() < _SMALL and shift.max() <= _RIGHT:
        addend = bias.astype(np.float64)
        return lambda sums: scaled_down(sums + addend, mult, shift) + y
    scaling = scaled_wide if is_wide else scaled_twice
    return lambda sums: wrapped(scaling(total(sums), mult, shift) + y)


def scaling(call: Call, channels: int, activation: str) -> dict[str, object]:
    """(mult, shift) of each channel and the clamp, by name; empty for floats."""
    if call.input(0).is_float:
        return {}
    if getattr(call.op, "rounding", ""):
        return oracle_once.scaling(call, channels, activation)
    mult, shift = _multipliers(*_scales(call), channels)
    return {"mult": mult, "shift": shift, "bounds": bounds(activation, call.output)}


def was_uint8(call: Call) -> bool:
    """Whether the model file uses uint8: the weights are uint8, or int16 made from uint8."""
    return call.input(1).dtype in ("u8", "s16")


def _sums_are_wide(call: Call) -> bool:
    """Whether sums have 64 bits: for int16 data, unless the bias is int32, or the model states int32 sums without a
    bias.
    """
    if call.input(0).dtype != "s16":
        return False
    bias = call.input(2).dtype if call.has(2) else getattr(call.op, "sum_dtype", "")
    return bool(bias != "s32")


def _scales(call: Call) -> tuple[float, tuple[float, ...], float, int]:
    quant = call.input(1).quant
    if quant is None:
        raise QuantizationError(f"the weights {call.input(1)} have no scale")
    if getattr(call.op, "float_scales", False):
        return call.input(0).scale, quant.scale, call.output.scale, 2
    in_float = was_uint8(call) and not getattr(call.op, "exact_scales", False)
    in_float |= getattr(call.op, "product_in_float", False)
    return call.input(0).scale, quant.scale, call.output.scale, int(in_float)


@cache
def _real(x: float, w: tuple[float, ...], y: float, in_float: int, channels: int) -> tuple[Fraction, ...]:
    """scale_x * scale_w / scale_y of each channel.

    The product of two float32 is exact in float64. uint8 convolutions round it to float32. in_float: operations that
    round to float32: 0 none, 1 the product, 2 the product and the quotient. Source: kernel_util.cc,
    PopulateConvolutionQuantizationParams, GetQuantizedConvolutionMultipler.
    """
    scale, divisor = binary32(exact(x)), binary32(exact(y))
    products = [scale * binary32(exact(v)) for v in w]
    quotients = (quotient(binary32(p) if in_float else p, divisor) for p in products)
    found = [binary32(q) if in_float > 1 else binary64(q) for q in quotients]
    return tuple(found) if len(found) == channels else (found[0],) * channels


@cache
def _multipliers(x: float, w: tuple[float, ...], y: float, in_float: int, channels: int) -> tuple[Ints, Ints]:
    """(mult, shift) of each channel."""
    pairs = [multiplier(v) for v in _real(x, w, y, in_float, channels)]
    return np.array([m for m, _ in pairs], np.int64), np.array([s for _, s in pairs], np.int64)
