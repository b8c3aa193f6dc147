# SPDX-License-Identifier: Apache-2.0
"""Writes small ONNX models, and runs them with the evaluator of the onnx package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

KINDS = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.int64): TensorProto.INT64}


class Writer:
    """Appends nodes; values are named by what they return."""

    def __init__(self, opset: int = 20, seed: int = 1) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.inputs: list[onnx.ValueInfoProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.opset, self.rng = opset, np.random.default_rng(seed)

    def input(self, shape: Sequence[int | str]) -> str:
        name = f"input{len(self.inputs)}"
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        return name

    def constant(self, data: np.ndarray) -> str:
        self.constants.append(numpy_helper.from_array(data, f"c{len(self.constants)}"))
        return str(self.constants[-1].name)

    def weights(self, *shape: int) -> str:
        return self.constant(self.rng.normal(0, 0.5, shape).astype(np.float32))

    def node(self, kind: str, inputs: Sequence[str], results: int = 1, **attributes: Any) -> Any:
        names = [f"v{len(self.nodes)}_{k}" for k in range(results)]
        self.nodes.append(helper.make_node(kind, inputs, names, name=f"{kind} {len(self.nodes)}", **attributes))
        return names[0] if results == 1 else names

    def model(self, *outputs: str) -> onnx.ModelProto:
        graph = helper.make_graph(self.nodes, "g", self.inputs, [], self.constants)
        others = sorted({node.domain for node in self.nodes} - {""})
        versions = [helper.make_opsetid("", self.opset), *(helper.make_opsetid(domain, 1) for domain in others)]
        model = helper.make_model(graph, opset_imports=versions, ir_version=9)
        inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
        known = {value.name: value for value in inferred.graph.value_info}
        unknown = (helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs)
        model.graph.output.extend(known.get(value.name, value) for value in unknown)
        return model


def expected(model: onnx.ModelProto, inputs: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """The results of the onnx package's own evaluator."""
    return [np.asarray(y) for y in ReferenceEvaluator(model).run(None, dict(inputs))]


def write(model: onnx.ModelProto, folder: Path) -> Path:
    path = folder / "net.onnx"
    path.write_bytes(model.SerializeToString())
    return path
