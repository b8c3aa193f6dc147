# SPDX-License-Identifier: Apache-2.0
"""Real numbers that are known exactly, or to within a bound: arrays of fractions, for the judge of quantized models."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

Function = Callable[[Any], Any]
EPSILON = Fraction(1, 2**24)
"""Half of the distance between float32 numbers, relative to them."""
_HALF = Fraction(1, 2)
_MOST_INT64 = 2**62
_FRACTION = np.frompyfunc(Fraction, 1, 1)
_ROUND = np.frompyfunc(round, 1, 1)
_NUMERATOR = np.frompyfunc(lambda v: v.numerator, 1, 1)
_UP = np.frompyfunc(lambda v: Fraction(math.nextafter(float(v), math.inf)) if v else Fraction(0), 1, 1)
"""A bound as a float64 that is no less, so that bounds of bounds stay short."""
_DENOMINATOR = np.frompyfunc(lambda v: v.denominator, 1, 1)


def fractions(values: Any) -> np.ndarray:
    """An array of the same shape whose elements are the exact values as fractions."""
    array = np.asarray(values)
    return np.asarray(_FRACTION(array if array.dtype == object else array.astype(np.float64)), object)


@dataclass(frozen=True, eq=False)
class Real:
    """Each number lies within `radius` of `centre`: arrays of fractions of one shape. No radius: it is the centre."""

    centre: np.ndarray
    radius: np.ndarray | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return self.centre.shape

    @property
    def low(self) -> np.ndarray:
        return self.centre if self.radius is None else np.asarray(self.centre - self.radius)

    @property
    def high(self) -> np.ndarray:
        return self.centre if self.radius is None else np.asarray(self.centre + self.radius)

    def moved(self, move: Callable[[np.ndarray], np.ndarray]) -> Real:
        """The numbers at other places: `move` takes and returns an array."""
        return Real(_object(move(self.centre)), None if self.radius is None else _object(move(self.radius)))

    def mapped(self, function: Callable[[np.ndarray], Any]) -> Real:
        """A function of all numbers that falls for none of them when they rise, and works on whole arrays."""
        if self.radius is None:
            return Real(_object(function(self.centre)))
        return between(_object(function(self.low)), _object(function(self.high)))

    def widened(self, by: Any) -> Real:
        """The numbers with a further error, a fraction or an array of them that broadcasts."""
        radius = by if self.radius is None else self.radius + by
        return Real(self.centre, np.broadcast_to(_object(_UP(_object(radius))), self.shape))

    def most(self) -> np.ndarray:
        """The largest absolute value that each number can have."""
        size = np.abs(self.centre)
        return _object(size if self.radius is None else size + self.radius)


def real(values: Any) -> Real:
    return Real(fractions(values))


def between(low: np.ndarray, high: np.ndarray) -> Real:
    if (low == high).all():
        return Real(low)
    return Real(_object((low + high) * _HALF), _object((high - low) * _HALF))


def _object(array: Any) -> np.ndarray:
    return np.asarray(array, object)


def _sum_of(parts: list[np.ndarray]) -> np.ndarray | None:
    return _object(sum(parts[1:], parts[0])) if parts else None


def plus(a: Real, b: Real) -> Real:
    radius = _sum_of([v.radius for v in (a, b) if v.radius is not None])
    centre = _object(a.centre + b.centre)
    return Real(centre, None if radius is None else np.broadcast_to(radius, centre.shape))


def minus(a: Real, b: Real) -> Real:
    return plus(a, Real(_object(-b.centre), b.radius))


def times(a: Real, b: Real, product: Callable[[Any, Any], Any] = np.multiply) -> Real:
    """A product, or with `product` a sum of products that is linear in both."""
    parts = []
    if a.radius is not None:
        parts.append(product(a.radius, np.abs(b.centre)))
    if b.radius is not None:
        parts.append(product(np.abs(a.centre), b.radius))
    if a.radius is not None and b.radius is not None:
        parts.append(product(a.radius, b.radius))
    radius = _sum_of(parts)
    return Real(_object(product(a.centre, b.centre)), None if radius is None else _object(_UP(radius)))


def dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A matrix product of fractions, by integers over common denominators."""
    (x, over_x), (y, over_y) = whole(a), whole(b)
    most, other = (max(1, int(np.abs(v).max(initial=0))) for v in (x, y))
    if most * other * max(1, a.shape[-1]) < _MOST_INT64:
        x, y = x.astype(np.int64), y.astype(np.int64)
    found = np.matmul(x, y)
    return _object(_FRACTION(found.astype(object))) / Fraction(over_x * over_y)


def whole(a: np.ndarray) -> tuple[np.ndarray, int]:
    """Integers and the denominator that they share."""
    over = math.lcm(*{int(d) for d in np.unique(np.asarray(_DENOMINATOR(a), object))}) if a.size else 1
    return _object(_NUMERATOR(_object(a * over))), over


def quantized(x: Real, scale: np.ndarray, zero: np.ndarray, limits: tuple[int, int]) -> Real:
    """Stored integers: x / scale rounded, halves to even, plus the zero point, within limits."""

    def stored(value: np.ndarray) -> np.ndarray:
        return np.clip(_object(_ROUND(_object(value / scale))) + zero, *limits)

    return between(_object(stored(x.low)), _object(stored(x.high)))
