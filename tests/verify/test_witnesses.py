# SPDX-License-Identifier: Apache-2.0
"""Witnesses of `mcugen verify`: the output if one agrees, differs, stops, refuses, or is missing."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mcugen.errors import ToolError, UsageError
from mcugen.formats import read, registry
from mcugen.ir.graph import Graph
from mcugen.machines.toolchain.runtimes import Answer
from mcugen.oracle import interpreter
from mcugen.verify import witnesses
from mcugen.verify.cases import Case, cases
from mcugen.verify.witnesses import Ask, evaluator, installed, testimony
from tests.formats.onnx_models import Writer, write

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
        values = interpreter.run(self.graph, list(sets[0]), "tflm")
        found = {k: values[f"t{k}"].copy() for k in tensors}
        if self.planted == "differs":
            found[tensors[0]].flat[3] ^= 1
        return Answer([], [found])


def ask(monkeypatch: pytest.MonkeyPatch, planted: str, wanted: str = witnesses.SAME) -> list[testimony.Testimony]:
    graph = read.load(MODEL, registry.load())
    monkeypatch.setattr(Fake, "graph", graph, raising=False)
    monkeypatch.setattr(Fake, "planted", planted)
    monkeypatch.setattr(installed, "Runtime", Fake)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    drawn: list[Case] = list(cases(graph, 1))
    return witnesses.hear(Ask(MODEL, wanted), graph, "tflm", drawn, lambda text: None)[0]


def test_a_runtime_that_agrees_is_compared_in_every_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    (heard,) = ask(monkeypatch, "", "")
    assert heard.agrees and heard.verdict.tensors == heard.of >= 6 and heard.witness == "fake 1"


def test_one_bit_of_an_inner_layer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = ask(monkeypatch, "differs")[0].verdict
    assert not found.agrees and found.first_difference is not None and found.max_abs_diff == 1


def test_an_input_on_which_the_runtime_stops_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    (heard,) = ask(monkeypatch, "stops")
    assert heard.agrees and len(heard.stopped) == 1


def test_a_runtime_that_refuses_the_model_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ToolError, match="refuses the model: why"):
        ask(monkeypatch, "refuses")
    assert not ask(monkeypatch, "refuses", "")  # nobody insisted


def test_a_runtime_whose_bits_are_not_claimed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="this build reproduces TensorFlow Lite Micro"):
        ask(monkeypatch, "", "litert")


def test_a_missing_runtime_names_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    graph = read.load(MODEL, registry.load())
    with pytest.raises(ToolError) as caught:
        witnesses.hear(Ask(MODEL, witnesses.SAME), graph, "tflm", list(cases(graph, 1)), lambda text: None)
    assert "-m pip install tflite-micro" in caught.value.hint
    heard, notes = witnesses.hear(Ask(MODEL), graph, "tflm", list(cases(graph, 1)), lambda text: None)
    assert not heard and notes == ["TensorFlow Lite Micro is not installed: pip install tflite-micro"]


def test_operators_that_the_evaluator_lacks_or_gets_wrong_are_named(tmp_path: Path) -> None:
    w = Writer()
    x = w.input((2, 1, 3))
    y = w.node("GRU", [x, w.weights(1, 12, 3), w.weights(1, 12, 4)], 2, hidden_size=4, clip=0.5)[0]
    path = write(w.model(w.node("Relu", [y])), tmp_path)
    graph = read.load(path, registry.load())
    heard = evaluator.check(path.read_bytes(), tmp_path, graph, "ort", list(cases(graph, 1)))
    assert heard.agrees and heard.verdict.tensors == heard.of - 2  # the ReLU, on the operands that the oracle has
    assert heard.left_out == ("node 0 GRU 'GRU 0': the evaluator ignores clip, activations and sequence_lens of GRU",)


def test_boundary_values_of_floats_stay_away_from_readers_of_their_integers(tmp_path: Path) -> None:
    """One result of a DequantizeLinear is rounded anew to coarser steps, and is sliced as it is stored."""
    w = Writer(21)
    zero = w.constant(np.zeros((), np.int16))
    fine, coarse = (w.constant(np.array(2.0**-bits, np.float32)) for bits in (15, 13))
    real = w.node("DequantizeLinear", [w.node("QuantizeLinear", [w.input((2, 8)), fine, zero]), fine, zero])
    first, last = (w.constant(np.array([k], np.int64)) for k in (0, 1))
    part = w.node("QuantizeLinear", [w.node("Slice", [real, first, last, first]), fine, zero])
    path = write(w.model(part, w.node("QuantizeLinear", [real, coarse, zero])), tmp_path)
    graph = read.load(path, registry.load())
    heard = evaluator.check(path.read_bytes(), tmp_path, graph, "ort", list(cases(graph, 1)))
    assert heard.agrees and not heard.left_out, heard.verdict.first_difference


def test_what_takes_the_evaluator_too_long_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    w = Writer()
    x = w.input((1, 2, 8, 8))
    y = w.node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2])
    path = write(w.model(w.node("Relu", [y])), tmp_path)
    graph = read.load(path, registry.load())
    drawn = list(cases(graph, 1))
    monkeypatch.setattr(evaluator, "LIMIT_S", 1e-3)
    heard = evaluator.check(path.read_bytes(), tmp_path, graph, "ort", drawn)
    assert heard.agrees and heard.verdict.cases >= 1 and "MaxPool" not in heard.left_out[0]
    monkeypatch.setattr(evaluator, "LIMIT_S", 1e-4)
    heard = evaluator.check(path.read_bytes(), tmp_path, graph, "ort", drawn)
    assert "it takes the evaluator about" in heard.left_out[0] and heard.verdict.tensors == 1


def test_elements_that_a_runtime_leaves_unwritten_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    everything = np.ones((1, 10), bool)
    monkeypatch.setattr(installed, "unwritten", lambda op, call: everything if call.output.size == 10 else None)
    monkeypatch.setattr(Fake, "planted", "")
    exact = Fake.run

    def run(self: Fake, *given: Any) -> Answer:
        answer = exact(self, *given)
        last = max(answer.tensors[0])
        return Answer([], [{**answer.tensors[0], last: answer.tensors[0][last] ^ 1}])

    monkeypatch.setattr(Fake, "run", run)
    (heard,) = ask(monkeypatch, "", "")
    assert heard.agrees
