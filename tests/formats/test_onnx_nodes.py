# SPDX-License-Identifier: Apache-2.0
"""A sample of the node tests of the onnx package: what is imported computes what the test says."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.support import onnx_nodes

STEP = 7
"""Every so many cases run through the oracle."""

LEAST_SHARE = 0.84
"""Least share of the sample that passes; ci/onnx-nodes prints the share of all cases, operator by operator."""


def test_no_node_is_computed_wrongly(pytestconfig: pytest.Config) -> None:
    """Nodes of pooling with --whole only."""
    names = list(onnx_nodes.cases(pooling=pytestconfig.getoption("--whole")))
    outcomes = [onnx_nodes.check(name, with_c=False) for name in names[::STEP]]
    assert not [outcome for outcome in outcomes if outcome.verdict == "wrong"]
    counts = Counter(outcome.verdict for outcome in outcomes)
    assert counts["passed"] >= LEAST_SHARE * sum(counts.values())


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            "test_averagepool_3d_dilations_large_count_include_pad_is_1_ceil_mode_is_True", marks=pytest.mark.whole
        ),
        "test_depthtospace_crd_mode_example",
        "test_resize_upsample_scales_cubic_align_corners",
        "test_scatternd_multiply",
        "test_layer_normalization_4d_axis1",
        "test_constantofshape_float_ones",
        "test_gridsample_bicubic_align_corners_0_additional_1",
        "test_deform_conv_with_multiple_offset_groups",
        "test_tfidfvectorizer_tf_batch_uniandbigrams_skip5",
    ],
)
def test_emitted_c_computes_what_nodes_say(name: str) -> None:
    assert onnx_nodes.check(name) == onnx_nodes.Outcome(name, onnx_nodes.operator_of(name), "passed")
