# SPDX-License-Identifier: Apache-2.0
"""Removal of dominated candidates: a faster candidate of the node is no worse in memory and schedule either.

Layers that differ only in dominated candidates then count as equal, so that search results are reused for them.
"""

from __future__ import annotations

from collections.abc import Sequence

from mcugen.solve.candidates import Candidate, Candidates
from mcugen.solve.modes import reads_again, rows_of


def undominated(listed: Candidates) -> Candidates:
    """The candidates that no earlier candidate of the list dominates. listed: candidates of one node, the fastest
    first.
    """
    if len(listed) == 1:
        return listed
    kept: list[Candidate] = []
    least: dict[object, list[Sequence[float]]] = {}  # (mode, rows per event) -> costs and memory of kept ones
    for c in listed:
        whole, passing, staying = c.choice.working
        memory = whole, passing + staying, staying
        needs = c.cost, c.rows_cost, *memory, reads_again(c.choice), c.choice.kernel.form.refills
        alike = least.setdefault((c.choice.can_run_by_rows, rows_of(c)), [])
        if not any(_is_no_more(other, needs) for other in alike):
            alike.append(needs)
            kept.append(c)
    return tuple(kept)


def _is_no_more(needs: Sequence[float], than: Sequence[float]) -> bool:
    return all(a <= b for a, b in zip(needs, than, strict=True))
