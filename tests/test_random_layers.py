# SPDX-License-Identifier: Apache-2.0
"""The random layers of ci/soak: the same for a seed, and of all kinds."""

from __future__ import annotations

from collections import Counter

import numpy as np

from mcugen import kernels
from tests.support.cases import graph_of
from tests.support.random_layers import cases, random_layer


def test_a_seed_makes_the_same_layer_and_another_seed_another() -> None:
    a, b, other = random_layer(7), random_layer(7), random_layer(8)
    assert a.op == b.op and a.inputs == b.inputs and a.outputs == b.outputs
    assert all(np.array_equal(np.asarray(a.constants[k]), np.asarray(b.constants[k])) for k in a.constants)
    assert a.inputs != other.inputs


def test_a_layer_whose_constants_depend_on_the_reference_is_a_case_for_each() -> None:
    """The seed's 64 x 25 weights have words in the middle that differ where results round once."""
    symbol = "mg_fully_connected_s8__swar"
    made = [case for case in cases(5020, 1, frozenset(), 1) if case.label.endswith(symbol)]
    assert [list(case.expected) for case in made] == [["tflm"], ["litert"]]


def test_they_reach_the_kernels_of_all_cores() -> None:
    taken: Counter[str] = Counter()
    for seed in range(60):
        graph = graph_of(random_layer(seed))
        call = graph.call(graph.nodes[0], "tflm")
        taken.update(k.symbol for k in kernels.of(call.op) if not k.refusals(call, kernels.features()))
    for part in (
        "__dsp16",
        "__dsp8",
        "__dsp9",
        "dsp16_patch",
        "_direct",
        "__planar",
        "__column",
        "__winograd",
        "conv2d_s8__swar",
        "connected_s8__swar",
        "conv2d_s8__mve",
        "mve_woven",
        "dense_s8__mve",
    ):
        assert sum(n for symbol, n in taken.items() if part in symbol) >= 3, part
    assert min(taken["mg_conv2d_s8__acc64"], taken["mg_depthwise_conv2d_s8__acc64"]) >= 10
