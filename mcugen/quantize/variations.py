"""Variations of samples, which need no labels: mixtures of two samples, shifted a little."""

from __future__ import annotations

import numpy as np

from mcugen.quantize.backwards import Arrays

_LEAST_SIZE = 8
_MOST_MOVED = 10
"""Divisor of an axis's length for the largest shift."""
_LEAST_RANK = 3


def varied(inputs: Arrays, count: int, seed: int, part: int) -> Arrays:
    """`count` variations of samples [samples, *shape]; reproducible by seed and part.

    Two samples are mixed at random. Images and sounds are shifted along each axis by at most a tenth of its length;
    the edge is repeated.
    """
    rng = np.random.default_rng((seed, part))
    given = len(next(iter(inputs.values())))
    pairs, shares = rng.integers(given, size=(2, count)), rng.uniform(size=count).astype(np.float32)
    found = {}
    for name, array in inputs.items():
        if array.dtype.kind != "f":
            found[name] = array[pairs[0]]
            continue
        share = shares.reshape(-1, *(1,) * (array.ndim - 1))
        mixed = share * array[pairs[0]] + (1 - share) * array[pairs[1]]
        for axis in range(2, array.ndim):
            if array.ndim > _LEAST_RANK and array.shape[axis] >= _LEAST_SIZE:
                mixed = _moved(mixed, axis, rng.integers(-reach(array, axis), reach(array, axis) + 1, size=count))
        found[name] = mixed
    return found


def reach(array: np.ndarray, axis: int) -> int:
    """Largest shift of elements along an axis."""
    return int(array.shape[axis]) // _MOST_MOVED


def _moved(array: np.ndarray, axis: int, by: np.ndarray) -> np.ndarray:
    """Each sample shifted along an axis, its edge repeated."""
    size = array.shape[axis]
    places = np.clip(np.arange(size)[None] + by[:, None], 0, size - 1)
    shape = [1] * array.ndim
    shape[0], shape[axis] = len(array), size
    return np.take_along_axis(array, places.reshape(shape), axis=axis)
