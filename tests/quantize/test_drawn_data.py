# SPDX-License-Identifier: Apache-2.0
"""Drawn data of the nine networks: their hashes, their boxes, and what happens where other data were drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.quantize import drawn_scenes, drawn_tasks, spoken_words


def test_drawn_data_are_those_of_the_bars() -> None:
    x, y = drawn_scenes.voices(2, 60, 5)
    scenes = drawn_scenes.shapes(3, 32, 5)
    assert drawn_tasks.digest(x, y) == VOICES and drawn_tasks.digest(scenes.images, scenes.pixels) == SCENES
    assert drawn_tasks.digest(scenes.boxes) != drawn_tasks.digest(scenes.boxes + 1)
    assert ((y >= 0) & (y <= 1)).all() and set(np.unique(scenes.pixels)) <= {0, 1, 2, 3}


def test_other_data_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(drawn_scenes, "shapes", lambda n, size, seed: SHAPES)
    with pytest.raises(SystemExit, match=r"the data of pixels have the hash \w{16}, not \w{16}: other versions"):
        drawn_tasks.made("unet_gn", tmp_path)
    assert drawn_tasks.made("another", tmp_path) is None


def test_boxes_are_decoded_without_doubles() -> None:
    """Two cells beside each other see one disc: distances to its sides, and logits; a third sees nothing."""
    y = np.zeros((7, 12, 12), np.float32)
    y[4:] = -9
    for column, score in ((3, 2.0), (4, 1.0)):
        centre = (column + 0.5) * drawn_tasks.STRIDE
        y[:4, 5, column] = np.array([centre - 8, 22 - 14, 24 - centre, 30 - 22]) / drawn_tasks.STRIDE
        y[4, 5, column] = score
    labels = {"boxes": [np.array([[8.0, 14, 24, 30]])], "classes": [np.array([0.0])]}
    assert drawn_tasks.map50(y[None], labels) == 100
    labels["classes"] = [np.array([1.0])]
    assert drawn_tasks.map50(y[None], labels) == 0


def test_a_second_of_sound_has_49_windows() -> None:
    tone = np.sin(2 * np.pi * 1000 * np.arange(spoken_words.RATE) / spoken_words.RATE)
    found = spoken_words.cepstrum(tone)
    assert found.shape == (spoken_words.WINDOWS, spoken_words.COEFFICIENTS)
    assert np.ptp(found[2:-2], axis=0).max() < 0.01
    bands = spoken_words.bands()
    assert bands.shape == (spoken_words.BANDS, spoken_words.BINS // 2 + 1) and (bands.max(axis=1) > 0.3).all()


SHAPES = drawn_scenes.shapes(120, 8, 1)
VOICES, SCENES = "9a950a2444ca3d7d", "985bc08d78fc65b5"
