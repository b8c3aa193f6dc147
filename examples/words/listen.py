# SPDX-License-Identifier: Apache-2.0
"""Prints what main.c prints for the test sounds, computed in NumPy.

    python examples/words/listen.py [FILE.bin]

FILE.bin: writes what main.c reads.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import speech

FOLDER = Path(__file__).resolve().parent
MODEL = FOLDER / "words.tflite"
NAMES = ("yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go", "unknown")
FEATURES = "rate=16000,length=1s,logmel(window=30ms,hop=20ms,bands=24,low=100,high=7600),mean=-4,std=5"
LIMIT = 0.6
"""Least probability of a word: below, the decision is "unknown"."""
OPTIONS = {"preprocess": FEATURES, "input_mode": "samples", "stride": "5", "decide": f"unknown={LIMIT}"}


def test_sounds() -> list[speech.Array]:
    """The sounds of words_test.npz, int16."""
    return [*speech.of_8_bits(np.load(FOLDER / "words_test.npz")["sounds"])]


def lines(decisions: speech.Decisions) -> list[str]:
    """A line for each decision that differs from the one before: milliseconds heard so far, and the word."""
    found, before = [], -1
    for heard, (decision,) in decisions:
        if decision[0] != before:
            found.append(f" {heard * 1000 // speech.RATE} {NAMES[decision[0]]}")
        before = decision[0]
    return found


if __name__ == "__main__":
    speech.listen(MODEL, OPTIONS, test_sounds(), lines)
