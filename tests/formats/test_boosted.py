# SPDX-License-Identifier: Apache-2.0
"""Models saved by XGBoost (.json) and LightGBM (.txt) predict what these tools predict, without an exporter."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pytest

import mcugen
from mcugen.errors import CorruptModelError, McugenError, UnsupportedError, UsageError
from mcugen.formats import read, registry
from mcugen.oracle import interpreter

NAN = math.nan


def predictions(path: Path, x: np.ndarray) -> list[np.ndarray]:
    """The outputs of a model file for each row of features, by the oracle."""
    graph = read.load(path, registry.load())
    rows = [interpreter.run(graph, [row[None]], "ort") for row in x.astype(np.float32)]
    return [np.concatenate([values[name] for values in rows]) for name in graph.outputs]


def xgboost_file(objective: str, base: str, classes: int, **changes: Any) -> dict[str, Any]:
    """A saved model of two trees a class: x0 < 0.5, on whose right side x1 < 2 is asked; NaN goes left, then right."""
    tree = {
        "tree_param": {"size_leaf_vector": "1"},
        "left_children": [1, -1, 3, -1, -1],
        "right_children": [2, -1, 4, -1, -1],
        "split_indices": [0, 0, 1, 0, 0],
        "split_conditions": [0.5, 0.25, 2.0, -0.5, 1.5],
        "default_left": [1, 0, 0, 0, 0],
    }
    count = 2 * max(1, classes)
    model = {"trees": [tree | changes] * count, "tree_info": [k % max(1, classes) for k in range(count)]}
    return {
        "version": [3, 0, 0],
        "learner": {
            "learner_model_param": {"base_score": base, "num_class": str(classes), "num_feature": "2"},
            "gradient_booster": {"name": "gbtree", "model": model},
            "objective": {"name": objective},
        },
    }


def leaf(x: np.ndarray) -> float:
    """The leaf of that tree."""
    if math.isnan(x[0]) or x[0] < 0.5:
        return 0.25
    return -0.5 if x[1] < 2.0 else 1.5


ROWS = np.array([[0, 0], [0.5, 0], [np.nextafter(np.float32(0.5), np.float32(0)), 5], [3, 2], [NAN, 1], [1, NAN]])
SCORES = np.array([2 * leaf(row) for row in ROWS])


@pytest.mark.parametrize(
    ("objective", "base", "wanted"),
    [
        ("reg:squarederror", "1E0", SCORES + 1),
        ("count:poisson", "2E0", 2 * np.exp(SCORES)),
        ("reg:logistic", "[7.5E-1]", 1 / (1 + np.exp(-SCORES) / 3)),
        ("binary:logitraw", "5E-1", SCORES + 0.5),
    ],
)
def test_regressions_of_xgboost(objective: str, base: str, wanted: np.ndarray, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(json.dumps(xgboost_file(objective, base, 0)))
    (got,) = predictions(path, ROWS)
    assert np.allclose(got[:, 0], wanted, rtol=1e-6, atol=0)


def test_classes_of_xgboost_have_labels_and_probabilities(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(json.dumps(xgboost_file("binary:logistic", "5E-1", 0)))
    label, shares = predictions(path, ROWS)
    wanted = 1 / (1 + np.exp(-SCORES))
    assert np.allclose(shares, np.stack([1 - wanted, wanted], 1), rtol=1e-6)
    assert np.array_equal(label, wanted > 0.5)

    file = xgboost_file("multi:softprob", "[0,1,0.5]", 3)
    file["learner"]["gradient_booster"]["model"]["trees"] = [
        tree | {"split_conditions": [0.5, k, 2.0, 0.1, 1.0 - k]}
        for k, tree in enumerate(file["learner"]["gradient_booster"]["model"]["trees"])
    ]
    path.write_text(json.dumps(file))
    label, shares = predictions(path, np.array([[0.0, 0.0]]))
    scores = np.exp(np.array([0 + 3 + 0, 1 + 4 + 1, 2 + 5 + 0.5]))
    assert np.allclose(shares[0], scores / scores.sum(), rtol=1e-6) and label.tolist() == [2]


def test_dropped_trees_of_xgboost_have_their_weights(tmp_path: Path) -> None:
    file = xgboost_file("reg:squarederror", "0", 0)
    booster = file["learner"]["gradient_booster"]
    file["learner"]["gradient_booster"] = {"name": "dart", "gbtree": booster, "weight_drop": [0.5, 2.0]}
    path = tmp_path / "model.json"
    path.write_text(json.dumps(file))
    (got,) = predictions(path, ROWS)
    assert np.allclose(got[:, 0], SCORES / 2 * 2.5, rtol=1e-6)


SETTINGS: dict[str, dict[str, Any]] = {
    "binary": {"objective": "binary", "sigmoid": 1.7},
    "multiclass": {"objective": "multiclass", "num_class": 3},
    "categories": {"objective": "regression", "max_cat_to_onehot": 1, "min_data_per_group": 5, "cat_smooth": 1.0},
    "means of a forest": {"objective": "regression", "boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.6},
    "exponential": {"objective": "poisson"},
    "NaN counts as zero": {"objective": "regression", "use_missing": False},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_lightgbm(name: str, tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    x = random.normal(size=(400, 4)).astype(np.float32)
    x[:, 3] = random.integers(0, 40, 400)
    x[random.random(x.shape) < 0.1] = NAN
    y = np.nan_to_num(x[:, 0] - x[:, 1]) + np.nan_to_num(x[:, 3]) % 3
    settings = {"num_leaves": 6, "min_data_in_leaf": 5, "verbose": -1, "num_threads": 1} | SETTINGS[name]
    classes = {"binary": 2, "multiclass": 3}.get(name, 0)
    y = np.digitize(y, np.quantile(y, np.arange(1, classes) / classes)) if classes else np.abs(y)
    data = lightgbm.Dataset(x, y, categorical_feature=[3] if name == "categories" else [])
    booster = lightgbm.train(settings, data, 8)
    path = tmp_path / "model.txt"
    booster.save_model(path)
    x[:20, 0] = np.float32(float(booster.model_to_string().split("threshold=")[1].split()[0]))  # a tie, nearly
    wanted = booster.predict(x[:60])
    assert name != "categories" or "num_cat=0" not in path.read_text().split("Tree=1")[0]
    if not classes:
        assert np.allclose(predictions(path, x[:60])[0][:, 0], wanted, rtol=2e-6)
        return
    shares = np.stack([1 - wanted, wanted], 1) if classes == 2 else wanted
    label, got = predictions(path, x[:60])
    assert np.allclose(got, shares, rtol=1e-5, atol=1e-7)
    assert np.array_equal(label, shares.argmax(1))


def test_a_trained_booster_becomes_c() -> None:
    random = np.random.default_rng(1)
    x = random.normal(size=(100, 3)).astype(np.float32)
    booster = lightgbm.train({"verbose": -1, "num_threads": 1}, lightgbm.Dataset(x, x[:, 0] * x[:, 1]), 5)
    got = mcugen.load(mcugen.from_lightgbm(booster)).run(x[:20])
    assert np.allclose(np.ravel(got), booster.predict(x[:20]), rtol=1e-5, atol=1e-6)


REFUSED = {
    "objective": (xgboost_file("survival:cox", "1", 0), UnsupportedError, "the objective survival:cox"),
    "leaves": (
        xgboost_file("reg:squarederror", "0", 0, tree_param={"size_leaf_vector": "3"}),
        UnsupportedError,
        "leaves with several values",
    ),
    "categories": (xgboost_file("reg:squarederror", "0", 0, categories_nodes=[0]), UnsupportedError, "by categories"),
    "cut": ({"learner": {"objective": {}}}, CorruptModelError, "XGBoost model is incomplete or damaged: KeyError"),
    "other": ({"type": "cat"}, UsageError, "neither the description of a wake .* nor a model of XGBoost"),
    "wake word": ({"type": "micro", "model": "a.tflite"}, CorruptModelError, "`micro` is missing"),
    "base score": (xgboost_file("reg:logistic", "1", 0), CorruptModelError, "math domain error"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_json(name: str, tmp_path: Path) -> None:
    content, kind, message = REFUSED[name]
    path = tmp_path / "model.json"
    path.write_text(json.dumps(content))
    with pytest.raises(kind, match=message):
        read.load(path, registry.load())


@pytest.mark.parametrize(
    ("content", "kind", "message"),
    [
        ("hello", UsageError, "not a LightGBM model"),
        ("tree\nversion=v4\nnum_class=1\n", CorruptModelError, "LightGBM model is incomplete or damaged: KeyError"),
    ],
)
def test_refused_txt(content: str, kind: type[McugenError], message: str, tmp_path: Path) -> None:
    path = tmp_path / "model.txt"
    path.write_text(content)
    with pytest.raises(kind, match=message):
        read.load(path, registry.load())


def test_damaged_boosters_are_refused_or_read(tmp_path: Path) -> None:
    """A number, a name or a bracket lost anywhere is a McugenError, or another model."""
    text = json.dumps(xgboost_file("multi:softprob", "5E-1", 2))
    path = tmp_path / "model.json"
    refused = 0
    for cut in range(0, len(text), 7):
        path.write_text(text[:cut] + text[cut + 3 :])
        try:
            read.load(path, registry.load())
        except McugenError:
            refused += 1
    assert refused > 50
