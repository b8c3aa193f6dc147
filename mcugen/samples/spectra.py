"""Features of sounds: mel bands and cepstra, as docs/samples.md states them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mcugen.ops.add import Add
from mcugen.ops.banded import Banded
from mcugen.ops.framing import Framing
from mcugen.ops.mul import Mul
from mcugen.ops.natural_log import NaturalLog
from mcugen.ops.power import Power
from mcugen.ops.real_fourier import RealFourier
from mcugen.samples.front_end import FrontEnd

MAX_WINDOW = 1 << 15
MAX_BANDS = 256
MAX_NUMBERS = 1 << 26
"""Most numbers that the transforms of a sound give."""


@dataclass(frozen=True)
class Duration:
    """A duration in samples, or in seconds."""

    value: float
    in_seconds: bool

    def samples(self, rate: float) -> int:
        """The number of samples at a rate, rounded. Raises ValueError if it is 0."""
        found = math.floor(self.value * rate + 0.5) if self.in_seconds else int(self.value)
        if found < 1:
            raise ValueError(f"{self.value:g}{'s' * self.in_seconds} is less than a sample")
        return found


def duration(text: str) -> Duration:
    """The duration of a text such as `16000` (samples), `1s` or `980ms`. Raises ValueError."""
    found = re.fullmatch(r"(\d{1,9})|(\d{1,6}(?:\.\d{1,9})?)(s|ms)", text)
    if found is None:
        raise ValueError("expected samples, such as 640, or a time, such as 1s or 40ms")
    if found[1]:
        return Duration(int(found[1]), False)
    return Duration(float(found[2]) / (1000 if found[3] == "ms" else 1), True)


@dataclass(frozen=True)
class Mel:
    """log(sum of |F|^2 over a mel band + floor), with a row for each window.

    window, hop: length of a window, and distance of two windows
    fft: points of the transform F; 0: the least power of two that is not below the window
    low, high: range of the bands in Hz; high 0: half the sampling rate
    decibels: 10 log10 instead of the natural logarithm
    coefficients: number of coefficients of the cosine transform of the bands; 0: the bands themselves
    """

    window: Duration
    hop: Duration
    bands: int = 40
    fft: int = 0
    low: float = 20.0
    high: float = 0.0
    floor: float = 1e-6
    decibels: bool = False
    coefficients: int = 0

    def sizes(self, rate: float) -> tuple[int, int, int]:
        """(window, hop, points of the transform) at a rate, in samples. Raises ValueError."""
        window, hop = self.window.samples(rate), self.hop.samples(rate)
        points = self.fft or max(4, 1 << (window - 1).bit_length())
        if not window <= points <= MAX_WINDOW:
            raise ValueError(f"a window of {window} samples does not fit a transform of {min(points, MAX_WINDOW)}")
        return window, hop, points

    def filters(self, points: int, rate: float) -> np.ndarray:
        """Triangles of height 1 whose corners are evenly spaced in mel, [bands, frequencies]. Raises ValueError."""
        high = self.high or rate / 2
        if not 0 <= self.low < high <= rate / 2:
            raise ValueError(f"bands from {self.low:g} to {high:g} Hz are not within 0 to {rate / 2:g}")
        ends = [2595 * math.log10(1 + f / 700) for f in (self.low, high)]
        corners = 700 * (10 ** (np.linspace(ends[0], ends[1], self.bands + 2) / 2595) - 1)
        left, middle, right = corners[:-2], corners[1:-1], corners[2:]
        f = np.fft.rfftfreq(points, 1 / rate)[:, None]
        rising, falling = (f - left) / (middle - left), (right - f) / (right - middle)
        found: np.ndarray = np.maximum(np.minimum(rising, falling), 0).T
        return found

    def cosines(self) -> np.ndarray:
        """The cosine transform of the bands, [coefficients, bands]."""
        band, k = np.arange(self.bands) + 0.5, np.arange(self.coefficients)[:, None]
        found: np.ndarray = np.cos(np.pi * band * k / self.bands) * math.sqrt(2 / self.bands)
        return found


def length_of(front: FrontEnd, x: str) -> int:
    """The number of samples of a sound [n, time]. Raises ValueError if it has channels, or is a spectrum."""
    shape = front.type(x).shape
    if front.has_windows:
        raise ValueError("takes samples, but comes after a word that makes features of windows")
    if len(shape) == 3:
        raise ValueError(f"has {shape[2]} channels: put mono before this word")
    return shape[1]


def power(front: FrontEnd, x: str, window: int, hop: int, points: int) -> str:
    """The power of each frequency in each window: [n, time] to [n, windows, points / 2 + 1]. Raises ValueError."""
    length = length_of(front, x)
    if length < window:
        raise ValueError(f"has {length} samples, fewer than a window of {window}")
    if (1 + (length - window) // hop) * points > MAX_NUMBERS:
        raise ValueError(f"makes more than {MAX_NUMBERS:,} numbers of one sound")
    shape = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(window) / window)
    front.has_windows = True
    frames = front.node(Mul(), front.node(Framing(window, hop), x), front.constant(shape))
    return front.node(Power(), front.node(RealFourier(points), frames))


def product(front: FrontEnd, x: str, matrix: np.ndarray) -> str:
    """A matrix [rows, columns] times the vectors of the last axis, [..., columns]."""
    return front.node(Banded(-1, (0,) * len(matrix), len(matrix)), x, front.constant(matrix))


def log_mel(front: FrontEnd, x: str, mel: Mel) -> str:
    """The features of sounds, [n, time] to [n, windows, bands or coefficients]. Raises ValueError."""
    window, hop, points = mel.sizes(front.rate)
    filters = mel.filters(points, front.rate)
    bands = product(front, power(front, x, window, hop, points), filters)
    y = front.node(NaturalLog(), front.node(Add(), bands, front.constant(np.array([mel.floor]))))
    y = front.node(Mul(), y, front.constant(np.array([10 / math.log(10)]))) if mel.decibels else y
    return product(front, y, mel.cosines()) if mel.coefficients else y


def mel(text: str) -> Mel:
    """The parameters of `logmel(...)`."""
    return _mel(_parameters(text, set(_READERS) - {"coefficients"}))


def cepstra(text: str) -> Mel:
    """The parameters of `mfcc(...)`."""
    found = _mel({"coefficients": 10, **_parameters(text, set(_READERS))})
    if found.coefficients > found.bands:
        raise ValueError(f"{found.coefficients} coefficients need as many bands, not {found.bands}")
    return found


def _mel(found: Mapping[str, Any]) -> Mel:
    for name in ("window", "hop"):
        if name not in found:
            raise ValueError(f"needs {name}=..., in samples or as a time")
    return Mel(**found)


def _parameters(text: str, known: set[str]) -> dict[str, Any]:
    """The parameters in parentheses, by name."""
    if not (text.startswith("(") and text.endswith(")")):
        raise ValueError("expected parameters in parentheses")
    found: dict[str, Any] = {}
    for part in text[1:-1].split(","):
        name, _, value = part.strip().partition("=")
        if name not in known or name in found:
            names = ", ".join(sorted(known))
            raise ValueError(f"{part.strip()!r} is no parameter, or given twice; parameters are {names}")
        found[name] = _READERS[name](value)
    return found


def _whole(low: int, high: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not low <= int(text) <= high:
            raise ValueError(f"{text} is not in {low}..{high}")
        return int(text)

    return read


def _real(text: str) -> float:
    if not 0 <= float(text) < 1e9:
        raise ValueError(f"{text} is not a number from 0")
    return float(text)


def _positive(text: str) -> float:
    if not 0 < float(text) < 1e9:
        raise ValueError(f"{text} is not a positive number")
    return float(text)


def _yes(text: str) -> bool:
    if text not in ("yes", "no"):
        raise ValueError(f"{text!r} is neither yes nor no")
    return text == "yes"


_READERS: dict[str, Callable[[str], Any]] = {
    "window": duration,
    "hop": duration,
    "bands": _whole(1, MAX_BANDS),
    "fft": _whole(2, MAX_WINDOW),
    "low": _real,
    "high": _real,
    "floor": _positive,
    "decibels": _yes,
    "coefficients": _whole(1, MAX_BANDS),
}
