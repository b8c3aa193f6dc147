"""Sounds as samples: .wav files of integers or floats, as float32 from -1 to 1, [time].

docs/samples.md states what each word computes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from mcugen.errors import UsageError
from mcugen.ops.pad import Pad
from mcugen.ops.strided_slice import StridedSlice
from mcugen.samples import filters, spectra
from mcugen.samples.column import Column, named, of_files
from mcugen.samples.front_end import FrontEnd
from mcugen.samples.preprocess import SIGNAL, SOUND, Plan, PreprocessStep, Word, applied, reported
from mcugen.system import files

MAX_BYTES = 1 << 25
MAX_LENGTH = 1 << 24
_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE
_HINT = "convert the file to 16-bit PCM"


@dataclass(frozen=True, eq=False)
class Sound:
    """Sound as float32 [time], or [time, channels]. rate: sampling rate in Hz."""

    rate: int
    values: np.ndarray


def mono(front: FrontEnd, x: str, _: None) -> str:
    """The mean of the channels: [n, time, channels] to [n, time]."""
    shape = front.type(x).shape
    if front.has_windows or len(shape) == 2:
        return x
    return front.shaped(front.total(x, -1, 1 / shape[2]), shape[:2])


def cut(front: FrontEnd, x: str, wanted: spectra.Duration) -> str:
    """The first samples of that duration, with zeros at the end if there are fewer."""
    length, there = wanted.samples(front.rate), spectra.time_of(front, x)
    if length > MAX_LENGTH:
        raise ValueError(f"a length of {length:,} is more than {MAX_LENGTH:,}")
    n, _, *channels = front.type(x).shape
    if length < there:
        ranges = ((0, n, 1), (0, length, 1), *((0, count, 1) for count in channels))
        return front.node(StridedSlice(ranges, (n, length, *channels)), x)
    return x if length == there else front.node(Pad(((0, 0), (0, length - there), *((0, 0) for _ in channels))), x)


WORDS = (
    Word("mono", "the mean of the channels", SOUND, mono),
    *filters.WORDS,
    Word(
        "length=L", "cut, or fill with zeros, at the end: 16000, 1s or 980ms", SIGNAL, cut, spectra.duration, spans=True
    ),
    *spectra.WORDS,
)


def column(paths: Sequence[Path], plan: Plan, where: str) -> Column:
    """The sounds of a folder after the plan's steps for sounds. Raises UsageError."""
    steps, hint = plan.of(SOUND), "add mono, and length=..., to --preprocess"
    rate = None if plan.rate else decoded(paths[0]).rate

    def values(path: Path) -> np.ndarray:
        sound = decoded(path)
        if rate is not None and sound.rate != rate:
            message = f"has {sound.rate} samples a second, but {named(paths[0])} has {rate}"
            raise UsageError(message, where=named(path), hint=f"add rate={rate} to --preprocess")
        return _stepped(sound, steps, path)

    return replace(of_files(where, paths, values, hint), rate=rate or 0)


def _stepped(sound: Sound, steps: Sequence[PreprocessStep], path: Path) -> np.ndarray:
    with reported(named(path)):
        values = np.asarray(applied(steps, sound.values[None], sound.rate)[0])
    if sound.values.ndim == 2 and not any(step.name == "mono" for step in steps):
        message = f"has {sound.values.shape[1]} channels"
        raise UsageError(message, where=named(path), hint="add mono to --preprocess")
    return values


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
    if not channels or frame != channels * bits // 8 or not 1 <= rate <= filters.MAX_RATE:
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
    """Stored numbers as float32: integers divided by 2**(bits - 1), 8-bit ones after subtracting 128."""
    with np.errstate(all="ignore"):
        found: np.ndarray = _fractions(content, code, bits).astype(np.float32)
    return found


def _fractions(content: memoryview | bytes, code: int, bits: int) -> np.ndarray:
    if code == _FLOAT:
        return np.frombuffer(content, f"<f{bits // 8}")
    if bits == 8:
        return (np.frombuffer(content, np.uint8) - 128.0) / 128
    if bits != 24:
        return np.frombuffer(content, f"<i{bits // 8}") / 2.0 ** (bits - 1)
    parts = np.frombuffer(content, np.uint8).reshape(-1, 3)
    wide = np.zeros((len(parts), 4), np.uint8)
    wide[:, 1:] = parts
    return wide.view("<i4").reshape(-1) / 2.0**31
