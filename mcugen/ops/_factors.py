"""Factors and addends of float channels, as batch normalization has them, folded into the constants of operators."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.ranges import Affine, channels_of
from mcugen.ops import _filter


def by_channel(call: Call) -> tuple[int, np.ndarray] | None:
    """The computed operand of two that has the result's shape, and the other one's constant for each channel.

    None for integers, for an activation, and where the constant differs within a channel.
    """
    computed = [k for k in (0, 1) if call.constants[k] is None]
    if not call.output.is_float or getattr(call.op, "activation", "NONE") != "NONE" or len(computed) != 1:
        return None
    data, count = call.constants[1 - computed[0]], channels_of(call.output)
    if data is None or call.input(computed[0]) != call.output:
        return None
    if data.size != 1 and (data.size != count or data.shape[-1] != count):
        return None
    return computed[0], np.broadcast_to(data.reshape(-1), (count,)).astype(np.float64)


def sum_of(call: Call, sign: int) -> Affine | None:
    """x + constant, or with sign -1 x - constant or constant - x."""
    found = by_channel(call)
    if found is None:
        return None
    k, constant = found
    ones = np.ones(constant.size)
    return Affine(ones, sign * constant) if k == 0 else Affine(sign * ones, constant)


def product_of(call: Call) -> Affine | None:
    """x * constant."""
    found = by_channel(call)
    return None if found is None else Affine(found[1], np.zeros(found[1].size))


def quotient_of(call: Call) -> Affine | None:
    """x / constant, where no constant is 0."""
    found = by_channel(call)
    if found is None or found[0] != 0 or not found[1].all():
        return None
    return Affine(1 / found[1], np.zeros(found[1].size))


def after(call: Call, then: Affine, axis: int) -> Mapping[int, np.ndarray] | None:
    """Weights and bias that include `then`. axis: the axis of the weights for the results' channels."""
    if getattr(call.op, "activation", "") != "NONE" or not _is_float(call):
        return None
    w = call.constant(1).astype(np.float64)
    bias = _filter.bias_of(call, then.factor.size)
    return {1: w * _along(then.factor, w.ndim, axis), 2: bias * then.factor + then.addend}


def before(call: Call, first: Affine, axis: int, *, outputs: int, skips: bool) -> Mapping[int, np.ndarray] | None:
    """Weights and bias that include `first`, with a number for each index of the weights along `axis`.

    outputs: the axis of the weights along which the results' channels lie. skips: whether some results leave out taps,
    as windows beyond the image do: then there must be no addend.
    """
    if not _is_float(call) or (skips and first.addend.any()):
        return None
    w = call.constant(1).astype(np.float64)
    met = np.moveaxis(w * _along(first.addend, w.ndim, axis), outputs, 0)
    bias = _filter.bias_of(call, w.shape[outputs]) + met.reshape(w.shape[outputs], -1).sum(axis=1)
    return {1: w * _along(first.factor, w.ndim, axis), 2: bias}


def _is_float(call: Call) -> bool:
    """Whether the call computes floats with constant weights."""
    return call.output.is_float and _filter.constant_weights(call)


def _along(values: np.ndarray, rank: int, axis: int) -> np.ndarray:
    return values.reshape([-1 if k == axis else 1 for k in range(rank)])
