# SPDX-License-Identifier: Apache-2.0
"""Quantized ONNX models: no float is left inside, and results are those that ONNX Runtime recorded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mcugen.reference
from mcugen import frontends, registry
from mcugen.graph import Graph
from tests.frontends.quantized_models import FLOATS, MODELS, made

VECTORS = Path(__file__).resolve().parents[1] / "vectors/onnx_quantized.npz"


def imported(name: str, folder: Path) -> tuple[Graph, list[list[np.ndarray]]]:
    model, sets = made(name)
    path = folder / f"{name}.onnx"
    path.write_bytes(model.SerializeToString())
    return frontends.load(path, registry.load()), sets


@pytest.mark.parametrize("name", MODELS)
def test_results_are_those_of_onnx_runtime(name: str, tmp_path: Path) -> None:
    graph, sets = imported(name, tmp_path)
    recorded = np.load(VECTORS)
    for k, inputs in enumerate(sets):
        values = mcugen.reference.run(graph, inputs, "ort")
        assert np.array_equal(values[graph.outputs[0]], recorded[f"{name} {k}"])


@pytest.mark.parametrize("name", [f"qdq_{name}" for name in FLOATS])
def test_no_float_is_left_inside(name: str, tmp_path: Path) -> None:
    graph, _ = imported(name, tmp_path)
    assert not [node for node in graph.nodes if graph.type(node.outputs[0]).is_float]
    assert not [note for note in graph.notes if "float island" in note]
