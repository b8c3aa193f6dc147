# SPDX-License-Identifier: Apache-2.0
"""Trees on integers: the thresholds among stored values decide as the floats did."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mcugen import passes
from mcugen.ir.graph import Graph, Node, Tensor
from mcugen.ir.op import Op
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops import _forest
from mcugen.ops.cast import Cast
from mcugen.ops.dequantize import Dequantize
from mcugen.ops.tree_ensemble import TreeEnsemble
from mcugen.oracle import interpreter

FEATURES = 6


def graph_of(maker: Op, x: TensorType, forest: _forest.Forest, count: int) -> Graph:
    constants = [
        Tensor(f"c{k}", TensorType(a.shape, "f32" if a.dtype.kind == "f" else "s32"), a)
        for k, a in enumerate(forest.arrays)
    ]
    tensors = [Tensor("x", x), Tensor("f", TensorType(x.shape, "f32")), *constants]
    tensors.append(Tensor("y", TensorType((1, count), "f32")))
    nodes = (
        Node("n0", maker, ("x",), ("f",)),
        Node("n1", TreeEnsemble(count), ("f", *(t.name for t in constants)), ("y",)),
    )
    return Graph("trees", {t.name: t for t in tensors}, nodes, ("x",), ("y",), format="onnx")


@pytest.mark.parametrize("dtype", ["s8", "u8", "s16", "s32"])
@pytest.mark.parametrize("flags", [False, True])
def test_integers_decide_as_floats_do(dtype: str, flags: bool) -> None:
    quant = QuantParams((0.37,), (3,)) if dtype != "s32" else None
    maker: Op = Dequantize() if quant else Cast("f32")
    x = TensorType((1, FEATURES), dtype, quant)
    low, high = x.limits
    forest = _forest.random(3, FEATURES, 2, dtype, trees=5, depth=5, flags=flags and dtype != "s32")
    scale = 0.37 if quant else 1.0
    drawn = np.where(forest.inner, forest.thresholds, 0)
    thresholds = ((drawn - (quant.zero_point[0] if quant else 0)) * scale).astype(np.float32)
    thresholds[::7] = np.float32(1e30)
    thresholds[3::7] = np.float32(-1e30)
    graph = graph_of(maker, x, replace(forest, thresholds=thresholds), 2)
    done = passes.run(graph, "ort")
    assert [type(node.op).__name__ for node in done.nodes] == ["TreeEnsemble"]
    assert done.type(str(done.nodes[0].inputs[0])).dtype == dtype
    rng = np.random.default_rng(1)
    for case in range(60):
        data = (
            rng.integers(low, high, (1, FEATURES), endpoint=True) if case % 2 else rng.integers(-90, 90, (1, FEATURES))
        )
        stored = np.clip(data, low, high).astype(x.np_dtype)
        found, wanted = interpreter.run(done, [stored], "ort"), interpreter.run(graph, [stored], "ort")
        assert np.array_equal(found[done.outputs[0]], wanted["y"])
