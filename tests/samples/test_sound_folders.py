# SPDX-License-Identifier: Apache-2.0
"""Folders of .wav files: widths, rates, lengths, mel bands, and files that are damaged."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from mcugen.errors import UsageError
from mcugen.samples import load, sounds, words
from mcugen.samples.preprocess import applied, parse
from tests.samples.sample_files import graph, refused

NET = graph(("sound", (1, 100)))
TONE = np.sin(np.arange(100) * 0.3) * 0.8
_WIDTHS = {8: "u1", 16: "<i2", 24: "<i4", 32: "<i4"}


def encoded(x: np.ndarray, bits: int) -> bytes:
    """Numbers from -1 to 1 as integers of so many bits."""
    whole = np.rint(x * (2 ** (bits - 1) - 1)).astype(np.int64)
    if bits == 24:
        return b"".join(int(v).to_bytes(3, "little", signed=True) for v in whole.reshape(-1))
    return (whole + 128 * (bits == 8)).astype(_WIDTHS[bits]).tobytes()


def wav(
    content: bytes, bits: int = 16, rate: int = 100, channels: int = 1, code: int = 1, more: bytes = b"", frame: int = 0
) -> bytes:
    frame = frame or channels * bits // 8
    form = struct.pack("<HHIIHH", code, channels, rate, rate * frame, frame, bits) + more
    parts = b"LIST" + struct.pack("<I", 3) + b"abc\0" + b"fmt " + struct.pack("<I", len(form)) + form
    parts += b"data" + struct.pack("<I", len(content)) + content
    return b"RIFF" + struct.pack("<I", 4 + len(parts)) + b"WAVE" + parts


def recorded(folder: Path, *clips: bytes) -> Path:
    folder.mkdir(exist_ok=True)
    for k, clip in enumerate(clips):
        (folder / f"{k}.wav").write_bytes(clip)
    return folder


@pytest.mark.parametrize("bits", [8, 16, 24, 32])
def test_integers_of_every_width(tmp_path: Path, bits: int) -> None:
    folder = recorded(tmp_path / "set", wav(encoded(TONE, bits), bits), wav(encoded(-TONE, bits), bits))
    found = load(folder, NET).arrays[0]
    whole = np.rint(TONE * (2 ** (bits - 1) - 1)) / 2 ** (bits - 1)
    assert np.array_equal(found[:, 0], np.float32([whole, -whole]))


def test_floats_and_the_extensible_form(tmp_path: Path) -> None:
    more = struct.pack("<HHIH", 22, 24, 4, 1) + b"\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71"
    clips = (
        wav(TONE.astype("<f4").tobytes(), 32, code=3),
        wav((-TONE).astype("<f8").tobytes(), 64, code=3),
        wav(encoded(TONE, 24), 24, code=0xFFFE, more=more),
    )
    found = load(recorded(tmp_path / "set", *clips), NET).arrays[0][:, 0]
    assert np.abs(found - [TONE, -TONE, TONE]).max() < 1e-6


def test_mono_length_and_scale(tmp_path: Path) -> None:
    both = np.stack([TONE, np.zeros(100)], axis=1)
    folder = recorded(tmp_path / "set", wav(encoded(both, 16), channels=2), wav(encoded(TONE[:80], 16)))
    refused(folder, NET, "set/0.wav: has 2 channels", "add mono")
    refused(folder, NET, "set/0.wav: has 2 channels", "add mono", preprocess="length=1s")
    refused(folder, NET, "has shape [80], but set/0.wav has [100]", "length=", preprocess="mono")
    found = load(folder, NET, preprocess="mono,length=1s,scale=32768").arrays[0][:, 0]
    whole = np.rint(TONE * 32767)
    assert np.array_equal(found, np.float32([whole / 2, np.where(np.arange(100) < 80, whole, 0)]))
    assert load(folder, graph(("s", (1, 1, 55, 1))), preprocess="mono,length=550ms").arrays[0].shape == (2, 1, 1, 55, 1)


def test_rates(tmp_path: Path) -> None:
    time = np.arange(1600) / 16000
    clips = [
        wav(encoded(0.5 * np.sin(2 * np.pi * 440 * np.arange(n) / r), 16), rate=r)
        for n, r in ((1600, 16000), (4410, 44100), (800, 8000))
    ]
    folder = recorded(tmp_path / "set", *clips)
    net = graph(("s", (1, 1600)))
    refused(folder, net, "set/1.wav: has 44100 samples a second, but set/0.wav has 16000", "rate=16000")
    found = load(folder, net, preprocess="rate=16000").arrays[0][:, 0]
    assert np.abs(found[:, 100:1500] - 0.5 * np.sin(2 * np.pi * 440 * time)[100:1500]).max() < 2e-3
    refused(folder, net, "differ more than 16-fold", preprocess="rate=500")


def test_resampling_is_its_formula() -> None:
    x = np.random.default_rng(2).standard_normal(60)
    for rate, wanted in ((3, 2), (2, 3), (44, 16), (7, 7)):
        c = min(1, wanted / rate)
        d = c * (np.arange(-(-60 * wanted // rate))[:, None] * rate / wanted - np.arange(60))
        taps = c * np.sinc(d) * np.cos(np.pi * d / 32) ** 2 * (np.abs(d) < 16)
        expected = x if rate == wanted else taps @ x
        found = applied(parse(f"rate={wanted}", words()).steps, np.float32(x)[None], rate)[0]
        assert np.allclose(found, expected, atol=2e-6)


def test_mel_bands_are_their_formula(tmp_path: Path) -> None:
    x = np.random.default_rng(4).uniform(-1, 1, (2, 1600))
    folder = recorded(tmp_path / "set", *(wav(encoded(clip, 16), rate=16000) for clip in x))
    x = np.rint(x * 32767) / 32768
    corners = 700 * (10 ** (np.linspace(*(2595 * np.log10(1 + np.array([20, 8000]) / 700)), 10) / 2595) - 1)
    f = np.arange(257) * 16000 / 512
    bands = np.stack([np.interp(f, corners[k : k + 3], [0, 1, 0]) for k in range(8)], axis=1)
    frames = np.stack([x[:, k : k + 400] for k in range(0, 1201, 160)], axis=1)
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(400) / 400)
    power = np.abs(np.fft.rfft(frames * window, 512)) ** 2 @ bands
    found = load(folder, graph(("s", (1, 8, 8, 1))), preprocess="logmel(window=25ms,hop=160,bands=8)")
    assert np.allclose(found.arrays[0][:, 0, :, :, 0], np.log(power + 1e-6), atol=1e-4)
    words = "logmel(window=25ms,hop=10ms,bands=8,decibels=yes,floor=1e-3)"
    assert np.allclose(
        load(folder, graph(("s", (1, 8, 8))), preprocess=words).arrays[0][:, 0], 10 * np.log10(power + 1e-3), atol=1e-4
    )
    found = load(folder, graph(("s", (1, 8, 3))), preprocess="mfcc(window=400,hop=160,bands=8,coefficients=3),scale=2")
    cosines = np.cos(np.pi / 8 * (np.arange(8)[:, None] + 0.5) * np.arange(3)) / 2
    assert np.allclose(found.arrays[0][:, 0], 2 * np.log(power + 1e-6) @ cosines, atol=1e-4)


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("rate=x", ("resample to R",)),
        ("rate=0", ("expected a whole number, 1 to 768000, found '0'",)),
        ("length=0", ("is less than a sample",)),
        ("length=1h", ("expected samples, such as 640",)),
        ("length=999999s", ("is more than",)),
        ("logmel", ("expected parameters",)),
        ("logmel(window=40)", ("needs hop=",)),
        ("logmel(window=40,hop=20,coefficients=3)", ("is no parameter",)),
        ("logmel(window=200,hop=20)", ("fewer than a window of 200",)),
        ("logmel(window=40,hop=20,fft=32)", ("does not fit a transform of 32",)),
        ("logmel(window=40,hop=20,high=51)", ("are not within 0 to 50",)),
        ("mfcc(window=40,hop=20,bands=8)", ("10 coefficients need as many bands",)),
        ("logmel(window=40,hop=20,decibels=1)", ("decibels: expected one of yes, no, found '1'",)),
        ("logmel(window=40,hop=20,bands=1000)", ("bands: expected a whole number, 1 to 256",)),
        ("gray", ("is for images, but the samples are sounds",)),
    ],
)
def test_words_that_cannot_be(tmp_path: Path, words: str, parts: tuple[str, ...]) -> None:
    folder = recorded(tmp_path / "set", wav(encoded(TONE, 16)), wav(encoded(-TONE, 16)))
    refused(folder, NET, *parts, preprocess=words)


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        (b"", ("is no .wav file",)),
        (b"RIFX" + bytes(100), ("is no .wav file",)),
        (wav(b"")[:36], ("is truncated", "fmt")),
        (wav(encoded(TONE, 16))[:-10], ("is truncated", "data")),
        (wav(encoded(TONE, 16))[:48], ("has no data chunk",)),
        (wav(b""), ("has 0 bytes of sound",)),
        (wav(b"abc"), ("has 3 bytes of sound, in frames of 2",)),
        (wav(bytes(100), 12), ("has format 1 with 12 bits",)),
        (wav(bytes(100), 8, code=7), ("has format 7 with 8 bits",)),
        (wav(bytes(100), channels=0), ("claims 0 channels",)),
        (wav(bytes(100), frame=7), ("7 bytes a frame",)),
        (wav(bytes(100), rate=0), ("0 frames a second",)),
        (wav(np.float32([np.nan] * 100).tobytes(), 32, code=3), ("set/1.wav: sample 1: nan",)),
        (bytes(1 << 26), ("is larger than",)),
    ],
)
def test_files_that_are_damaged(tmp_path: Path, content: bytes, parts: tuple[str, ...]) -> None:
    folder = recorded(tmp_path / "set", wav(encoded(TONE, 16)), content)
    refused(folder, NET, "set/1.wav", *parts)


def test_a_long_sound_is_quickly_done(tmp_path: Path) -> None:
    clips = [wav(np.random.default_rng(k).bytes((1 << 25) - 100), rate=rate) for k, rate in ((0, 48000), (1, 44101))]
    folder = recorded(tmp_path / "set", *clips)
    refused(folder, NET, "expected samples of shape [100]", limit=1, preprocess="rate=16000")
    with pytest.raises(UsageError, match="more than 67,108,864 numbers"):
        sounds.column([folder / "0.wav"], parse("logmel(window=512,hop=1)", words()), "set")
