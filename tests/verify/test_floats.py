# SPDX-License-Identifier: Apache-2.0
"""Floats: never called exact, and judged by the magnitude of the sums that a clamp hides."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mcugen
from mcugen.oracle import interpreter
from mcugen.pipeline import Artifact
from mcugen.verify import check_report, checks
from mcugen.verify.comparison import Comparison
from tests.support.tflite_writer import ModelWriter

LARGE = 1000.0


@pytest.fixture(scope="module")
def clamped(tmp_path_factory: pytest.TempPathFactory) -> Artifact:
    """A float layer with large sums behind RELU6."""
    m, rng = ModelWriter(), np.random.default_rng(0)
    x, y = m.tensor("x", (1, 64), "f32"), m.tensor("y", (1, 8), "f32")
    w = m.tensor("w", (8, 64), "f32", data=(LARGE * rng.standard_normal((8, 64))).astype(np.float32))
    m.op("FULLY_CONNECTED", [x, w], [y], {"fused_activation_function": "RELU6"})
    path = tmp_path_factory.mktemp("floats") / "clamped.tflite"
    path.write_bytes(m.build([x], [y]))
    return mcugen.compile(path)


def test_floats_are_never_called_exact(clamped: Artifact) -> None:
    result = checks.verify(clamped, 2, None, None, lambda text: None)
    values = check_report.verify_dict(result)
    assert values["agrees"] is True and values["exact"] is False
    assert "within 1e-5 of TFLM, relative to the magnitude of the sums" in check_report.verify_text(result)
    for ending in (".h", ".c"):
        text = clamped.files[clamped.name + ending].decode()
        assert "within 1e-5 of TensorFlow Lite Micro" in text and "the bits of" not in text


@pytest.mark.parametrize(("share", "agrees"), [(0.5e-5, True), (2e-5, False)])
def test_the_tolerance_is_a_share_of_the_sums_before_a_clamp(clamped: Artifact, share: float, agrees: bool) -> None:
    graph, rng = clamped.imported, np.random.default_rng(1)
    x = rng.standard_normal((1, 64)).astype(np.float32)
    oracle, name = interpreter.run(graph, [x], "tflm"), graph.outputs[0]
    weights = next(t.data for t in graph.tensors.values() if t.data is not None)
    sums = x.astype(np.float64) @ weights.astype(np.float64).T
    assert np.abs(sums).max() > 1000 * np.abs(oracle[name]).max()
    comparison = Comparison(clamped.graph, graph)
    comparison.begin_case("planted", oracle)
    got = (oracle[name] + share * np.abs(sums).max()).astype(np.float32)
    comparison.tensor("planted", 0, clamped.graph.outputs[0], got, oracle)
    verdict = comparison.verdict()
    assert verdict.agrees == agrees and not verdict.exact and verdict.floats == 1


@pytest.mark.parametrize(("share", "agrees"), [(0.5, True), (16.0, False)])
def test_where_terms_cancel_their_roundings_are_left(share: float, agrees: bool, tmp_path: Path) -> None:
    """share: of 2**-24 of the terms' sum, far beyond 1e-5 of what is left of it."""
    m = ModelWriter()
    x, y = m.tensor("x", (1, 2), "f32"), m.tensor("y", (1, 1), "f32")
    m.op("FULLY_CONNECTED", [x, m.tensor("w", (1, 2), "f32", data=np.float32([[1, -1]]))], [y], {})
    (tmp_path / "net.tflite").write_bytes(m.build([x], [y]))
    net = mcugen.compile(tmp_path / "net.tflite")
    oracle, name = interpreter.run(net.imported, [np.float32([[100.001, 100]])], "tflm"), net.imported.outputs[0]
    comparison = Comparison(net.graph, net.imported, by_operator=True)
    comparison.begin_case("planted", oracle)
    got = (oracle[name] + share * 200 * 2.0**-24).astype(np.float32)
    assert abs(got - oracle[name]) > 1e-5 * abs(oracle[name])
    comparison.tensor("planted", 0, net.graph.outputs[0], got, oracle)
    assert comparison.verdict().agrees == agrees
