# SPDX-License-Identifier: Apache-2.0
"""Random quantized ONNX models, judged by exact arithmetic, and by ONNX Runtime where it is installed.

QuantizeLinear gets the exact real value of the operators before it, rounded once. Where mcugen notes a float island,
and
of operators that compute in floats by their nature, any integer is right that float32 can come to; so it is for ONNX
Runtime. Where every operator is one on stored integers, both must be equal in every bit.
"""

from __future__ import annotations

import importlib.util

import numpy as np
import onnx

from mcugen.ir.graph import Graph
from tests.random import exact_judge, ort, quantized
from tests.random.drawing import Drawn, Sets, UnjudgedError, options

LIKELY = 0.25
_FLOAT_NODES = ("QuantizeLinear", "DynamicQuantizeLinear", "Cast")


def draw(seed: int) -> Drawn:
    rng = np.random.default_rng([seed, 3])
    found = quantized.draw(seed)
    kinds = " ".join(
        n.op_type for n in found.model.graph.node if n.op_type not in ("QuantizeLinear", "DequantizeLinear")
    )
    return Drawn(f"{found.label}: {kinds}", "net.onnx", found.model.SerializeToString(), found.sets, options(rng))


def differs(drawn: Drawn, graph: Graph, oracle: Sets) -> str:
    """The first stored integer that is not right, or at which ONNX Runtime cannot arrive."""
    model = onnx.load_from_string(drawn.data)
    island = any("float island" in note for note in graph.notes)
    witness = _witness(drawn)
    linear = not any(node.op_type in _FLOAT_NODES for node in model.graph.node)
    for k, (inputs, got) in enumerate(zip(drawn.sets, oracle, strict=True)):
        why = exact_judge.difference(model, exact_judge.values(model, inputs, near=island), got)
        if why:
            return f"set {k}: {why}"
        if witness is None or (same := all(map(np.array_equal, got, witness[k]))):
            continue
        if linear and not same:
            return f"set {k}: ONNX Runtime computes other bits"
        why = exact_judge.difference(model, exact_judge.values(model, inputs, near=True), witness[k])
        if why:
            return f"set {k}: the judge and ONNX Runtime differ: {why}"
    return ""


def _witness(drawn: Drawn) -> Sets | None:
    """The outputs of ONNX Runtime; None where it is not installed or refuses the model."""
    if importlib.util.find_spec("onnxruntime") is None:
        return None
    try:
        return ort.outputs(drawn.data, drawn.sets)
    except UnjudgedError:
        return None
