# SPDX-License-Identifier: Apache-2.0
"""Logs of a board are read among other text, and set beside the estimates."""

from __future__ import annotations

import html
import json
from pathlib import Path

import pytest

import mcugen
from mcugen import tabular
from mcugen.errors import UsageError
from mcugen.report import measured

DIGITS = Path(__file__).resolve().parents[2] / "examples" / "digits" / "digits.tflite"


@pytest.fixture(scope="module")
def facts() -> dict[str, object]:
    made = mcugen.compile(DIGITS, board="nucleo-l4r5zi", no_report=True)
    return dict(json.loads(made.files["report.json"]))


def text_of(facts: dict, share: float, hz: int = 80000000) -> str:
    """A log of two runs in which each layer takes a share of the span that was estimated, and marks cost 10."""
    lines = [f"mcugen-profile 1 {facts['name']} {facts['sha256'][:16]} runs=2 hz={hz} mark=10"]
    for step in facts["steps"]:
        low, high = step["cycles"]["low"], step["cycles"]["high"]
        lines.append(f"step {step['index']} {2 * round(low + share * (high - low)) + 20} 2 Layer <{step['index']}>")
    return "boot\r\n" + "\r\n".join([*lines, "mcugen-profile end"]) + "\r\nmcugen-profile 1 cut"


def test_within_and_beyond_the_estimate(facts: dict) -> None:
    inside = measured.layers(measured.parse(text_of(facts, 0.5), "log"), facts)
    assert [layer.off for layer in inside] == [""] * len(facts["steps"])
    log = measured.parse(text_of(facts, 3.0), "log")
    beyond = measured.layers(log, facts)
    assert all(layer.off.startswith("+") for layer in beyond)
    text = tabular.text_of(measured.as_parts(log, beyond))
    assert "0,000,000" not in text and " ms," in text
    page = measured.html(log, beyond, html.escape)
    assert "Layer &lt;0&gt;" in page and "<0>" not in page
    assert measured.as_dict(log, beyond)["layers"][0]["off"].startswith("+")


@pytest.mark.parametrize("wrong", ["", "mcugen-profile 1 digits 0123456789abcdef runs=2 hz=0 mark=1\nstep 0 1 1 a\n"])
def test_what_is_no_log(wrong: str) -> None:
    with pytest.raises(UsageError, match="no complete log"):
        measured.parse(wrong, "log")


def test_a_log_of_another_build(facts: dict) -> None:
    log = measured.parse(text_of(facts, 0.5).replace(str(facts["sha256"])[:16], "0" * 16), "log")
    with pytest.raises(UsageError, match="another model"):
        measured.layers(log, facts)
