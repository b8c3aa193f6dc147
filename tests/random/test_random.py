# SPDX-License-Identifier: Apache-2.0
"""Random models: every operator of the table can be drawn, and a seed gives the same model."""

from __future__ import annotations

import re

import onnx

from mcugen import registry
from tests.random import operators

QUANTIZED = re.compile(r"(com\.microsoft:)?(QLinear\w+|QGemm|(Dequantize|(Dynamic)?Quantize)Linear|\w+Integer)")
"""Operators on stored integers, which the kind of quantized models draws."""
LEFT_OUT = {
    "NonMaxSuppression": "mcugen gives a fixed number of rows",
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
