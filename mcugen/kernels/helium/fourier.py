"""Energies of Fourier transforms of real int16 numbers on cores with Helium: four complex numbers in a vector."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Kernel, Text, Whole
from mcugen.kernels.helium import packing
from mcugen.ops import _fourier, power_spectrum
from mcugen.ops._fourier import RealTransform, transform_of

_LANES = 4
_BINS = 8
"""Bins that are split at a time."""
_MOST_ONES = 32
_FRACTION = 15


def is_power_of_two(call: Call) -> bool:
    "the transform is of 32, 64, 128, 256, 512 or 1,024 numbers, of which an even number is given"
    t = transform_of(call)
    return t.length in (32, 64, 128, 256, 512, 1024) and t.samples % 2 == 0


def has_mild_window(call: Call) -> bool:
    "the values of a window are at most 1 and above -1, and at most 32 of them are 1"
    t = transform_of(call)
    if t.shift is None:
        return True
    return t.shift <= _FRACTION and _fourier.window_kind(call) == 1 and _ones(call).size <= _MOST_ONES


def _ones(call: Call) -> np.ndarray:
    """Indices of the samples whose window value is 1."""
    t = transform_of(call)
    return np.array([], np.int64) if t.shift is None else np.flatnonzero(call.constant(1) == 1 << t.shift)


def _vectors(t: RealTransform) -> Iterator[np.ndarray]:
    """Twiddle factors of each stage but the first: s16 [n, 3, 4, 2] (n groups of four butterflies k; k, 2 k and 3 k;
    the four butterflies; real and imaginary part)."""
    table = _fourier.turn_table(t)
    size = t.radices[0]
    for radix in t.radices[1:]:
        stride = t.points // (size * radix)
        k = np.arange(max(size, _LANES)).reshape(-1, 1, _LANES) % size
        yield table[k * np.arange(1, radix)[:, None] * stride % t.points]
        size *= radix


def _bins(t: RealTransform) -> range:
    """The bins to compute from the complex spectrum, in whole vectors from bin 1 on."""
    pairs = t.pairs
    return range(1 + (pairs.start - 1) // _BINS * _BINS, 1 - -(pairs.stop - 1) // _BINS * _BINS)


def _params(call: Call) -> Params:
    t, ones = transform_of(call), _ones(call)
    halves = _fourier.split_turns(t, _bins(t)).reshape(-1, _BINS, 2).swapaxes(1, 2)
    found: Params = {
        "place": _fourier.places(t.points, t.radices[::-1]).astype(np.uint16),
        "turns": np.concatenate([v.reshape(-1) for v in _vectors(t)]),
        "halves": halves.reshape(-1),
    }
    if t.shift is None:
        return found
    window = call.constant(1).reshape(-1).astype(np.int64) << (_FRACTION - t.shift)
    window[ones] = 0
    found = {**found, "window": window.astype(np.int16)}
    return {**found, "ones": ones.astype(np.uint16)} if ones.size else found


def _variant(call: Call) -> dict[str, int]:
    """Constants of the C template mve_fourier_template.h for this call."""
    t = transform_of(call)
    return {
        "points": t.points,
        "samples": t.samples,
        "window": int(t.shift is not None),
        "ones": _ones(call).size,
        "twos": int(t.radices[0] == 2),
        "start": t.start,
        "end": t.end or 0,
        "first": _bins(t).start,
        "last": _bins(t).stop - 1,
        **_fourier.least(call),
    }


POWER = power_spectrum.methods(
    "__mve",
    Kernel(
        "",
        Whole(),
        (is_power_of_two, has_mild_window),
        _params,
        text=Text(_variant, struct="mg_mve_fourier"),
        cost=_fourier.COST,
        needs=packing.NEEDS,
    ),
)
