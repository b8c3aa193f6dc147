# SPDX-License-Identifier: Apache-2.0
"""GRUs and resizes compute what ONNX Runtime recorded (ci/onnx-vectors), and faults planted in them are seen."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mcugen
from mcugen.formats import read, registry
from mcugen.formats.onnx.operators import resize
from mcugen.ops.gru import Gru
from mcugen.oracle import interpreter
from mcugen.verify import host
from mcugen.verify.cases import Case
from tests.formats import onnx_windows
from tests.formats.onnx_models import write
from tests.formats.recorded_gru import MODELS, made

VECTORS = Path(__file__).resolve().parents[1] / "vectors/onnx_recurrent.npz"
WINDOWS = VECTORS.with_name("onnx_windows.npz")
TOLERANCE = 1e-5


def furthest(name: str, folder: Path) -> float:
    """The largest difference from the recorded result, as a share of its largest magnitude."""
    model, x = made(name)
    graph = read.load(write(model, folder), registry.load())
    got, wanted = interpreter.run(graph, [x], "ort")[graph.outputs[0]], np.load(VECTORS)[name]
    assert got.shape == wanted.shape
    return float(np.abs(got - wanted).max() / np.abs(wanted).max())


@pytest.mark.parametrize("name", MODELS)
def test_results_are_those_of_onnx_runtime(name: str, tmp_path: Path) -> None:
    assert furthest(name, tmp_path) <= TOLERANCE


@pytest.mark.parametrize("name", ["gru", "gru_after", "gru_clip"])
def test_a_gru_without_its_reset_gate_is_seen(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = Gru._act

    def open_gate(self: Gru, k: int, sums: np.ndarray) -> Any:
        values = exact(self, k, sums)
        if k == 0:  # the second half of the gates
            values[:, values.shape[1] // 2 :] = 1.0
        return values

    monkeypatch.setattr(Gru, "_act", open_gate)
    assert furthest(name, tmp_path) > 100 * TOLERANCE


@pytest.mark.parametrize("name", ["gru_clip", "gru_clip_after"])
def test_a_clip_that_is_doubled_is_seen(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = Gru._act
    monkeypatch.setattr(Gru, "_act", lambda self, k, sums: exact(Gru(self.activations, 2 * self.clip), k, sums))
    assert furthest(name, tmp_path) > 100 * TOLERANCE


@pytest.mark.parametrize(
    "name", ["linear 10 0.7 half_pixel", "cubic 31 2.3 asymmetric", "nearest floor 10 1.3 half_pixel"]
)
def test_a_resize_that_is_shifted_is_seen(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exact, (net, x) = resize._coordinates, onnx_windows.model(onnx_windows.layers()[name])
    monkeypatch.setattr(resize, "_coordinates", lambda *given: exact(*given) + 0.25)
    graph = read.load(write(net, tmp_path), registry.load())
    got, wanted = interpreter.run(graph, [x], "ort")[graph.outputs[0]], np.load(WINDOWS)[name]
    assert float(np.abs(got - wanted).max() / np.abs(wanted).max()) > 100 * TOLERANCE


def test_a_clip_that_is_doubled_in_the_c_is_seen(tmp_path: Path) -> None:
    """The data that the vectors are recorded with reach the bound."""
    model, x = made("gru_clip")
    artifact = mcugen.compile(write(model, tmp_path))
    text = artifact.files[f"{artifact.name}.c"]
    assert text.count(b".clip = 0.7") == 1
    doubled = {**artifact.files, f"{artifact.name}.c": text.replace(b".clip = 0.7", b".clip = 1.4")}
    case = Case("recorded", [x])
    assert host.verify(artifact, [case]).agrees
    assert not host.verify(dataclasses.replace(artifact, files=doubled), [case]).agrees
