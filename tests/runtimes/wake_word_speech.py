# SPDX-License-Identifier: Apache-2.0
"""A wake word in spoken sentences: the C from samples to detection beside pymicro-features and TFLM.

    python -m tests.runtimes.wake_word_speech NETWORK.tflite [--seconds 3600]

espeak-ng speaks random sentences in many voices, at many levels, in noise. Every probability and decision is compared;
a difference is a failure. The decision of the runtime's probabilities is computed here as ESPHome's component does it:
the cutoff is 0.97, the window 5 probabilities, and no detection comes before window 100.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np

import mcugen
from tests.runtimes.test_wake_word_features import HOP, RATE, of_library

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
import speech

CUTOFF, NEWEST, HELD = 0.97, 5, 100
SENTENCES = (
    *("okay nabu", "computer", "okay nabu, turn on the light in the kitchen", "computer, stop the music"),
    *("what time is it in the other room", "the quick brown fox jumps over the lazy dog"),
    *("please remember to water the plants tomorrow", "seven hundred and fifty two trains left late"),
)
VOICES = (*speech.TRAINING_VOICES, *speech.TEST_VOICES)


def sounds(seconds: int, seed: int = 1) -> np.ndarray:
    """Sentences with pauses of up to 1.5 s, int16, some of them so loud that samples are clipped."""
    rng = np.random.default_rng(seed)
    parts: list[np.ndarray] = []
    while sum(part.size for part in parts) < seconds * RATE:
        sentence = speech.spoken(str(rng.choice(SENTENCES)), VOICES, rng) * rng.uniform(1, 3)
        parts.append(speech.after_pause(sentence, int(rng.integers(RATE // 4, 3 * RATE // 2)), rng))
    return np.concatenate(parts)[: seconds * RATE]


def of_build(network: Path, sound: np.ndarray) -> np.ndarray:
    """(probability, decision) of each run of the network in the C, int [runs, 2]."""
    micro = {"probability_cutoff": CUTOFF, "sliding_window_size": NEWEST, "feature_step_size": 1000 * HOP // RATE}
    known = {"type": "micro", "wake_word": "word", "model": "network.tflite", "version": 2, "micro": micro}
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(network, Path(folder) / "network.tflite")
        path = Path(folder) / "word.json"
        path.write_text(json.dumps(known))
        model = mcugen.load(path, input_mode="samples", optimize="speed")
        pushed = (model.push_samples(sound[at : at + HOP], real=False) for at in range(0, sound.size, HOP))
        return np.array([[int(np.reshape(out, -1)[0]) for out in outputs] for new, outputs in pushed if new])


def of_runtime(network: Path, sound: np.ndarray) -> np.ndarray:
    """(probability, decision) of each run of the network in TFLM, int [runs, 2]."""
    from tflite_micro import runtime

    interpreter = runtime.Interpreter.from_file(str(network), arena_size=1 << 18)
    rows = interpreter.get_input_details(0)["shape"][1]
    found, taken = [], []
    recent, held = [0] * NEWEST, -HELD
    for row in of_library(sound):
        taken.append(row)
        if len(taken) < rows:
            continue
        interpreter.set_input(np.stack(taken)[None], 0)
        interpreter.invoke()
        taken, held = [], min(held + rows, 0)
        probability = int(interpreter.get_output(0).reshape(-1)[0])
        recent = [*recent[1:], probability]
        detected = held == 0 and sum(recent) > int(CUTOFF * 255) * NEWEST
        if detected:
            recent, held = [0] * NEWEST, -HELD
        found.append([probability, int(detected)])
    return np.array(found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", type=Path)
    parser.add_argument("--seconds", type=int, default=3600)
    given = parser.parse_args()
    sound = sounds(given.seconds)
    ours, theirs = of_build(given.network, sound), of_runtime(given.network, sound)
    same = len(ours) == len(theirs) and len(ours) > 0
    differ = np.sum(ours != theirs, axis=0) if same else [max(len(ours), len(theirs))] * 2
    kinds, heard = len(np.unique(ours[:, 0])), int(ours[:, 1].sum())
    print(
        f"{given.network.name}: {given.seconds} s of speech, {len(ours)} probabilities ({kinds} different) and "
        f"{heard} detections; {differ[0]} probabilities and {differ[1]} decisions differ"
    )
    return int(not same or any(differ) or kinds < 2)


if __name__ == "__main__":
    sys.exit(main())
