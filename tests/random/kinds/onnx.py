# SPDX-License-Identifier: Apache-2.0
"""Float ONNX graphs, judged by ONNX Runtime."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper

from mcugen.graph import Graph
from tests.random import ort
from tests.random.drawing import Drawn, Sets, options

LIKELY = 0.25


def draw(seed: int) -> Drawn:
    rng = np.random.default_rng(seed)
    kind = str(rng.choice(["Tanh", "Relu", "Sigmoid"]))
    shape = rng.integers(1, 5, 3).tolist()
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in "xy")
    graph = helper.make_graph([helper.make_node(kind, ["x"], ["y"])], "g", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    sets = [[rng.normal(size=shape).astype(np.float32)] for _ in range(2)]
    return Drawn(kind, "net.onnx", model.SerializeToString(), sets, options(rng))


def differs(drawn: Drawn, graph: Graph, oracle: Sets) -> str:
    return ort.differs(drawn, graph, oracle)
