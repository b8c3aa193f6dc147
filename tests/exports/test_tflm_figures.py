# SPDX-License-Identifier: Apache-2.0
"""The table of figures beside TensorFlow Lite Micro: a model's operators by name, and failures of what is worse."""

from __future__ import annotations

import dataclasses

from tests.exports.recorded import DIGITS
from tests.exports.tflm_figures import CASES, Figures, failure_of, names_of


def test_a_model_s_operators_are_registered_by_name() -> None:
    names = ["Conv2D", "DepthwiseConv2D", "FullyConnected", "MaxPool2D", "Reshape", "Softmax"]
    assert names_of(DIGITS.read_bytes()) == names


def test_other_outputs_and_larger_arenas_are_failures() -> None:
    case = {"name": "word", "most": 7168}
    figures = Figures("1f", 7168, 9000, 100)
    assert failure_of(case, figures, figures) == ""
    assert "outputs differ: 1f" in failure_of(case, figures, dataclasses.replace(figures, outputs="1e"))
    assert "7,169 bytes, and 7,168" in failure_of(case, figures, dataclasses.replace(figures, arena_bytes=7169))


def test_the_wake_word_has_a_limit() -> None:
    (nabu,) = [case for case in CASES["model"] if "okay_nabu" in case["name"]]
    assert (nabu["asked"] + nabu["variables"], nabu["most"]) == (23884, 7168)
