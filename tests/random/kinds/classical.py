# SPDX-License-Identifier: Apache-2.0
"""Estimators of scikit-learn, LightGBM and XGBoost with random settings, converted to ONNX, judged by ONNX Runtime."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx

from mcugen.ir.graph import Graph
from tests.random import estimators, ort
from tests.random.drawing import Drawn, Sets, UnjudgedError, options

LIKELY = 0.25
LOADS = ("onnxruntime", "skl2onnx", "sklearn.ensemble", "onnxmltools", "xgboost", "lightgbm")
_ROWS = 2
_TRIES = 20
_LEAVES = {"TreeEnsembleClassifier", "TreeEnsembleRegressor"}
_PREPARED = {"Scaler", "Imputer", "Binarizer", "OneHotEncoder", "LabelEncoder", "ArrayFeatureExtractor"}
_EXACT = _LEAVES | _PREPARED | {"Cast", "Identity", "Reshape", "ZipMap"}


def draw(seed: int) -> Drawn:
    """The estimator of a seed, trained on random rows; which one goes round with the seed."""
    makers = list(estimators.known().items())
    for attempt in range(_TRIES):
        rng = np.random.default_rng([seed, attempt])
        name, make = makers[(seed + attempt) % len(makers)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return _drawn(rng, name, make)
            except estimators.UnfitError:
                continue
    raise RuntimeError(f"seed {seed} gives no estimator in {_TRIES} tries")


def _drawn(rng: np.random.Generator, name: str, make: Callable[[estimators.Settings], Any]) -> Drawn:
    settings = estimators.Settings(rng)
    data, rows = estimators.converted(settings, make)
    sets = [[rows[k : k + 1]] for k in rng.choice(len(rows), _ROWS, replace=False)]
    return Drawn(f"{name} {settings.text}", "net.onnx", data, sets, options(rng), is_exact(data))


def is_exact(data: bytes) -> bool:
    """Whether ONNX Runtime rounds all floats of a model in a known order: sums of leaves, and features prepared."""
    nodes = onnx.load_from_string(data).graph.node
    plain = all(a.s in (b"", b"NONE") for node in nodes for a in node.attribute if a.name == "post_transform")
    return plain and all(node.op_type in _EXACT for node in nodes)


def differs(drawn: Drawn, graph: Graph, oracle: Sets) -> str:
    """Trees without an exponential after them, and what prepares features, bit for bit; all others by the tolerance of
    floats.
    """
    try:
        return ort.differs(drawn, graph, oracle)
    except ValueError as error:
        raise UnjudgedError(str(error)) from error
