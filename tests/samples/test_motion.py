# SPDX-License-Identifier: Apache-2.0
"""Words for motion: their results beside float64, their C, and what is refused."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from scipy import signal

import mcugen
from mcugen import pipeline
from mcugen.errors import UsageError
from mcugen.formats import write
from mcugen.ir.graph import Graph, Node, SampleStream, Tensor
from mcugen.ir.types import TensorType
from mcugen.ops.fully_connected import FullyConnected
from mcugen.ops.window_statistics import STATISTICS
from mcugen.options import Options
from mcugen.oracle import streaming
from mcugen.quantize import quantize_model
from mcugen.samples import feature_files, identity, load, words
from mcugen.samples.preprocess import applied, parse
from mcugen.verify import emulated, host
from mcugen.verify.cases import Case, cases
from tests.samples.sample_files import graph, refused
from tests.samples.test_firmware import built, network

RATE, WINDOW, HOP = 50, 100, 50
WINDOWS = "rate=50,windows(window=2s,hop=1s)"
ALL = (
    "rate=50,fir=0.5:0.5,biquad=0.9:-1.8:0.9:-1.7:0.8,length=3s,magnitude=3,windows(window=2s,hop=1s),"
    f"statistics={':'.join(STATISTICS)},bands(edges=0.5:3:10:25,decibels=yes),spectrum(taper=none),autocorrelation=1:10,"
    "scale=1/64"
)
STREAM = f"{WINDOWS},statistics=mean:std:mean-crossings,bands(edges=0.5:3:10,decibels=yes),autocorrelation=5"


def motion(samples: int = 300, channels: int = 6, seed: int = 0) -> np.ndarray:
    """Steps and their shake on top of gravity, in counts of 16 bits [samples, channels]."""
    rng, time = np.random.default_rng(seed), np.arange(samples)[:, None] / RATE
    rates, shares = rng.uniform(0.8, 9, (2, channels)), rng.uniform(300, 2500, (2, channels))
    waves = sum(a * np.sin(2 * np.pi * f * time) for f, a in zip(rates, shares, strict=True))
    x = waves + rng.uniform(-4000, 4000, channels) + rng.standard_normal((samples, channels)) * 200
    return np.rint(x).clip(-32768, 32767).astype(np.int16)


def features(text: str, x: np.ndarray) -> np.ndarray:
    """The features of one sample, as on the host: [windows, features]."""
    return applied(parse(text, words()).steps, np.float32(x[None]))[0]


def windows(x: np.ndarray) -> np.ndarray:
    """Windows of float64 [windows, channels, window]."""
    return np.lib.stride_tricks.sliding_window_view(x.astype(np.float64), WINDOW, axis=0)[::HOP]


def crossings(x: np.ndarray) -> np.ndarray:
    """Changes of sign along the last axis, of data without zeros."""
    return (x[..., 1:] * x[..., :-1] < 0).sum(axis=-1)


def moment(x: np.ndarray, power: int) -> np.ndarray:
    """The standardized central moment along the last axis, as scipy.stats.skew and kurtosis use it."""
    d = x - x.mean(axis=-1, keepdims=True)
    return np.asarray((d**power).mean(axis=-1) / (d**2).mean(axis=-1) ** (power / 2))


def near(found: np.ndarray, wanted: np.ndarray) -> bool:
    return found.shape == wanted.shape and bool(np.abs(found - wanted).max() <= 1e-5 * np.abs(wanted).max())


@pytest.mark.parametrize("offset", [0.5, 20000.5])
def test_statistics_come_near_to_those_of_float64(offset: float) -> None:
    x = motion() / 4 + offset
    w = windows(np.float32(x))
    d = w - w.mean(axis=-1, keepdims=True)
    wanted = {
        "mean": w.mean(axis=-1), "rms": np.sqrt((w**2).mean(axis=-1)), "absolute": np.abs(w).mean(axis=-1),
        "min": w.min(axis=-1), "max": w.max(axis=-1), "range": np.ptp(w, axis=-1), "zero-crossings": crossings(w),
        "variance": w.var(axis=-1), "std": w.std(axis=-1), "mad": np.abs(d).mean(axis=-1),
        "mean-crossings": crossings(d), "skewness": moment(w, 3), "kurtosis": moment(w, 4) - 3,
    }  # fmt: skip
    assert list(wanted) == list(STATISTICS)
    for name, values in wanted.items():
        assert near(features(f"{WINDOWS},statistics={name}", x), values), name
    together = features(f"{WINDOWS},statistics={':'.join(STATISTICS)}", x)
    assert near(together.reshape(5, 6, 13)[..., 7], wanted["variance"])


def test_long_windows_lose_few_bits() -> None:
    x = motion(2000, 2) + 9000.25
    found = features("windows(window=2000,hop=1),statistics=mean:rms:std:kurtosis", x).reshape(2, 4)
    wanted = np.stack([x.mean(axis=0), np.sqrt((x**2).mean(axis=0)), x.std(axis=0), moment(x.T, 4) - 3], axis=1)
    assert (np.abs(found - wanted) <= 3e-6 * np.abs(wanted)).all()


def test_windows_that_never_change_have_no_deviation() -> None:
    x = np.float32(np.full((WINDOW, 2), [0.1, -3e30]))
    found = features(f"{WINDOWS},statistics=mean:std:skewness:kurtosis:zero-crossings,autocorrelation=1", x)
    assert np.array_equal(found[0], np.float32([0.1, 0, 0, 0, 0, -3e30, 0, 0, 0, 0, 0, 0]))


@pytest.mark.parametrize(("taper", "fft"), [("hann", 128), ("none", 100)])
def test_spectra_and_bands_come_near_to_those_of_float64(taper: str, fft: int) -> None:
    x = motion(300, 3)
    w = windows(x)
    w = (w - w.mean(axis=-1, keepdims=True)) * (signal.get_window("hann", WINDOW) if taper == "hann" else 1)
    power = np.abs(np.fft.rfft(w, fft)) ** 2
    more, f = f"taper={taper},fft={fft}", np.fft.rfftfreq(fft, 1 / RATE)
    assert near(features(f"{WINDOWS},spectrum({more})", x), power[..., 1:].reshape(5, -1))
    edges = (0.5, 3, 10, 25)
    bands = np.stack([power[..., (f >= a) & (f < b)].sum(axis=-1) for a, b in itertools.pairwise(edges)], -1)
    assert near(features(f"{WINDOWS},bands(edges=0.5:3:10:25,{more})", x), bands.reshape(5, -1))
    logs = 10 * np.log10(bands + 2).reshape(5, -1)
    assert near(features(f"{WINDOWS},bands(edges=0.5:3:10:25,{more},decibels=yes,floor=2)", x), logs)


def test_autocorrelation_and_magnitude_come_near_to_those_of_float64() -> None:
    x = motion()
    d = windows(x) - windows(x).mean(axis=-1, keepdims=True)
    wanted = np.stack([(d[..., :-k] * d[..., k:]).sum(axis=-1) / (d**2).sum(axis=-1) for k in (1, 7)], axis=-1)
    assert near(features(f"{WINDOWS},autocorrelation=1:7", x), wanted.reshape(5, -1))
    lengths = np.sqrt((x.reshape(300, 2, 3).astype(np.float64) ** 2).sum(axis=-1))
    assert near(features("magnitude=3", x), np.concatenate([x, lengths], axis=1))
    assert near(features("magnitude", x[:, 0]), np.stack([x[:, 0], np.abs(x[:, 0].astype(float))], axis=1))


def quality(found: np.ndarray, wanted: np.ndarray) -> float:
    """The signal-to-noise ratio in dB."""
    return float(10 * np.log10((wanted**2).sum() / ((found - wanted) ** 2).sum()))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", ["lowpass", "highpass", "bandpass"])
def test_filters_are_those_of_scipy(kind: str) -> None:
    """Butterworth filters up to order 12, and 31 taps: at least 60 dB."""
    x = motion(400, 2)
    band = [2.0, 9.0] if kind == "bandpass" else 6.0
    for order in (2, 12) if kind == "bandpass" else (1, 7, 12):
        sections = signal.butter(order // 2 if kind == "bandpass" else order, band, kind, fs=RATE, output="sos")
        numbers = ":".join(f"{value:.9g}" for value in np.delete(sections, 3, axis=1).reshape(-1))
        found = features(f"rate=50,biquad={numbers},windows(window=8s,hop=1)", x)[0]
        wanted = signal.sosfilt(sections, x.astype(np.float64), axis=0)
        assert quality(found, wanted) > 60, order
    taps = signal.firwin(31, band, pass_zero=kind, fs=RATE)
    found = features(f"fir={':'.join(f'{value:.9g}' for value in taps)},windows(window=400,hop=1)", x)[0]
    assert quality(found, signal.lfilter(taps, 1, x.astype(np.float64), axis=0)) > 60


OTHER_CORES = ("cortex-m0plus", "cortex-m55", "rv32imc")


@pytest.mark.parametrize("core", ["cortex-m4", *(pytest.param(core, marks=pytest.mark.whole) for core in OTHER_CORES)])
def test_the_host_and_an_emulated_core_compute_the_same_bits(core: str) -> None:
    x = motion(150, 3)
    wanted = features(ALL, x)
    net = network((1, *wanted.shape))
    (found,) = emulated.simulate(built(ALL, "150x3@50", net, core), [Case("motion", [x[None]])]).outputs[0]
    assert found.tobytes() == (-wanted).tobytes()


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A float network of the features of a window of three channels, with two classes."""
    weights = np.random.default_rng(1).standard_normal((2, 18)).astype(np.float32)
    tensors = {
        "x": Tensor("x", TensorType((1, 18), "f32"), label="x"),
        "w": Tensor("w", TensorType(weights.shape, "f32"), weights),
        "y": Tensor("y", TensorType((1, 2), "f32"), label="y"),
    }
    net = Graph("net", tensors, (Node("n", FullyConnected(), ("x", "w"), ("y",)),), ("x",), ("y",), format="tflite")
    path = tmp_path_factory.mktemp("model") / "net.tflite"
    path.write_bytes(write.write(net, "tflite"))
    return path


def test_a_stream_gives_the_features_of_the_whole_motion(model: Path) -> None:
    """Numbers of all channels are pushed one after the other, in any pieces."""
    options = Options(preprocess=STREAM, raw="100x3:s16@50", input_mode="samples")
    imported = pipeline.prepare(model, options).imported
    assert imported.stream == SampleStream(HOP * 3, 1, RATE * 3)
    x = motion(channels=3)
    wanted = features(STREAM, x)
    name = next(node.inputs[0] for node in imported.nodes if isinstance(node.op, FullyConnected))
    pieces = np.array_split(x.reshape(-1), 7)
    values = [push.values[name].reshape(-1) for push in streaming.pushes(imported, pieces, "tflm") if push.decisions]
    assert len(values) == 5 and np.array_equal(values, wanted)


@pytest.mark.whole
def test_the_c_of_a_stream_gives_what_the_oracle_computes(model: Path) -> None:
    artifact = mcugen.compile(model, preprocess=STREAM, raw="100x3:s16@50", input_mode="samples", board="host")
    assert host.verify(artifact, [*cases(artifact.imported, 1)][:1]).agrees


def test_the_facts_of_a_stream_are_those_of_its_words(model: Path) -> None:
    artifact = mcugen.compile(model, preprocess=STREAM, raw="100x3:s16@50", input_mode="samples", board="host")
    facts = json.loads(artifact.files["features.json"])
    assert facts["input"] == {"shape": [100, 3], "type": "s16", "rate": 50}
    assert (facts["rate"], facts["window"], facts["hop"], facts["features"]["shape"]) == (50, 100, 50, [1, 18])


def test_a_network_may_take_the_windows_themselves() -> None:
    x = motion(WINDOW, 3)
    artifact = built("windows(window=100,hop=50),scale=1/4", "100x3", network((1, WINDOW, 3), "s8"))
    stored = (np.rint(np.float32(x / 4) / np.float32(0.05)) + 3).clip(-128, 127)
    assert np.array_equal(artifact.run(x[None], real=False)[0], stored)


def test_signals_of_a_stream_are_the_numbers_of_all_channels_in_turn(model: Path, tmp_path: Path) -> None:
    options = Options(preprocess=STREAM, raw="100x3:s16@50", input_mode="samples")
    imported = pipeline.prepare(model, options).imported
    x = np.stack([motion(channels=3, seed=seed) for seed in range(2)])
    for name, values in (("counts", x), ("reals", x.astype(np.float64))):
        np.save(tmp_path / f"{name}.npy", values)
        found = load(tmp_path / f"{name}.npy", imported, preprocess=STREAM, to_run=True).arrays[0]
        assert np.array_equal(found, x.reshape(2, -1))
    np.save(tmp_path / "four.npy", np.zeros((2, 300, 4)))
    refused(tmp_path / "four.npy", imported, "expected signals of shape [time], found [300, 4]", to_run=True)


def test_counts_of_a_sensor_are_divided_where_files_have_units() -> None:
    """Files in g, and a sensor with 8,192 counts per g."""
    x, text = motion(WINDOW, 3), STREAM
    wanted = features(text, np.float32(x) / 8192)
    artifact = built(text, "100x3:s16/8192@50", network(wanted.shape))
    assert artifact.run(x[None])[0].tobytes() == (-wanted).tobytes()


def test_files_of_motion_become_features(model: Path, tmp_path: Path) -> None:
    """A folder for each class, an .npz and an .npy: the same features and the same hash."""
    folder = tmp_path / "motions"
    for k, label in enumerate(("rest", "walk")):
        (folder / label).mkdir(parents=True)
        for seed in range(2):
            np.save(folder / label / f"{seed}.npy", motion(WINDOW, 3, 10 * k + seed))
    made = feature_files.of(folder, STREAM)
    assert made.values.shape == (4, 1, 18) and made.labels is not None and made.labels.tolist() == [0, 1, 0, 1]
    assert np.array_equal(made.values[1], features(STREAM, motion(WINDOW, 3, 10)))
    x = np.stack([motion(WINDOW, 3, seed) for seed in (0, 10, 1, 11)])
    np.savez(tmp_path / "x.npz", x=x, y=made.labels)
    np.save(tmp_path / "x.npy", x.astype(np.float64))
    net = graph(("x", (1, 18)))
    for name in ("x.npz", "x.npy", "motions"):
        found = load(tmp_path / name, net, preprocess=STREAM)
        assert np.array_equal(found.arrays[0].reshape(4, 1, 18), made.values)
        assert found.features == made.identity.sha256 == identity.of(parse(STREAM, words())).sha256
    (tmp_path / "train.npz").write_bytes(made.as_npz())
    quantized = quantize_model.quantize(model, tmp_path / "train.npz", quantize_model.QuantizeOptions())
    (tmp_path / "int8.tflite").write_bytes(quantized.written("tflite"))
    mcugen.compile(tmp_path / "int8.tflite", preprocess=STREAM, raw="100x3@50")
    with pytest.raises(UsageError, match="are not those of"):
        mcugen.compile(tmp_path / "int8.tflite", preprocess=STREAM.replace("std", "mad"), raw="100x3@50")


def test_the_hash_depends_on_bands_and_lags() -> None:
    texts = (STREAM, f"magnitude=9,{STREAM}", STREAM.replace("=5", "=6"), STREAM.replace("0.5:3", "0.5:4"))
    assert len({identity.of(parse(text, words())).sha256 for text in texts}) == len(texts)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{WINDOWS},windows(window=9,hop=1)", "comes after a word that makes features of windows"),
        (f"{WINDOWS},magnitude", "comes after a word that makes features of windows"),
        ("windows(window=301,hop=1)", "has 300 samples, fewer than a window of 301"),
        ("windows(window=2s,hop=1)", "2s needs the rate of the samples: put rate=... before it"),
        ("windows(window=9,hop=0)", "0 is less than a sample"),
        ("windows(window=0,hop=9)", "0 is less than a sample"),
        ("windows(window=9)", "needs hop=..., such as hop=1s"),
        ("windows", "expected parameters in parentheses, such as (window=2s,hop=1s)"),
        ("windows(window=9:hann,hop=1)", "window: expected samples, such as 640, or a time"),
        ("magnitude=4", "6 channels are no groups of 4"),
        ("magnitude=0", "expected a whole number, 1 to 64, found '0'"),
        ("statistics=mean", "put windows(window=...,hop=...) before it"),
        (f"{WINDOWS},statistics=median", "expected one of mean, rms, absolute"),
        (f"{WINDOWS},statistics=mean:std:mean", "mean is given twice"),
        (f"{WINDOWS},bands(edges=0.5:26)", "26 Hz is above half the rate, 25 Hz"),
        (f"{WINDOWS},bands(edges=5:5)", "expected two or more ascending numbers of Hz"),
        (f"{WINDOWS},bands(edges=5)", "expected two or more ascending numbers of Hz"),
        (f"{WINDOWS},bands(fft=128)", "needs edges=..., such as edges=0.5:3:10"),
        (f"{WINDOWS},bands(edges=5.1:5.2)", "the band 5.1 to 5.2 Hz has no frequency: they are 0.390625 Hz apart"),
        ("windows(window=9,hop=3),bands(edges=1:2)", "needs the rate of the samples"),
        (f"{WINDOWS},spectrum(fft=64)", "a window of 100 samples does not fit a transform of 64"),
        (f"{WINDOWS},spectrum(fft=202)", "only factors may be 2, 3 and 5"),
        (f"{WINDOWS},spectrum(taper=round)", "taper: expected one of hann, hamming, blackman, none"),
        (f"{WINDOWS},autocorrelation=100", "a lag of 100 samples does not fit a window of 100"),
        (f"{WINDOWS},autocorrelation=0", "expected a whole number, 1 to 32768, found '0'"),
        (f"{WINDOWS},autocorrelation={':'.join(map(str, range(1, 66)))}", "has 65 lags, more than 64"),
        (f"decimate=2,{WINDOWS}", "needs the rate of the samples: put rate=... before it"),
        (f"resize=8x8,{WINDOWS}", "has words for images and for motion"),
        (f"mono,{WINDOWS}", "has words for sounds and for motion"),
        (f"{WINDOWS},logmel(window=9,hop=4)", "has words for sounds and for motion"),
        (f"scale=2,{WINDOWS}", "is for motion and comes after 'scale=2', which is for numbers"),
    ],
)
def test_words_that_cannot_be(text: str, message: str) -> None:
    with pytest.raises((UsageError, ValueError)) as caught:
        features(text, motion())
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("window", "hop", "message"),
    [(40000, 1, "has windows of 40,000 samples, more than 32,768"), (9000, 1, "makes more than 67,108,864 numbers")],
)
def test_windows_that_are_too_many(window: int, hop: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        features(f"windows(window={window},hop={hop})", np.zeros((40000, 1)))


def test_the_limit_of_numbers_is_that_of_one_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcugen.samples.motion.MAX_NUMBERS", 101 * WINDOW)
    x = np.stack([motion(2 * WINDOW, 1, seed) for seed in range(40)])
    np.save(tmp_path / "x.npy", x)
    text = "windows(window=100,hop=1),statistics=max"
    found = load(tmp_path / "x.npy", graph(("x", (1, 101, 1))), preprocess=text).arrays[0]
    assert np.array_equal(found[-1, 0], features(text, x[-1]))


@pytest.mark.parametrize(
    ("text", "raw", "more", "parts"),
    [
        (STREAM, "", {}, ("the number of channels is not known", "--raw 100x3:s16@50")),
        (STREAM, "100x3x2@50", {}, ("'100x3x2@50' does not describe motion data", "100x3:s16@50")),
        (STREAM, "100x3:f32/8@50", {}, ("only integers are divided", "leave out '/8'")),
        (STREAM, "100x3:s16/0@50", {}, ("only integers are divided", "leave out '/0'")),
        (
            STREAM,
            "100x4@50",
            {},
            ("make [1, 24] numbers of [100, 4] samples, but the network takes [1, 18]", "check the channels"),
        ),
        (STREAM, "99x3@50", {}, ("has 99 samples, fewer than a window of 100", "windows(window=2s,hop=1s)")),
        (STREAM, "100x65@50", {}, ("at most 64 channels, found [100, 65]",)),
        (STREAM, "100x3@5000", {}, ("differ more than 16-fold",)),
        (STREAM, "", {"input_mode": "samples"}, ("the number of channels is not known",)),
        (STREAM, "90x3@50", {"input_mode": "samples"}, ("takes the 100 samples of a window", "--raw 100x3@50")),
        (STREAM, "200x3@100", {"input_mode": "samples"}, ("'rate=50' needs samples of several windows",)),
        (
            STREAM.replace("=1s", "=3s"),
            "100x3@50",
            {"input_mode": "samples"},
            ("a hop of 150 skips samples", "most 100"),
        ),
        (f"fir=1:-1,{STREAM}", "100x3@50", {"input_mode": "samples"}, ("'fir=1:-1' needs samples of several windows",)),
        ("magnitude", "100x3@50", {"input_mode": "samples"}, ("needs words that make windows", "mfcc or windows")),
        (STREAM.replace("rate=50,", ""), "100x3", {"input_mode": "samples"}, ("the rate of the samples is not known",)),
    ],
)
def test_words_that_do_not_fit_a_network(
    model: Path, text: str, raw: str, more: dict[str, str], parts: tuple[str, ...]
) -> None:
    with pytest.raises(UsageError) as caught:
        pipeline.prepare(model, Options(preprocess=text, raw=raw, **more))
    for part in parts:
        assert part in caught.value.explain()


def test_words_that_do_not_fit_the_files(tmp_path: Path) -> None:
    net = graph(("x", (1, 18)))
    np.save(tmp_path / "whole.npy", motion(18, 1).reshape(1, 18))
    refused(tmp_path / "whole.npy", net, "'fir=1:-1' is for sounds", "add windows(window=", preprocess="fir=1:-1")
    np.save(tmp_path / "short.npy", np.zeros((3, 40, 3), np.int16))
    refused(tmp_path / "short.npy", net, "short.npy", "has 40 samples, fewer than a window of 100", preprocess=STREAM)
    np.save(tmp_path / "deep.npy", np.zeros((3, 100, 3, 2), np.int16))
    refused(tmp_path / "deep.npy", net, "takes [time] or [time, channels]", preprocess=STREAM)
    np.save(tmp_path / "two.npy", motion(WINDOW, 4)[None])
    refused(tmp_path / "two.npy", net, "expected samples of shape [18], found [1, 24]", preprocess=STREAM)
    broken = motion(WINDOW, 3)[None].astype(np.float32)
    broken[0, 7, 1] = np.nan
    np.save(tmp_path / "nan.npy", broken)
    refused(tmp_path / "nan.npy", net, "sample 0: nan", "is not a finite number", preprocess=STREAM)
    refused(
        tmp_path / "nan.npy", net, "'resize=8x8' is for images, but the samples are arrays", preprocess="resize=8x8"
    )
