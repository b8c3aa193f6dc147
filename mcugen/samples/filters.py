"""Filters: words that change sounds or motion along time, [n, time] or [n, time, channels]."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mcugen.ops.banded import Banded
from mcugen.ops.biquad import Biquad
from mcugen.samples.front_end import FrontEnd
from mcugen.samples.preprocess import SIGNAL, SOUND, Word, factors, number, whole
from mcugen.samples.spectra import time_of

MAX_RATE = 768_000
MAX_RATIO = 16
"""Largest ratio of two sampling rates, in either direction."""
MAX_TAPS, MAX_SECTIONS = 4096, 16
ZEROS = 16
"""Zero crossings of the resampling filter on either side."""


def _share(text: str) -> float:
    found = number(text)
    if not 0 < found <= 1:
        raise ValueError(f"expected a number above 0, at most 1, found {text!r}")
    return found


def _taps(text: str) -> np.ndarray:
    found = factors(text)
    if len(found) > MAX_TAPS:
        raise ValueError(f"has {len(found):,} taps, more than {MAX_TAPS:,}")
    return found


def _sections(text: str) -> np.ndarray:
    """Coefficients [sections, 5]. Raises ValueError for a section that is not stable."""
    found = _taps(text)
    if found.size % 5 or found.size > 5 * MAX_SECTIONS:
        raise ValueError(
            f"expected b0:b1:b2:a1:a2 for each of 1 to {MAX_SECTIONS} sections, found {found.size} numbers"
        )
    sections: np.ndarray = found.reshape(-1, 5).astype(np.float32)
    for k, (first, second) in enumerate(sections[:, 3:].astype(np.float64)):
        if not (abs(second) < 1 and abs(first) < 1 + second):
            raise ValueError(f"section {k} is not stable: a1 = {first:g}, a2 = {second:g}")
    return sections


def resampled(front: FrontEnd, x: str, wanted: int) -> str:
    """x resampled from the front end's rate to `wanted`, both in Hz: ceil(length * wanted / rate) numbers.

    y[k] = sum over all j with |c d| < 16 of x[j] * c * sinc(c d) * cos(pi c d / 32)^2
    with d = k * rate / wanted - j and c = min(1, wanted / rate). Samples of an unknown rate are of the rate `wanted`.
    Raises ValueError if the rates differ too much.
    """
    rate = round(front.rate) or wanted
    if rate == wanted:
        front.rate = wanted
        return x
    if max(rate, wanted) > MAX_RATIO * min(rate, wanted):
        raise ValueError(f"{rate} and {wanted} samples a second differ more than {MAX_RATIO}-fold")
    front.rate = wanted
    common = math.gcd(rate, wanted)
    up, down = wanted // common, rate // common
    c = min(1.0, wanted / rate)
    reach = math.ceil(ZEROS / c)
    count = -(-time_of(front, x) * up // down)
    phases = np.arange(min(up, count))
    first, rest = np.divmod(phases * down, up)
    d = c * (rest[:, None] / up - np.arange(-reach, reach + 1))
    taps = c * np.sinc(d) * np.cos(np.pi * d / (2 * ZEROS)) ** 2 * (np.abs(d) < ZEROS)
    op = Banded(1, tuple(int(k) for k in first - reach), count, down)
    return front.node(op, front.real(x), front.constant(taps))


def decimated(front: FrontEnd, x: str, factor: int) -> str:
    """Resampled to the rate divided by `factor`. Raises ValueError if that is no whole number."""
    if not front.rate:
        raise ValueError("needs the rate of the samples: put rate=... before it")
    if round(front.rate) % factor:
        raise ValueError(f"{round(front.rate)} samples a second cannot be divided by {factor}")
    return resampled(front, x, round(front.rate) // factor)


def convolved(front: FrontEnd, x: str, taps: np.ndarray) -> str:
    """y[t] = sum over k of taps[k] * x[t - k], with 0 before the first sample."""
    op = Banded(1, (1 - len(taps),), time_of(front, x), 1)
    return front.node(op, front.real(x), front.constant(taps[None, ::-1]))


def emphasized(front: FrontEnd, x: str, share: float) -> str:
    """y[t] = x[t] - share * x[t - 1], with 0 before the first sample."""
    return convolved(front, x, np.array([1, -share]))


def recursive(front: FrontEnd, x: str, sections: np.ndarray) -> str:
    """Filters of second order, one after the other. sections: b0, b1, b2, a1, a2 of each."""
    time_of(front, x)
    return front.node(Biquad(1), front.real(x), front.constant(sections))


WORDS: Sequence[Word] = (
    Word(
        "rate=R",
        "resample to R samples a second if the file has another rate",
        SIGNAL,
        resampled,
        whole(1, MAX_RATE),
        spans=True,
    ),
    Word("decimate=N", "resample to one N-th of the rate", SIGNAL, decimated, whole(2, MAX_RATIO), spans=True),
    Word("preemphasis=A", "subtract A times the sample before", SOUND, emphasized, _share, spans=True),
    Word("fir=H0:H1:...", "filter with these taps", SIGNAL, convolved, _taps, spans=True),
    Word(
        "biquad=B0:B1:B2:A1:A2:...",
        "filters of second order, five numbers each",
        SIGNAL,
        recursive,
        _sections,
        spans=True,
    ),
)
