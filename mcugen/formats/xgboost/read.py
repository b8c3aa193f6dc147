"""XGBoost: a model saved as .json is converted to an equivalent ONNX model, which is imported.

The format is XGBoost's own, described in its manual ("Introduction to Model IO"). Comparisons are `feature < threshold`
in float32; a missing feature is NaN.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mcugen.errors import CorruptModelError, UnsupportedError
from mcugen.formats import _boosted
from mcugen.formats.onnx import read
from mcugen.formats.registry import Registry
from mcugen.ir.graph import Graph
from mcugen.ir.types import Shape

REFERENCES = read.REFERENCES
_HINT = "write it with Booster.save_model('model.json')"
UNLIKE = ("a model of XGBoost (it has no 'learner')", _HINT)

_OBJECTIVES = {
    "reg:squarederror": (_boosted.NONE, False),
    "reg:linear": (_boosted.NONE, False),
    "reg:absoluteerror": (_boosted.NONE, False),
    "reg:pseudohubererror": (_boosted.NONE, False),
    "reg:squaredlogerror": (_boosted.NONE, False),
    "reg:quantileerror": (_boosted.NONE, False),
    "rank:pairwise": (_boosted.NONE, False),
    "rank:ndcg": (_boosted.NONE, False),
    "rank:map": (_boosted.NONE, False),
    "reg:logistic": (_boosted.SIGMOID, False),
    "count:poisson": (_boosted.EXP, False),
    "reg:gamma": (_boosted.EXP, False),
    "reg:tweedie": (_boosted.EXP, False),
    "binary:logistic": (_boosted.SIGMOID, True),
    "binary:logitraw": (_boosted.NONE, False),
    "multi:softprob": (_boosted.SOFTMAX, True),
    "multi:softmax": (_boosted.SOFTMAX, True),
}
"""Objective -> the function from raw scores to predictions, and whether these are class probabilities."""


def recognises(data: bytes) -> bool:
    """Whether a file is a saved model of XGBoost."""
    begins = data[:4096].lstrip()
    return begins.startswith(b"{") and b'"learner"' in data


def load(data: bytes, registry: Registry, *, path: Path, sha256: str, shapes: Mapping[str, Shape]) -> Graph:
    """Import a model. Raises UsageError, CorruptModelError, UnsupportedError."""
    return read.load(as_onnx(data, path.stem), registry, path=path, sha256=sha256, shapes=shapes)


def as_onnx(data: bytes, name: str) -> bytes:
    """The ONNX file of a saved model. Raises CorruptModelError and UnsupportedError."""
    try:
        return _converted(json.loads(data)["learner"], name)
    except (ArithmeticError, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        message = f"this XGBoost model is incomplete or damaged: {type(error).__name__}: {error}"
        raise CorruptModelError(message, hint=_HINT) from error


def _converted(learner: dict[str, Any], name: str) -> bytes:
    parameters, booster = learner["learner_model_param"], learner["gradient_booster"]
    objective, kind = learner["objective"]["name"], booster["name"]
    if objective not in _OBJECTIVES:
        known = ", ".join(_OBJECTIVES)
        raise UnsupportedError(f"the objective {objective} is not supported", hint=f"supported: {known}")
    if kind not in ("gbtree", "dart"):
        raise UnsupportedError(f"the booster {kind} is not supported", hint="train with booster='gbtree'")
    transform, classifies = _OBJECTIVES[objective]
    weights = booster.get("weight_drop")
    model = (booster["gbtree"] if kind == "dart" else booster)["model"]
    count = max(1, int(parameters["num_class"]), int(parameters.get("num_target", "1")))
    base = [_margin(objective, score) for score in _base_scores(parameters["base_score"], count)]
    trees = _boosted.Trees(int(parameters["num_feature"]))
    for number, (tree, target) in enumerate(zip(model["trees"], model["tree_info"], strict=True)):
        _add(trees, number, tree, int(target), float(weights[number]) if weights else 1.0)
    return _boosted.model(trees, base, transform, classifies=classifies, name=name)


def _base_scores(text: str, count: int) -> list[float]:
    """The initial prediction for each raw score: "5E-1", or "[5E-1,2E-1]" since version 3.1."""
    values = [float(part) for part in text.strip("[]").split(",")]
    return values * count if len(values) == 1 else values


def _margin(objective: str, score: float) -> float:
    """The raw score for a base score; files store it as a prediction, after the transform."""
    transform = _OBJECTIVES[objective][0]
    if transform == _boosted.SIGMOID:
        return -math.log(1.0 / score - 1.0)
    return math.log(score) if transform == _boosted.EXP else score


def _add(trees: _boosted.Trees, number: int, tree: dict[str, Any], target: int, weight: float) -> None:
    if int(tree["tree_param"].get("size_leaf_vector", "0")) > 1:
        raise UnsupportedError(
            "leaves with several values are not supported", hint="train with multi_strategy='one_output_per_tree'"
        )
    if tree.get("categories_nodes"):
        raise UnsupportedError(
            "trees that split by categories are not supported", hint="encode categories as numbers, one-hot or ordinal"
        )
    lefts, rights = tree["left_children"], tree["right_children"]
    for node, (left, right) in enumerate(zip(lefts, rights, strict=True)):
        value = float(tree["split_conditions"][node])
        if left < 0:
            trees.leaf(number, node, target, value * weight)
        else:
            feature, missing = int(tree["split_indices"][node]), bool(tree["default_left"][node])
            trees.branch(number, node, feature, "BRANCH_LT", value, (left, right), missing)
