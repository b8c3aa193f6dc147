"""Gates of recurrent layers on integers: scaled sums, logistic and tanh, states in int16.

Operands are (data, weights of the data, weights of the state, bias, ...); rows of weights have scales of their own.
The integer form is mcugen's own. Logistic and tanh are those of TensorFlow Lite Micro on int16.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from mcugen.ir.call import Call
from mcugen.oracle import quantized, sigmoids
from mcugen.oracle.fixed import Ints, int64
from mcugen.oracle.rational import binary32, exact, exponent_of, multiplier, nearest, power, scale_of

FINEST = 12
"""The most fraction bits of a sum of gates."""

_STATE = 15
"""Fraction bits of gates and of a state."""


def fraction_bits(call: Call) -> int:
    """Fraction bits of the sums of gates: 12, or 15 before a ReLU, or fewer so that int16 holds the clip."""
    clip = exact(call.op.clip)
    whole = exponent_of(clip)
    finest = _STATE if getattr(call.op, "activation", "") == "Relu" else FINEST
    return _STATE - max(whole + int(power(whole) < clip), _STATE - finest)


def limits(call: Call) -> tuple[int, int]:
    """The least and the greatest sum of a gate."""
    bound = nearest(exact(call.op.clip) * power(fraction_bits(call)))
    return -min(bound, 1 << 15), min(bound, (1 << 15) - 1)


def row_multipliers(call: Call, k: int, data: Fraction) -> list[quantized.Multiplier]:
    """(mult, shift) of each row of the weights in operand k, for data of the scale `data`."""
    w = call.input(k)
    scales = w.quant.scale if w.quant else ()
    every = scales if len(scales) == w.shape[0] else scales * w.shape[0]
    return [multiplier(data * binary32(exact(s)) * power(fraction_bits(call))) for s in every]


def data_scale(call: Call) -> Fraction:
    """The scale of the data."""
    return scale_of(call.input(0))


def read_scale(call: Call) -> Fraction:
    """The scale of a state as products read it: its upper byte."""
    return scale_of(call.input(call.op.state)) * 256


def first_sums(call: Call) -> tuple[Ints, Ints]:
    """The sums of rows for data and states of 0 as stored: with the zero point of the data subtracted."""
    x, w, k = call.input(0), int64(call.constant(1)), call.op.state_bias
    first = int64(call.constant(3)) - w @ np.full(w.shape[1], x.zero_point, np.int64)
    return first, np.zeros_like(first) if k is None else int64(call.constant(k))


def sums(x: Ints, w: np.ndarray, bias: np.ndarray) -> Ints:
    """The exact sums of a layer's rows over vectors [..., n]: below 2**53, where float64 holds every integer."""
    return np.asarray(int64(int64(x).astype(np.float64) @ w.T.astype(np.float64)) + int64(bias))


def scaled(found: Ints, multipliers: list[quantized.Multiplier]) -> Ints:
    """Sums [..., rows] below 2**31 times the multiplier of each row, rounded once, halves up, saturated to int16."""
    mult, shift = np.array(multipliers, np.int64).T
    right = 31 - shift
    product = found * mult
    product += np.int64(1) << (right - 1)
    product >>= right
    return np.asarray(np.clip(product, -(1 << 15), (1 << 15) - 1, out=product))


def halves_up(x: Ints, shift: int) -> Ints:
    """x / 2**shift to the nearest, halves up."""
    return np.asarray((int64(x) + (1 << (shift - 1))) >> shift)


def logistic(call: Call, x: Ints) -> Ints:
    """Logistic of a sum of gates, which is limited first."""
    return sigmoids.tabled_logistic(_thirds(call, x))


def tanh(call: Call, x: Ints) -> Ints:
    """Tanh of a sum of gates, which is limited first."""
    return sigmoids.tabled_tanh(_thirds(call, x))


def _thirds(call: Call, x: Ints) -> Ints:
    """A limited sum of gates in steps of 1 / (3 * 4096)."""
    return np.asarray(np.clip(x, *limits(call)) * 3 << (FINEST - fraction_bits(call)))


def tanh_of_cell(call: Call, c: Ints) -> Ints:
    """Tanh of a cell, which is rounded to steps of 1 / (3 * 4096) first."""
    right = cell_bits(call) - FINEST
    return sigmoids.tabled_tanh(halves_up(3 * c, right) if right > 0 else 3 * c << -right)


def cell_bits(call: Call) -> int:
    """Fraction bits of the cell."""
    return -exponent_of(scale_of(call.input(call.op.state + 1)))


def upper_byte(state: Ints) -> Ints:
    """The upper byte of an int16 state, to the nearest."""
    return np.asarray(np.minimum(halves_up(state, 8), 127))
