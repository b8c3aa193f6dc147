"""Inputs and constants of a conformance case: random, extreme and alternating values, drawn from a seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from mcugen.ir.types import TensorType

Array = np.ndarray
Draw = Callable[[np.random.Generator, int], Array]
# The limits of integers of 8, 16 and 32 bits, and the floats next to them.
_BOUNDS = np.array([127, 127.5, 128, 128.5, 255, 255.5, 256, 32767, 32767.5, 32768, 65536, 2**31 - 128, 2**31, 1e10])
_FLOATS: dict[str, Draw] = {
    "normal": lambda rng, n: rng.standard_normal(n),
    "wide": lambda rng, n: 10.0 * rng.standard_normal(n),
    "large": lambda rng, n: 1e3 * rng.standard_normal(n),
    "small": lambda rng, n: 1e-12 * rng.standard_normal(n),
    "signed zeros": lambda rng, n: np.where(np.arange(n) % 2, 0.0, -0.0),
    "alternating": lambda rng, n: np.where(np.arange(n) % 2, -10.0, 10.0),
    "mixed": lambda rng, n: rng.standard_normal(n) * 10.0 ** rng.integers(-3, 3, n),
    "bounds": lambda rng, n: rng.choice(_BOUNDS, n) * rng.choice([-1.0, 1.0], n),
}
_SETS = (
    ("random", "normal"),
    ("other range", "wide"),
    ("smallest", "large"),
    ("largest", "small"),
    ("zero point", "signed zeros"),
    ("alternating", "alternating"),
    ("ends", "mixed"),
    ("full range", "bounds"),
    ("near zero", "normal"),
    ("near zero", "wide"),
    ("near zero", "mixed"),
    ("full range", "normal"),
)
_NEAR = 9  # few steps from the zero point: results that do not saturate
_ELEMENTS = 512
_MORE = (("full range", "bounds"), ("random", "mixed"), ("ends", "wide"))
_MOST = 40


def input_sets(types: list[TensorType], seed: int, count: int | None = None) -> Iterator[tuple[str, list[Array]]]:
    """(name, one array per type), the first `count` of them. Small tensors get more sets, for as many elements."""
    size = max((t.size for t in types), default=_ELEMENTS)
    more = [_MORE[k % len(_MORE)] for k in range(min(_ELEMENTS // size, _MOST))] if types else []
    for k, (integer, real) in enumerate([*_SETS, *more][:count]):
        rng = np.random.default_rng((seed, k, len(types)))
        yield f"{k}: {integer} or {real}", [_draw(rng, t, integer, real) for t in types]


def _draw(rng: np.random.Generator, t: TensorType, integer: str, real: str) -> Array:
    if t.is_float:
        return _FLOATS[real](rng, t.size).astype(t.np_dtype).reshape(t.shape)
    low, high = limits(t)
    # Indices, lengths and counts are often valid only near zero.
    near = (-2, 6) if t.quant is None and t.dtype in ("s32", "s64") else (low, high)
    zero = t.zero_point if t.quant else min(1, high)
    if integer == "other range":  # large where "random" is small, else small
        integer = "near zero" if near == (low, high) else "full range"
    draws: dict[str, Draw] = {
        "random": lambda rng, n: rng.integers(*near, n, np.int64, endpoint=True),
        "full range": lambda rng, n: rng.integers(low, high, n, np.int64, endpoint=True),
        "smallest": lambda rng, n: np.full(n, low),
        "largest": lambda rng, n: np.full(n, high),
        "zero point": lambda rng, n: np.full(n, zero),
        "alternating": lambda rng, n: np.where(np.arange(n) % 2, low, high),
        "near zero": lambda rng, n: zero + rng.integers(-_NEAR, _NEAR, n, np.int64, endpoint=True),
        "ends": lambda rng, n: rng.choice([low, low + 1, high - 1, high], n),
    }
    return np.clip(draws[integer](rng, t.size), low, high).astype(t.np_dtype).reshape(t.shape)


def limits(t: TensorType) -> tuple[int, int]:
    """Smallest and largest stored value."""
    return t.limits[0], min(t.limits[1], 2**63 - 1)


def constant(t: TensorType, given: Array | None, seed: int, operand: int) -> Array:
    """A constant operand: the given data, or drawn over the range; int8 avoids -128, which weights do not take."""
    if given is not None:
        return np.asarray(given).astype(t.np_dtype, casting="safe").reshape(t.shape)
    rng = np.random.default_rng((seed, 1000 + operand))
    if t.is_float:
        return rng.standard_normal(t.shape).astype(t.np_dtype)
    low, high = limits(t)
    low += t.dtype in ("s8", "s16")
    return rng.integers(low, high, t.shape, np.int64, endpoint=True).astype(t.np_dtype)
