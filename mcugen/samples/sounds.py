"""Sounds as samples: .wav files of integers or floats, as numbers from -1 to 1, [time].

docs/samples.md states what each word computes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from mcugen.errors import UsageError
from mcugen.samples import spectra
from mcugen.samples.column import Column, named, of_files
from mcugen.samples.preprocess import SOUND, Plan, PreprocessStep, Word
from mcugen.system import files

MAX_BYTES = 1 << 25
MAX_RATE = 768_000
MAX_RATIO = 16
"""Largest ratio of two sampling rates, in either direction."""
MAX_LENGTH = 1 << 24
ZEROS = 16
"""Zero crossings of the resampling filter on either side."""
_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE
_HINT = "convert the file to 16-bit PCM"


@dataclass(frozen=True, eq=False)
class Sound:
    """Sound as numbers [time], or [time, channels]. rate: sampling rate in Hz."""

    rate: int
    values: np.ndarray


def _rate(text: str) -> int:
    found = int(text)
    if not 1 <= found <= MAX_RATE:
        raise ValueError(f"expected samples in a second, 1 to {MAX_RATE}")
    return found


WORDS = (
    Word("mono", "the mean of the channels", SOUND),
    Word("rate=R", "resample to R a second where the file has another rate", SOUND, _rate),
    Word("length=L", "cut, or fill with zeros, at the end: 16000, 1s or 980ms", SOUND, spectra.duration),
    Word("logmel(window=W,hop=H,...)", "logarithms of the power in mel bands", SOUND, spectra.mel),
    Word("mfcc(window=W,hop=H,...)", "cosine transform of logmel", SOUND, spectra.cepstra),
)


def column(paths: Sequence[Path], plan: Plan, where: str) -> Column:
    """The sounds of a folder after the plan's steps for sounds. Raises UsageError."""
    steps, hint = plan.of(SOUND), "add mono, and length=..., to --preprocess"
    rate = None if any(step.word == "rate" for step in steps) else decoded(paths[0]).rate

    def values(path: Path) -> np.ndarray:
        sound = decoded(path)
        if rate is not None and sound.rate != rate:
            message = f"has {sound.rate} samples a second, but {named(paths[0])} has {rate}"
            raise UsageError(message, where=named(path), hint=f"add rate={rate} to --preprocess")
        return _stepped(sound, steps, path)

    return of_files(where, paths, values, hint)


def _stepped(sound: Sound, steps: Sequence[PreprocessStep], path: Path) -> np.ndarray:
    for step in steps:
        try:
            sound = _apply(sound, step)
        except ValueError as error:
            raise UsageError(str(error), where=named(path), hint=f"correct {step.text!r} of --preprocess") from error
    if sound.values.ndim == 2 and not any(step.word in ("logmel", "mfcc") for step in steps):
        message = f"has {sound.values.shape[1]} channels"
        raise UsageError(message, where=named(path), hint="add mono to --preprocess")
    return sound.values


def _apply(sound: Sound, step: PreprocessStep) -> Sound:
    values = sound.values
    if step.word == "mono":
        return replace(sound, values=values.mean(axis=1) if values.ndim == 2 else values)
    if values.ndim == 2:
        raise ValueError(f"has {values.shape[1]} channels: put mono before {step.text!r}")
    if step.word == "rate":
        return Sound(step.value, resampled(values, sound.rate, step.value))
    if step.word == "length":
        wanted = step.value.samples(sound.rate)
        if wanted > MAX_LENGTH:
            raise ValueError(f"a length of {wanted:,} is more than {MAX_LENGTH:,}")
        return replace(sound, values=np.pad(values[:wanted], (0, max(0, wanted - len(values)))))
    return replace(sound, values=step.value.of(values, sound.rate))


def resampled(x: np.ndarray, rate: int, wanted: int) -> np.ndarray:
    """x resampled from `rate` to `wanted`, both in Hz: ceil(len(x) * wanted / rate) numbers.

    y[k] = sum over all j with |c d| < 16 of x[j] * c * sinc(c d) * cos(pi c d / 32)^2
    with d = k * rate / wanted - j and c = min(1, wanted / rate). Raises ValueError if the rates differ too much.
    """
    if rate == wanted:
        return x
    if max(rate, wanted) > MAX_RATIO * min(rate, wanted):
        raise ValueError(f"{rate} and {wanted} samples a second differ more than {MAX_RATIO}-fold")
    common = math.gcd(rate, wanted)
    up, down = wanted // common, rate // common
    c = min(1.0, wanted / rate)
    reach = math.ceil(ZEROS / c)
    count = -(-len(x) * up // down)
    y = np.zeros(count)
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, reach), 2 * reach + 1)
    for phase in range(min(up, count)):
        first, rest = divmod(phase * down, up)
        d = c * (rest / up - np.arange(-reach, reach + 1))
        taps = c * np.sinc(d) * np.cos(np.pi * d / (2 * ZEROS)) ** 2 * (np.abs(d) < ZEROS)
        part = windows[first::down]
        y[phase::up] = part[: len(y[phase::up])] @ taps
    return y


def decoded(path: Path) -> Sound:
    """A .wav file. Raises UsageError."""
    data = files.read(path, MAX_BYTES)
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise UsageError("is no .wav file (RIFF)", where=named(path), hint=_HINT)
    chunks = _chunks(data, path)
    form = chunks.get(b"fmt ", b"")
    if len(form) < 16 or b"data" not in chunks:
        missing = "fmt" if len(form) < 16 else "data"
        raise UsageError(f"has no {missing} chunk", where=named(path), hint=_HINT)
    code, channels, rate, _, frame, bits = (int.from_bytes(form[a:b], "little") for a, b in _FIELDS)
    if code == _EXTENSIBLE and len(form) >= 26:
        code = int.from_bytes(form[24:26], "little")
    kinds = {(_PCM, 8), (_PCM, 16), (_PCM, 24), (_PCM, 32), (_FLOAT, 32), (_FLOAT, 64)}
    if (code, bits) not in kinds:
        raise UsageError(f"has format {code} with {bits} bits, not PCM", where=named(path), hint=_HINT)
    if not channels or frame != channels * bits // 8 or not 1 <= rate <= MAX_RATE:
        message = f"claims {channels} channels, {frame} bytes a frame, {rate} frames a second"
        raise UsageError(message, where=named(path), hint=_HINT)
    content = chunks[b"data"]
    if not content or len(content) % frame:
        message = f"has {len(content)} bytes of sound, in frames of {frame}"
        raise UsageError(message, where=named(path), hint="the file is empty or truncated: record it anew")
    values = _numbers(content, code, bits)
    return Sound(rate, values.reshape(-1, channels) if channels > 1 else values)


_FIELDS = ((0, 2), (2, 4), (4, 8), (8, 12), (12, 14), (14, 16))
"""Bytes of the chunk `fmt `: format, channels, rate, bytes a second, bytes a frame, bits."""


def _chunks(data: bytes, path: Path) -> dict[bytes, memoryview | bytes]:
    """The first chunk of each name."""
    found: dict[bytes, memoryview | bytes] = {}
    view, start = memoryview(data), 12
    while start + 8 <= len(data):
        size = int.from_bytes(data[start + 4 : start + 8], "little")
        if start + 8 + size > len(data):
            message = f"is truncated: chunk {data[start : start + 4]!r} takes {size:,} bytes"
            raise UsageError(message, where=named(path), hint="record the file anew")
        found.setdefault(data[start : start + 4], view[start + 8 : start + 8 + size])
        start += 8 + size + size % 2
    return found


def _numbers(content: memoryview | bytes, code: int, bits: int) -> np.ndarray:
    """Stored numbers as floats: integers divided by 2**(bits - 1), 8-bit ones after subtracting 128."""
    if code == _FLOAT:
        return np.frombuffer(content, f"<f{bits // 8}").astype(np.float64)
    if bits == 8:
        return (np.frombuffer(content, np.uint8) - 128.0) / 128
    if bits != 24:
        return np.frombuffer(content, f"<i{bits // 8}") / 2.0 ** (bits - 1)
    parts = np.frombuffer(content, np.uint8).reshape(-1, 3)
    wide = np.zeros((len(parts), 4), np.uint8)
    wide[:, 1:] = parts
    return wide.view("<i4").reshape(-1) / 2.0**31
