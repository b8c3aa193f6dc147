"""Kernels that run decision trees as nested if statements."""

from __future__ import annotations

import numpy as np

from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Cost, Kernel, Run, Text
from mcugen.kernels.branches.tree_functions import Branches
from mcugen.ops import _tree_tables
from mcugen.ops._tree_tables import WORK
from mcugen.ops.tree_ensemble import has_tables, rows

NEEDS = frozenset({"fpu"})
MOST = 4096
DEEPEST = 30
_NODE_BYTES, _LEAF_BYTES = 22, 5
"""Bytes of code per comparison, with its threshold, and per leaf, on Cortex-M."""

_KEYED_NODE_BYTES, _KEY_BYTES = 22, 14
"""Bytes of code per comparison of keys, with its leaf, and per key."""


def float_features(call: Call) -> bool:
    "features are float32"
    return call.input(0).dtype == "f32"


def integer_features(call: Call) -> bool:
    "features are integers"
    return call.input(0).dtype != "f32"


def is_small(call: Call) -> bool:
    "the trees have at most 4,096 comparisons, and a path from a root to a leaf at most 30"
    if not has_tables(call):
        return False
    found = _tree_tables.of(call)
    return int(found.forest.inner.sum()) <= MOST and found.variant["depth"] <= DEEPEST


def nan_fails(call: Call) -> bool:
    "NaN fails all comparisons but !="
    return has_tables(call) and _tree_tables.of(call).variant["nan"] == 0


def compares_as_c(call: Call) -> bool:
    "thresholds are finite, and NaN fails all comparisons but !="
    return nan_fails(call) and bool(np.isfinite(_tree_tables.of(call).forest.thresholds).all())


def has_no_fpu(call: Call) -> bool:
    "the core has no FPU, which compares floats without keys"
    return "fpu" not in call.features


def params(call: Call) -> Params:
    found = _tree_tables.of(call).params
    return {name: found[name] for name in ("entries", "weights") if name in found}


def code(call: Call) -> int:
    forest = _tree_tables.of(call).forest
    compared = int(forest.inner.sum())
    return _NODE_BYTES * compared + _LEAF_BYTES * (compared + forest.roots.size)


def text(call: Call) -> Branches:
    return Branches(_tree_tables.of(call), call.input(0).dtype)


def keyed(call: Call) -> Branches:
    return Branches(_tree_tables.of(call), call.input(0).dtype, keyed=True)


def keys(call: Call) -> int:
    """Number of keys of a vector: one for each feature that the trees compare."""
    return len(keyed(call).places)


def keys_bytes(call: Call) -> int:
    return 4 * keys(call)


def keyed_work(call: Call) -> dict[str, float]:
    """Cost terms of `_tree_tables.work`, and the number of keys computed (keys)."""
    return _tree_tables.work(call) | {"keys": float(rows(call) * keys(call))}


def keyed_code(call: Call) -> int:
    nodes = int(_tree_tables.of(call).forest.inner.sum())
    return _KEYED_NODE_BYTES * nodes + _KEY_BYTES * keys(call)


FLOATS = Kernel(
    "mg_tree_branches",
    Run(rows),
    (float_features, has_tables, compares_as_c, is_small),
    params,
    operands=(0,),
    text=Text(generate=text),
    cost=Cost(_tree_tables.work, WORK, code=code, code_is_data=True),
    needs=NEEDS,
    short="branches",
)
KEYS = Kernel(
    "mg_tree_branches_keys",
    Run(rows),
    (float_features, has_no_fpu, has_tables, nan_fails, is_small),
    params,
    operands=(0,),
    text=Text(generate=keyed),
    cost=Cost(keyed_work, (*WORK, "keys"), code=keyed_code, code_is_data=True),
    scratch=keys_bytes,
    short="branches_keys",
)
INTEGERS = Kernel(
    "mg_tree_branches_integers",
    Run(rows),
    (integer_features, has_tables, is_small),
    params,
    operands=(0,),
    text=Text(generate=text),
    cost=Cost(_tree_tables.work, WORK, code=code, code_is_data=True),
    short="branches_int",
)
