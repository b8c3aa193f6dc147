"""Layers with int8 weights on float data: operands are (data, scales, zero points, weights, optional bias)."""

from __future__ import annotations

import numpy as np

from mcugen.errors import QuantizationError
from mcugen.ir.call import Call
from mcugen.oracle.fixed import away
from mcugen.oracle.quantized import clamped

LOW, HIGH = -128, 127
NEAR = 1e-3
"""Largest distance from a tie, in steps, at which errors in the last bits of float operands can matter."""


def quantized(x: np.ndarray, symmetric: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Float data [groups, length] quantized to int8: (integers, scale per group, zero point per group).

    The arithmetic is float32, except for the zero point, which is computed in float64. Source: LiteRT
    portable_tensor_utils.cc, PortableAsymmetricQuantizeFloats, PortableSymmetricQuantizeFloats.
    """
    parts = [(_symmetric if symmetric else _asymmetric)(group) for group in x]
    q, scale, zero = (np.stack([np.asarray(p[k]) for p in parts]) for k in range(3))
    return q, scale.astype(np.float32), zero.astype(np.int8)


def near_ties(x: np.ndarray, symmetric: bool) -> list[tuple[int, int, float]]:
    """Data near a rounding tie, nearest first: (flat index, the other possible integer, distance from the tie in
    steps).
    """
    q, scale, _ = quantized(x, symmetric)
    inverse = np.float32(HIGH) / np.abs(x).max(axis=1) if symmetric else np.float32(1) / scale
    steps = (x * inverse[:, None]).astype(np.float64)
    distance = np.abs(np.abs(steps - np.trunc(steps)) - 0.5).reshape(-1)
    went_out = np.abs(away(steps)) > np.abs(steps)
    other = (q + np.where(went_out, -np.sign(steps), np.sign(steps)).astype(np.int64)).reshape(-1)
    places = np.flatnonzero((distance < NEAR) & (other >= LOW) & (other <= HIGH))
    return sorted(((int(k), int(other[k]), float(distance[k])) for k in places), key=lambda found: found[2])


def results(
    call: Call, sums: np.ndarray, scale: np.ndarray, b: np.ndarray | None, activation: str, *, twice: bool
) -> np.ndarray:
    """Float results of integer sums [N, ..., channels], with float32 arithmetic in the runtime's order.

    twice: whether sums are multiplied by the weights' scale and then by the data's; else by the product of both.
    """
    weights, each = _weight_scales(call), scale.reshape(-1, *(1,) * (sums.ndim - 1))
    acc = sums.astype(np.int64).astype(np.int32).astype(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = acc * weights * each if twice else acc * (weights * each)
        bias = np.float32(0) if b is None else b.reshape(-1)  # LiteRT adds products to 0 without a bias: -0 becomes 0
        return clamped(scaled + bias, activation).astype(np.float32)


def products(q: np.ndarray, scale: np.ndarray, zero: np.ndarray, w: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """Float32 products of quantized vectors [N, depth] and weights [outputs, depth].

    scale, zero: per vector. scales: per output. Integer sums are exact, and are then scaled in float32.
    """
    sums = (centred(q, zero) @ w.T.astype(np.float64)).astype(np.float32)
    return np.asarray(sums * (scale.reshape(-1, 1).astype(np.float32) * scales))


def centred(q: np.ndarray, zero: np.ndarray) -> np.ndarray:
    """Data [N, ...] minus zero points [N], in float64."""
    return q.astype(np.float64) - zero.reshape(-1, *(1,) * (q.ndim - 1)).astype(np.float64)


def _weight_scales(call: Call) -> np.ndarray:
    """The scales of the weights in float32: one per output channel, or one for all."""
    quant = call.input(3).quant
    if quant is None:
        raise QuantizationError(f"the weights {call.input(3)} have no scale")
    return np.array(quant.scale, np.float32)


def _asymmetric(x: np.ndarray) -> tuple[np.ndarray, np.float32, int]:
    low, high = np.minimum(np.float32(0), x.min()), np.maximum(np.float32(0), x.max())
    if low == high:
        return np.zeros(x.shape, np.int8), np.float32(1), 0
    scale = np.float64(high - low) / 255.0
    from_low, from_high = np.float64(low) / scale, np.float64(high) / scale
    real = LOW - from_low if -LOW + abs(from_low) < HIGH + abs(from_high) else HIGH - from_high
    zero = int(np.clip(away(np.asarray(real)), LOW, HIGH))
    s = np.float32(scale)
    return np.clip(_steps(x, _quotient(1, s)) + zero, LOW, HIGH).astype(np.int8), s, zero


def _symmetric(x: np.ndarray) -> tuple[np.ndarray, np.float32, int]:
    most = np.abs(x).max()
    if most == 0:
        return np.zeros(x.shape, np.int8), np.float32(1), 0
    q = np.clip(_steps(x, _quotient(HIGH, most)), -HIGH, HIGH)
    return q.astype(np.int8), most / np.float32(HIGH), 0


def _quotient(x: int, by: np.float32) -> np.float32:
    with np.errstate(over="ignore", divide="ignore"):
        return np.float32(x) / by


def _steps(x: np.ndarray, inverse: np.float32) -> np.ndarray:
    """x * inverse in float32, clipped to +-1024 and rounded to the nearest integer, halves away from zero."""
    with np.errstate(over="ignore", invalid="ignore"):
        product = np.nan_to_num(x * inverse, nan=-1024.0)
    return away(np.clip(product, -1024.0, 1024.0))
