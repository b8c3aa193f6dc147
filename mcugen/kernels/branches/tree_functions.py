"""The C code of a forest as nested if statements: a function for each tree, and one that combines their leaves."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mcugen.ir.fixed_point import INT_RANGE
from mcugen.ops._forest import DIFFERS, LEAF
from mcugen.ops._tree_tables import Tables, keys_of

_STORED = {"f32": "mg_f32", "s8": "int8_t", "u8": "uint8_t", "s16": "mg_s16", "s32": "mg_s32"}
_JOINED = (("MG_LEAVES_ADDED", "0.0f"), ("MG_LEAST_LEAF", "3.402823466e38f"), ("MG_GREATEST_LEAF", "-3.402823466e38f"))
"""C macro that combines leaves, and its initial value; the index is MG_JOIN of the kernels with tables."""

_HEADER = """/* SPDX-License-Identifier: Apache-2.0
 *
 * Decision trees as branches: the leaves that {features} features reach, joined in the order of the trees.
 */
#ifndef {guard}
#define {guard}

#include "mcugen/tree_branches.h"

typedef mg_tree_branches_params {function}_params;

/* n vectors: in [n][{features}], out [n][{targets}]. */
{head};

#endif /* {guard} */
"""


_ZERO = keys_of(np.zeros(1, np.float32))[0]
"""The key of 0. The key of -0 is one less, though both are equal as floats."""


@dataclass(frozen=True, eq=False)
class Branches:
    """The C files for a call.

    dtype: element type of the features. keyed: whether trees compare keys instead of float features. Keys are unsigned
    integers in the order of the floats; they are computed once per vector.
    """

    tables: Tables
    dtype: str
    keyed: bool = False

    @cached_property
    def places(self) -> dict[int, int]:
        """Feature that trees compare -> index of its key. The feature that is compared most often is first."""
        features, counts = np.unique(self.tables.forest.nodes[self.tables.forest.inner, 0], return_counts=True)
        order = features[np.argsort(-counts, kind="stable")].tolist()
        return {feature: place for place, feature in enumerate(order)}

    @property
    def digest(self) -> str:
        """Six hexadecimal digits of a hash of the files' text."""
        return hashlib.sha256(repr(sorted(self.files("mg_").items())).encode()).hexdigest()[:6]

    def files(self, function: str) -> dict[str, str]:
        """The header and the source that define `function`, by name."""
        stem, head = function.removeprefix("mg_"), self._head(function)
        values = {"function": function, "features": self._features, "targets": self._targets, "head": head}
        header = _HEADER.format(guard=f"MCUGEN_{stem.upper()}_H", **values)
        return {f"{stem}.h": header, f"{stem}.c": "\n".join(self._source(function, stem)) + "\n"}

    @property
    def _features(self) -> int:
        found = self.tables.params["features"]
        assert isinstance(found, int)
        return found

    @property
    def _targets(self) -> int:
        return self.tables.variant["targets"]

    def _head(self, function: str) -> str:
        first = f"void {function}(const {function}_params *p, const {_STORED[self.dtype]} *in, mg_f32 *out,"
        return f"{first}\n{' ' * (len(function) + 6)}{'void *scratch, ' if self.keyed else ''}uint32_t n)"

    def _source(self, function: str, stem: str) -> Iterator[str]:
        yield from ("/* SPDX-License-Identifier: Apache-2.0 */", f'#include "mcugen/{stem}.h"')
        for k, root in enumerate(self.tables.forest.roots.tolist()):
            stored = "uint32_t" if self.keyed else _STORED[self.dtype]
            yield from ("", f"static uint32_t {function}_{k}(const {stored} *x)", "{")
            lines = list(self._branches(root))
            yield from (*(() if any("x[" in line for line in lines) else ("    (void)x;",)), *lines, "}")
        yield from ("", self._head(function), "{", *self._body(function), "}")

    def _branches(self, root: int) -> Iterator[str]:
        """C lines of a tree: one if statement per comparison; its block always returns."""
        forest = self.tables.forest
        waiting: list[tuple[int, int] | str] = [(root, 1)]
        while waiting:
            entry = waiting.pop()
            if isinstance(entry, str):
                yield entry
                continue
            at, depth = entry
            feature, yes, no, flags = forest.nodes[at].tolist()
            indent = "    " * depth
            if feature == LEAF:
                yield f"{indent}return {self.tables.rows[at]}u;"
                continue
            certain = self._certain(float(forest.thresholds[at]), differs=bool(flags & DIFFERS))
            if certain is not None:
                waiting.append((yes if certain else no, depth))
                continue
            yield f"{indent}if ({self._compared(feature, forest.thresholds[at], differs=bool(flags & DIFFERS))}) {{"
            waiting += [(no, depth), f"{indent}}}", (yes, depth + 1)]

    def _certain(self, threshold: float, *, differs: bool) -> bool | None:
        """The outcome of a comparison if it is the same for all integers of the features' type; else None."""
        if self.dtype not in INT_RANGE:  # NaN fails even x <= infinity
            return None
        low, high = INT_RANGE[self.dtype]
        if differs:
            return None if low <= threshold <= high else True
        return True if threshold >= high else False if threshold < low else None

    def _compared(self, feature: int, threshold: np.generic, *, differs: bool) -> str:
        if not self.keyed:
            return f"x[{feature}] {'!=' if differs else '<='} {self._literal(threshold)}"
        key, place = keys_of(np.array([threshold]))[0], self.places[feature]
        if differs and key == _ZERO:
            return f"x[{place}] - 0x{key - 1:08x}u > 1u"
        return f"x[{place}] {'!=' if differs else '<='} 0x{key:08x}u"

    def _literal(self, threshold: np.generic) -> str:
        if self.dtype == "f32":
            text = str(np.float32(threshold))
            return f"{text}f" if "." in text or "e" in text else f"{text}.0f"
        value = int(threshold)
        return "(-2147483647 - 1)" if value == -(2**31) else str(value)

    def _body(self, function: str) -> Iterator[str]:
        trees, several, variant = self.tables.forest.roots.size, self._targets > 1, self.tables.variant
        kind, begin = _JOINED[variant["join"]]
        yield f"    const {_STORED[self.dtype]} *{'f' if self.keyed else 'x'} = in;"
        yield from ("    uint32_t *const x = scratch;",) if self.keyed else ()
        yield from ("    mg_f32 *y = out;", "    for (uint32_t i = 0u; i < n; i += 1u) {")
        if self.keyed:
            yield from (f"        x[{place}] = mg_tree_key(f[{feature}]);" for feature, place in self.places.items())
        if several:
            yield f"        for (uint32_t t = 0u; t < {self._targets}u; t += 1u) {{"
            yield from (f"            y[t] = {begin};", "        }")
            sizes = f"{self._targets}u, {variant['weight_bits']}u, {kind}"
            yield from (f"        mg_tree_join(p, {function}_{k}(x), {sizes}, y);" for k in range(trees))
        else:
            yield f"        float joined = {begin};"
            for k in range(trees):
                yield f"        joined = mg_tree_joined({kind}, joined, p->weights[{function}_{k}(x)]);"
            yield "        y[0] = joined;"
        yield f"        {'f' if self.keyed else 'x'} += {self._features};"
        yield from (f"        y += {self._targets};", "    }")
