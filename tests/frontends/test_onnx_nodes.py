# SPDX-License-Identifier: Apache-2.0
"""A sample of the node tests of the onnx package: what is imported computes what the test says."""

from __future__ import annotations

from collections import Counter

from tests.support import onnx_nodes

STEP = 7
"""Every so many cases run through the oracle."""


def test_no_node_is_computed_wrongly() -> None:
    outcomes = [onnx_nodes.check(name, with_c=False) for name in list(onnx_nodes.cases())[::STEP]]
    assert not [outcome for outcome in outcomes if outcome.verdict == "wrong"]
    counts = Counter(outcome.verdict for outcome in outcomes)
    assert counts["passed"] >= sum(counts.values()) // 4


def test_emitted_c_computes_what_nodes_say() -> None:
    sample = ("test_averagepool_2d_ceil", "test_softmax_axis_1", "test_depthtospace_crd_mode_example")
    assert [onnx_nodes.check(name) for name in sample if onnx_nodes.check(name).verdict != "passed"] == []
