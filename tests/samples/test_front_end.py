# SPDX-License-Identifier: Apache-2.0
"""Words as operators: their results beside float64."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from mcugen.errors import UsageError
from mcugen.ir.types import TensorType
from mcugen.ops.add import Add
from mcugen.ops.cast import Cast
from mcugen.ops.concatenation import Concatenation
from mcugen.ops.div import Div
from mcugen.ops.mul import Mul
from mcugen.ops.sqrt import Sqrt
from mcugen.ops.sub import Sub
from mcugen.samples import words
from mcugen.samples.front_end import FrontEnd
from mcugen.samples.preprocess import appended, applied, parse
from tests.samples.float64_features import judged

RATE = 16000
EVERY = 16
"""Windows from one recorded row of other libraries' features to the next."""
RECORDED = Path(__file__).with_name("feature_libraries.npz")


def speech(length: int, seed: int = 0) -> np.ndarray:
    """A sound like speech, of 16 bits: harmonics that glide and swell over noise."""
    rng, time = np.random.default_rng(seed), np.arange(length) / RATE
    pitch = 2 * np.pi * np.cumsum(120 + 40 * np.sin(2 * np.pi * 3 * time)) / RATE
    voice = sum(np.sin(k * pitch) / k for k in range(1, 30)) * (0.2 + 0.2 * np.sin(2 * np.pi * 2 * time))
    return np.float32(np.rint((voice + 0.02 * rng.standard_normal(length)) * 20000).clip(-32768, 32767) / 32768)


def features(text: str, x: np.ndarray, rate: float = RATE) -> np.ndarray:
    return applied(parse(text, words()).steps, x[None], rate)[0]


@pytest.mark.parametrize(
    "parameters",
    [
        "window=25ms,hop=10ms",
        "window=30ms,hop=20ms,bands=80,low=0,high=7600",
        "window=400,hop=160,fft=400,floor=1e-3",
        "window=64ms,hop=32ms,decibels=yes",
        "window=480,hop=320,fft=600,bands=20,low=100",
    ],
)
def test_features_come_near_to_those_of_float64(parameters: str) -> None:
    x = speech(RATE)
    for text in (f"logmel({parameters})", f"mfcc({parameters})"):
        found, wanted = features(text, x), judged(parse(text, words()).steps[0].value, x, RATE)
        assert found.dtype == np.float32 and found.shape == wanted.shape
        assert np.abs(found - wanted).max() <= 1e-5 * np.abs(wanted).max()


def test_features_are_those_of_other_libraries() -> None:
    """librosa, kaldi-native-fbank and python_speech_features, as `record_features` recorded them."""
    x = speech(RATE)
    with np.load(RECORDED) as recorded:
        assert len(recorded.files) == 24
        for text in recorded.files:
            found = features(text, x)
            found = found[::EVERY] if found.ndim == 2 else found[::50, None]
            largest = np.abs(recorded[text]).max()
            assert np.abs(found - recorded[text]).max() <= 1e-5 * largest, text


def test_filters_are_those_of_float64() -> None:
    x = speech(3000)
    taps, section = [0.25, -0.5, 0.125], [0.2, 0.3, 0.2, -0.9, 0.4]
    wanted = np.convolve(x.astype(np.float64), taps)[: x.size]
    assert np.abs(features("fir=0.25:-0.5:0.125", x) - wanted).max() <= 1e-6
    y = np.zeros(x.size + 2)
    given = np.concatenate([[0, 0], x.astype(np.float64)])
    for k in range(2, y.size):
        b0, b1, b2, a1, a2 = section
        y[k] = b0 * given[k] + b1 * given[k - 1] + b2 * given[k - 2] - a1 * y[k - 1] - a2 * y[k - 2]
    assert np.abs(features("biquad=0.2:0.3:0.2:-0.9:0.4", x) - y[2:]).max() <= 1e-6
    assert np.array_equal(features("decimate=4", x), features("rate=4000", x))


def test_means_and_deviations_are_taken_out() -> None:
    text = "logmel(window=32ms,hop=16ms)"
    plain, found = features(text, speech(RATE)), features(f"{text},cmvn", speech(RATE))
    assert np.abs(found.mean(axis=0)).max() < 1e-5 and np.abs(found.std(axis=0) - 1).max() < 1e-5
    centred = features(f"{text},cmvn=mean", speech(RATE))
    assert np.abs(centred - (plain - plain.mean(axis=0, dtype=np.float64))).max() < 1e-5
    assert np.abs(features(f"{text},cmvn", np.zeros(2000, np.float32))).max() < 2e-3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("logmel(window=9:round,hop=4)", "window: expected one of hann, hamming, blackman, none, found 'round'"),
        ("logmel(window=9,hop=4,mel=bark)", "mel: expected one of htk, slaney, kaldi, found 'bark'"),
        ("spectrogram(window=9)", "needs hop="),
        ("spectrogram(window=9,hop=4,hop=5)", "hop is given twice"),
        ("spectrogram(window=9,hop=4,bands=3)", "'bands=3' is no parameter"),
        ("preemphasis=2", "expected a number above 0, at most 1"),
        ("decimate=17", "expected a whole number, 2 to 16"),
        ("decimate=7", "16000 samples a second cannot be divided by 7"),
        ("biquad=1:2:3", "expected b0:b1:b2:a1:a2"),
        ("biquad=1:0:0:-2:1", "section 0 is not stable: a1 = -2, a2 = 1"),
        ("fir=" + ":".join(["1"] * 5000), "5,000 taps, more than 4,096"),
        ("cmvn=all", "expected cmvn, or cmvn=mean"),
        ("delta=0", "expected a whole number, 1 to 16, found '0'"),
        ("delta=x", "expected a whole number, 1 to 16, found 'x'"),
        ("delta=2:3", "expected a whole number, 1 to 2, found '3'"),
        ("scale=1/0", "expected a number or a fraction, such as 1/255, found '1/0'"),
        ("fir=1:a", "expected a number or a fraction, such as 1/255, found 'a'"),
        ("mfcc(window=9,hop=4,bands=x)", "bands: expected a whole number, 1 to 256, found 'x'"),
        ("logmel(window=9,hop=4,low=-1)", "low: expected Hz, 0 or more, found '-1'"),
        ("delta=2", "takes features of windows: put spectrogram, logmel or mfcc before it"),
        ("cmvn", "takes features of windows"),
        ("logmel(window=9,hop=4),preemphasis=0.9", "comes after a word that makes features of windows"),
    ],
)
def test_words_that_cannot_be(text: str, message: str) -> None:
    with pytest.raises((UsageError, ValueError)) as caught:
        features(text, speech(1000))
    assert message in str(caught.value)


def test_every_operator_of_words_has_pinned_bits() -> None:
    """Operators that round once in float32, only move elements, or state that their floats are exact."""
    texts = (
        "mono,rate=8000,decimate=2,preemphasis=0.9,fir=1:2,biquad=1:0:0:0:0,length=1s,"
        "mfcc(window=32ms,hop=16ms),delta=1,cmvn,scale=2,offset=1,mean=1,std=2",
        "rgb,mirror,rotate=90,gray,resize=8x9:lanczos,crop=4,scale=2",
        *("rgb565(8x8)", "yuyv(8x8)", "nv12(8x8)", "bayer(8x8,pattern=rggb)"),
        "logmel(window=32ms,hop=16ms,decibels=yes)",
        "spectrogram(window=32ms,hop=16ms)",
        "magnitude=2,windows(window=9,hop=5),statistics=std:kurtosis,bands(edges=0:4000),spectrum,autocorrelation=1",
    )
    used = {word.split("=")[0].split("(")[0] for text in texts for word in re.split(r",(?![^()]*\))", text)}
    assert used == {word.name for word in words()} - {"nchw", "nhwc"}
    for text in texts:
        pixels = parse(text, words()).frame or ((40, 30, 3) if text.startswith("rgb") else None)
        front = FrontEnd(TensorType((1, *pixels), "u8") if pixels else TensorType((1, 40000, 2), "f32"), RATE)
        has_kind = pixels or text.startswith(("mono", "magnitude"))
        steps = parse(text if has_kind else f"mono,{text}", words()).steps
        graph = front.graph(appended(front, front.given, steps))
        once = (Add, Cast, Concatenation, Div, Mul, Sqrt, Sub)
        floats = [n for n in graph.nodes if any(graph.type(name).is_float for name in n.outputs)]
        wrong = [n.op for n in floats if not (n.op.exact_floats or n.op.only_moves or isinstance(n.op, once))]
        assert not wrong
