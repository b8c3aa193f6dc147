"""Motion as samples: arrays [time] or [time, channels], such as those of an accelerometer, and features of windows.

docs/sensors.md states what each word computes. `windows` makes [n, windows, window, channels]. Each word after it
appends features, [n, windows, features]: those of the first channel, then those of the next.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TypeVar

import numpy as np

from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops.autocorrelation import Autocorrelation
from mcugen.ops.concatenation import Concatenation
from mcugen.ops.framing import Framing
from mcugen.ops.mul import Mul
from mcugen.ops.power import Power
from mcugen.ops.real_fourier import RealFourier
from mcugen.ops.sqrt import Sqrt
from mcugen.ops.strided_slice import StridedSlice
from mcugen.ops.sub import Sub
from mcugen.ops.transpose import Transpose
from mcugen.ops.window_statistics import STATISTICS, WindowStatistics
from mcugen.samples import spectra
from mcugen.samples.column import Column
from mcugen.samples.front_end import FrontEnd
from mcugen.samples.preprocess import (
    MOTION,
    Plan,
    Word,
    applied,
    factors,
    one_of,
    parameters,
    reported,
    type_after,
    whole,
)
from mcugen.samples.spectra import MAX_NUMBERS, MAX_WINDOW, READERS, AnalysisWindow, Duration, Windows, duration

MAX_CHANNELS = 64
MAX_LAGS = 64
_TOGETHER = 1 << 17
"""Most numbers in the windows of samples that are computed together."""
_AS_STORED = QuantParams((1.0,), (0,))
"""The scale of integers that are taken as they are."""
_Item = TypeVar("_Item", str, int)


@dataclass(frozen=True)
class ChannelSpectrum:
    """The spectrum of each channel of a window, less its mean.

    edges: limits of the bands in Hz, ascending; () for each frequency. fft, floor, decibels: see `spectra.Spectrum`.
    taper: shape of the window, a key of `spectra.TAPERS`.
    """

    edges: tuple[float, ...] = ()
    fft: int = 0
    taper: str = "hann"
    floor: float = 1e-6
    decibels: bool = False

    def bands(self, points: int, rate: float) -> np.ndarray:
        """1 for each frequency in a band, else 0: [bands, points / 2 + 1]. Raises ValueError."""
        if not rate:
            raise ValueError("needs the rate of the samples: put rate=... before it")
        if self.edges[-1] > rate / 2:
            raise ValueError(f"{self.edges[-1]:g} Hz is above half the rate, {rate / 2:g} Hz")
        f = np.fft.rfftfreq(points, 1 / rate)
        low, high = np.array(self.edges[:-1])[:, None], np.array(self.edges[1:])[:, None]
        within: np.ndarray = (f >= low) & (f < high)
        for k in np.flatnonzero(~within.any(axis=1)):
            band = f"{self.edges[k]:g} to {self.edges[k + 1]:g} Hz"
            raise ValueError(f"the band {band} has no frequency: they are {rate / points:g} Hz apart; widen it")
        return within.astype(np.float32)


def _samples(front: FrontEnd, x: str) -> str:
    """Samples as [n, time, channels]. Raises ValueError."""
    spectra.time_of(front, x)
    shape = front.type(x).shape
    if len(shape) > 3 or shape[2:] > (MAX_CHANNELS,):
        raise ValueError(f"takes [time] or [time, channels], at most {MAX_CHANNELS} channels, found {list(shape[1:])}")
    return front.shaped(x, (*shape, 1)[:3])


def with_magnitude(front: FrontEnd, x: str, group: int | None) -> str:
    """Samples, and the root of the sum of squares of each `group` channels as further channels. None: all channels."""
    x = front.real(_samples(front, x))
    n, time, channels = front.type(x).shape
    group = group or channels
    if channels % group:
        raise ValueError(f"{channels} channels are no groups of {group}")
    squares = front.shaped(front.node(Mul(), x, x), (n, time, channels // group, group))
    lengths = front.shaped(front.node(Sqrt(), front.total(squares, 3, 1)), (n, time, channels // group))
    return front.node(Concatenation(2), x, lengths)


def framed(front: FrontEnd, x: str, windows: Windows) -> str:
    """Windows of samples, [n, windows, window, channels]. Raises ValueError."""
    x = _samples(front, x)
    n, time, channels = front.type(x).shape
    count, (window, hop) = windows.count(time, front.rate), windows.sizes(front.rate)
    if window > MAX_WINDOW:
        raise ValueError(f"has windows of {window:,} samples, more than {MAX_WINDOW:,}")
    if count * window * channels > MAX_NUMBERS:
        raise ValueError(f"makes more than {MAX_NUMBERS:,} numbers of one sample")
    x = x if front.type(x).quant in (None, _AS_STORED) else front.real(x)
    shape = (n, 1, window, channels)
    front.frames = front.shaped(x, shape) if window == time else front.node(Framing(window, hop, 1), x)
    front.has_windows = True
    return front.frames


def _frames(front: FrontEnd) -> str:
    """The windows, [n, windows, window, channels]. Raises ValueError."""
    if not front.frames:
        raise ValueError("takes windows of motion: put windows(window=...,hop=...) before it")
    return front.frames


def _statistics(front: FrontEnd, names: tuple[str, ...]) -> str:
    """Statistics of each channel of the windows, [n, windows, channels * names]. Raises ValueError."""
    frames = _frames(front)
    return front.node(WindowStatistics(names), frames if front.type(frames).dtype == "s16" else front.real(frames))


def _centred(front: FrontEnd) -> str:
    """The windows less the mean of each channel, as float32. Raises ValueError."""
    means, frames = _statistics(front, ("mean",)), front.real(_frames(front))
    n, count, _, channels = front.type(frames).shape
    return front.node(Sub(), frames, front.shaped(means, (n, count, 1, channels)))


def _appended(front: FrontEnd, x: str, features: str) -> str:
    """The features so far and new ones. features: [n, windows, ...]."""
    n, count, *rest = front.type(features).shape
    features = front.shaped(features, (n, count, prod(rest)))
    return features if x == front.frames else front.node(Concatenation(2), x, features)


def with_statistics(front: FrontEnd, x: str, names: tuple[str, ...]) -> str:
    """Features, and statistics of each channel. Raises ValueError."""
    return _appended(front, x, _statistics(front, names))


def with_autocorrelation(front: FrontEnd, x: str, lags: tuple[int, ...]) -> str:
    """Features, and the autocorrelation of each channel at these lags, in samples. Raises ValueError."""
    window = front.type(_frames(front)).shape[2]
    if max(lags) >= window:
        raise ValueError(f"a lag of {max(lags)} samples does not fit a window of {window}")
    return _appended(front, x, front.node(Autocorrelation(lags), _centred(front)))


def with_spectrum(front: FrontEnd, x: str, spectrum: ChannelSpectrum) -> str:
    """Features, and the power of each frequency but 0, or of each band, of each channel. Raises ValueError."""
    n, count, window, channels = front.type(_frames(front)).shape
    points = spectra.points_of(window, spectrum.fft)
    bands = spectrum.bands(points, front.rate) if spectrum.edges else None
    y = front.node(Transpose((0, 1, 3, 2)), _centred(front))
    weights = AnalysisWindow(Duration(window, False), spectrum.taper).weights(window)
    y = y if weights is None else front.node(Mul(), y, front.constant(weights))
    y = front.node(Power(), front.node(RealFourier(points), y))
    if bands is None:
        shape = (n, count, channels, points // 2)
        y = front.node(StridedSlice(((0, n, 1), (0, count, 1), (0, channels, 1), (1, points // 2, 1)), shape), y)
    else:
        y = spectra.product(front, y, bands)
    y = spectra.logarithm(front, y, spectrum.floor, decibels=True) if spectrum.decibels else y
    return _appended(front, x, y)


def _windows(text: str) -> Windows:
    return Windows(**parameters(text, {"window": duration, "hop": duration}, "window=2s,hop=1s"))


def _names(text: str) -> tuple[str, ...]:
    return _different(tuple(map(one_of(STATISTICS), text.split(":"))))


def _lags(text: str) -> tuple[int, ...]:
    found = _different(tuple(map(whole(1, MAX_WINDOW), text.split(":"))))
    if len(found) > MAX_LAGS:
        raise ValueError(f"has {len(found)} lags, more than {MAX_LAGS}")
    return found


def _different(found: tuple[_Item, ...]) -> tuple[_Item, ...]:
    for k, item in enumerate(found):
        if item in found[:k]:
            raise ValueError(f"{item} is given twice")
    return found


def _edges(text: str) -> tuple[float, ...]:
    found = tuple(factors(text).tolist())
    if len(found) < 2 or found[0] < 0 or any(low >= high for low, high in itertools.pairwise(found)):
        raise ValueError(f"expected two or more ascending numbers of Hz, such as 0.5:3:10, found {text!r}")
    return found


_SPECTRUM = {name: READERS[name] for name in ("fft", "floor", "decibels")} | {"taper": one_of(spectra.TAPERS)}


def _spectrum(text: str) -> ChannelSpectrum:
    return ChannelSpectrum(**parameters(text, _SPECTRUM))


def _bands(text: str) -> ChannelSpectrum:
    return ChannelSpectrum(**parameters(text, _SPECTRUM | {"edges": _edges}, "edges=0.5:3:10"))


def _group(text: str) -> int | None:
    return whole(1, MAX_CHANNELS)(text) if text else None


WORDS: Sequence[Word] = (
    Word("magnitude=N", "append the root of the sum of squares of each N channels", MOTION, with_magnitude, _group),
    Word("windows(window=W,hop=H)", "windows, of which later words make features", MOTION, framed, _windows),
    Word("statistics=S1:S2:...", f"for each channel {', '.join(STATISTICS)}", MOTION, with_statistics, _names),
    Word("bands(edges=F0:F1:...)", "power of each channel in bands, in Hz", MOTION, with_spectrum, _bands),
    Word("spectrum(...)", "power of each channel at each frequency but 0", MOTION, with_spectrum, _spectrum),
    Word("autocorrelation=L1:L2:...", "of each channel, at lags in samples", MOTION, with_autocorrelation, _lags),
)


def column(given: Column, plan: Plan) -> Column:
    """Arrays [time] or [time, channels] after the plan's words for motion. Raises UsageError."""
    steps = plan.of(MOTION)

    def blocks(n: int) -> Iterator[np.ndarray]:
        for block in _together(given.blocks(n), each):
            with np.errstate(all="ignore"):  # overflow is reported later, with its place
                yield applied(steps, block)

    with reported(given.where):
        shape = type_after(steps, TensorType((1, *given.shape), "f32")).shape[1:]
    windows = spectra.windows_of(plan)
    window, hop = windows.sizes(plan.rate) if windows else (1, 1)
    each = max(1, _TOGETHER // (prod(given.shape) * -(-window // hop)))
    return replace(given, shape=shape, blocks=blocks)


def _together(blocks: Iterable[np.ndarray], each: int) -> Iterator[np.ndarray]:
    """The samples as float32, `each` at a time, since words take about as long for one sample as for a hundred."""
    rows = (row for block in blocks for row in block.astype(np.float32))
    while some := list(itertools.islice(rows, each)):
        yield np.stack(some)
