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
MOST = 1024
DEEPEST = 30
_NODE_BYTES, _LEAF_BYTES = 22, 5
"""Bytes of code per comparison, with its threshold, and per leaf, on Cortex-M."""


def float_features(call: Call) -> bool:
    "features are float32"
    return call.input(0).dtype == "f32"


def integer_features(call: Call) -> bool:
    "features are integers"
    return call.input(0).dtype != "f32"


def is_small(call: Call) -> bool:
    "the trees have at most 1,024 comparisons, no more than 30 below each other"
    if not has_tables(call):
        return False
    found = _tree_tables.of(call)
    return int(found.forest.inner.sum()) <= MOST and found.variant["depth"] <= DEEPEST


def compares_as_c(call: Call) -> bool:
    "thresholds are finite, and a value that is not a number fails all comparisons but !="
    if not has_tables(call):
        return False
    found = _tree_tables.of(call)
    return found.variant["nan"] == 0 and bool(np.isfinite(found.forest.thresholds).all())


def params(call: Call) -> Params:
    found = _tree_tables.of(call).params
    return {name: found[name] for name in ("entries", "weights") if name in found}


def code(call: Call) -> int:
    forest = _tree_tables.of(call).forest
    compared = int(forest.inner.sum())
    return _NODE_BYTES * compared + _LEAF_BYTES * (compared + forest.roots.size)


def text(call: Call) -> Branches:
    return Branches(_tree_tables.of(call), call.input(0).dtype)


FLOATS = Kernel(
    "mg_tree_branches",
    Run(rows),
    (float_features, has_tables, compares_as_c, is_small),
    params,
    operands=(0,),
    text=Text(generate=text),
    cost=Cost(_tree_tables.work, WORK, code=code),
    needs=NEEDS,
    short="branches",
)
INTEGERS = Kernel(
    "mg_tree_branches_integers",
    Run(rows),
    (integer_features, has_tables, is_small),
    params,
    operands=(0,),
    text=Text(generate=text),
    cost=Cost(_tree_tables.work, WORK, code=code),
    short="branches_int",
)
