"""Decision trees: the sum, minimum or maximum of the leaves that an input reaches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ir.kernel import Cost, Kernel, Run, Text
from mcugen.ir.op import Example, Op
from mcugen.ir.types import TensorType, dtypes
from mcugen.ops import _forest, _scores, _tree_tables
from mcugen.ops._forest import DIFFERS, LEAF, NAN_IS_YES, Forest
from mcugen.ops.add import Add
from mcugen.ops.div import Div

DTYPES = ("f32", "s8", "u8", "s16", "s32")
AGGREGATES = ("SUM", "MIN", "MAX")


def regressor(source: Source, e: Expansion) -> Sequence[str]:
    """The expansion of TreeEnsembleRegressor. Source: ONNX ai.onnx.ml TreeEnsembleRegressor-3."""
    a = source.attributes
    base = _forest.numbers(a, "base_values")
    kind, post, count = a["aggregate_function"], a["post_transform"], int(a.get("n_targets", 1))
    return [_aggregated(e, _forest.of_nodes(a, "target", count), count, (kind, post), base)]


def ensemble(source: Source, e: Expansion) -> Sequence[str]:
    """The expansion of TreeEnsemble, which lists inner nodes and leaves apart.

    Source: ONNX ai.onnx.ml TreeEnsemble-5.
    """
    a = source.attributes
    kind, post, count = int(a["aggregate_function"]), int(a["post_transform"]), int(a["n_targets"])
    if not (0 <= kind < len(_forest.AGGREGATES) and 0 <= post < len(_scores.TRANSFORMS)):
        raise UnsupportedError(f"aggregate_function {kind} with post_transform {post} is not supported")
    names = _forest.AGGREGATES[kind], _scores.TRANSFORMS[post]
    return [_aggregated(e, _forest.of_leaves(a, count), count, names, np.zeros(0, np.float32))]


def summed(e: Expansion, forest: Forest, count: int, aggregate: str = "SUM") -> str:
    """The trees, applied to operand 0. Raises ShapeError for a feature that operand 0 lacks."""
    x = _scores.features(e)
    forest.check(e.type(x).shape[-1])
    return e.node(TreeEnsemble(count, aggregate), x, *(e.constant(array) for array in forest.arrays))


def _aggregated(e: Expansion, forest: Forest, count: int, names: tuple[str, str], base: np.ndarray) -> str:
    kind, post = names
    if kind not in _forest.AGGREGATES:
        raise UnsupportedError(f"aggregate_function {kind} is not supported")
    if kind in ("MIN", "MAX") and not forest.always(count).all():
        raise UnsupportedError(f"{kind} needs, for each target, a tree with that target in every leaf")
    y = summed(e, forest, count, "SUM" if kind == "AVERAGE" else kind)
    if kind == "AVERAGE":
        y = e.node(Div(), y, e.constant(np.array(forest.roots.size, np.float32)))
    if base.size == count and base.any():
        y = e.node(Add(), y, e.constant(base))
    if count == 1 and post != "PROBIT":
        return y
    return _scores.transformed(e, y, post)


def has_tables(call: Call) -> bool:
    "the trees are constant and fit into tables of 16-bit words"
    return all(c is not None for c in call.constants[1:]) and _tree_tables.of(call).fits


def rows(call: Call) -> int:
    """The number of feature vectors."""
    return call.input(0).size // call.input(0).shape[-1]


@dataclass(frozen=True)
class TreeEnsemble(Op):
    """y[n, t] = the sum over trees, in float32 and in their order, of target t's weight in the leaf that x[n] reaches.

    x: f32, or stored integers s8, u8, s16 or s32; [N, features] or [features]   y: f32 [N, count]
    Constants as in `mcugen.ops._forest.Forest`: nodes s32 [n, 4], thresholds [n] f32 (s32 with integers),
    roots s32 [trees], targets s32 and weights f32 [entries]
    aggregate: SUM, MIN or MAX. For MIN and MAX, each target must be in every leaf of at least one tree.
    NaN fails all comparisons but !=, unless the node states a branch for it.
    Source: ONNX ai.onnx.ml TreeEnsembleRegressor-3, TreeEnsemble-5; onnxruntime, tree_ensemble_aggregator.h.
    """

    count: int
    aggregate: str = "SUM"

    takes_unsigned = True
    repeats_runtime = True
    tflm_types = litert_types = dtypes("")
    imports = (
        Import("onnx", "ai.onnx.ml:TreeEnsembleRegressor", expand=regressor),
        Import("onnx", "ai.onnx.ml:TreeEnsemble", since=5, expand=ensemble),
    )
    kernels = (
        Kernel(
            "mg_tree_ensemble",
            Run(rows),
            accepts=(has_tables,),
            params=lambda call: _tree_tables.of(call).params,
            operands=(0,),
            text=Text(lambda call: _tree_tables.of(call).variant),
            cost=Cost(_tree_tables.work, _tree_tables.WORK),
            short="trees",
        ),
    )

    def infer(
        self,
        x: TensorType | None,
        nodes: TensorType | None,
        thresholds: TensorType | None,
        roots: TensorType | None,
        targets: TensorType | None,
        weights: TensorType | None,
    ) -> tuple[TensorType, ...]:
        if x is None or not 1 <= len(x.shape) <= 2:
            raise ShapeError(f"features must have the shape [N, features], not {x}")
        if x.dtype not in DTYPES or self.aggregate not in AGGREGATES:
            raise UnsupportedError(f"trees of {x.dtype} features, aggregated by {self.aggregate}, are not supported")
        return (TensorType((x.size // x.shape[-1], self.count), "f32"),)

    def reference_q(self, call: Call, x: np.ndarray, *arrays: np.ndarray) -> np.ndarray:
        """Evaluates each tree. Leaves are added in float32, in the order of the trees."""
        forest = Forest(*arrays)
        found = [self._row(forest, row) for row in x.reshape(-1, x.shape[-1])]
        return np.stack(found)

    def _row(self, forest: Forest, x: np.ndarray) -> np.ndarray:
        start = {"SUM": 0.0, "MIN": np.inf, "MAX": -np.inf}[self.aggregate]
        join = {"SUM": np.add, "MIN": np.minimum, "MAX": np.maximum}[self.aggregate]
        y = np.full(self.count, start, np.float32)
        for root in forest.roots:
            leaf = forest.nodes[_walked(forest, x, int(root))]
            for k in range(leaf[1], leaf[2]):
                y[forest.targets[k]] = join(y[forest.targets[k]], forest.weights[k])
        return y

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [example(k, **case) for k, case in enumerate(_CASES)]


def _walked(forest: Forest, x: np.ndarray, at: int) -> int:
    """The leaf that x reaches from the node `at`."""
    while forest.nodes[at, 0] != LEAF:
        feature, yes, no, flags = (int(v) for v in forest.nodes[at])
        value, threshold = x[feature], forest.thresholds[at]
        if value != value:
            taken = bool(flags & NAN_IS_YES)
        else:
            taken = bool(value != threshold if flags & DIFFERS else value <= threshold)
        at = yes if taken else no
    return at


def example(seed: int, dtype: str = "f32", rows: int = 2, features: int = 5, count: int = 1, **kind: Any) -> Example:
    """An example with random trees. kind: arguments of `_forest.random`, and `aggregate`."""
    op = TreeEnsemble(count, kind.pop("aggregate", "SUM"))
    forest = _forest.random(seed, features, count, dtype, **kind)
    constants = dict(enumerate(forest.arrays, 1))
    names = ("s32", "f32" if dtype == "f32" else "s32", "s32", "s32", "f32")
    types = [TensorType(a.shape, name) for a, name in zip(forest.arrays, names, strict=True)]
    x = TensorType((rows, features), dtype)
    return Example(op, (x, *types), (TensorType((rows, count), "f32"),), constants, seed)


_CASES: tuple[dict[str, Any], ...] = (
    {"trees": 3},
    {"trees": 4, "count": 3},
    {"trees": 2, "depth": 0},
    {"trees": 5, "count": 2, "aggregate": "MIN"},
    {"trees": 5, "aggregate": "MAX"},
    {"trees": 6, "count": 4, "flags": True, "rows": 3},
    {"trees": 3, "flags": True, "features": 300, "depth": 7},
    {"trees": 2, "count": 40, "depth": 8, "features": 2000},
    {"trees": 3, "dtype": "s8", "count": 3},
    {"trees": 3, "dtype": "u8", "flags": True},
    {"trees": 3, "dtype": "s16", "count": 2},
    {"trees": 3, "dtype": "s32", "depth": 6},
)
