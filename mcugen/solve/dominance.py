# SPDX-License-Identifier: Apache-2.0
"""Candidates that no stretch takes, since another one of the node is no worse in anything that stretches look at.

Without them, layers that differ in such candidates alone are of one kind: so where slow kernels take more or less time
with other weights, and no plan has these kernels, what is known of a stretch holds for all stretches like it.
"""

from __future__ import annotations

from collections.abc import Sequence

from mcugen.solve.candidates import Candidate, Candidates
from mcugen.solve.modes import reads_again, rows_of


def undominated(listed: Candidates) -> Candidates:
    """The candidates of a node that none before them dominates. listed: the fastest first."""
    if len(listed) == 1:
        return listed
    kept: list[Candidate] = []
    least: dict[object, list[Sequence[float]]] = {}  # of candidates with the same schedule mode and rows
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
