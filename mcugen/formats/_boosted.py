"""Boosted trees of XGBoost and LightGBM as an ONNX model: a tree ensemble, and a function of its raw scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

_ML, _ML_VERSION, _VERSION = "ai.onnx.ml", 3, 17
SIGMOID, SOFTMAX, EXP, NONE = "Sigmoid", "Softmax", "Exp", ""
"""Functions that turn raw scores into predictions."""


@dataclass
class Trees:
    """Nodes of all trees, as attributes of TreeEnsembleRegressor."""

    features: int
    columns: dict[str, list[Any]] = field(
        default_factory=lambda: {
            key: []
            for key in (
                "nodes_treeids",
                "nodes_nodeids",
                "nodes_featureids",
                "nodes_values",
                "nodes_modes",
                "nodes_truenodeids",
                "nodes_falsenodeids",
                "nodes_missing_value_tracks_true",
                "target_treeids",
                "target_nodeids",
                "target_ids",
                "target_weights",
            )
        }
    )

    def branch(
        self, tree: int, node: int, feature: int, mode: str, value: float, ends: tuple[int, int], missing: bool
    ) -> None:
        """Add a node that compares a feature with a value.

        mode: the comparison, such as "BRANCH_LEQ"; ends: the next node if it holds, and if not; missing: whether it
        holds for NaN
        """
        row = (tree, node, feature, float(value), mode, *ends, int(missing))
        for key, entry in zip([*self.columns][:8], row, strict=True):
            self.columns[key].append(entry)

    def leaf(self, tree: int, node: int, target: int, weight: float) -> None:
        """Add a leaf, which adds `weight` to the raw score `target`."""
        for key, entry in zip([*self.columns][:8], (tree, node, 0, 0.0, "LEAF", 0, 0, 0), strict=True):
            self.columns[key].append(entry)
        for key, entry in zip([*self.columns][8:], (tree, node, target, float(weight)), strict=True):
            self.columns[key].append(entry)


def model(
    trees: Trees, base: Sequence[float], transform: str, *, classifies: bool, factor: float = 1.0, name: str
) -> bytes:
    """An ONNX file that computes transform(factor * (base + sums of leaves)).

    classifies: whether the outputs are a label [1] and class probabilities [1, classes], as from scikit-learn's
    exporters; else the output is one prediction for each raw score, [1, len(base)]
    """
    from onnx import TensorProto, helper, numpy_helper

    nodes: list[Any] = []
    constants: list[Any] = []

    def add(op: str, *inputs: str, **attributes: Any) -> str:
        nodes.append(helper.make_node(op, list(inputs), [f"v{len(nodes)}"], **attributes))
        return f"v{len(nodes) - 1}"

    def constant(value: Any) -> str:
        constants.append(numpy_helper.from_array(np.asarray(value, np.float32), f"c{len(constants)}"))
        return f"c{len(constants) - 1}"

    scores = add(
        "TreeEnsembleRegressor", "x", domain=_ML, n_targets=len(base), base_values=[float(b) for b in base],
        **trees.columns,
    )  # fmt: skip
    scores = scores if factor == 1.0 else add("Mul", scores, constant(factor))
    axis = {"axis": 1} if transform == SOFTMAX else {}
    values = add(transform, scores, **axis) if transform else scores
    if classifies and len(base) == 1:
        values = add("Concat", add("Sub", constant(1.0), values), values, axis=1)
    classes = 2 if classifies and len(base) == 1 else len(base)
    outputs = [helper.make_tensor_value_info("probabilities" if classifies else "y", TensorProto.FLOAT, [1, classes])]
    nodes[-1].output[0] = outputs[0].name
    if classifies:
        nodes.append(helper.make_node("ArgMax", ["probabilities"], ["label"], axis=1, keepdims=0))
        outputs.insert(0, helper.make_tensor_value_info("label", TensorProto.INT64, [1]))
    features = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, trees.features])
    graph = helper.make_graph(nodes, name, [features], outputs, constants)
    versions = [helper.make_opsetid("", _VERSION), helper.make_opsetid(_ML, _ML_VERSION)]
    file: bytes = helper.make_model(graph, opset_imports=versions, ir_version=8).SerializeToString()
    return file
