"""LightGBM: a model saved as .txt is converted to an equivalent ONNX model, which is imported.

Comparisons are `feature <= threshold` with float64 thresholds. For a float32 feature this is equivalent to a comparison
with the largest float32 that is not above the threshold.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np

from mcugen.errors import CorruptModelError, UnsupportedError, UsageError
from mcugen.formats import _boosted
from mcugen.formats.onnx import read
from mcugen.formats.registry import Registry
from mcugen.ir.graph import Graph
from mcugen.ir.types import Shape

REFERENCES = read.REFERENCES

_OBJECTIVES = {
    "regression": (_boosted.NONE, False),
    "regression_l1": (_boosted.NONE, False),
    "huber": (_boosted.NONE, False),
    "fair": (_boosted.NONE, False),
    "quantile": (_boosted.NONE, False),
    "mape": (_boosted.NONE, False),
    "lambdarank": (_boosted.NONE, False),
    "rank_xendcg": (_boosted.NONE, False),
    "poisson": (_boosted.EXP, False),
    "gamma": (_boosted.EXP, False),
    "tweedie": (_boosted.EXP, False),
    "cross_entropy": (_boosted.SIGMOID, False),
    "binary": (_boosted.SIGMOID, True),
    "multiclass": (_boosted.SOFTMAX, True),
}
"""Objective -> the function from raw scores to predictions, and whether these are class probabilities."""

_CATEGORICAL, _DEFAULT_LEFT, _MISSING_SHIFT = 1, 2, 2
_NO_MISSING, _ZERO_IS_MISSING = 0, 1
"""Bits of a node's decision_type: two flags, and the shift of the field for missing values, with two of its values."""

_MOST_NODES = 1 << 16
_CATEGORIES_HINT = "encode categories one-hot, or give max_cat_threshold a small number"
"""A set of categories becomes one node per category, each with a copy of its subtree; trees have a limit of nodes."""


def recognises(data: bytes) -> bool:
    """Whether a file is a saved model of LightGBM."""
    return data.startswith(b"tree\n") and b"\nversion=v" in data[:64]


def load(data: bytes, registry: Registry, *, path: Path, sha256: str, shapes: Mapping[str, Shape]) -> Graph:
    """Import a model. Raises UsageError, CorruptModelError, UnsupportedError."""
    return read.load(as_onnx(data, path.stem), registry, path=path, sha256=sha256, shapes=shapes)


def as_onnx(data: bytes, name: str) -> bytes:
    """The ONNX file of a saved model. Raises UsageError, CorruptModelError, UnsupportedError."""
    if not recognises(data):
        raise UsageError(
            "this .txt file is not a LightGBM model: it does not begin with 'tree' and a version",
            where=name,
            hint="write it with Booster.save_model('model.txt'); networks are .tflite, .onnx and .nnef files",
        )
    try:
        head, *trees = data.decode("utf-8").split("\n\nTree=")
        return _converted(_fields(head), [_fields(tree.split("\nend of trees")[0]) for tree in trees], name)
    except (ArithmeticError, ValueError, KeyError, IndexError) as error:
        raise CorruptModelError(
            f"this LightGBM model is incomplete or damaged: {type(error).__name__}: {error}",
            hint="write it with Booster.save_model('model.txt')",
        ) from error


def _fields(text: str) -> dict[str, str]:
    pairs = (line.partition("=") for line in text.splitlines())
    return {key: value for key, is_pair, value in pairs if is_pair} | {"average_output": str("average_output" in text)}


def _converted(head: dict[str, str], blocks: list[dict[str, str]], name: str) -> bytes:
    objective, *settings = head.get("objective", "regression").split()
    if objective not in _OBJECTIVES or "sqrt" in settings:
        unknown = " ".join([objective, *(["sqrt"] if "sqrt" in settings else [])])
        raise UnsupportedError(f"the objective {unknown} is not supported", hint=f"supported: {', '.join(_OBJECTIVES)}")
    transform, classifies = _OBJECTIVES[objective]
    known = dict(setting.split(":") for setting in settings if ":" in setting)
    count = int(head["num_tree_per_iteration"])
    if len(blocks) != len(head["tree_sizes"].split()):
        raise CorruptModelError(
            f"the file has {len(blocks)} trees, but tree_sizes states {len(head['tree_sizes'].split())}"
        )
    share = count / len(blocks) if head["average_output"] == "True" else 1.0
    trees = _boosted.Trees(int(head["max_feature_idx"]) + 1)
    for number, block in enumerate(blocks):
        _add(trees, number, block, number % count, share)
    factor = float(known.get("sigmoid", "1")) if transform == _boosted.SIGMOID else 1.0
    return _boosted.model(trees, [0.0] * count, transform, classifies=classifies, factor=factor, name=name)


def _add(trees: _boosted.Trees, number: int, block: dict[str, str], target: int, share: float) -> None:
    if block.get("is_linear", "0") == "1":
        raise UnsupportedError("leaves that are linear models are not supported", hint="train with linear_tree=False")
    leaves = [float(value) * share for value in block["leaf_value"].split()]
    names = ("split_feature", "threshold", "decision_type", "left_child", "right_child")
    rows = [*zip(*([float(v) for v in block[name].split()] for name in names), strict=True)] if len(leaves) > 1 else []
    sets, waiting, free = _category_sets(block), [(0 if rows else ~0, 0)], 1
    while waiting:
        end, node = waiting.pop()
        if end < 0:  # leaves have negative numbers, from -1 downwards
            trees.leaf(number, node, target, leaves[~end])
            continue
        if free > _MOST_NODES:
            raise UnsupportedError(f"a tree with its categories has over {_MOST_NODES} nodes", hint=_CATEGORIES_HINT)
        feature, threshold, kind, left, right = rows[end]
        tests = [("BRANCH_LEQ", _down(threshold), _missing(int(kind), threshold))]
        if int(kind) & _CATEGORICAL:
            tests = [("BRANCH_EQ", float(category), False) for category in sets[int(threshold)]]
        for mode, value, missing in tests:  # the next test is on the `no` branch of the one before
            trees.branch(number, node, int(feature), mode, value, (free, free + 1), missing)
            waiting.append((int(left), free))
            node, free = free + 1, free + 2
        waiting.append((int(right), node))


def _down(threshold: float) -> float:
    """The largest 32-bit float that is not above a threshold."""
    with np.errstate(over="ignore"):
        near = np.float32(threshold)
    return float(np.nextafter(near, np.float32(-math.inf)) if float(near) > threshold else near)


def _missing(kind: int, threshold: float) -> bool:
    """Whether the comparison holds for NaN. Raises UnsupportedError if zeros count as missing, too."""
    missing = kind >> _MISSING_SHIFT & 3
    if missing == _ZERO_IS_MISSING:
        raise UnsupportedError(
            "treating zeros as missing values is not supported", hint="train with zero_as_missing=False"
        )
    return threshold >= 0 if missing == _NO_MISSING else bool(kind & _DEFAULT_LEFT)


def _category_sets(block: dict[str, str]) -> list[list[int]]:
    """Sets of categories that the tree's nodes test, stored as bit masks in 32-bit words."""
    bounds = [int(b) for b in block.get("cat_boundaries", "0").split()]
    words = [int(w) for w in block.get("cat_threshold", "").split()]
    sets = (words[first:end] for first, end in pairwise(bounds))
    return [[32 * k + bit for k, word in enumerate(part) for bit in range(32) if word >> bit & 1] for part in sets]
