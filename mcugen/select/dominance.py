# SPDX-License-Identifier: Apache-2.0
"""Candidates that no stretch takes, since another one of the node is no worse in anything that stretches look at.

Without them, layers that differ in such candidates alone are of one kind: so where slow kernels take more or less time
with other weights, and no plan has these kernels, what is known of a stretch holds for all stretches like it.
"""

from __future__ import annotations

from collections.abc import Sequence

from mcugen.select.candidates import Candidate, Candidates
from mcugen.select.walks import reads_again, rows_of

_Traits = tuple[object, ...]


def undominated(listed: Candidates) -> Candidates:
    """The candidates of a node that none before them dominates. listed: the fastest first."""
    if len(listed) == 1:
        return listed
    kept: list[tuple[Candidate, _Traits, Sequence[float]]] = []
    for c in listed:
        way = c.choice.can_run_by_rows, rows_of(c)
        whole, passing, staying = c.choice.working
        memory = whole, passing + staying, staying
        needs = c.cost, c.rows_cost, *memory, reads_again(c.choice), not c.choice.kernel.keeps
        if not any(way == other and _is_no_more(least, needs) for _, other, least in kept):
            kept.append((c, way, needs))
    return tuple(c for c, _, _ in kept)


def _is_no_more(needs: Sequence[float], than: Sequence[float]) -> bool:
    return all(a <= b for a, b in zip(needs, than, strict=True))
