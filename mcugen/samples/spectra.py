"""Features of sounds: mel bands and cepstra, as docs/samples.md states them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np

from mcugen.ops.add import Add
from mcugen.ops.banded import Banded
from mcugen.ops.concatenation import Concatenation
from mcugen.ops.div import Div
from mcugen.ops.framing import Framing
from mcugen.ops.mul import Mul
from mcugen.ops.natural_log import NaturalLog
from mcugen.ops.power import Power
from mcugen.ops.real_fourier import RealFourier
from mcugen.ops.sqrt import Sqrt
from mcugen.ops.sub import Sub
from mcugen.samples.front_end import FrontEnd
from mcugen.samples.preprocess import SOUND, Plan, Reader, Word, number, one_of, parameters, whole, yes

MAX_WINDOW = 1 << 15
MAX_BANDS = 256
MAX_REACH = 16
"""Most windows on either side of a slope."""
LEAST_VARIANCE = 1e-6
"""Added to variances, so that features that never change become nearly 0."""
MAX_NUMBERS = 1 << 26
"""Most numbers that the windows of a sample give."""
WINDOWS = "window=25ms,hop=10ms"
"""An example of the parameters of windows, for errors."""


@dataclass(frozen=True)
class Duration:
    """A duration in samples, or in seconds."""

    value: float
    in_seconds: bool

    def samples(self, rate: float) -> int:
        """The number of samples at a rate, rounded. Raises ValueError if it is 0, or if the rate is not known (0)."""
        if self.in_seconds and not rate:
            raise ValueError(f"{self.value:g}s needs the rate of the samples: put rate=... before it")
        found = math.floor(self.value * rate + 0.5) if self.in_seconds else int(self.value)
        if found < 1:
            raise ValueError(f"{self.value:g}{'s' * self.in_seconds} is less than a sample")
        return found


def duration(text: str) -> Duration:
    """The duration of a text such as `16000` (samples), `1s` or `980ms`. Raises ValueError."""
    found = re.fullmatch(r"(\d{1,9})|(\d{1,6}(?:\.\d{1,9})?)(s|ms)", text)
    if found is None:
        raise ValueError(f"expected samples, such as 640, or a time, such as 1s or 40ms, found {text!r}")
    if found[1]:
        return Duration(int(found[1]), False)
    return Duration(float(found[2]) / (1000 if found[3] == "ms" else 1), True)


def points_of(window: int, fft: int = 0) -> int:
    """The number of points of the Fourier transform of a window. Raises ValueError if they are too few or too many.

    fft: the number that the user gave; 0: the least power of two that holds the window, at least 4.
    """
    points = fft or max(4, 1 << (window - 1).bit_length())
    if not window <= points <= MAX_WINDOW:
        raise ValueError(f"a window of {window} samples does not fit a transform of {min(points, MAX_WINDOW)}")
    return points


TAPERS = {"hann": (0.5, -0.5), "hamming": (0.54, -0.46), "blackman": (0.42, -0.5, 0.08), "none": ()}
"""Name of a window's shape -> the factors of cos(2 pi k i / length), for k = 0, 1, 2."""


@dataclass(frozen=True)
class AnalysisWindow:
    """A window of samples. shape: a key of TAPERS."""

    duration: Duration
    shape: str = "hann"

    def samples(self, rate: float) -> int:
        """The number of samples at a rate. Raises ValueError if it is 0."""
        return self.duration.samples(rate)

    def weights(self, length: int) -> np.ndarray | None:
        """The factor of each sample; None if all are 1."""
        turns = 2 * np.pi * np.arange(length) / length
        factors = TAPERS[self.shape]
        return sum((f * np.cos(k * turns) for k, f in enumerate(factors)), np.zeros(length)) if factors else None


def window(text: str) -> AnalysisWindow:
    """The window of a text such as `25ms` or `400:hamming`. Raises ValueError."""
    length, _, shape = text.partition(":")
    return AnalysisWindow(duration(length), one_of(TAPERS)(shape or "hann"))


@dataclass(frozen=True)
class Windows:
    """Windows cut from samples. window: the length of a window. hop: from the start of a window to the next start."""

    window: Duration | AnalysisWindow
    hop: Duration

    def sizes(self, rate: float) -> tuple[int, ...]:
        """(window, hop) at a rate, in samples. Raises ValueError."""
        return self.window.samples(rate), self.hop.samples(rate)

    def count(self, length: int, rate: float) -> int:
        """The number of whole windows in `length` samples. Raises ValueError if there is none."""
        window, hop = self.sizes(rate)[:2]
        if length < window:
            raise ValueError(f"has {length} samples, fewer than a window of {window}")
        return 1 + (length - window) // hop


@dataclass(frozen=True)
class Spectrum(Windows):
    """|F|^2 of each frequency, with a row for each window.

    fft: points of the transform F; 0: the least power of two that is not below the window
    decibels: 10 log10(|F|^2 + floor) instead
    """

    window: AnalysisWindow
    fft: int = 0
    floor: float = 1e-6
    decibels: bool = False

    def sizes(self, rate: float) -> tuple[int, int, int]:
        """(window, hop, points of the transform) at a rate, in samples. Raises ValueError."""
        window, hop = super().sizes(rate)
        return window, hop, points_of(window, self.fft)


@dataclass(frozen=True)
class Mel(Spectrum):
    """log(sum of |F|^2 over a mel band + floor), with a row for each window.

    low, high: range of the bands in Hz; high 0: half the sampling rate
    mel: a key of _SCALES. With `slaney`, bands have the area 1 in Hz instead of the height 1; with `kaldi`, their sides
    are straight in mel instead of Hz
    coefficients: number of coefficients of the cosine transform of the bands; 0: the bands themselves
    """

    bands: int = 40
    low: float = 20.0
    high: float = 0.0
    mel: str = "htk"
    coefficients: int = 0

    def filters(self, points: int, rate: float) -> np.ndarray:
        """Triangles whose corners are evenly spaced in mel, [bands, frequencies]. Raises ValueError."""
        high = self.high or rate / 2
        if not 0 <= self.low < high <= rate / 2:
            raise ValueError(f"bands from {self.low:g} to {high:g} Hz are not within 0 to {rate / 2:g}")
        to_mel, to_hertz = _SCALES[self.mel]
        ends = to_mel(np.array([self.low, high]))
        corners = to_hertz(np.linspace(float(ends[0]), float(ends[1]), self.bands + 2))
        left, middle, right = corners[:-2], corners[1:-1], corners[2:]
        f = np.fft.rfftfreq(points, 1 / rate)[:, None]
        if self.mel == "kaldi":
            f, left, middle, right = (to_mel(hertz) for hertz in (f, left, middle, right))
        rising, falling = (f - left) / (middle - left), (right - f) / (right - middle)
        found: np.ndarray = np.maximum(np.minimum(rising, falling), 0)
        return (found * (2 / (right - left) if self.mel == "slaney" else 1)).T

    def cosines(self) -> np.ndarray:
        """The cosine transform of the bands, [coefficients, bands]."""
        band, k = np.arange(self.bands) + 0.5, np.arange(self.coefficients)[:, None]
        found: np.ndarray = np.cos(np.pi * band * k / self.bands) * math.sqrt(2 / self.bands)
        return found


def _slaney(f: np.ndarray) -> np.ndarray:
    """Mel of hertz: linear up to 1 kHz, logarithmic above. Source: Slaney's Auditory Toolbox."""
    return np.where(f < 1000, f * 3 / 200, 15 + 27 * np.log(np.maximum(f, 1000) / 1000) / math.log(6.4))


def _slaney_hertz(mel: np.ndarray) -> np.ndarray:
    return np.where(mel < 15, mel * 200 / 3, 1000 * np.exp((mel - 15) * math.log(6.4) / 27))


_Scale = Callable[[np.ndarray], np.ndarray]
_HTK = (lambda f: 2595 * np.log10(1 + f / 700), lambda mel: 700 * (10 ** (mel / 2595) - 1))
_SCALES: dict[str, tuple[_Scale, _Scale]] = {
    "htk": _HTK,
    "slaney": (_slaney, _slaney_hertz),
    "kaldi": _HTK,
}
"""Scale -> mel of hertz, and hertz of mel."""


def time_of(front: FrontEnd, x: str) -> int:
    """The number of samples of [n, time] or [n, time, channels]. Raises ValueError if x is already windows."""
    if front.has_windows:
        raise ValueError("takes samples, but comes after a word that makes features of windows")
    return front.type(x).shape[1]


def length_of(front: FrontEnd, x: str) -> int:
    """The number of samples of a sound [n, time]. Raises ValueError if it has channels, or is a spectrum."""
    length, shape = time_of(front, x), front.type(x).shape
    if len(shape) == 3:
        raise ValueError(f"has {shape[2]} channels: put mono before this word")
    return length


def _power(front: FrontEnd, x: str, spectrum: Spectrum) -> str:
    """The power of each frequency in each window: [n, time] to [n, windows, points / 2 + 1]. Raises ValueError."""
    window, hop, points = spectrum.sizes(front.rate)
    if spectrum.count(length_of(front, x), front.rate) * points > MAX_NUMBERS:
        raise ValueError(f"makes more than {MAX_NUMBERS:,} numbers of one sound")
    front.has_windows = True
    frames, weights = front.node(Framing(window, hop), x), spectrum.window.weights(window)
    frames = frames if weights is None else front.node(Mul(), frames, front.constant(weights))
    return front.node(Power(), front.node(RealFourier(points), frames))


def product(front: FrontEnd, x: str, matrix: np.ndarray) -> str:
    """A matrix [rows, columns] times the vectors of the last axis, [..., columns], in a fixed order of additions."""
    return front.node(Banded(-1, (0,) * len(matrix), len(matrix)), x, front.constant(matrix))


def logarithm(front: FrontEnd, x: str, floor: float, decibels: bool) -> str:
    """ln(x + floor), or 10 log10(x + floor)."""
    y = front.node(NaturalLog(), front.node(Add(), x, front.constant(np.array([floor]))))
    return front.node(Mul(), y, front.constant(np.array([10 / math.log(10)]))) if decibels else y


def powers(front: FrontEnd, x: str, spectrum: Spectrum) -> str:
    """The power of each frequency, [n, time] to [n, windows, frequencies]. Raises ValueError."""
    y = _power(front, x, spectrum)
    return logarithm(front, y, spectrum.floor, decibels=True) if spectrum.decibels else y


def log_mel(front: FrontEnd, x: str, mel: Mel) -> str:
    """The features of sounds, [n, time] to [n, windows, bands or coefficients]. Raises ValueError."""
    filters = mel.filters(mel.sizes(front.rate)[2], front.rate)
    y = logarithm(front, product(front, _power(front, x, mel), filters), mel.floor, mel.decibels)
    return product(front, y, mel.cosines()) if mel.coefficients else y


def _window_count(front: FrontEnd, x: str) -> int:
    """The number of windows of features. Raises ValueError if the value x is samples."""
    if not front.has_windows:
        raise ValueError("takes features of windows: put spectrogram, logmel or mfcc before it")
    return front.type(x).shape[1]


def with_deltas(front: FrontEnd, x: str, value: tuple[int, int]) -> str:
    """Features, followed by their deltas over neighbouring windows: [n, windows, features * (1 + order)].

    value: (windows on either side, order). Order 2 also gives the deltas of the deltas. Beyond the ends, the first and
    the last window are repeated.
    """
    (reach, order), count = value, _window_count(front, x)
    scale = 2 * sum(k * k for k in range(1, reach + 1))
    first = [max(0, t - reach) for t in range(count)]
    weights = np.zeros((count, min(count, 2 * reach + 1)))
    for t in range(count):
        for k in range(-reach, reach + 1):
            weights[t, min(max(t + k, 0), count - 1) - first[t]] += k / scale
    parts = [x]
    for _ in range(order):
        parts.append(front.node(Banded(1, tuple(first), count), parts[-1], front.constant(weights)))
    return front.node(Concatenation(2), *parts)


def normalized(front: FrontEnd, x: str, deviation: bool) -> str:
    """Features less their mean over all windows, divided by their standard deviation if `deviation`."""
    count = _window_count(front, x)
    average, shares = Banded(1, (0,), 1), front.constant(np.full((1, count), 1 / count))
    apart = front.node(Sub(), x, front.node(average, x, shares))
    if not deviation:
        return apart
    variance = front.node(average, front.node(Mul(), apart, apart), shares)
    root = front.node(Sqrt(), front.node(Add(), variance, front.constant(np.array([LEAST_VARIANCE]))))
    return front.node(Div(), apart, root)


def windows_of(plan: Plan) -> Windows | None:
    """The windows into which words of --preprocess cut the samples; None if no word does."""
    return next((step.value for step in plan.steps if isinstance(step.value, Windows)), None)


def _spectrum(text: str) -> Spectrum:
    """The parameters of `spectrogram(...)`."""
    return Spectrum(**parameters(text, {field.name: READERS[field.name] for field in fields(Spectrum)}, WINDOWS))


def mel(text: str) -> Mel:
    """The parameters of `logmel(...)`."""
    return Mel(**parameters(text, {k: reader for k, reader in READERS.items() if k != "coefficients"}, WINDOWS))


def cepstra(text: str) -> Mel:
    """The parameters of `mfcc(...)`."""
    found = Mel(**{"coefficients": 10, **parameters(text, READERS, WINDOWS)})
    if found.coefficients > found.bands:
        raise ValueError(f"{found.coefficients} coefficients need as many bands, not {found.bands}")
    return found


def _deltas(text: str) -> tuple[int, int]:
    reach, _, order = text.partition(":")
    return whole(1, MAX_REACH)(reach), whole(1, 2)(order or "1")


def _normalizing(text: str) -> bool:
    if text not in ("", "mean"):
        raise ValueError(f"expected cmvn, or cmvn=mean, found {text!r}")
    return not text


def _hertz(text: str) -> float:
    found = number(text)
    if not 0 <= found < 1e9:
        raise ValueError(f"expected Hz, 0 or more, found {text!r}")
    return found


def _positive(text: str) -> float:
    found = number(text)
    if not 0 < found < 1e9:
        raise ValueError(f"expected a number above 0, found {text!r}")
    return found


READERS: dict[str, Reader] = {
    "window": window,
    "hop": duration,
    "bands": whole(1, MAX_BANDS),
    "fft": whole(2, MAX_WINDOW),
    "low": _hertz,
    "high": _hertz,
    "floor": _positive,
    "decibels": yes,
    "mel": one_of(_SCALES),
    "coefficients": whole(1, MAX_BANDS),
}

WORDS = (
    Word("spectrogram(window=W,hop=H,...)", "power of each frequency", SOUND, powers, _spectrum),
    Word("logmel(window=W,hop=H,...)", "logarithms of the power in mel bands", SOUND, log_mel, mel),
    Word("mfcc(window=W,hop=H,...)", "cosine transform of logmel", SOUND, log_mel, cepstra),
    Word(
        "delta=N",
        "append the slopes over N windows on either side; delta=N:2: also the slopes of the slopes",
        SOUND,
        with_deltas,
        _deltas,
        spans=True,
    ),
    Word(
        "cmvn",
        "subtract means over all windows, divide by deviations; cmvn=mean: no division",
        SOUND,
        normalized,
        _normalizing,
        spans=True,
    ),
)
