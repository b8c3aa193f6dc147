# SPDX-License-Identifier: Apache-2.0
"""Trains a network that tells ten words from all others, on speech of espeak-ng.

    python examples/words/train.py [output folder] [folder for the test sounds]

Writes words.tflite and words_test.npz, and the test sounds as .wav files in a folder for each class. Needs NumPy,
mcugen and espeak-ng; takes a minute of processor time.
"""

from __future__ import annotations

import sys
import wave
from collections.abc import Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import speech
from listen import FEATURES, LIMIT, NAMES
from sequential import Array, scale_of, to_tflite

from mcugen import samples
from mcugen.samples import identity, preprocess

SEED = 21
UNKNOWN = len(NAMES) - 1
OTHERS = (
    "bed", "bird", "cat", "dog", "eight", "five", "four", "happy", "house", "nine", "one", "seven", "six", "three",
    "tree", "two", "wow", "zero", "table", "water", "today", "music", "number", "green", "yellow", "paper", "open",
    "window", "because", "people", "under", "morning", "little",
)  # fmt: skip
"""Words of the class "unknown" in training."""
UNSEEN = "follow", "visual", "marvin", "learn", "backward", "orange", "mountain", "coffee", "winter", "question"
"""Words of the class "unknown" in the test."""
WIDTHS, EPOCHS = (32, 32, 32), 20
EACH, TESTS_EACH, COMMITTED = 80, 20, 3

Sounds = tuple[Array, Array]
"""int16 [N, RATE], and the class of each sound."""


def sounds(rng: np.random.Generator, voices: Sequence[str], others: Sequence[str], each: int) -> Sounds:
    """`each` sounds of every word, as many of all other words together, and `each` of noise."""
    texts = [(k, name) for k, name in enumerate(NAMES[:UNKNOWN]) for _ in range(each)]
    texts += [(UNKNOWN, str(name)) for name in rng.permutation(np.resize(others, UNKNOWN * each))]
    found = [speech.somewhere(speech.spoken(text, voices, rng), speech.RATE, rng) for _, text in texts]
    found += [speech.somewhere(np.zeros(0), speech.RATE, rng) for _ in range(each)]
    return np.stack(found), np.array([k for k, _ in texts] + [UNKNOWN] * each)


def test_sounds() -> Sounds:
    """Sounds of voices, and of other words, that training does not hear."""
    return sounds(np.random.default_rng(SEED + 1), speech.TEST_VOICES, UNSEEN, TESTS_EACH)


def features(x: Array) -> Array:
    """[N, 49, 1, 24]: what the C computes of sounds, as `mcugen features` does."""
    steps = preprocess.parse(FEATURES, samples.words()).steps
    found = preprocess.applied(steps, x.astype(np.float32) / 32768, speech.RATE)
    return found[:, :, None]


def varied(rng: np.random.Generator, x: Array) -> Array:
    """Features as other voices would make them: louder or fainter, and with bands shifted and stretched by a tenth."""
    count, _, _, bands = x.shape
    at = np.arange(bands) * (1 + rng.uniform(-0.1, 0.1, (count, 1))) + rng.uniform(-0.5, 0.5, (count, 1))
    at = at.clip(0, bands - 1.001)[:, None, None]
    low = np.broadcast_to(at.astype(int), x.shape)
    low, high = (np.take_along_axis(x, k, 3) for k in (low, low + 1))
    return np.float32(low + (high - low) * (at % 1) + rng.uniform(-0.3, 0.3, (count, 1, 1, 1)))


def decided(scores: Array) -> Array:
    """The class with the largest score of each row, or UNKNOWN."""
    return np.where(scores.max(axis=1) >= LIMIT, scores.argmax(axis=1), UNKNOWN)


def write_sounds(folder: Path, x: Array, labels: Array) -> None:
    """A .wav file for each sound, in a folder for each class."""
    for k, (sound, label) in enumerate(zip(x, labels, strict=True)):
        place = folder / f"{label:02}_{NAMES[label]}"
        place.mkdir(parents=True, exist_ok=True)
        with wave.open(str(place / f"{k:04}.wav"), "wb") as file:
            file.setparams((1, 2, speech.RATE, 0, "NONE", ""))
            file.writeframes(sound.tobytes())


def main(folder: Path, to: Path | None) -> None:
    """Trains, reports the accuracy in float, and writes the files."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(SEED)
    x, labels = sounds(rng, speech.TRAINING_VOICES, OTHERS, EACH)
    seen = features(x)
    network = speech.network(rng, (seen.shape[1], seen.shape[3]), WIDTHS, UNKNOWN)
    evenly = np.vstack([np.eye(UNKNOWN), np.full(UNKNOWN, 1 / UNKNOWN)])  # of another word, each word is as unlikely
    twice = np.concatenate([seen, varied(rng, seen)])
    network = speech.trained(network, twice, np.tile(evenly[labels], (2, 1)), rng, EPOCHS)
    x, labels = test_sounds()
    found = decided(speech.probabilities(network, features(x)))
    print(f"float: {np.mean(found == labels):.1%} of {len(labels)} sounds of voices that training did not hear")
    hashed = identity.of(preprocess.parse(FEATURES, samples.words()), speech.RATE).sha256
    description = f"ten words, written by mcugen for features {hashed}"
    model = to_tflite(network, seen[::4], scale_of(seen), description)
    (folder / "words.tflite").write_bytes(model)
    chosen = [*np.flatnonzero(labels < UNKNOWN)[5 :: UNKNOWN * TESTS_EACH // COMMITTED], len(labels) - 2 * TESTS_EACH]
    np.savez_compressed(folder / "words_test.npz", sounds=speech.in_8_bits(x[chosen]), labels=labels[chosen])
    print(f"wrote words.tflite ({len(model)} bytes) and words_test.npz to {folder}")
    if to is not None:
        write_sounds(to, x, labels)


if __name__ == "__main__":
    places = [Path(argument) for argument in sys.argv[1:]]
    main(places[0] if places else Path(__file__).resolve().parent, places[1] if places[1:] else None)
