# SPDX-License-Identifier: Apache-2.0
"""Prints what main.c prints for the test sound, computed in NumPy.

    python examples/wakeword/listen.py [FILE.bin]

FILE.bin: writes what main.c reads.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import speech

FOLDER = Path(__file__).resolve().parent
MODEL = FOLDER / "computer.json"
OPTIONS = {"input_mode": "samples"}


def test_sounds() -> list[speech.Array]:
    """The sound of computer_test.npz, int16."""
    return [speech.of_8_bits(np.load(FOLDER / "computer_test.npz")["sound"])]


def lines(decisions: speech.Decisions) -> list[str]:
    """A line for each detection: milliseconds heard so far, and the probability in steps of 1/256."""
    return [f"computer {heard * 1000 // speech.RATE} {p[0]}" for heard, (p, detected) in decisions if detected[0]]


if __name__ == "__main__":
    speech.listen(MODEL, OPTIONS, test_sounds(), lines)
