# SPDX-License-Identifier: Apache-2.0
"""Operators of ai.onnx.ml, each by itself on a row of features; whole estimators are a kind of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import numpy_helper

from tests.classical import drawn
from tests.random.operators import draws
from tests.random.sketch import ML, Sketch, Value

_POST = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")


def row(s: Sketch, exact: bool = False) -> Value:
    rows = [v for v in s.values if v.rank == 2 and v.shape[0] == 1 and v.data.dtype == np.float32]
    fitting = [v for v in rows if v.shape[1] > 1 and (v.exact or not exact)]
    return s.pick(fitting) if fitting and s.chance(0.6) else s.input((1, s.number(2, 6)))


def ml(s: Sketch, name: str, operands: list[Value], results: int = 1, exact: Any = False, **attributes: Any) -> None:
    s.need(s.opset >= 8)
    s.results(name, operands, results, exact, domain=ML, **attributes)


def numbers(s: Sketch, count: int) -> list[float]:
    return [float(v) for v in s.floats((count,))]


@draws("ai.onnx.ml:Scaler", "ai.onnx.ml:Imputer", "ai.onnx.ml:Normalizer", "ai.onnx.ml:Binarizer")
def features(s: Sketch, name: str) -> None:
    kind = name.split(":")[1]
    x = row(s, exact=kind in ("Imputer", "Binarizer"))
    width = s.pick((1, x.shape[1]))
    if kind == "Scaler":
        ml(s, kind, [x], offset=numbers(s, width), scale=numbers(s, width))
    elif kind == "Imputer":
        replaced = s.pick((float("nan"), 0.25, 0.0))
        ml(s, kind, [x], exact=True, imputed_value_floats=numbers(s, width), replaced_value_float=replaced)
    elif kind == "Normalizer":
        ml(s, kind, [x], norm=s.pick(("MAX", "L1", "L2")))
    else:
        ml(s, kind, [x], exact=True, threshold=s.pick((0.0, 0.25, -1.0)))


@draws("ai.onnx.ml:ArrayFeatureExtractor")
def extractor(s: Sketch) -> None:
    x = row(s)
    ml(s, "ArrayFeatureExtractor", [x, s.const(s.ints((s.number(1, 4),), np.int64, 0, x.shape[1] - 1))], exact=True)


@draws("ai.onnx.ml:FeatureVectorizer")
def vectorizer(s: Sketch) -> None:
    x, y = row(s), row(s)
    ml(s, "FeatureVectorizer", [x, y], exact=True, inputdimensions=[x.shape[1], y.shape[1]])


@draws("ai.onnx.ml:LabelEncoder")
def labels(s: Sketch) -> None:
    x = s.input((1, 4), lambda t: s.ints(t, np.int64, 0, 5))
    values = s.pick(({"values_int64s": [5, -7, 9]}, {"values_floats": [0.5, 1.5, -2.0]}))
    ml(s, "LabelEncoder", [x], exact=True, keys_int64s=[0, 2, 4], **values)


@draws("ai.onnx.ml:OneHotEncoder")
def one_hot(s: Sketch) -> None:
    x = s.input((1, 3), lambda t: s.ints(t, np.int64, 0, 5))
    ml(s, "OneHotEncoder", [x], exact=True, cats_int64s=[0, 1, 2, 4], zeros=1)


@draws("ai.onnx.ml:LinearRegressor")
def linear_regressor(s: Sketch) -> None:
    x, targets = row(s), s.number(1, 3)
    more = {"intercepts": numbers(s, targets)} if s.chance(0.7) else {}
    post = s.pick((None, "NONE"))
    ml(
        s,
        "LinearRegressor",
        [x],
        coefficients=numbers(s, targets * x.shape[1]),
        targets=targets,
        post_transform=post,
        **more,
    )


@draws("ai.onnx.ml:LinearClassifier", "ai.onnx.ml:ZipMap")
def linear_classifier(s: Sketch, name: str) -> None:
    x, rows = row(s), s.number(2, 4)
    post = s.pick(_POST[:4])
    given = {"coefficients": numbers(s, rows * x.shape[1]), "intercepts": numbers(s, rows), "post_transform": post}
    ml(s, "LinearClassifier", [x], 2, classlabels_ints=[4, 2, 9, 7][:rows], **given)


@draws("ai.onnx.ml:SVMRegressor", "ai.onnx.ml:SVMClassifier")
def machines(s: Sketch, name: str) -> None:
    x, kind = row(s), s.pick(("LINEAR", "POLY", "RBF", "SIGMOID"))
    kernel = {"kernel_type": kind, "kernel_params": [0.25, 0.5, float(s.pick((2, 3)))]}
    if name.endswith("Regressor"):
        count = s.number(1, 6)
        given = {"support_vectors": numbers(s, count * x.shape[1]), "coefficients": numbers(s, count)}
        ml(s, "SVMRegressor", [x], n_supports=count, rho=[0.125], one_class=None, **given, **kernel)
        return
    classes = s.number(2, 3)
    sizes = [s.number(1, 3) for _ in range(classes)]
    pairs, total = classes * (classes - 1) // 2, sum(sizes)
    given = {"support_vectors": numbers(s, total * x.shape[1]), "coefficients": numbers(s, (classes - 1) * total)}
    shares = {"prob_a": [-1.0] * pairs, "prob_b": [0.1] * pairs} if s.chance(0.5) else {}
    given |= {"rho": numbers(s, pairs), **shares, **kernel}
    ml(s, "SVMClassifier", [x], 2, classlabels_ints=[3, 1, 2][:classes], vectors_per_class=sizes, **given)


@draws("ai.onnx.ml:TreeEnsembleRegressor", "ai.onnx.ml:TreeEnsembleClassifier")
def trees(s: Sketch, name: str) -> None:
    x = s.input((1, drawn.FEATURES))
    count, depth, missing = s.number(1, 5), s.number(1, 4), s.chance(0.3)
    modes = drawn.MODES if s.chance(0.4) else drawn.MODES[:1]
    if name.endswith("Regressor"):
        targets = s.number(1, 3)
        given = drawn.trees(
            s.rng, count, targets=list(range(targets)), what="target", modes=modes, depth=depth, missing=missing
        )
        kind = s.pick((None, "SUM", "AVERAGE", "MIN", "MAX"))
        base = numbers(s, targets) if s.chance(0.5) else None
        ml(s, "TreeEnsembleRegressor", [x], n_targets=targets, aggregate_function=kind, base_values=base, **given)
    else:
        classes = s.number(2, 4)
        targets = list(range(classes)) if classes > 2 or s.chance(0.5) else [0]
        given = drawn.trees(s.rng, count, targets=targets, what="class", modes=modes, depth=depth, missing=missing)
        post = s.pick((None, "NONE", "SOFTMAX", "LOGISTIC"))
        ml(
            s,
            "TreeEnsembleClassifier",
            [x],
            2,
            (True, False),
            post_transform=post,
            classlabels_int64s=[7, 3, 11, 5][:classes],
            **given,
        )


@draws("ai.onnx.ml:TreeEnsemble", since=20)
def tree_ensemble(s: Sketch) -> None:
    """One tree of one comparison for each feature, and a leaf for each end."""
    x = s.input((1, s.number(1, 4)))
    count = x.shape[1]
    roots = range(count)
    thresholds = np.array(numbers(s, count), np.float32)
    s.ml = 5
    ml(
        s, "TreeEnsemble", [x], exact=True, n_targets=1, aggregate_function=1, post_transform=0,
        tree_roots=list(roots), nodes_featureids=list(roots), nodes_modes=tensor(np.zeros(count, np.uint8)),
        nodes_splits=tensor(thresholds), nodes_trueleafs=[1] * count, nodes_falseleafs=[1] * count,
        nodes_truenodeids=[2 * k for k in roots], nodes_falsenodeids=[2 * k + 1 for k in roots],
        leaf_targetids=[0] * (2 * count), leaf_weights=tensor(np.array(numbers(s, 2 * count), np.float32)),
    )  # fmt: skip


def tensor(data: np.ndarray) -> Any:
    return numpy_helper.from_array(data, "")
