# SPDX-License-Identifier: Apache-2.0
"""The calibration cache: exact round trips, edits by hand, and refusals that name the line or the hashes."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from mcugen.errors import UsageError
from mcugen.quantize import cache
from mcugen.quantize.cache import Cache, Spread

MODEL, SAMPLES = "a1" * 32, "b2" * 32
NAMES = [
    "x",
    "",
    " ",
    '"',
    "\\",
    "a b",
    "conv/Relu;bias:0",
    "# no comment",
    "é\u2028\n\r\t\0",
    "\ud800",
    "override 1 2",
]


def spread(rng: np.random.Generator) -> Spread:
    low, *points, high = np.sort(rng.integers(0, 1 << 32, 6, np.uint64).astype(np.uint32).view(np.float32)).tolist()
    return Spread(low, high, tuple(points), int(rng.integers(1, 1 << 40)))


def finite(rng: np.random.Generator) -> Spread:
    while True:
        try:
            with np.errstate(invalid="ignore"):
                return spread(rng)
        except ValueError:
            continue


def test_round_trip_is_exact(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    spreads = {f"{name}{k}": finite(rng) for k in range(300) for name in NAMES}
    spreads["tiny"] = Spread(-0.0, 1e-45, (0.0, 0.0, 0.0, 1e-45), 1, (-3.4028235e38, 1.1754942e-38))
    cache.write(tmp_path / "calib.txt", Cache(MODEL, SAMPLES, spreads))
    found = cache.read(tmp_path / "calib.txt", MODEL, SAMPLES)
    assert dict(found.spreads) == spreads and list(found.spreads) == list(spreads)
    assert cache.text(found) == (tmp_path / "calib.txt").read_text() and cache.text(found).isascii()


def test_values_are_float32() -> None:
    found = Spread(0.1, 0.7, (0.1, 0.2, 0.3, 0.7), 5, (0.1, 0.6))
    assert found.low == float(np.float32(0.1)) and found.range == (float(np.float32(0.1)), float(np.float32(0.6)))
    assert Spread(0.1, 0.7, (0.1, 0.2, 0.3, 0.7), 5).range == (float(np.float32(0.1)), float(np.float32(0.7)))
    with pytest.raises(ValueError, match="not a finite float32"):
        Spread(0.1, 1e39, (0.1, 0.2, 0.3, 0.7), 5)


GOOD = f"""mcugen calibration 1
model {MODEL}
samples {SAMPLES}
# name low high p0.001 p0.01 p99.99 p99.999 count
"a b" -1.0 2.0 -1.0 -0.5 1.5 2.0 100
"c" 0 8 0 0 6 7 12
end 2
"""


def test_a_person_may_edit(tmp_path: Path) -> None:
    path = tmp_path / "calib.txt"
    edited = GOOD.replace("7 12", "7 12  override -.5 6e0").replace('"c"', '\n  # clip what no sensor gives\n  "c"')
    path.write_bytes(edited.replace("\n", "\r\n").encode())
    found = cache.read(path, MODEL, SAMPLES)
    assert found.spreads["c"].range == (-0.5, 6.0)
    assert found.spreads["a b"].range == (-1.0, 2.0)
    cache.write(path, found)
    assert path.read_text().endswith('"c" 0.0 8.0 0.0 0.0 6.0 7.0 12 override -0.5 6.0\nend 2\n')


def refused(data: str | bytes, *parts: str) -> None:
    start = time.monotonic()
    with pytest.raises(UsageError) as caught:
        cache.parse(data if isinstance(data, bytes) else data.encode(), "calib.txt")
    for part in ("calib.txt", "hint: ", *parts):
        assert part in caught.value.explain(), caught.value.explain()
    assert time.monotonic() - start < 5


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("mcugen calibration 1", "mcugen calibration 2", ("has version 2, but this mcugen reads version 1",)),
        ("mcugen calibration 1", "PK", ("line 1 should be 'mcugen calibration'",)),
        ("model a1", "model A1", ("line 2 should be 'model'",)),
        (f"samples {SAMPLES}\n", "", ("line 4 should be 'samples'",)),
        ("end 2", "end 3", ("line 7 should be 'end 2'",)),
        ("end 2\n", "", ("line 6 should be 'end' and its value, but is '\"c\" 0",)),
        ('"c" 0 8 0 0 6 7 12\n', "", ("line 6 should be 'end 1'",)),
        ('"c"', '"a b"', ("line 6 has 'a b' a second time",)),
        ('"c"', "c", ("line 6 cannot be read",)),
        ('"c"', '"c', ("line 6 cannot be read",)),
        ('"c"', "7", ("line 6 cannot be read: expected a name",)),
        ('"c"', "[" * 100000, ("line 6 cannot be read",)),
        ("0 8 0", "0 8", ("line 6", "expected 6 numbers and a count")),
        ("0 8 0", "9 8 0", ("line 6", "expected low <= percentiles")),
        ("6 7 12", "7 6 12", ("line 6", "in their order")),
        ("6 7 12", "6 9 12", ("line 6", "<= high")),
        ("0 8 0", "nan 8 0", ("line 6", "'nan' is no number")),
        ("0 8 0", "0 inf 0", ("line 6", "'inf' is no number")),
        ("0 8 0", "0 1e39 0", ("line 6", "not a finite float32")),
        ("0 8 0", "0 0x8 0", ("line 6", "'0x8' is no number")),
        ("0 8 0", f"0 {'9' * 5000} 0", ("line 6", "not a finite float32")),
        ("7 12", "7 -12", ("line 6", "a count")),
        ("7 12", "7 0", ("line 6", "a count from 1")),
        ("7 12", f"7 {'1' * 5000}", ("line 6", "a count")),
        ("7 12", "7 12 override 1", ("line 6", "override LOW HIGH")),
        ("7 12", "7 12 override 6 1", ("line 6", "LOW < HIGH")),
        ("7 12", "7 12 overide 1 6", ("line 6", "override LOW HIGH")),
        (GOOD, "", ("line 1 should be",)),
    ],
)
def test_damage_is_named_with_its_line(old: str, new: str, parts: tuple[str, ...]) -> None:
    assert old in GOOD
    refused(GOOD.replace(old, new), *parts)


def test_bytes_that_are_no_text() -> None:
    refused(GOOD.encode() + b"\xff\xfe", "line 8 is no UTF-8 text")
    refused(GOOD.encode().replace(b'"c"', b'"c\0"'), "line 6 cannot be read")


def test_every_truncation_is_noticed() -> None:
    for keep in range(len(GOOD) - 1):
        refused(GOOD[:keep])


def test_another_model_or_other_samples(tmp_path: Path) -> None:
    path = tmp_path / "calib.txt"
    path.write_text(GOOD)
    for model, samples, what, new in (("c" * 64, SAMPLES, "model", "c"), (MODEL, "d" * 64, "samples", "d")):
        with pytest.raises(UsageError) as caught:
            cache.read(path, model, samples)
        text = caught.value.explain()
        assert (MODEL if what == "model" else SAMPLES) in text and new * 64 in text
        assert f"give the {what} that it was made from, or remove the file" in text


def test_only_caches_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("mine")
    with pytest.raises(UsageError, match="is no calibration cache"):
        cache.write(path, Cache(MODEL, SAMPLES))
    assert path.read_text() == "mine"
    with pytest.raises(UsageError, match="cannot be written"):
        cache.write(tmp_path / "none" / "calib.txt", Cache(MODEL, SAMPLES))
    with pytest.raises(UsageError, match="cannot read"):
        cache.read(tmp_path / "absent.txt", MODEL, SAMPLES)
    cache.write(tmp_path / "calib.txt", Cache(MODEL, SAMPLES))
    cache.write(tmp_path / "calib.txt", Cache(SAMPLES, MODEL))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["calib.txt", "notes.txt"]
