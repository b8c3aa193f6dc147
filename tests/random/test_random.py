# SPDX-License-Identifier: Apache-2.0
"""Random models: every operator of the table can be drawn, and a seed gives the same model."""

from __future__ import annotations

import re

import numpy as np
import onnx
from onnx import helper

from mcugen.formats import registry
from mcugen.ir.graph import Graph
from tests.random import operators, ort
from tests.random.drawing import Drawn
from tests.random.kinds import classical

QUANTIZED = re.compile(r"(com\.microsoft:)?(QLinear\w+|QGemm|(Dequantize|(Dynamic)?Quantize)Linear|\w+Integer)")
"""Operators on stored integers, which the kind of quantized models draws."""
LEFT_OUT = {
    "NonMaxSuppression": "mcugen gives a fixed number of rows",
    "com.microsoft:SkipLayerNormalization": "an Add and a LayerNormalization, which are drawn",
    "com.microsoft:SkipSimplifiedLayerNormalization": "an Add and a RMSNormalization, which are drawn",
    "ai.onnx.preview.training:Adagrad": "ONNX Runtime has no training",
    "ai.onnx.preview.training:Adam": "ONNX Runtime has no training",
    "ai.onnx.preview.training:Momentum": "ONNX Runtime has no training",
}
"""Operators that ONNX Runtime is no witness of."""
NOT_DRAWN = {
    "Bernoulli", "NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss", "SequenceMap", "DynamicQuantizeLinear",
    "SwiGLU", "CausalConvWithState", "LinearAttention",
}  # fmt: skip
"""Operators defined by functions that draw numbers, train, have sequences, or are newer than ONNX Runtime."""


def test_every_operator_of_the_table_is_drawn() -> None:
    names = {name for name in registry.load().names("onnx") if not QUANTIZED.fullmatch(name)}
    assert names - set(operators.known()) == set(LEFT_OUT)


def test_every_operator_that_is_a_function_of_others_is_drawn() -> None:
    schemas = onnx.defs.get_all_schemas()
    functions = {s.name for s in schemas if (s.has_function or s.has_context_dependent_function) and not s.domain}
    assert functions - NOT_DRAWN - set(operators.known()) == set()


def test_sums_of_leaves_are_judged_bit_for_bit_and_shares_made_of_them_are_not() -> None:
    """An exponential, which makes them shares, has the last bits of a library."""
    scores = np.float32([[0.5, 1.5]])
    for post, noticed in (("NONE", True), ("SOFTMAX", False)):
        node = helper.make_node("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", post_transform=post)
        data = helper.make_model(helper.make_graph([node], "g", [], [])).SerializeToString()
        drawn = Drawn("trees", "net.onnx", data, exact=classical.is_exact(data))
        found = ort.compared(drawn, Graph("trees", {}, (), (), ()), [[scores]], [[np.nextafter(scores, np.float32(2))]])
        assert bool(found) == noticed
        assert not ort.compared(drawn, Graph("trees", {}, (), (), ()), [[scores]], [[scores]])
