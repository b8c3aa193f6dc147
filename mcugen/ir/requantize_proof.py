"""Requantization by integer multiplication and shift that is proved at build time to equal the runtime's results.

As a function of its sum, a stored result is a staircase: it never falls, and has few steps. `exact` and `single`
compute the sum at which each step begins: `exact` for a real factor and one rounding, `single` for float32 arithmetic.
`scaled` and `line` look for y = (sum * mult + addend) >> shift with the same steps for all sums that can occur.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mcugen.errors import UnsupportedError

MULT_END = 2**31
MAX_EXCEPTIONS = 4096
_FAR = 2**40
_NEAR = 2.0**-17
_MOVES = (0, 1, -1, 2, -2)
_TOTAL_BITS = 62
_MAX_RIGHT = 22
_WIDE = 2**31 - 2


@dataclass(frozen=True, eq=False)
class Stairs:
    """The stored result of each sum, per channel.

    first, steps  the result is `first` for sums below steps[:, 0], and first + k + 1 from the sum steps[:, k] on; steps
                  is int64 [channels, steps], clipped to +-2**40
    low, high     the least and the greatest sum that occur, [channels]
    factor        approximate slope, [channels]
    offset        fraction that is added to the sum before it is scaled, [channels]
    even          parity, 0 or 1, of the results that halves round to
    """

    first: int
    steps: np.ndarray
    low: np.ndarray
    high: np.ndarray
    factor: tuple[Fraction, ...]
    offset: tuple[Fraction, ...]
    even: int = 0

    @property
    def values(self) -> np.ndarray:
        """The result that begins at each step, int64 [steps]."""
        return self.first + 1 + np.arange(self.steps.shape[1], dtype=np.int64)

    @property
    def active(self) -> np.ndarray:
        """A mask [channels, steps] of the steps between low and high."""
        return np.asarray((self.steps > self.low[:, None]) & (self.steps <= self.high[:, None]))

    def at(self, sums: np.ndarray) -> np.ndarray:
        """The result of one sum per channel."""
        return np.asarray(self.first + (self.steps <= sums[:, None]).sum(axis=1))


def exact(
    factor: Sequence[Fraction],
    offset: Sequence[Fraction],
    span: tuple[int, int],
    low: np.ndarray,
    high: np.ndarray,
    even: int = 0,
) -> Stairs:
    """The stairs of (sum + offset) * factor, rounded to the nearest, halves to even.

    span: least and greatest result of the clamp. even: halves round to numbers of its parity. Factors so large that one
    unit of the sum exceeds all results are limited.
    """
    steepest = 4 * max(-span[0], span[1], 1)
    factor = [f if o else min(f, Fraction(steepest)) for f, o in zip(factor, offset, strict=True)]
    values = np.arange(span[0] + 1, span[1] + 1, dtype=np.int64)
    rows = [_begins(values, f, o, even) for f, o in zip(factor, offset, strict=True)]
    steps = np.array(rows, np.int64).reshape(len(rows), -1)
    return Stairs(span[0], steps, low, high, tuple(factor), tuple(offset), even % 2)


def _begins(values: np.ndarray, factor: Fraction, offset: Fraction, even: int) -> np.ndarray:
    """The least sum for each value. It is computed in float64, and exactly if that is close to an integer."""
    if factor <= 0:
        raise UnsupportedError(f"a sum is scaled by {float(factor):g}, which must be above 0")
    real = (values - 0.5) / float(factor) - float(offset)
    found = np.ceil(np.clip(real, -_FAR, _FAR)).astype(np.int64)
    near = (np.abs(real - np.rint(real)) < _NEAR) & (np.abs(real) < _FAR)
    places = np.flatnonzero(near)
    found[places] = _exact_begins(values[places].tolist(), factor, offset, even)
    return found


def _exact_begins(values: Sequence[int], factor: Fraction, offset: Fraction, even: int) -> list[int]:
    """The least sum that rounds to each value: (value - 1/2) / factor - offset, rounded up, in integer arithmetic.

    A sum exactly between two values rounds to the value with the parity of `even`.
    """
    rise = factor.denominator * offset.denominator
    start, divisor = 2 * factor.numerator * offset.numerator, 2 * factor.numerator * offset.denominator
    found = []
    for value in values:
        whole, rest = divmod((2 * value - 1) * rise - start, divisor)
        found.append(whole + (rest != 0 or (value - even) % 2))
    return found


def single(factor: np.ndarray, span: tuple[int, int], low: np.ndarray, high: np.ndarray, inside: int = 0) -> Stairs:
    """The stairs of float32(float32(sum) * factor), rounded to the nearest, halves to even. factor: float32.

    inside: a number that is added in float32 before the rounding, and subtracted after it.
    """
    values = np.arange(span[0] + 1, span[1] + 1, dtype=np.int64)
    least = np.broadcast_to((low - 1)[:, None], (low.size, values.size)).copy()
    most = np.broadcast_to((high + 1)[:, None], least.shape).copy()
    while bool((most - least > 1).any()):
        middle = (least + most) // 2
        with np.errstate(over="ignore"):
            scaled = middle.astype(np.float32) * factor[:, None].astype(np.float32)
        reached = np.rint(scaled + np.float32(inside)) - inside >= values
        most, least = np.where(reached, middle, most), np.where(reached, least, middle)
    whole = tuple(Fraction(float(f)) for f in factor)
    return Stairs(span[0], most, low, high, whole, (Fraction(0),) * len(whole))


@dataclass(frozen=True, eq=False)
class Scaled:
    """y = (sum * mult + 2**(30 + right)) >> (31 + right), per channel. proved: whether y equals the stairs for all
    sums.
    """

    mult: np.ndarray
    right: np.ndarray
    proved: np.ndarray


def scaled(stairs: Stairs) -> Scaled:
    """One multiplication and a rounding shift that equal the stairs, if possible.

    The multiplier is the one nearest to the factor for which all steps stay in place.
    """
    right = np.array([-math.frexp(float(f))[1] for f in stairs.factor], np.int64)
    fits = right >= 1
    right = np.clip(right, 1, _MAX_RIGHT)
    nearest = _multipliers(stairs, 31 + right)
    open_to = np.clip(nearest, *_open_multipliers(stairs, 31 + right))
    mult, proved = nearest.copy(), np.zeros(right.size, bool)
    for move in _MOVES:
        tried = np.clip(open_to + move, 0, MULT_END - 1)
        held = _equals(stairs, tried, 31 + right, np.int64(1) << (30 + right)).all(axis=1)
        mult = np.where(held & ~proved, tried, mult)
        proved |= held
    fits &= nearest < MULT_END
    return Scaled(mult, right, proved & fits)


def _open_multipliers(stairs: Stairs, shift: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The least and the greatest multiplier of each channel for which all steps stay in place, apart from float errors.

    Each step bounds the multiplier twice: its sum must reach the result, and the sum below must not. If the least is
    above the greatest, there is no such multiplier.
    """
    halves = np.ldexp(stairs.values - 0.5, shift[:, None])
    low, high = np.zeros(shift.size), np.full(shift.size, MULT_END - 1.0)
    for sums, is_reached in ((stairs.steps, True), (stairs.steps - 1, False)):
        bound = halves / np.where(sums == 0, 1, sums)
        is_low = (sums > 0) == is_reached
        counts = stairs.active & (sums != 0)
        low = np.maximum(low, np.where(counts & is_low, bound, 0.0).max(axis=1, initial=0.0))
        high = np.minimum(high, np.where(counts & ~is_low, bound, np.inf).min(axis=1, initial=np.inf))
    return np.ceil(low).astype(np.int64), np.floor(high).astype(np.int64)


def _multipliers(stairs: Stairs, shift: np.ndarray) -> np.ndarray:
    """The multipliers nearest to the factors; MULT_END for factors that are too large."""
    found = (round(f * (1 << int(s))) for f, s in zip(stairs.factor, shift, strict=True))
    return np.array([min(m, MULT_END) for m in found], np.int64)


def _equals(stairs: Stairs, mult: np.ndarray, shift: np.ndarray, addend: np.ndarray) -> np.ndarray:
    """A mask of the steps at which (sum * mult + addend) >> shift also rises; True for steps that are not active."""
    active, m, s, c = stairs.active, mult[:, None], shift[:, None], addend[:, None]
    at = np.where(active, stairs.steps, 0)
    above = (at * m + c) >> s >= stairs.values
    below = ((at - 1) * m + c) >> s < stairs.values
    return np.asarray(~active | (above & below))


def floats(stairs: Stairs, single_factors: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """(float32 factor, whether it is proved), per channel, for float32(float32(sum) * factor) rounded half to even.

    single_factors: approximate slopes. They are tried first, then the neighbouring floats.
    """
    largest = float(np.finfo(np.float32).max)
    nearest = np.minimum(single_factors, largest).astype(np.float32)
    factor, proved = nearest.copy(), np.zeros(nearest.size, bool)
    reach = stairs.low[:, None], stairs.high[:, None] + 1
    want = np.clip(stairs.steps, *reach)
    span = (stairs.first, stairs.first + stairs.steps.shape[1])
    for towards in (nearest, np.float32(np.inf), np.float32(0)):
        with np.errstate(over="ignore"):
            tried = np.minimum(np.nextafter(nearest, towards, dtype=np.float32), np.float32(largest))
        found = single(tried, span, stairs.low, stairs.high)
        held = (np.clip(found.steps, *reach) == want).all(axis=1)
        factor = np.where(held & ~proved, tried, factor)
        proved |= held
    return factor, proved


@dataclass(frozen=True, eq=False)
class LinearRounding:
    """y = (sum * mult + addend) >> shift in 64 bits, per channel, with corrections.

    even        channels whose ties round to even
    tie_bits    a sum is a tie if the bits that are shifted out are less than 2**tie_bits
    wide        channels whose y plus `margin` may not fit 32 bits
    exceptions  (channel, sum, result) for sums whose result differs
    """

    mult: np.ndarray
    shift: np.ndarray
    addend: np.ndarray
    even: np.ndarray
    wide: np.ndarray
    tie_bits: int
    exceptions: tuple[tuple[int, int, int], ...]


def line(stairs: Stairs, margin: int) -> LinearRounding | None:
    """A linear rounding for all channels; None if a factor is too large, or if there are too many exceptions.

    margin: absolute value of a number that is added to results before the clamp.
    """
    shift = np.array([_shift(stairs, k, margin) for k in range(len(stairs.factor))], np.int64)
    if bool((shift < 1).any()):
        return None
    mult = _multipliers(stairs, shift)
    offsets = [round(o * int(m)) for o, m in zip(stairs.offset, mult, strict=True)]
    if any(abs(o) >> _TOTAL_BITS for o in offsets):
        return None
    addend = np.array(offsets, np.int64)
    addend += np.int64(1) << (shift - 1)
    held = _equals(stairs, mult, shift, addend).all(axis=1)
    tie_bits = int(max(np.abs(stairs.low).max(), np.abs(stairs.high).max())).bit_length() + 1
    even = ~held & _to_even(stairs, mult, shift, addend, tie_bits)
    addend = np.where(even, addend + (1 << (tie_bits - 1)), addend)
    held |= even
    exceptions: list[tuple[int, int, int]] = []
    for k in np.flatnonzero(~held):
        found = _moved(stairs, int(k), int(mult[k]), int(shift[k]), int(addend[k]))
        if found is not None:
            mult[k], addend[k] = found
        else:
            exceptions += _exceptions(stairs, int(k), int(mult[k]), int(shift[k]), int(addend[k]))
        if len(exceptions) > MAX_EXCEPTIONS:
            return None
    ends = [(sums.astype(np.int64) * mult + addend) >> shift for sums in (stairs.low, stairs.high)]
    wide = np.max(np.abs(ends), axis=0) + margin >= _WIDE
    return LinearRounding(mult, shift, addend, even, wide, tie_bits, tuple(exceptions))


def _shift(stairs: Stairs, k: int, margin: int) -> int:
    """The largest shift of channel k with which mult has at most 31 bits, and the number before the shift at
    most 62.
    """
    factor = float(stairs.factor[k])
    far = max(abs(int(stairs.low[k])), abs(int(stairs.high[k])), 1) + 1
    return min(31 - math.frexp(factor)[1], _TOTAL_BITS - math.frexp(far * factor + margin + 2)[1])


def _to_even(stairs: Stairs, mult: np.ndarray, shift: np.ndarray, addend: np.ndarray, tie_bits: int) -> np.ndarray:
    """A mask of the channels that a linear rounding with ties to even gives exactly.

    A tie is any sum within the multiplier's error of a half. The results never fall, so it suffices to check the sums
    on both sides of each step.
    """
    active = stairs.active
    at = np.where(active, stairs.steps, 0)
    m, s, c = mult[:, None], shift[:, None], addend[:, None] + (1 << (tie_bits - 1))

    def result(sums: np.ndarray) -> np.ndarray:
        total = sums * m + c
        lost = total & ((np.int64(1) << s) - 1)
        y = total >> s
        return np.asarray(np.where(lost >> tie_bits == 0, y - ((y - stairs.even) & 1), y))

    right = ~active | ((result(at) >= stairs.values) & (result(at - 1) < stairs.values))
    return np.asarray(right.all(axis=1) & (shift > tie_bits))


def _moved(stairs: Stairs, k: int, mult: int, shift: int, addend: int) -> tuple[int, int] | None:
    """(mult, addend) with which the linear rounding has all steps of channel k; None if no pair has them.

    For a given mult, each step bounds the addend from both sides.
    """
    active = stairs.active[k]
    at, values = stairs.steps[k][active], stairs.values[active]
    for move in _MOVES:
        tried = mult + move
        if not 0 < tried < MULT_END:
            continue
        least = int(((values << shift) - at * tried).max())
        most = int(((values << shift) - (at - 1) * tried).min()) - 1
        if least <= most:
            return tried, min(max(addend, least), most)
    return None


def _exceptions(stairs: Stairs, k: int, mult: int, shift: int, addend: int) -> list[tuple[int, int, int]]:
    """The sums of channel k for which the linear rounding is wrong, as (channel, sum, correct result)."""
    found: list[tuple[int, int, int]] = []
    for v, step in zip(stairs.values.tolist(), stairs.steps[k].tolist(), strict=True):
        begins = -((addend - (v << shift)) // mult)
        least, most = max(min(begins, step), int(stairs.low[k])), min(max(begins, step) - 1, int(stairs.high[k]))
        if most - least > MAX_EXCEPTIONS:
            return [(k, 0, 0)] * (MAX_EXCEPTIONS + 1)
        found += ((k, acc, v if step <= acc else v - 1) for acc in range(least, most + 1))
    return found
