# SPDX-License-Identifier: Apache-2.0
"""Trains a network that hears the word "computer" in a stream of sound, on speech of espeak-ng.

    python examples/wakeword/train.py [output folder]

Writes computer.tflite, its description computer.json, and computer_test.npz. Needs NumPy, mcugen and espeak-ng; takes
about a minute of processor time.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import mcugen

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import speech
from sequential import Array, Scale
from streaming import to_tflite

from tests.support.tflite_writer import ModelWriter

SEED = 22
WAKE_WORD = "computer"
OTHERS = (
    "commuter", "compute", "come here", "computing", "confused", "community", "complete", "compare it", "pewter",
    "the company met later", "butter", "future", "good morning", "what time is it", "turn on the light",
    "open the window please", "the train left the station", "play some music", "I would like some tea", "seven",
    "remember to water the plants", "can you hear me", "stop it now", "yesterday", "a cup of coffee", "no thank you",
)  # fmt: skip
ROWS, FEATURES, HOP, WINDOW = 98, 40, 160, 480
"""Rows of features in a second, features in a row, samples from row to row and in a row."""
STEP = 3
"""Rows that the network takes in a run."""
SCALE = Scale(26 / 256, -128)
WIDTHS, TAPS, EPOCHS = (16, 16, 16), 5, 12
UTTERANCES, TEST_UTTERANCES = 700, 200
AFTER = (2, 6, 10, 14)
"""Rows from the end of a wake word to the ends of windows that contain it."""
CUTOFF, RECENT = 0.9, 5
EARLY, LATE = speech.RATE // 8, speech.RATE // 2
"""Samples by which a right detection may come before or after the end of the word."""


@dataclass(frozen=True, eq=False)
class Stream:
    """A stream of speech. ends: the sample after each wake word."""

    sound: Array
    ends: Array


def stream(rng: np.random.Generator, voices: Sequence[str], utterances: int) -> Stream:
    """Utterances with pauses. Every second utterance is the wake word."""
    parts, ends, length = [], [], 0
    for k in range(utterances):
        pause = int(rng.integers(speech.RATE // 5, speech.RATE))
        text = WAKE_WORD if k % 2 else str(rng.choice(OTHERS))
        parts.append(speech.after_pause(speech.spoken(text, voices, rng), pause, rng))
        length += parts[-1].size
        ends += [length] * (k % 2)
    return Stream(np.concatenate([*parts, np.zeros(speech.RATE, np.int16)]), np.array(ends))


def features(sound: Array) -> Array:
    """int8 [windows, FEATURES]: what the C of the front end `microwakeword` gives to a network."""
    m = ModelWriter()
    x, y = (m.tensor(n, (1, FEATURES), "s8", scale=SCALE.scale, zero_point=SCALE.zero_point) for n in ("x", "y"))
    m.op("RESHAPE", [x, m.tensor("shape", (2,), "s32", data=[1, FEATURES])], [y])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.tflite"
        path.write_bytes(m.build([x], [y]))
        model = mcugen.load(path, preprocess="microwakeword", input_mode="samples")
        pushed = (model.push_samples(sound[k : k + HOP], real=False)[1] for k in range(0, sound.size, HOP))
        return np.concatenate([np.reshape(row, (1, FEATURES)) for row in pushed if row is not None])


def windows(rng: np.random.Generator, rows: Array, ends: Array) -> tuple[Array, Array]:
    """Windows [N, ROWS, 1, FEATURES] in real numbers, and whether a wake word just ended in each, [N, 1]."""
    last = (ends[ends > 2 * speech.RATE] - WINDOW) // HOP
    right = (last[:, None] + AFTER).reshape(-1)
    free = np.arange(len(rows)) >= ROWS
    for end in last:
        free[end - 8 : end + 40] = False
    at = np.concatenate([right, rng.choice(np.flatnonzero(free), 3 * len(right))])
    found = np.stack([rows[k - ROWS + 1 : k + 1] for k in at])
    real = (found[:, :, None].astype(np.float32) - SCALE.zero_point) * np.float32(SCALE.scale)
    return real, np.float32(np.arange(len(at)) < len(right))[:, None]


def write(folder: Path, network: Sequence[speech.Layer], x: Array) -> None:
    """The model and its description."""
    model = to_tflite(network, x, STEP, SCALE, f"hears {WAKE_WORD!r}: {STEP} rows of {FEATURES} features per run")
    (folder / f"{WAKE_WORD}.tflite").write_bytes(model)
    print(f"wrote {WAKE_WORD}.tflite ({len(model)} bytes) to {folder}")
    micro = {"probability_cutoff": CUTOFF, "feature_step_size": 10, "sliding_window_size": RECENT}
    whole = {"type": "micro", "wake_word": WAKE_WORD, "author": "The mcugen authors", "model": f"{WAKE_WORD}.tflite"}
    text = json.dumps({**whole, "trained_languages": ["en"], "version": 2, "micro": micro}, indent=2)
    (folder / f"{WAKE_WORD}.json").write_text(text + "\n")


def detections(folder: Path, sound: Array) -> Array:
    """The samples at which the C detects the wake word."""
    model = mcugen.load(folder / f"{WAKE_WORD}.json", input_mode="samples")
    ends = range(HOP, sound.size + 1, HOP)
    outputs = ((k, model.push_samples(sound[k - HOP : k], real=False)[1]) for k in ends)
    return np.array([k for k, found in outputs if found is not None and np.ravel(found[1])[0]])


def judged(at: Array, ends: Array) -> tuple[int, int]:
    """How many wake words are detected near their ends, and how many detections are near none."""
    is_near = (at[:, None] > ends - EARLY) & (at[:, None] < ends + LATE)
    return int(is_near.any(axis=0).sum()), int((~is_near.any(axis=1)).sum())


def main(folder: Path) -> None:
    """Trains, writes the files, and reports what is detected of voices that training did not hear."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(SEED)
    heard = stream(rng, speech.TRAINING_VOICES, UTTERANCES)
    x, wanted = windows(rng, features(heard.sound), heard.ends)
    network = speech.network(rng, (ROWS, FEATURES), WIDTHS, 1, TAPS)
    network = speech.trained(network, x, wanted, rng, EPOCHS)
    write(folder, network, x[::20])
    test = stream(rng, speech.TEST_VOICES, TEST_UTTERANCES)
    right, wrong = judged(detections(folder, test.sound), test.ends)
    print(f"heard: {right} of {test.ends.size}, wrong: {wrong} in {test.sound.size // speech.RATE} s")
    short = stream(rng, speech.TEST_VOICES, 2)
    heard = short.sound[: short.ends[0] + speech.RATE // 5]
    np.savez_compressed(folder / f"{WAKE_WORD}_test.npz", sound=speech.in_8_bits(heard), ends=short.ends)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent)
