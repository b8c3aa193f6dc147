"""Decision trees in one form, imported from the different attributes of ONNX-ML operators."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np

from mcugen.errors import CorruptModelError, ShapeError, UnsupportedError
from mcugen.ir.imports import Attributes

LEAF = -1
"""The feature index that marks a leaf."""

DIFFERS, NAN_IS_YES = 1, 2
"""Flags of a node. DIFFERS: it compares x != threshold, not x <= threshold. NAN_IS_YES: NaN takes the branch `yes`."""

AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")
MAX_NODES = 1 << 20
MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees whose nodes compare a feature with a threshold: x <= threshold, or x != threshold.

    nodes       s32 [n, 4]. Inner node: feature, child `yes` if the comparison is true, child `no`, flags.
                Leaf: LEAF, first entry, end of entries, 0
    thresholds  f32 [n], or s32 for integer features
    roots       s32 [trees], in the order of addition
    targets     s32 [entries], index of the result to which each entry of a leaf is added, in the order of addition
    weights     f32 [entries], the number that each entry adds
    """

    nodes: np.ndarray
    thresholds: np.ndarray
    roots: np.ndarray
    targets: np.ndarray
    weights: np.ndarray

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """The operator's constants, in the order of its operands."""
        return self.nodes, self.thresholds, self.roots, self.targets, self.weights

    @property
    def inner(self) -> np.ndarray:
        """A mask of the inner nodes."""
        return np.asarray(self.nodes[:, 0] != LEAF)

    def check(self, features: int) -> None:
        """Raise ShapeError unless all features exist."""
        most = int(self.nodes[self.inner, 0].max(initial=0))
        if most >= features:
            raise ShapeError(f"a tree compares feature {most}, the input has features 0 to {features - 1}")

    def leaves(self, root: int) -> Iterator[tuple[int, int]]:
        """(first entry, end) of all leaves of a tree."""
        waiting = [root]
        while waiting:
            feature, a, b, _ = self.nodes[waiting.pop()].tolist()
            if feature == LEAF:
                yield a, b
            else:
                waiting += [a, b]

    def decided(self, thresholds: np.ndarray, never_equal: np.ndarray | None, low: int, high: int) -> Forest:
        """The trees for integer features from low to high, without comparisons that have one outcome for all of them.

        thresholds: [n], as integers. never_equal: [n], whether no integer equals the threshold in the file;
        None: no integer feature equals a threshold outside low to high.
        """
        differs = (self.nodes[:, 3] & DIFFERS) != 0
        unequal = (thresholds < low) | (thresholds > high) if never_equal is None else never_equal
        yes = self.inner & np.where(differs, unequal, thresholds >= high)
        no = self.inner & ~differs & (thresholds < low)
        taken = np.where(yes, self.nodes[:, 1], np.where(no, self.nodes[:, 2], np.arange(len(self.nodes))))
        while (taken[taken] != taken).any():
            taken = taken[taken]
        roots = taken[self.roots]
        waiting, order = roots.tolist()[::-1], []
        while waiting:
            at = waiting.pop()
            order.append(at)
            if self.nodes[at, 0] != LEAF:
                waiting += [int(taken[self.nodes[at, 2]]), int(taken[self.nodes[at, 1]])]
        places = np.zeros(len(self.nodes), np.int64)
        places[order] = np.arange(len(order))
        nodes = self.nodes[order].copy()
        inner = nodes[:, 0] != LEAF
        nodes[inner, 1:3] = places[taken[nodes[inner, 1:3]]]
        nodes[inner, 3] &= DIFFERS
        kept = np.where(inner, thresholds[order], 0).astype(np.int32)
        return Forest(nodes, kept, places[roots].astype(np.int32), self.targets, self.weights)

    def always(self, count: int) -> np.ndarray:
        """A mask of the targets that occur in every leaf of at least one tree. count: the number of targets."""
        found = np.zeros(count, bool)
        for root in self.roots.tolist():
            named = np.ones(count, bool)
            for first, end in self.leaves(root):
                named &= np.isin(np.arange(count), self.targets[first:end])
            found |= named
        return found


def numbers(a: Attributes, name: str, *, finite: bool = True) -> np.ndarray:
    """A float attribute, `<name>` or `<name>_as_tensor`, as a float32 vector.

    Raises UnsupportedError for float64 and, if `finite`, for infinities and NaN.
    """
    tensor = a.get(f"{name}_as_tensor")
    plain = a.get(name)
    found = np.asarray([] if plain is None else plain, np.float32)
    if tensor is not None and np.asarray(tensor).size:
        found = np.asarray(tensor)
        if found.dtype != np.float32:
            raise UnsupportedError(f"{name} of {found.dtype} is not supported", hint="export the model with float32")
    if finite and not np.isfinite(found).all():
        raise UnsupportedError(f"{name} has infinities or NaN, which are not supported")
    return found.reshape(-1)


def integers(a: Attributes, name: str) -> np.ndarray:
    """An attribute with integers, as an int64 vector. Raises CorruptModelError for values beyond 32 bits."""
    found = np.asarray(a.get(name) or (), np.int64).reshape(-1)
    if found.size and (found.min() < -(2**31) or found.max() >= 2**31):
        raise CorruptModelError(f"{name} holds numbers beyond 32 bits")
    return found


def of_nodes(a: Attributes, what: str, count: int) -> Forest:
    """Trees of TreeEnsembleClassifier and TreeEnsembleRegressor, whose lists of nodes include the leaves.

    what: prefix of the attributes of leaf weights. count: the number of targets.
    """
    trees, ids = integers(a, "nodes_treeids"), integers(a, "nodes_nodeids")
    modes, values = a["nodes_modes"] or (), numbers(a, "nodes_values", finite=False)
    a.ignore("nodes_hitrates", "nodes_hitrates_as_tensor")  # only records how much training data each node saw
    lists = [integers(a, f"nodes_{name}") for name in ("featureids", "truenodeids", "falsenodeids")]
    missing = integers(a, "nodes_missing_value_tracks_true")
    missing = missing if missing.size else np.zeros(trees.size, np.int64)
    _check_lengths(trees, ids, modes, values, missing, *lists)
    places = {key: k for k, key in enumerate(zip(trees.tolist(), ids.tolist(), strict=True))}
    if len(places) != trees.size:
        raise CorruptModelError("two nodes of a tree have the same nodes_nodeids")
    nodes = np.zeros((trees.size, 4), np.int32)
    thresholds = np.zeros(trees.size, np.float32)
    nodes[:, 0] = LEAF
    for k, mode in enumerate(modes):
        if mode == "LEAF":
            continue
        pair = [places.get((int(trees[k]), int(of[k]))) for of in lists[1:]]
        if None in pair:
            raise CorruptModelError(f"node {ids[k]} of tree {trees[k]} has a child that does not exist")
        branch = _branch(mode, float(values[k]), (pair[0], pair[1]), bool(missing[k]))
        nodes[k], thresholds[k] = (lists[0][k], *branch[:3]), branch[3]
    entries = _entries(a, what, places, nodes, count)
    return _whole(nodes, thresholds, trees, *entries)


def _check_lengths(trees: np.ndarray, *others: Sized) -> None:
    if not trees.size or any(len(other) != trees.size for other in others):
        raise CorruptModelError("the nodes_ attributes are empty, or differ in length")
    if trees.size > MAX_NODES:
        raise UnsupportedError(f"trees of {trees.size} nodes, more than {MAX_NODES}, are not supported")


def _branch(mode: str, value: float, pair: tuple[Any, Any], is_missing_yes: bool) -> tuple[int, int, int, np.float32]:
    """(yes, no, flags, threshold) of a node. mode: one of MODES. pair: its children for true and for false."""
    if mode not in MODES:
        raise UnsupportedError(f"nodes of mode {mode[:40]!r} are not supported")
    threshold = np.float32(value)
    if np.isnan(threshold) or (np.isneginf(threshold) and mode in ("BRANCH_LT", "BRANCH_GTE")):
        raise UnsupportedError(f"nodes that compare with {threshold} are not supported")
    if mode in ("BRANCH_LT", "BRANCH_GTE"):
        threshold = np.nextafter(threshold, np.float32(-np.inf))
    swapped = mode in ("BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ")
    yes, no = pair[::-1] if swapped else pair
    differs = mode in ("BRANCH_EQ", "BRANCH_NEQ")
    nan_is_yes = (is_missing_yes or mode == "BRANCH_NEQ") != swapped
    return int(yes), int(no), DIFFERS * differs + NAN_IS_YES * nan_is_yes, threshold


def _entries(
    a: Attributes, what: str, places: dict[tuple[int, int], int], nodes: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Targets and weights of the leaves, leaf by leaf. Stores in each leaf's node the range of its entries."""
    trees, ids, targets = (integers(a, f"{what}_{name}") for name in ("treeids", "nodeids", "ids"))
    weights = numbers(a, f"{what}_weights")
    if not trees.size == ids.size == targets.size == weights.size:
        raise CorruptModelError(f"the {what}_ attributes differ in length")
    if targets.size and not 0 <= targets.min() <= targets.max() < count:
        raise CorruptModelError(f"a leaf adds to target {targets.max()}, but the targets are 0 to {count - 1}")
    owners = np.array([places.get(key, -1) for key in zip(trees.tolist(), ids.tolist(), strict=True)], np.int64)
    if (owners < 0).any() or (nodes[owners, 0] != LEAF).any():
        raise CorruptModelError("a leaf weight names a node that is no leaf")
    order = np.argsort(owners, kind="stable")
    bounds = np.searchsorted(owners[order], np.arange(len(nodes) + 1))
    leaf = nodes[:, 0] == LEAF
    nodes[leaf, 1], nodes[leaf, 2] = bounds[:-1][leaf], bounds[1:][leaf]
    if count == 1 and (np.diff(bounds)[leaf] > 1).any():
        raise CorruptModelError("a leaf has two weights for one target")
    return targets[order].astype(np.int32), weights[order].astype(np.float32)


def _whole(
    nodes: np.ndarray, thresholds: np.ndarray, trees: np.ndarray, targets: np.ndarray, weights: np.ndarray
) -> Forest:
    """The forest with its roots, the nodes without a parent.

    Raises CorruptModelError unless each tree has one root and no cycle.
    """
    inner = nodes[:, 0] != LEAF
    if (nodes[inner, 0] < 0).any():
        raise CorruptModelError("a node compares a feature with a negative index")
    parents = np.bincount(nodes[inner, 1:3].reshape(-1), minlength=len(nodes))
    roots = np.flatnonzero(parents == 0)
    if parents.max() > 1 or len(set(trees[roots].tolist())) != roots.size:
        raise CorruptModelError("a node has two parents, or a tree has two roots")
    forest = Forest(nodes, thresholds, roots.astype(np.int32), targets, weights)
    leaves = sum(1 for root in roots.tolist() for _ in forest.leaves(root))
    if 2 * leaves - roots.size != len(nodes):
        raise CorruptModelError("nodes of a tree form a cycle")
    return forest


def of_leaves(a: Attributes, count: int) -> Forest:
    """Trees of TreeEnsemble-5, which lists leaves apart from inner nodes and gives each leaf one weight."""
    splits, modes = numbers(a, "nodes_splits", finite=False), np.asarray(a["nodes_modes"]).reshape(-1)
    lists = [integers(a, f"nodes_{name}") for name in ("featureids", "truenodeids", "falsenodeids")]
    ends = [integers(a, f"nodes_{name}") for name in ("trueleafs", "falseleafs")]
    missing = integers(a, "nodes_missing_value_tracks_true")
    missing = missing if missing.size else np.zeros(modes.size, np.int64)
    a.ignore("nodes_hitrates")
    if a.get("membership_values") is not None:
        raise UnsupportedError("nodes of mode BRANCH_MEMBER are not supported")
    targets, weights = integers(a, "leaf_targetids"), numbers(a, "leaf_weights")
    _check_lengths(lists[0], splits, modes, missing, *lists, *ends)
    if targets.size != weights.size or (targets.size and not 0 <= targets.min() <= targets.max() < count):
        raise CorruptModelError("leaf_targetids and leaf_weights differ in length or name a target that does not exist")
    inner, total = splits.size, splits.size + targets.size
    nodes = np.zeros((total, 4), np.int32)
    nodes[inner:, 0], nodes[inner:, 1], nodes[inner:, 2] = LEAF, np.arange(targets.size), 1 + np.arange(targets.size)
    thresholds = np.zeros(total, np.float32)
    for k, mode in enumerate(modes.tolist()):
        if not 0 <= mode < len(MODES):
            raise UnsupportedError("nodes of mode BRANCH_MEMBER are not supported")
        pair = tuple(int(of[k]) + (inner if end[k] else 0) for of, end in zip(lists[1:], ends, strict=True))
        if not all(
            0 <= int(of[k]) < (targets.size if end[k] else inner) for of, end in zip(lists[1:], ends, strict=True)
        ):
            raise CorruptModelError(f"node {k} has a child that does not exist")
        branch = _branch(MODES[mode], float(splits[k]), (pair[0], pair[1]), bool(missing[k]))
        nodes[k], thresholds[k] = (lists[0][k], *branch[:3]), branch[3]
    return _rooted(nodes, thresholds, integers(a, "tree_roots"), (targets.astype(np.int32), weights))


def _rooted(
    nodes: np.ndarray, thresholds: np.ndarray, roots: np.ndarray, entries: tuple[np.ndarray, np.ndarray]
) -> Forest:
    """The forest with the file's roots. Raises CorruptModelError if a node has two parents or a root is a child."""
    inner = nodes[:, 0] != LEAF
    parents = np.bincount(nodes[inner, 1:3].reshape(-1), minlength=len(nodes))
    if not roots.size or not 0 <= roots.min() <= roots.max() < inner.sum() or parents[inner].max(initial=0) > 1:
        raise CorruptModelError("a tree has no root, or a node has two parents")
    if parents[roots].any() or np.unique(roots).size != roots.size or (nodes[inner, 0] < 0).any():
        raise CorruptModelError("a root is the child of a node, or a node compares a feature with a negative index")
    return Forest(nodes, thresholds, roots.astype(np.int32), *entries)


def random(
    seed: int, features: int, count: int, dtype: str, *, trees: int, depth: int = 4, flags: bool = False
) -> Forest:
    """Random trees for examples: binary trees of the given depth, some branches shorter; each leaf has all targets."""
    rng = np.random.default_rng(seed)
    nodes: list[list[int]] = []
    thresholds: list[float] = []
    entries: list[tuple[int, float]] = []

    def grow(left: int) -> int:
        at = len(nodes)
        nodes.append([LEAF, len(entries), len(entries) + count, 0])
        thresholds.append(0.0)
        if left == 0 or (left < depth and rng.random() < 0.2):
            entries.extend((t, float(rng.integers(-6, 7)) / 8) for t in range(count))
            return at
        scale = {"f32": 1.0, "s8": 60.0, "u8": 60.0, "s16": 9000.0, "s32": 6e8}[dtype]
        thresholds[at] = rng.normal(0, scale) + (100.0 if dtype == "u8" else 0.0)
        flag = int(rng.integers(0, 4)) if flags else 0
        nodes[at] = [int(rng.integers(0, features)), grow(left - 1), grow(left - 1), flag]
        return at

    roots = [grow(depth) for _ in range(trees)]
    stored = np.array(thresholds, np.float32) if dtype == "f32" else np.array(thresholds).astype(np.int32)
    return Forest(
        np.array(nodes, np.int32),
        stored,
        np.array(roots, np.int32),
        np.array([t for t, _ in entries], np.int32),
        np.array([w for _, w in entries], np.float32),
    )
