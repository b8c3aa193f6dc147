"""Tables of decision trees for C: nodes in 16-bit words, thresholds as integers, equal leaves stored once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from mcugen.ir.call import Call, Params
from mcugen.ops._forest import DIFFERS, LEAF, NAN_IS_YES, Forest

NODE_BITS = 31
"""Usable bits of an inner node's first two words. The top bit of the first word marks leaves."""

LEAF_BITS = 15
ENTRY_BITS = 15
WORD = 1 << 16
_LOWEST = 0x807FFFFF
"""The bits of minus infinity after the reordering in `keys_of`. Keys are relative to it."""

WORK = ("trees", "comparisons", "entries")
"""Cost terms of tree kernels, see `work`."""

TYPES = {"f32": 0, "s8": 1, "u8": 2, "s16": 3, "s32": 4}
"""Element type -> the constant MG_TYPE of the C template."""

_SUM, _MIN, _MAX = "SUM", "MIN", "MAX"


@dataclass(frozen=True, eq=False)
class Tables:
    """The params and the variant of the kernel.

    fits: whether node fields, thresholds and leaves fit their bits. rows: leaf node -> its index in the tables
    """

    params: Params
    variant: Mapping[str, int]
    fits: bool
    forest: Forest
    rows: Mapping[int, int]


def of(call: Call) -> Tables:
    """The tables of a call with constant trees."""
    stored = tuple((c.tobytes(), str(c.dtype), c.shape) for c in call.constants[1:] if c is not None)
    return _tables(stored, call.input(0).dtype, call.input(0).shape[-1], call.op.count, call.op.aggregate)


@lru_cache(maxsize=8)
def _tables(
    stored: tuple[tuple[bytes, str, tuple[int, ...]], ...], dtype: str, features: int, count: int, aggregate: str
) -> Tables:
    forest = Forest(*(np.frombuffer(data, kind).reshape(shape) for data, kind, shape in stored))
    keys = keys_of(forest.thresholds) if dtype == "f32" else forest.thresholds.astype(np.int32)
    known, places = np.unique(keys[forest.inner], return_inverse=True)
    known = known if known.size else np.zeros(1, keys.dtype)
    leaves = _Leaves(forest, count, is_sum=aggregate == _SUM)
    flags = int((forest.nodes[forest.inner, 3] & DIFFERS).any()), int(_states_nan(forest, dtype))
    layout = _Layout(forest, leaves, places.reshape(-1), flags, (_bits(features), _bits(known.size)))
    if layout.node_bits > NODE_BITS:
        layout = _Layout(forest, leaves, places.reshape(-1), flags, (_bits(features), 0))
    words, starts = layout.words()
    fits = layout.node_bits <= NODE_BITS and known.size <= WORD and leaves.fits
    params: dict[str, int | np.ndarray] = {
        "nodes": words,
        "starts": starts.astype(np.uint16 if starts.max(initial=0) < WORD else np.uint32),
        "thresholds": known.astype(np.uint32 if dtype == "f32" else np.int32 if dtype == "s32" else np.int16),
        "weights": leaves.weights,
        "features": features,
    }
    variant = {
        "type": TYPES[dtype],
        "trees": forest.roots.size,
        "depth": layout.depth,
        "feature_bits": layout.bits[0],
        "threshold_bits": layout.bits[1],
        "own": int(layout.node_words == 3),
        "differs": flags[0],
        "nan": flags[1],
        "far": int(starts.max(initial=0) >= WORD),
        "targets": count,
        "join": (_SUM, _MIN, _MAX).index(aggregate),
        "leaf_words": 1 + leaves.is_wide,
        "weight_bits": leaves.weight_bits,
    }
    if count > 1:
        params["entries"] = leaves.entries
    return Tables(params, variant, fits, forest, leaves.payload)


def work(call: Call) -> dict[str, float]:
    """The cost terms: trees, comparisons and leaf entries, if each comparison is true half of the time."""
    tables = of(call)
    nodes = tables.forest.nodes.tolist()
    compared = held = 0.0
    waiting = [(root, 1.0) for root in tables.forest.roots.tolist()]
    for at, share in waiting:
        feature, first, second, _ = nodes[at]
        if feature == LEAF:
            held += share * (second - first)
        else:
            compared += share
            waiting += [(first, share / 2), (second, share / 2)]
    vectors = call.input(0).size // call.input(0).shape[-1]
    counts = (float(tables.forest.roots.size), compared, held)
    return {name: vectors * count for name, count in zip(WORK, counts, strict=True)}


def keys_of(values: np.ndarray) -> np.ndarray:
    """u32 keys of float32 values. They compare like the floats; the key of minus infinity is 0."""
    bits = np.where(values == 0, np.float32(0), values).astype(np.float32).view(np.int32)
    ordered = np.where(bits >= 0, bits, bits ^ 0x7FFFFFFF).view(np.uint32)
    return np.asarray(ordered - np.uint32(_LOWEST))


def _bits(count: int) -> int:
    """Bits of the largest index below `count`."""
    return max(count - 1, 0).bit_length()


def _states_nan(forest: Forest, dtype: str) -> bool:
    """Whether any node's branch for NaN differs from the outcome of its comparison with NaN."""
    flags = forest.nodes[forest.inner, 3]
    return dtype == "f32" and bool((((flags & DIFFERS) != 0) != ((flags & NAN_IS_YES) != 0)).any())


class _Leaves:
    """The contents of leaves, with equal leaves stored once.

    With one target, a leaf is an index into `weights`. With several, it is an index into `entries`. An entry packs a
    target and the index of its weight into one word. If both do not fit, the entry has only the target, and its weight
    is weights[index of the entry].
    """

    def __init__(self, forest: Forest, count: int, *, is_sum: bool) -> None:
        self._forest, self._count, self._is_sum = forest, count, is_sum
        self._rows: dict[bytes, int] = {}
        self._entries: list[tuple[int, float]] = []
        leaves = np.flatnonzero(~forest.inner)
        self.payload = {int(k): self._place(int(k)) for k in leaves}
        self.is_wide = int(max(self.payload.values(), default=0) >= 1 << LEAF_BITS)
        self._pack()

    def _place(self, leaf: int) -> int:
        first, end = self._forest.nodes[leaf, 1:3].tolist()
        targets, weights = self._forest.targets[first:end], self._forest.weights[first:end]
        if self._count == 1:
            weights = weights if weights.size else np.zeros(1, np.float32)
            self._entries += [] if (key := weights.tobytes()) in self._rows else [(0, float(weights[0]))]
            return self._rows.setdefault(key, len(self._rows))
        if self._is_sum:  # adding zero changes no sum, and sums are never -0
            added = weights != 0
            targets, weights = (targets[added], weights[added]) if added.any() else (targets[:1], weights[:1])
        if not targets.size:
            targets, weights = np.zeros(1, np.int32), np.zeros(1, np.float32)
        key = targets.tobytes() + weights.tobytes()
        if key not in self._rows:
            self._rows[key] = len(self._entries)
            last = len(targets) - 1
            pairs = zip(targets.tolist(), weights.tolist(), strict=True)
            self._entries += [(t | (k == last) << 31, w) for k, (t, w) in enumerate(pairs)]
        return self._rows[key]

    def _pack(self) -> None:
        weights = np.array([w for _, w in self._entries], np.float32)
        self.entries, self.weight_bits, self.weights = np.zeros(0, np.uint16), 0, weights
        if self._count == 1:
            self.fits = True
            return
        self.fits = self._count <= 1 << ENTRY_BITS
        distinct, index = np.unique(weights, return_inverse=True)
        bits = _bits(distinct.size)
        if bits + _bits(self._count) <= ENTRY_BITS and bits:
            self.weight_bits, self.weights = bits, distinct
        targets = np.array([t & 0x7FFFFFFF for t, _ in self._entries], np.int64)
        ends = np.array([t >> 31 for t, _ in self._entries], np.int64) << 15
        place = index.reshape(-1) if self.weight_bits else np.zeros_like(targets)
        self.entries = (ends | targets << self.weight_bits | place).astype(np.uint16)


class _Layout:
    """The words of all trees: each node is followed by its subtree `yes`, then its subtree `no`."""

    def __init__(
        self,
        forest: Forest,
        leaves: _Leaves,
        places: np.ndarray,
        flags: tuple[int, int],
        bits: tuple[int, int],
    ) -> None:
        self._forest, self._leaves, self._flags, self.bits = forest, leaves, flags, bits
        self._threshold = np.zeros(len(forest.nodes), np.int64)
        self._threshold[forest.inner] = places
        self.node_words = 2 if bits[1] or not self._threshold.any() else 3
        self._leaf_words = 1 + leaves.is_wide
        self.depth = 0
        self._sizes = self._measured()
        skips = [self._sizes[int(yes)] for yes in forest.nodes[forest.inner, 1]]
        self.node_bits = max(skips, default=0).bit_length() + sum(bits) + sum(flags)

    def _measured(self) -> dict[int, int]:
        """Node -> the number of words of its subtree. Also computes `depth`."""
        nodes = self._forest.nodes.tolist()
        order = [(root, 0) for root in self._forest.roots.tolist()]
        for at, depth in order:
            feature, yes, no, _ = nodes[at]
            self.depth = max(self.depth, depth)
            if feature != LEAF:
                order += [(yes, depth + 1), (no, depth + 1)]
        sizes: dict[int, int] = {}
        for at, _ in reversed(order):
            feature, yes, no, _ = nodes[at]
            inner = feature != LEAF
            sizes[at] = self.node_words + sizes[yes] + sizes[no] if inner else self._leaf_words
        return sizes

    def words(self) -> tuple[np.ndarray, np.ndarray]:
        """(words of all trees, index of the first word of each tree)."""
        found: list[int] = []
        starts: list[int] = []
        nodes = self._forest.nodes.tolist()
        for root in self._forest.roots.tolist():
            starts.append(len(found))
            waiting = [root]
            while waiting:
                at = waiting.pop()
                feature, yes, no, _ = nodes[at]
                if feature == LEAF:
                    found += self._leaf(at)
                else:
                    found += self._node(at)
                    waiting += [no, yes]
        return np.array(found, np.int64).astype(np.uint16), np.array(starts, np.int64)

    def _leaf(self, at: int) -> list[int]:
        row = self._leaves.payload[at]
        return [WORD >> 1 | row >> 16, row & 0xFFFF] if self._leaves.is_wide else [WORD >> 1 | row & 0x7FFF]

    def _node(self, at: int) -> list[int]:
        feature, yes, _, flags = self._forest.nodes[at].tolist()
        value = self._sizes[yes]
        value = value << self.bits[1] | (int(self._threshold[at]) if self.bits[1] else 0)
        value = value << self.bits[0] | feature
        if self._flags[0]:
            value = value << 1 | int(bool(flags & DIFFERS))
        if self._flags[1]:
            value = value << 1 | int(bool(flags & NAN_IS_YES))
        own = [int(self._threshold[at])] if self.node_words == 3 else []
        return [value >> 16 & 0x7FFF, value & 0xFFFF, *own]
