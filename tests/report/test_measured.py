# SPDX-License-Identifier: Apache-2.0
"""Logs of a board are read among other text, and set beside the estimates."""

from __future__ import annotations

import html
import json
from pathlib import Path

import pytest

import mcugen
from mcugen.errors import UsageError
from mcugen.report import measured
from mcugen.system import tabular

DIGITS = Path(__file__).resolve().parents[2] / "examples" / "digits" / "digits.tflite"


@pytest.fixture(scope="module")
def facts() -> dict[str, object]:
    made = mcugen.compile(DIGITS, board="nucleo-l4r5zi", no_report=True)
    return dict(json.loads(made.files["report.json"]))


def text_of(facts: dict, share: float, hz: int = 80000000) -> str:
    """A log of two runs in which each layer takes a share of the span that was estimated, and marks cost 10."""
    head = f"mcugen-profile 2 {facts['name']} {facts['sha256'][:16]} runs=2 hz={hz}"
    lines = [f"{head} mark=10 cycles=0 us=0"]
    for step in facts["steps"]:
        low, high = step["cycles"]["low"], step["cycles"]["high"]
        lines.append(f"step {step['index']} {2 * round(low + share * (high - low)) + 20} 2 Layer <{step['index']}>")
    lines.append(f"mcugen-profile end {measured.checksum(lines)}")
    return "boot\r\n" + "\r\n".join(lines) + "\r\nmcugen-profile 2 cut"


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


def test_the_front_end_of_a_stream_runs_for_each_window_of_a_decision(facts: dict) -> None:
    stream = {"stride": 3, "parts": [{"name": "front end", "steps": 2}, {"name": "network", "steps": 1}]}
    log = measured.parse(text_of(facts, 0.5), "log")
    plain, often = measured.layers(log, facts), measured.layers(log, facts | {"stream": stream})
    assert [b.low / a.low for a, b in zip(plain, often, strict=True) if a.low and b.low][:4] == [3, 3, 1, 1]


@pytest.mark.parametrize(("times", "is_said"), [(2.0, True), (0.4, True), (1.0, False)])
def test_a_factor_of_all_layers_is_said(times: float, is_said: bool) -> None:
    """Here the core, or its counter, runs at another clock than the board's file says."""
    log = measured.ProfileLog("m", "0" * 16, 2, 0, (), ())
    alike = [measured.MeasuredStep(k, "x", times * 100 * (k + 1), 90 * (k + 1), 110 * (k + 1)) for k in range(5)]
    text = tabular.text_of(measured.as_parts(log, alike))
    assert (f"all layers take about {times:.2f} times" in text) == is_said
    odd = [measured.MeasuredStep(x.index, x.name, x.measured * (1 + x.index), x.low, x.high) for x in alike]
    assert measured.factor(odd) is None and measured.factor(alike[:2]) is None


@pytest.mark.parametrize("wrong", ["", "mcugen-profile 1 digits 0123456789abcdef runs=2 hz=0 mark=1\n"])
def test_what_is_no_log(wrong: str) -> None:
    with pytest.raises(UsageError, match="no complete log"):
        measured.parse(wrong, "log")


def test_what_a_terminal_writes_in_front(facts: dict) -> None:
    text = text_of(facts, 0.5)
    plain = measured.parse(text, "log")
    stamped = "".join(f"[2024-05-01 10:00:00.{k:03}] 00> {line}\n" for k, line in enumerate(text.splitlines()))
    assert measured.parse(stamped, "log") == plain
    assert measured.parse(stamped.replace("\n", "\n[1] heartbeat\n"), "log") == plain


def test_how_terminals_save_a_log(facts: dict) -> None:
    """Colours of an RTT viewer, and UTF-16 of PowerShell."""
    plain = text_of(facts, 0.5)
    coloured = "".join(f"\x1b[1;32m{line}\x1b[0m\r\n" for line in plain.splitlines())
    for data in (coloured.encode(), plain.encode("utf-16"), coloured.encode() + b"\xff\xfe"):
        assert measured.parse(measured.capture(data), "log") == measured.parse(plain, "log")


def test_a_log_cut_or_changed_on_the_line_is_named(facts: dict) -> None:
    """Every line that is lost and every digit that is another; but the last whole log counts, whatever comes after."""
    text = text_of(facts, 0.5)
    lines = text.splitlines()[1:-1]
    for k in range(len(lines)):
        with pytest.raises(UsageError, match=r"log is damaged|cut off after|no complete log"):
            measured.parse("\n".join(lines[:k] + lines[k + 1 :]), "log")
        digit = next(i for i in reversed(range(len(lines[k]))) if lines[k][i].isdigit())
        other = f"{lines[k][:digit]}{(int(lines[k][digit]) + 1) % 10}{lines[k][digit + 1 :]}"
        with pytest.raises(UsageError, match="log is damaged"):
            measured.parse("\n".join([*lines[:k], other, *lines[k + 1 :]]), "log")
    with pytest.raises(UsageError, match=r"cut off after 2 layers"):
        measured.parse("\n".join(lines[:3]), "log")
    assert measured.parse("\n".join([*lines, *lines[:3]]), "log") == measured.parse(text, "log")


def test_a_log_of_another_build(facts: dict) -> None:
    log = measured.parse(text_of(facts | {"sha256": "0" * 64}, 0.5), "log")
    with pytest.raises(UsageError, match="another model"):
        measured.layers(log, facts)
