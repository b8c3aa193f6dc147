# SPDX-License-Identifier: Apache-2.0
"""Speech of espeak-ng, training, and decisions in Python: shared by the examples `wakeword` and `words`.

Sounds are int16 at 16 kHz. Networks are chains of `sequential.Layer` over time, on features [N, time, 1, features].
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from mcugen import pipeline
from mcugen.ir.graph import Graph
from mcugen.options import Options
from mcugen.oracle import streaming

sys.path.insert(0, str(Path(__file__).resolve().parent))
from sequential import Array, Layer, given

Decisions = Iterable[tuple[int, list[Array]]]
"""For each decision, the number of samples heard so far, and the outputs of the model."""
RATE, BLOCK = 16_000, 160
"""Samples a second, and samples that the audio driver hands over at a time."""
_SPOKEN_RATE, _HEADER = 22_050, 44
"""Rate of espeak-ng's files, and the bytes before their samples."""
_UP, _DOWN = 320, 441
"""16,000 / 22,050."""
_BATCH, _LEARNING_RATE, _DECAY = 64, 3e-3, (0.9, 0.999)
_FIRST_VOICES = ("m1", "m2", "m3", "m4", "m5", "m8", "f1", "f2", "f3", "Annie", "Andy", "linda", "steph", "Mario")
_OTHER_VOICES = ("m7", "f4", "f5", "Diogo")
_ACCENTS = ("en-us", "en-gb", "en-gb-scotland", "en-029")
TRAINING_VOICES = tuple(f"{accent}+{name}" for accent in _ACCENTS for name in _FIRST_VOICES)
TEST_VOICES = tuple(f"{accent}+{name}" for accent in _ACCENTS for name in _OTHER_VOICES)
"""Voices that training does not hear."""


def said(text: str, voice: str, speed: int, pitch: int) -> Array:
    """A text as espeak-ng says it, float64 in steps of int16, without silence at its ends. speed: words a minute."""
    command = ["espeak-ng", "-v", voice, "-s", str(speed), "-p", str(pitch), "--stdout", text]
    done = subprocess.run(command, capture_output=True, check=True)
    x = np.frombuffer(done.stdout[_HEADER:], "<i2").astype(np.float64)
    blocks = -(-x.size // _DOWN)
    spectrum = np.fft.rfft(np.pad(x, (0, blocks * _DOWN - x.size)))
    y = np.fft.irfft(spectrum[: blocks * _UP // 2 + 1], blocks * _UP) * (_UP / _DOWN)
    loud = np.flatnonzero(np.abs(y) > 0.02 * np.abs(y).max())
    return y[loud[0] : loud[-1] + 1]


def spoken(text: str, voices: Sequence[str], rng: np.random.Generator) -> Array:
    """A text in one of these voices, at a random speed and pitch."""
    return said(text, str(rng.choice(voices)), int(rng.integers(110, 190)), int(rng.integers(35, 66)))


def somewhere(sound: Array, length: int, rng: np.random.Generator) -> Array:
    """A recording of `length` samples with a sound somewhere in it, as `after_pause`. A long sound loses its end."""
    first = int(rng.integers(0, max(length - sound.size, 0) + 1))
    return after_pause(np.pad(sound, (0, max(length - first - sound.size, 0))), first, rng)[:length]


def after_pause(sound: Array, pause: int, rng: np.random.Generator) -> Array:
    """A recording, int16: noise, and after `pause` samples a sound at a random level."""
    x = rng.normal(0, 10 ** rng.uniform(0.5, 2.3), pause + sound.size)
    x[pause:] += sound * rng.uniform(0.1, 1)
    return np.clip(np.rint(x), -32768, 32767).astype(np.int16)


def network(
    rng: np.random.Generator, shape: tuple[int, int], widths: Sequence[int], outputs: int, taps: int = 3
) -> list[Layer]:
    """Convolutions of `taps` rows with dilations 1, 2, 4, ..., and a fully connected layer on the mean of all rows.

    shape: rows and features. VALID, and of stride 1, in time: a further row is a further row of each layer.
    """
    (rows, features), layers = shape, []
    for k, (before, after) in enumerate(zip([features, *widths], widths, strict=False)):
        weights = rng.standard_normal((after, taps, 1, before)) * np.sqrt(2 / (taps * before))
        layers.append(Layer("CONV_2D", weights, np.zeros(after), dilation=(1 << k, 1)))
        rows -= (taps - 1) << k
    head = Layer("FULLY_CONNECTED", np.zeros((outputs, widths[-1])), np.zeros(outputs))
    return [*layers, Layer("AVERAGE_POOL_2D", window=(rows, 1)), head]


def _convolved(layer: Layer, x: Array) -> Array:
    w, step = given(layer.weights), layer.dilation[0]
    length = x.shape[1] - (w.shape[1] - 1) * step
    found = sum(x[:, k * step : k * step + length] @ w[:, k, 0].T for k in range(w.shape[1]))
    return np.maximum(found + given(layer.bias), 0)


def _forward(layers: Sequence[Layer], x: Array) -> list[Array]:
    """[N, time, features] and the result of each layer."""
    values = [x]
    for layer in layers[:-2]:
        values.append(_convolved(layer, values[-1]))
    mean = values[-1].mean(axis=1)
    return [*values, mean, mean @ given(layers[-1].weights).T + given(layers[-1].bias)]


def _gradients(layers: Sequence[Layer], values: Sequence[Array], gradient: Array) -> list[Array]:
    """The gradients of weights and biases, layer by layer, from that of the last result."""
    head, mean, last = layers[-1], values[-2], values[-3]
    found = [gradient.sum(axis=0), gradient.T @ mean]
    back = np.broadcast_to((gradient @ given(head.weights) / last.shape[1])[:, None], last.shape)
    for layer, x, y in zip(layers[-3::-1], values[-4::-1], values[-3::-1], strict=False):
        back, w, step = back * (y > 0), given(layer.weights), layer.dilation[0]
        flat, below = back.reshape(-1, w.shape[0]), np.zeros(x.shape, x.dtype)
        by_tap = np.zeros(w.shape, x.dtype)
        for k in range(w.shape[1]):
            at = slice(k * step, k * step + y.shape[1])
            by_tap[:, k, 0] = flat.T @ x[:, at].reshape(-1, w.shape[3])
            below[:, at] += back @ w[:, k, 0]
        found += [flat.sum(axis=0), by_tap]
        back = below
    return found[::-1]


def _shares(logits: Array) -> Array:
    """Probabilities: softmax, or the logistic function of a single logit."""
    if logits.shape[1] == 1:
        return 1 / (1 + np.exp(-logits))
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


@dataclass
class _Adam:
    """Adam, with a learning rate that falls to 0 along a cosine."""

    parameters: list[Array]
    steps: int

    def __post_init__(self) -> None:
        self.moments = [[np.zeros_like(p) for p in self.parameters] for _ in _DECAY]
        self.step = 0

    def move(self, gradients: Sequence[Array]) -> None:
        self.step += 1
        rate = _LEARNING_RATE * (0.5 + 0.5 * np.cos(np.pi * self.step / self.steps))
        for p, g, m, v in zip(self.parameters, gradients, *self.moments, strict=True):
            for moment, decay, value in zip((m, v), _DECAY, (g, g * g), strict=True):
                moment += (1 - decay) * (value - moment)
            fixed = [1 - decay**self.step for decay in _DECAY]
            p -= rate * (m / fixed[0]) / (np.sqrt(v / fixed[1]) + 1e-7)


def trained(layers: Sequence[Layer], x: Array, wanted: Array, rng: np.random.Generator, epochs: int) -> list[Layer]:
    """A network after training on features [N, time, 1, features] and probabilities [N, outputs], by cross entropy."""
    x = x[:, :, 0].astype(np.float32)
    pairs = [(np.float32(given(k.weights)), np.float32(given(k.bias))) for k in layers if k.weights is not None]
    parameters = [p for pair in pairs for p in pair]
    adam = _Adam(parameters, epochs * (len(x) // _BATCH))
    layers = _with(layers, parameters)
    for _ in range(epochs):
        order = rng.permutation(len(x))
        for at in range(0, len(x) - _BATCH + 1, _BATCH):
            part = order[at : at + _BATCH]
            values = _forward(layers, x[part])
            adam.move(_gradients(layers, values, np.float32(_shares(values[-1]) - wanted[part]) / _BATCH))
    return _with(layers, [p.astype(np.float64) for p in parameters])


def _with(layers: Sequence[Layer], parameters: Sequence[Array]) -> list[Layer]:
    """The layers with these weights and biases."""
    rest = iter(parameters)
    return [layer if layer.weights is None else replace(layer, weights=next(rest), bias=next(rest)) for layer in layers]


def probabilities(layers: Sequence[Layer], x: Array) -> Array:
    """The results of a float network on features [N, time, 1, features]."""
    return _shares(_forward(layers, x[:, :, 0])[-1])


def in_8_bits(sound: Array) -> Array:
    """A sound in int8, for a small file."""
    return np.clip(np.rint(sound / 256), -128, 127).astype(np.int8)


def of_8_bits(stored: Array) -> Array:
    """The sound of `in_8_bits`, int16, without its low bits."""
    return stored.astype(np.int16) * np.int16(256)


def events(sounds: Sequence[Array]) -> bytes:
    """The stream that the programs read: 'G' for a gap before each sound, 'S' and a block of samples."""
    parts = []
    for sound in sounds:
        blocks = np.pad(sound, (0, -sound.size % BLOCK)).astype("<i2").reshape(-1, BLOCK)
        parts += [b"G", *(b"S" + block.tobytes() for block in blocks)]
    return b"".join(parts)


def decisions(graph: Graph, sound: Array) -> Decisions:
    """The decisions of a stream of samples in NumPy, without any C."""
    blocks = np.pad(sound, (0, -sound.size % BLOCK)).reshape(-1, BLOCK)
    for k, push in enumerate(streaming.pushes(graph, blocks, "tflm"), 1):
        if push.decisions:
            yield k * BLOCK, [push.values[name].reshape(-1) for name in graph.outputs]


def listen(
    model: Path, options: Mapping[str, str], sounds: Sequence[Array], lines: Callable[[Decisions], Sequence[str]]
) -> None:
    """Print the lines of the decisions for sounds. The argument of the script is a file to write their events to."""
    graph = pipeline.prepare(model, Options(**options)).imported
    for sound in sounds:
        print(*lines(decisions(graph, sound)), sep="\n")
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_bytes(events(sounds))
