# SPDX-License-Identifier: Apache-2.0
"""`mcugen verify --runtime`: what it says of a runtime that agrees, differs, stops, refuses or is missing."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from mcugen import frontends, reference, registry
from mcugen.errors import ToolError, UsageError
from mcugen.graph import Graph
from mcugen.reference.inputs import Case, cases
from mcugen.toolchain.runtimes import Answer
from mcugen.verify import outside

MODEL = Path(__file__).resolve().parents[2] / "examples" / "digits" / "digits.tflite"


class Fake:
    """A runtime that computes what the oracle does, but for what a test plants."""

    version = "fake 1"
    graph: Graph
    planted = ""

    def __init__(self, name: str) -> None:
        self.calls = 0

    def __enter__(self) -> Fake:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def run(self, model: bytes, sets: Sequence[Sequence[np.ndarray]], tensors: Sequence[int]) -> Answer:
        self.calls += 1
        if self.planted == "refuses" or (self.planted == "stops" and self.calls == 1):
            return Answer(refused="why", crashed=self.planted == "stops")
        values = reference.run(self.graph, list(sets[0]), "tflm")
        found = {k: values[f"t{k}"].copy() for k in tensors}
        if self.planted == "differs":
            found[tensors[0]].flat[3] ^= 1
        return Answer([], [found])


def ask(monkeypatch: pytest.MonkeyPatch, planted: str, wanted: str = outside.SAME) -> outside.Asked:
    graph = frontends.load(MODEL, registry.load())
    monkeypatch.setattr(Fake, "graph", graph, raising=False)
    monkeypatch.setattr(Fake, "planted", planted)
    monkeypatch.setattr(outside, "Runtime", Fake)
    drawn: list[Case] = list(cases(graph, 1))
    return outside.check(MODEL, graph, "tflm", wanted, drawn)


def test_a_runtime_that_agrees_is_compared_in_every_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ask(monkeypatch, "")
    assert asked.verdict.agrees and asked.verdict.tensors >= 6 and asked.version == "fake 1"


def test_one_bit_of_an_inner_layer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = ask(monkeypatch, "differs").verdict
    assert not found.agrees and found.first_difference is not None and found.max_abs_diff == 1


def test_an_input_on_which_the_runtime_stops_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ask(monkeypatch, "stops")
    assert asked.verdict.agrees and len(asked.stopped) == 1


def test_a_runtime_that_refuses_the_model_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ToolError, match="refuses the model: why"):
        ask(monkeypatch, "refuses")


def test_a_runtime_whose_bits_are_not_claimed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="the bits are those of TensorFlow Lite Micro"):
        ask(monkeypatch, "", "litert")


def test_a_missing_runtime_names_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    graph = frontends.load(MODEL, registry.load())
    with pytest.raises(ToolError) as caught:
        outside.check(MODEL, graph, "tflm", outside.SAME, list(cases(graph, 1)))
    assert "-m pip install tflite-micro" in caught.value.hint
