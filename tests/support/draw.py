"""Inputs and constants of a conformance case: random, extreme and alternating values, drawn from a seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from mcugen.types import TensorType

Array = np.ndarray
_FLOATS: dict[str, Callable[[np.random.Generator, int], Array]] = {
    "random 0": lambda rng, n: rng.standard_normal(n),
    "random 1": lambda rng, n: 10.0 * rng.standard_normal(n),
    "large": lambda rng, n: 1e3 * rng.standard_normal(n),
    "small": lambda rng, n: 1e-12 * rng.standard_normal(n),
    "signed zeros": lambda rng, n: np.where(np.arange(n) % 2, 0.0, -0.0),
    "alternating": lambda rng, n: np.where(np.arange(n) % 2, -10.0, 10.0),
    "mixed": lambda rng, n: rng.standard_normal(n) * 10.0 ** rng.integers(-3, 3, n),
    "bounds": lambda rng, n: rng.choice(_BOUNDS, n) * rng.choice([-1.0, 1.0], n),
}
# Where integers of 8, 16 and 32 bits end, and the floats next to that.
_BOUNDS = (
    127.0,
    127.5,
    128.0,
    128.5,
    255.0,
    255.5,
    256.0,
    32767.0,
    32767.5,
    32768.0,
    65536.0,
    2147483520.0,
    2.0**31,
    1e10,
)
_INTEGERS = ("random 0", "random 1", "all smallest", "all largest", "zero point", "alternating", "mixed", "random 2")


def input_sets(types: list[TensorType], seed: int, count: int | None = None) -> Iterator[tuple[str, list[Array]]]:
    """(name, one array per type), the first `count` of them. "mixed" draws from the ends of the range."""
    names = tuple(zip(_INTEGERS, _FLOATS, strict=True))[:count]
    for k, (integer, real) in enumerate(names):
        rng = np.random.default_rng((seed, k, len(types)))
        yield f"{integer} / {real}", [_draw(rng, t, integer, real) for t in types]


def _draw(rng: np.random.Generator, t: TensorType, integer: str, real: str) -> Array:
    if t.is_float:
        return _FLOATS[real](rng, t.size).astype(t.np_dtype).reshape(t.shape)
    low, high = limits(t)
    if integer.startswith("random") and t.quant is None and t.dtype in ("s32", "s64"):
        # Indices, lengths and counts: near the valid ones first, anything after that.
        low, high = (-2, 6) if integer == "random 0" else (low, high)
    wide = np.int64
    flat = {
        **dict.fromkeys(
            ("random 0", "random 1", "random 2"), lambda: rng.integers(low, high, t.size, wide, endpoint=True)
        ),
        "all smallest": lambda: np.full(t.size, low, wide),
        "all largest": lambda: np.full(t.size, high, wide),
        "zero point": lambda: np.full(t.size, t.zero_point if t.quant else min(1, high), wide),
        "alternating": lambda: np.where(np.arange(t.size) % 2, low, high).astype(wide),
        "mixed": lambda: rng.choice([low, low + 1, high - 1, high], t.size).astype(wide),
    }[integer]()
    return np.clip(flat, low, high).astype(t.np_dtype).reshape(t.shape)


def limits(t: TensorType) -> tuple[int, int]:
    """Smallest and largest stored value."""
    if t.dtype == "bool":
        return 0, 1
    return int(np.iinfo(t.np_dtype).min), int(np.iinfo(t.np_dtype).max)


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
