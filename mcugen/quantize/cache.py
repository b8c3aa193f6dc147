"""Calibration cache: a text file of each tensor's statistics on the samples, to be versioned and edited by hand.

    mcugen calibration 1
    model <sha256 of the model file>
    samples <sha256 of the samples, as Samples.sha256>
    # name low high p0.001 p0.01 p99.99 p99.999 count
    "input" -1.0 0.9921875 -1.0 -1.0 0.9921875 0.9921875 307200
    "conv1/Relu" 0.0 8.125 0.0 0.0 6.75 7.9375 819200 override 0.0 6.0
    end 2

Names are JSON strings, numbers are float32 in the fewest digits that round-trip; the last line counts the tensors.
Blank lines and lines that begin with # are comments. `override LOW HIGH` at the end of a line is written by hand and
replaces the measured range.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import numpy as np

from mcugen.errors import UsageError
from mcugen.system import files

VERSION = 1
POINTS = (0.001, 0.01, 99.99, 99.999)
"""The percentiles of `Spread.points`."""
MAX_BYTES = 1 << 26
_MAGIC = "mcugen calibration"
_COLUMNS = "# name low high " + " ".join(f"p{point:g}" for point in POINTS) + " count"
_STRING = json.JSONDecoder()


@dataclass(frozen=True)
class Spread:
    """Statistics of a tensor's values. All numbers are float32.

    points: the percentiles POINTS. count: number of values. override: range that replaces the measured one.
    """

    low: float
    high: float
    points: tuple[float, ...]
    count: int
    override: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        """Round to float32. Raises ValueError for numbers that cannot be statistics, such as low > high."""
        numbers = [_number(value) for value in (self.low, self.high, *self.points)]
        low, high, *points = numbers
        if len(points) != len(POINTS) or self.count < 1:
            raise ValueError(f"expected {len(POINTS)} percentiles and a count from 1")
        if not low <= high or sorted(points) != points or not low <= points[0] <= points[-1] <= high:
            raise ValueError("expected low <= percentiles in their order <= high")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        object.__setattr__(self, "points", tuple(points))
        if self.override is not None:
            first, last = (_number(value) for value in self.override)
            if not first < last:
                raise ValueError("expected an override LOW HIGH with LOW < HIGH")
            object.__setattr__(self, "override", (first, last))

    @property
    def range(self) -> tuple[float, float]:
        """The least and the greatest value to represent: the override, if there is one."""
        return self.override or (self.low, self.high)


@dataclass(frozen=True, eq=False)
class Cache:
    """Statistics of tensors by their names in the model file, and SHA-256 of model and samples in hex."""

    model_sha256: str
    samples_sha256: str
    spreads: Mapping[str, Spread] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "spreads", MappingProxyType(dict(self.spreads)))


def write(path: Path, cache: Cache) -> None:
    """Write the file atomically. Raises UsageError if it cannot be written, or exists and is no calibration cache."""
    if path.exists() and not files.read(path).startswith(_MAGIC.encode()):
        message = "exists and is no calibration cache"
        raise UsageError(message, where=str(path), hint="choose another name, or remove the file")
    folder = path.parent
    try:
        with tempfile.NamedTemporaryFile("w", encoding="ascii", newline="\n", dir=folder, delete=False) as file:
            file.write(text(cache))
        os.chmod(file.name, 0o644)
        os.replace(file.name, path)
    except OSError as error:
        raise UsageError(f"cannot be written: {error.strerror}", where=str(path), hint="check the folder") from error


def text(cache: Cache) -> str:
    """Content of the file; equal caches have equal content."""
    head = (
        f"{_MAGIC} {VERSION}",
        f"model {cache.model_sha256}",
        f"samples {cache.samples_sha256}",
        _COLUMNS,
    )
    return "\n".join([*head, *(_line(*item) for item in cache.spreads.items()), f"end {len(cache.spreads)}", ""])


def read(path: Path, model_sha256: str, samples_sha256: str) -> Cache:
    """Read a cache. Raises UsageError if it belongs to another model or other samples, and for a damaged line."""
    cache = parse(files.read(path, MAX_BYTES), str(path))
    for what, found, wanted in (
        ("model", cache.model_sha256, model_sha256),
        ("samples", cache.samples_sha256, samples_sha256),
    ):
        if found != wanted:
            other = "another model" if what == "model" else "other samples"
            message = f"was made from {other}: SHA-256 {found}, now {wanted}"
            hint = f"give the {what} that it was made from, or remove the file to calibrate again"
            if what == "model":
                hint += "; another --macs also makes it another model"
            raise UsageError(message, where=str(path), hint=hint)
    return cache


def parse(data: bytes, where: str) -> Cache:
    """A cache from the bytes of its file. Raises UsageError, with the number of a damaged line."""
    try:
        lines = list(enumerate(data.decode().replace("\r\n", "\n").split("\n"), 1))
    except UnicodeDecodeError as error:
        raise _damage(where, data.count(b"\n", 0, error.start) + 1, "is no UTF-8 text") from error
    rows = [(number, line.strip()) for number, line in lines if line.strip() and not line.lstrip().startswith("#")]
    rows.reverse()
    version = _head(rows, _MAGIC, r"\d{1,9}", where)
    if int(version) != VERSION:
        message = f"has version {version}, but this mcugen reads version {VERSION}"
        raise UsageError(message, where=where, hint="remove the file to calibrate again")
    hashes = [_head(rows, word, "[0-9a-f]{64}", where) for word in ("model", "samples")]
    spreads: dict[str, Spread] = {}
    while len(rows) > 1:
        number, line = rows.pop()
        name, spread = _parsed(line, number, where)
        if name in spreads:
            raise _damage(where, number, f"has {name!r} a second time")
        spreads[name] = spread
    number = rows[0][0] if rows else len(lines)
    if _head(rows, "end", r"\d{1,9}", where, number) != str(len(spreads)):
        raise _damage(where, number, f"should be 'end {len(spreads)}', the number of tensors above it")
    return Cache(hashes[0], hashes[1], spreads)


def _head(rows: list[tuple[int, str]], word: str, value: str, where: str, last: int = 1) -> str:
    """Value of the next line, which must be `word value`. last: line number for the error if no line is left."""
    number, line = rows.pop() if rows else (last, "")
    found = re.fullmatch(f"{word} ({value})", line)
    if found is None:
        raise _damage(where, number, f"should be {word!r} and its value, but is {line[:80]!r}")
    return found[1]


def _parsed(line: str, number: int, where: str) -> tuple[str, Spread]:
    """The name and the spread of a line."""
    try:
        name, end = _STRING.raw_decode(line)
        if not isinstance(name, str):
            raise ValueError("expected a name in double quotes")
        return name, _spread(line[end:].split())
    except (ValueError, RecursionError) as error:
        raise _damage(where, number, f"cannot be read: {error}") from error


def _spread(words: Sequence[str]) -> Spread:
    measured = 2 + len(POINTS)
    override, rest = words[measured + 1 :], words[measured : measured + 1]
    if not rest or not re.fullmatch(r"\d{1,18}", rest[0]):
        raise ValueError(f"expected {measured} numbers and a count after the name")
    if override and (override[0] != "override" or len(override) != 3):
        raise ValueError("expected nothing, or override LOW HIGH, after the count")
    low, high, *points = (_read(word) for word in words[:measured])
    wanted = (_read(override[1]), _read(override[2])) if override else None
    return Spread(low, high, tuple(points), int(rest[0]), wanted)


def _read(word: str) -> float:
    if not re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,3})?", word[:100]):
        raise ValueError(f"{word[:40]!r} is no number")
    return float(word[:100])


def _number(value: float) -> float:
    """The float32 nearest to a number. Raises ValueError if there is none."""
    with np.errstate(over="ignore"):
        found = float(np.float32(value))
    if not np.isfinite(found):
        raise ValueError(f"{value} is not a finite float32")
    return found


def _line(name: str, spread: Spread) -> str:
    numbers = [_written(value) for value in (spread.low, spread.high, *spread.points)]
    override = ["override", *map(_written, spread.override)] if spread.override else []
    return " ".join([json.dumps(name), *numbers, str(spread.count), *override])


def _written(value: float) -> str:
    """The fewest digits that round-trip a float32."""
    short = str(np.float32(value))
    return short if np.float32(float(short)) == np.float32(value) else repr(value)


def _damage(where: str, number: int, what: str) -> UsageError:
    hint = "correct the line, or remove the file to calibrate again"
    return UsageError(f"line {number} {what}", where=where, hint=hint)
