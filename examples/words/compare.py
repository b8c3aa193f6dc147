# SPDX-License-Identifier: Apache-2.0
"""Compares the C with Python, and with features in float64, on all test sounds.

    python examples/words/compare.py

Needs espeak-ng.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import mcugen

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import speech
from listen import FEATURES, MODEL, OPTIONS
from sequential import Array
from train import decided, features, test_sounds

from mcugen import samples
from mcugen.formats import read, registry
from mcugen.oracle import interpreter
from mcugen.samples import preprocess
from tests.samples.float64_features import judged


@dataclass(frozen=True, eq=False)
class Comparison:
    """Decisions for sounds. c: of the C, from samples on. python: in NumPy. float64: of the network in C, on features
    that NumPy computes in float64.
    """

    labels: Array
    c: Array
    python: Array
    float64: Array

    def accuracy(self, found: Array) -> float:
        """The share of right decisions."""
        return float(np.mean(found == self.labels))


def compared(x: Array, labels: Array) -> Comparison:
    """The decisions for sounds, int16 [N, RATE]."""
    return Comparison(labels, in_c(x), in_python(x), in_float64(x))


def in_c(x: Array) -> Array:
    """Each sound is pushed after a reset."""
    model, found = mcugen.load(MODEL, **OPTIONS), []
    for sound in x:
        model.reset()
        found.append(np.ravel(model.push_samples(sound, real=False)[1]))
    return np.concatenate(found)


def in_python(x: Array) -> Array:
    """The features of all sounds at once, and the network in the oracle."""
    graph, scores = read.load(MODEL, registry.load()), []
    given, output = graph.type(graph.inputs[0]), graph.outputs[0]
    stored = np.rint(features(x) / np.float32(given.scale)) + given.zero_point
    for row in stored.clip(-128, 127).astype(np.int8):
        scores.append(np.ravel(interpreter.run(graph, [row[None]], "tflm")[output]))
    return decided((np.array(scores, np.float64) - graph.type(output).zero_point) * graph.type(output).scale)


def in_float64(x: Array) -> Array:
    """Features that NumPy computes in float64, by its own transform and logarithm."""
    mel, mean, deviation = (step.value for step in preprocess.parse(FEATURES, samples.words()).steps[2:])
    rows = np.stack([judged(mel, sound / 32768, speech.RATE) for sound in x])
    scores = mcugen.load(MODEL).run(np.float32((rows - mean) / deviation)[:, :, None], real=True)
    return decided(np.reshape(scores, (len(x), -1)))


if __name__ == "__main__":
    found = compared(*test_sounds())
    c, float64 = found.accuracy(found.c), found.accuracy(found.float64)
    print(f"right of {len(found.labels)} sounds: {c:.1%} in C, {float64:.1%} on features in float64")
    print(f"C and Python differ for {np.sum(found.c != found.python)} sounds, C and float64 for", end=" ")
    print(np.sum(found.c != found.float64))
