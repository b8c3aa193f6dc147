# SPDX-License-Identifier: Apache-2.0
"""Words in firmware: the C has the bits that the host computes, and words that do not fit a network are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mcugen import pipeline
from mcugen.errors import UsageError
from mcugen.formats import chain
from mcugen.ir.graph import Graph, Node, SampleStream, Tensor
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops.neg import Neg
from mcugen.ops.reshape import Reshape
from mcugen.options import Options
from mcugen.oracle import streaming
from mcugen.pipeline import Artifact
from mcugen.samples import firmware, words
from mcugen.samples.preprocess import applied, parse
from mcugen.verify import emulated
from mcugen.verify.cases import Case
from tests.samples.test_front_end import speech

ROOT = Path(__file__).resolve().parents[2]
SOUND = (
    "mono,rate=16000,biquad=0.9:-1.8:0.9:-1.7:0.8,preemphasis=0.97,length=500ms,"
    "mfcc(window=25ms:hamming,hop=10ms,bands=32,mel=slaney,coefficients=12),delta=2,cmvn,mean=-3,std=7"
)
OTHER_CORES = ("cortex-m0plus", "cortex-m55", "rv32imc")
IMAGE = "crop=50x40,gray,resize=24x16,scale=1/255,offset=-0.5"


def network(shape: tuple[int, ...], dtype: str = "f32") -> Graph:
    """A network that turns the signs of float features, or leaves integers as they are."""
    t = TensorType(shape, dtype, None if dtype == "f32" else QuantParams((0.05,), (3,)))
    tensors = {"x": Tensor("x", t, label="features"), "y": Tensor("y", t)}
    op = Neg() if t.is_float else Reshape(shape)
    return Graph("net", tensors, (Node("n", op, ("x",), ("y",)),), ("x",), ("y",), format="tflite")


def built(text: str, raw: str, net: Graph, board: str = "host") -> Artifact:
    options = Options(board=board, preprocess=text, raw=raw)
    front = firmware.graph_for(parse(text, words()), raw, net)
    joined = chain.joined(chain.renamed(front, "front_"), net)
    prepared = pipeline.prepare_graph(joined, options, "net")
    return pipeline.finish(prepared, pipeline.solve.solve(prepared.graph, prepared.board, prepared.options))


def on_host(text: str, x: np.ndarray, rate: float = 0, channels: int | None = None) -> np.ndarray:
    return applied(parse(text, words()).steps, x[None], rate, channels)


def sounds() -> np.ndarray:
    """Two channels of 16 bits at 22,050 Hz, [time, channels]."""
    return np.int16(np.stack([speech(11500, 1), speech(11500, 2)], axis=1) * 32768)


@pytest.mark.parametrize("core", ["cortex-m4", *(pytest.param(core, marks=pytest.mark.whole) for core in OTHER_CORES)])
def test_the_host_and_an_emulated_core_compute_the_same_bits(core: str) -> None:
    x = sounds()
    wanted = on_host(SOUND, np.float32(x) / 32768, 22050)
    net = network(wanted.shape)
    if core == "cortex-m4":
        found = built(SOUND, "11500x2@22050", net).run(x[None])[0]
        assert found.tobytes() == (-wanted).tobytes()
    artifact = built(SOUND, "11500x2@22050", net, core)
    (found,) = emulated.simulate(artifact, [Case("speech", [x[None]])]).outputs[0]
    assert found.tobytes() == (-wanted).tobytes()


def test_pixels_become_what_the_host_computes() -> None:
    pixels = np.random.default_rng(3).integers(0, 256, (44, 60, 3), np.uint8)
    wanted = on_host(IMAGE, pixels, channels=3)
    for text, net in ((IMAGE, network((1, 16, 24, 1))), (IMAGE + ",nchw", network((1, 1, 16, 24)))):
        artifact = built(text, "60x44x3", net)
        assert np.array_equal(artifact.run(pixels[None])[0].reshape(-1), -wanted.reshape(-1))
        assert artifact.imported.type(artifact.imported.inputs[0]) == TensorType((1, 44, 60, 3), "u8")


def test_a_quantized_network_gets_stored_features() -> None:
    text = "rate=8000,logmel(window=32ms,hop=16ms,bands=10),offset=5,scale=1/2"
    net = network((1, 20, 10), "s8")
    artifact = built(text, "", net)
    raw = artifact.imported.type(artifact.imported.inputs[0])
    assert raw == TensorType((1, 256 + 19 * 128), "s16", QuantParams((2.0**-15,), (0,)))
    x = np.int16(speech(raw.size)[None] * 32768)
    real = on_host(text, np.float32(x[0]) / 32768, 8000)
    stored = (np.rint(real / np.float32(0.05)) + 3).clip(-128, 127)
    assert np.array_equal(artifact.run(x)[0].reshape(-1), stored.astype(np.int8).reshape(-1))


@pytest.mark.parametrize(
    ("text", "raw", "shape", "parts"),
    [
        ("logmel(window=32ms,hop=16ms)", "", (1, 20, 40), ("rate of the samples is not known", "rate=16000")),
        (
            "rate=16000,logmel(window=32ms,hop=16ms)",
            "",
            (1, 20, 39),
            ("no number of samples gives", "[1, 20, 39]: 10240 make [1, 39, 40]"),
        ),
        ("rate=16000,delta=2,logmel(window=32ms,hop=16ms)", "", (1, 20, 40), ("put spectrogram, logmel or mfcc",)),
        ("rate=16000,logmel(window=32ms,hop=16ms,fft=256)", "16000", (1, 61, 40), ("does not fit a transform of 256",)),
        ("rate=16000,logmel(window=32ms,hop=16ms,fft=514)", "16000", (1, 61, 40), ("only factors may be 2, 3 and 5",)),
        ("rate=16000,logmel(window=32ms,hop=16ms,high=9000)", "16000", (1, 61, 40), ("are not within 0 to 8000",)),
        ("rate=16000,logmel(window=32ms,hop=16ms)", "400", (1, 61, 40), ("fewer than a window of 512",)),
        ("rate=16000", "16000@999", (1, 61, 40), ("differ more than 16-fold", "rate=16000")),
        ("mono", "16000x2x2@16000", (1, 16000), ("does not describe a sound", "16000@16000")),
        ("mono", "16000@0", (1, 16000), ("does not describe a sound", "16000@16000")),
        ("resize=8x8", "", (1, 8, 8, 3), ("size of the camera's images is not known", "160x120x3")),
        ("resize=8x8", "16x16x2", (1, 8, 8, 3), ("does not describe an image of bytes",)),
        ("resize=8x8", "16 by 16", (1, 8, 8, 3), ("does not describe a sensor's data", "SHAPE[:TYPE[/N]][@RATE]")),
        ("resize=8x8", "16x16x3", (1, 8, 9, 3), ("expected samples of shape [8, 9, 3], found [8, 8, 3]",)),
        ("scale=2", "0x3", (1, 3), ("has an axis without elements",)),
        ("logmel(window=4,hop=2),rate=8000", "99@16000", (1, 9), ("comes after a word that makes features",)),
    ],
)
def test_words_that_do_not_fit_a_network(text: str, raw: str, shape: tuple[int, ...], parts: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as caught:
        firmware.graph_for(parse(text, words()), raw, network(shape))
    for part in parts:
        assert part in caught.value.explain()


def test_other_networks_and_options_are_refused() -> None:
    two = network((1, 4))
    two = two.updated(tensors=[Tensor("z", TensorType((1, 4), "f32"))], inputs=("x", "z"))
    with pytest.raises(UsageError, match="needs a model with one input, but this one has 2"):
        firmware.graph_for(parse("scale=2", words()), "", two)
    with pytest.raises(UsageError, match="the words make u8"):
        firmware.graph_for(parse("crop=4", words()), "8x8x1", network((1, 4, 4, 1), "s8"))
    with pytest.raises(UsageError, match="--raw is for --preprocess"):
        Options(raw="16000")
    with pytest.raises(UsageError, match="--input-layout contradicts --preprocess"):
        Options(preprocess="scale=2", input_layout="nchw")


STREAM = "rate=16000,length=255ms,logmel(window=25ms,hop=10ms,bands=16),offset=14,scale=1/20"


def test_a_stream_of_samples_gives_the_features_of_the_whole_sound() -> None:
    options = Options(preprocess=STREAM, input_mode="samples")
    prepared = pipeline.prepare(ROOT / "examples/microphone/sweeps.tflite", options)
    graph, x = prepared.imported, np.int16(speech(400 + 23 * 160) * 32768)
    assert graph.stream == SampleStream(160, 1, 16000) and graph.type(graph.inputs[0]).shape == (1, 400)
    (push,) = streaming.pushes(graph, [x], "tflm")
    rows = push.values[next(node.outputs[0] for node in graph.nodes if node.op.collects)]
    wanted = on_host(STREAM.replace("length=255ms,", ""), np.float32(x) / 32768, 16000)
    stored = np.rint(wanted.reshape(rows.shape) * np.float32(255)) - 128
    assert push.decisions == 1 and np.abs(rows - stored.clip(-128, 127)).max() == 0


def test_a_hop_is_a_time_at_the_rate_of_the_words() -> None:
    text = STREAM.replace("rate=16000", "rate=8000")
    options = Options(preprocess=text, input_mode="samples", hop="10ms")
    prepared = pipeline.prepare(ROOT / "examples/microphone/sweeps.tflite", options)
    assert prepared.imported.stream == SampleStream(80, 1, 8000)


@pytest.mark.parametrize(
    ("text", "more", "parts"),
    [
        (STREAM.replace(",offset", ",cmvn,offset"), {}, ("'cmvn' needs samples of several windows",)),
        (
            STREAM.replace("rate=16000", "preemphasis=0.9,rate=16000"),
            {},
            ("'preemphasis=0.9' needs samples of several",),
        ),
        (STREAM, {"raw": "400@48000"}, ("takes the 1200 samples of a window", "1200@48000")),
        (STREAM, {"raw": "1200@48000"}, ("'rate=16000' needs samples of several windows", "--input-mode whole")),
        (STREAM, {"rate": "8k"}, ("--rate 8k contradicts the front end", "16,000 samples a second")),
        (STREAM, {"hop": "20ms"}, ("--hop 20ms contradicts --preprocess", "every 160 samples")),
        (STREAM.replace("rate=16000", "rate=8000"), {"hop": "160"}, ("--hop 160 contradicts", "every 80 samples")),
        ("rate=16000,length=384", {}, ("needs words that make windows", "logmel")),
        (STREAM.replace("rate=16000,", ""), {}, ("the rate of the samples is not known", "rate=16000")),
    ],
)
def test_words_that_do_not_fit_a_stream(text: str, more: dict[str, str], parts: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as caught:
        pipeline.prepare(
            ROOT / "examples/microphone/sweeps.tflite", Options(preprocess=text, input_mode="samples", **more)
        )
    for part in parts:
        assert part in caught.value.explain()
