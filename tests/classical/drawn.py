# SPDX-License-Identifier: Apache-2.0
"""Random classical models in ONNX, written as skl2onnx writes them, with inputs where comparisons go wrong first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper

Model = tuple[str, onnx.ModelProto, list[np.ndarray]]
FEATURES = 5
MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
NUMBERS = (7, 3, 11)
TEXTS = ("plain", 'quote " \\', "t\u00e9l\u00e9 *//* ??/", "int")


def model(nodes: list[onnx.NodeProto], outputs: dict[str, int | None], shape: tuple[int, ...] = (1, FEATURES)) -> Any:
    """A model of one float input `x`; outputs: name -> element type, None for a list of maps."""
    ends = [
        helper.make_tensor_value_info(name, kind, [1] if name == "label" else [1, None]) if kind else _map(name)
        for name, kind in outputs.items()
    ]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", T.FLOAT, shape)], ends)
    sets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=sets, ir_version=8)


def _map(name: str) -> onnx.ValueInfoProto:
    kind = helper.make_map_type_proto(T.INT64, helper.make_tensor_type_proto(T.FLOAT, None))
    return helper.make_value_info(name, helper.make_sequence_type_proto(kind))


def node(kind: str, inputs: str, outputs: str, **attributes: Any) -> onnx.NodeProto:
    """An operator of ai.onnx.ml; names of operands and results are separated by blanks."""
    return helper.make_node(kind, inputs.split(), outputs.split(), domain="ai.onnx.ml", **attributes)


def trees(
    rng: np.random.Generator, count: int, *, targets: list[int], what: str, modes: tuple[str, ...] = MODES[:1],
    depth: int = 3, missing: bool = False, least: int = -6,
) -> dict[str, Any]:  # fmt: skip
    """The attributes of random trees; leaves hold a weight for each of `targets`, or for one where that is []."""
    a: dict[str, list[Any]] = {f"nodes_{k}": [] for k in _NODES} | {f"{what}_{k}": [] for k in _LEAVES}

    def grow(tree: int, left: int) -> int:
        at = sum(t == tree for t in a["nodes_treeids"])
        place = len(a["nodes_treeids"])
        leaf = left == 0 or (left < depth and rng.random() < 0.2)
        values = (tree, at, int(rng.integers(FEATURES)), float(np.float32(rng.integers(-8, 9) / 4)))
        row = (*values, "LEAF" if leaf else str(rng.choice(modes)), 0, 0, int(missing and rng.random() < 0.5))
        for key, value in zip(_NODES, row, strict=True):
            a[f"nodes_{key}"].append(value)
        if leaf:
            for target in targets or [tree % 3]:
                weight = float(np.float32(rng.integers(least, 7) / 9))
                for key, value in zip(_LEAVES, (tree, at, target, weight), strict=True):
                    a[f"{what}_{key}"].append(value)
        else:
            a["nodes_truenodeids"][place] = grow(tree, left - 1)
            a["nodes_falsenodeids"][place] = grow(tree, left - 1)
        return at

    for tree in range(count):
        grow(tree, depth)
    return dict(a)


_NODES = [
    "treeids",
    "nodeids",
    "featureids",
    "values",
    "modes",
    "truenodeids",
    "falsenodeids",
    "missing_value_tracks_true",
]
_LEAVES = ["treeids", "nodeids", "ids", "weights"]


def inputs(rng: np.random.Generator, count: int = 12) -> list[np.ndarray]:
    """Multiples of the thresholds' step, values between them, and what only comparisons of floats treat apart."""
    found = [(rng.integers(-9, 10, (1, FEATURES)) / 4).astype(np.float32) for _ in range(count - 4)]
    odd = np.array([np.nan, -np.nan, -0.0, 0.0, np.inf, -np.inf, 1e-45, -1e-45, 0.25000003, -0.25], np.float32)
    return found + [rng.choice(odd, (1, FEATURES)) for _ in range(4)]


def regressors() -> Iterator[Model]:
    for k, mode in enumerate(MODES):
        rng = np.random.default_rng(k)
        a = trees(rng, 4, targets=[0], what="target", modes=(mode,), missing=k % 2 == 0)
        yield f"regressor {mode}", _regressor(a, n_targets=1, base_values=[0.3][: k % 2]), inputs(rng)
    for k, kind in enumerate(("SUM", "AVERAGE", "MIN", "MAX")):
        rng = np.random.default_rng(20 + k)
        a = trees(rng, 3, targets=[2, 0, 1], what="target", modes=MODES, missing=True)
        base = [0.5, -0.25, 0.125] if k % 2 else []
        yield f"regressor {kind}", _regressor(a, n_targets=3, aggregate_function=kind, base_values=base), inputs(rng)
        a = trees(rng, 3, targets=[0], what="target", modes=MODES)
        yield f"regressor {kind} of one", _regressor(a, n_targets=1, aggregate_function=kind), inputs(rng)
    rng = np.random.default_rng(30)
    post = {"n_targets": 2, "post_transform": "LOGISTIC"}
    yield "regressor LOGISTIC", _regressor(trees(rng, 3, targets=[0, 1], what="target"), **post), inputs(rng)


def _regressor(a: dict[str, Any], **more: Any) -> onnx.ModelProto:
    more = {key: value for key, value in more.items() if value != []}
    return model([node("TreeEnsembleRegressor", "x", "y", **a, **more)], {"y": T.FLOAT})


def classifiers() -> Iterator[Model]:
    cases: list[tuple[str, int, list[int], dict[str, Any]]] = [
        ("three", 3, [0, 1, 2], {}),
        ("three of which one is named", 3, [], {}),
        ("three with base", 3, [], {"base_values": [0.5, -0.5, 0.25]}),
        ("three SOFTMAX", 3, [2, 1, 0], {"post_transform": "SOFTMAX"}),
        ("two by the first", 2, [0], {}),
        ("two by the first LOGISTIC", 2, [0], {"post_transform": "LOGISTIC", "base_values": [-0.25]}),
        ("two by the second", 2, [1], {}),
        ("two by both", 2, [0, 1], {}),
        ("two by both SOFTMAX", 2, [0, 1], {"base_values": [0.125], "post_transform": "SOFTMAX"}),
        ("one", 1, [0], {}),
    ]
    for k, (name, count, targets, more) in enumerate(cases):
        for least in (-6, 1):
            rng = np.random.default_rng(100 + 2 * k + (least > 0))
            a = trees(rng, 3, targets=targets, what="class", least=least)
            sign = "any sign" if least < 0 else "positive"
            yield f"classifier {name}, {sign}", _classifier(a | more, count, k % 2 == 0 and count > 1), inputs(rng)


def _classifier(a: dict[str, Any], count: int, has_texts: bool) -> onnx.ModelProto:
    labels: dict[str, Any] = {"classlabels_strings": TEXTS[:count]} if has_texts else {}
    labels = labels or {"classlabels_int64s": NUMBERS[:count]}
    kind = T.STRING if has_texts else T.INT64
    first = [node("TreeEnsembleClassifier", "x", "label scores", **a, **labels)]
    if not has_texts and count > 1:
        return model([*first, node("ZipMap", "scores", "map", **labels)], {"label": kind, "map": None})
    return model(first, {"label": kind, "scores": T.FLOAT})


def linear() -> Iterator[Model]:
    for k, (rows, post) in enumerate(((3, "NONE"), (3, "SOFTMAX"), (1, "LOGISTIC"), (1, "NONE"), (1, "SOFTMAX"))):
        rng = np.random.default_rng(200 + k)
        w, b = (rng.normal(0, 1, n).astype(np.float32).tolist() for n in (rows * FEATURES, rows))
        labels: dict[str, Any] = {"classlabels_strings": TEXTS[: max(rows, 2)]}
        labels = labels if k % 2 else {"classlabels_ints": [4, 2, 9][: max(rows, 2)]}
        steps = [
            node("Scaler", "x", "s", offset=w[:FEATURES], scale=[0.5, 2.0, -1.0, 0.125, 3.0]),
            node("Normalizer", "s", "n", norm=("MAX", "L1", "L2")[k % 3]),
            node("LinearClassifier", "n", "label y", coefficients=w, intercepts=b, post_transform=post, **labels),
        ]
        outputs: dict[str, int | None] = {"label": T.STRING if k % 2 else T.INT64, "y": T.FLOAT}
        yield f"linear {rows} {post}", model(steps, outputs), normal(rng)
    rng = np.random.default_rng(210)
    w = rng.normal(0, 1, 2 * FEATURES).astype(np.float32).tolist()
    steps = [node("LinearRegressor", "x", "y", coefficients=w, intercepts=w[:2], targets=2)]
    yield "linear regressor", model(steps, {"y": T.FLOAT}), normal(rng)


def normal(rng: np.random.Generator, count: int = 6) -> list[np.ndarray]:
    return [rng.normal(0, 1, (1, FEATURES)).astype(np.float32) for _ in range(count)]


def machines() -> Iterator[Model]:
    for k, kind in enumerate(("LINEAR", "POLY", "RBF", "SIGMOID")):
        rng = np.random.default_rng(300 + k)
        kernel: dict[str, Any] = {"kernel_type": kind, "kernel_params": [0.25, 0.5, 3.0]}
        vectors = rng.normal(0, 1, 7 * FEATURES).astype(np.float32).tolist()
        w = rng.normal(0, 1, 7).astype(np.float32).tolist()
        a = dict(support_vectors=vectors, coefficients=w, rho=[0.125], n_supports=7, one_class=k % 2, **kernel)
        yield f"svm regressor {kind}", model([node("SVMRegressor", "x", "y", **a)], {"y": T.FLOAT}), normal(rng)
        for classes in (2, 3, 4):
            for shares in (False, True):
                yield _machine(rng, kernel, classes, shares)


def _machine(rng: np.random.Generator, kernel: dict[str, Any], classes: int, shares: bool) -> Model:
    pairs, sizes = classes * (classes - 1) // 2, [2, 1, 3, 2][:classes]
    numbers = {
        "support_vectors": rng.normal(0, 1, sum(sizes) * FEATURES),
        "coefficients": rng.normal(0, 1, (classes - 1) * sum(sizes)),
        "rho": rng.normal(0, 0.2, pairs),
    }
    if shares:
        numbers |= {"prob_a": -np.abs(rng.normal(1, 0.3, pairs)), "prob_b": rng.normal(0, 0.3, pairs)}
    a = {key: value.astype(np.float32).tolist() for key, value in numbers.items()}
    labels = {"classlabels_ints": [3, 1, 2, 9][:classes], "vectors_per_class": sizes}
    steps = [node("SVMClassifier", "x", "label y", **a, **labels, **kernel)]
    name = f"svm {kernel['kernel_type']} {classes}" + (" shares" if shares else "")
    return name, model(steps, {"label": T.INT64, "y": T.FLOAT}), normal(rng)


def features() -> Iterator[Model]:
    """Operators that prepare features, and those that number labels."""
    rng = np.random.default_rng(400)
    given = inputs(rng)
    fills = [0.5, -1.0, 2.0, 3.0, -0.25]
    for name, a in (("nan", {"replaced_value_float": float("nan")}), ("value", {"replaced_value_float": 0.25})):
        steps = [node("Imputer", "x", "y", imputed_value_floats=fills, **a)]
        yield f"imputer {name}", model(steps, {"y": T.FLOAT}), given
    yield "binarizer", model([node("Binarizer", "x", "y", threshold=0.25)], {"y": T.FLOAT}), normal(rng)
    cut = [node("ArrayFeatureExtractor", "x index", "y"), node("FeatureVectorizer", "y x", "z", inputdimensions=[2, 5])]
    taken = model(cut, {"z": T.FLOAT})
    taken.graph.initializer.append(onnx.numpy_helper.from_array(np.array([3, 0], np.int64), "index"))
    yield "extractor", taken, given
    for kind, values in (("int64s", [5, -7, 9]), ("floats", [0.5, 1.5, -2.0]), ("strings", list(TEXTS[:3]))):
        default: dict[str, Any] = {"int64s": {"default_int64": -3}, "floats": {"default_float": 8.0}}.get(kind, {})
        a = {f"values_{kind}": values, **default}
        steps = [node("LabelEncoder", "x", "label", keys_floats=[0.25, float("nan"), -0.5], **a)]
        out = {"int64s": T.INT64, "floats": T.FLOAT, "strings": T.STRING}[kind]
        for version in (3, 4):
            made = _wide(model(steps, {"label": out}))
            made.opset_import[1].version = version
            yield f"labels of floats as {kind}, version {version}", made, given
        trees = _classifier(globals()["trees"](rng, 2, targets=[0, 1, 2], what="class"), 3, False)
        del trees.graph.output[:], trees.graph.node[1:]
        trees.graph.node.append(node("LabelEncoder", "label", "name", keys_int64s=[3, 7, 900], **a))
        trees.graph.output.append(helper.make_tensor_value_info("name", out, [1]))
        yield f"labels of numbers as {kind}", trees, given


def _wide(made: onnx.ModelProto) -> onnx.ModelProto:
    """The model with a label for each feature."""
    dims = made.graph.output[0].type.tensor_type.shape.dim
    dims.add().dim_value = FEATURES
    return made


def neighbours() -> Iterator[Model]:
    """The nearest of constant rows, whose distances a Scan computes one by one."""
    rng = np.random.default_rng(500)
    for kind, steps in {
        "squares": ["ReduceSumSquare"],
        "magnitudes": ["Abs", "ReduceSum"],
        "largest": ["Abs", "ReduceMax"],
    }.items():
        rows = rng.normal(0, 1, (9, FEATURES)).astype(np.float32)
        body = [helper.make_node("Identity", ["kept"], ["kept_out"]), helper.make_node("Sub", ["kept", "row"], ["v0"])]
        for k, step in enumerate(steps):
            reduces = step.startswith("Reduce")
            operands = [f"v{k}", *(["axes"] if reduces else [])]
            body.append(helper.make_node(step, operands, [f"v{k + 1}"], **({"keepdims": 0} if reduces else {})))
        ends = [("kept_out", [1, FEATURES]), (f"v{len(steps)}", [1])]
        graph = helper.make_graph(
            body,
            "body",
            [helper.make_tensor_value_info(n, T.FLOAT, s) for n, s in (("kept", [1, FEATURES]), ("row", [FEATURES]))],
            [helper.make_tensor_value_info(n, T.FLOAT, s) for n, s in ends],
            [onnx.numpy_helper.from_array(np.array([1], np.int64), "axes")],
        )
        nodes = [
            helper.make_node("Scan", ["x", "rows"], ["same", "apart"], body=graph, num_scan_inputs=1),
            helper.make_node("Transpose", ["apart"], ["distances"], perm=[1, 0]),
            helper.make_node("TopK", ["distances", "three"], ["y", "places"], largest=0),
            node("ArrayFeatureExtractor", "classes places", "votes"),
            helper.make_node("Identity", ["votes"], ["label"]),
        ]
        made = model(nodes, {"y": T.FLOAT})
        made.opset_import[0].version = 18
        made.graph.output.append(helper.make_tensor_value_info("label", T.INT64, [1, 3]))
        constants = {"rows": rows, "three": np.array([3], np.int64), "classes": rng.integers(0, 4, (1, 9))}
        made.graph.initializer.extend(onnx.numpy_helper.from_array(a, n) for n, a in constants.items())
        yield f"neighbours {kind}", made, normal(rng)


def models() -> Iterator[Model]:
    """All models, with their inputs."""
    yield from regressors()
    yield from classifiers()
    yield from linear()
    yield from machines()
    yield from features()
    yield from neighbours()
