"""Several rows per call for narrow images, where single rows do not fill the blocks of pixels that a kernel computes.

Example: with blocks of three pixels, a row of five pixels leaves two to a slower loop, and three such rows leave none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mcugen.boards.target import Target
from mcugen.ir.kernel import Run
from mcugen.ir.types import rows_of
from mcugen.options import Options
from mcugen.solve.candidates import Candidate, Candidates, rows_costs_of
from mcugen.solve.schedule.steps import batch_of

BATCHES = (2, 3, 4)
"""Numbers of rows per event that are tried. An event is one execution of a step by rows."""

WORTH = 0.02
"""Share of a layer's row-by-row time that several rows per event must save at least."""


def in_batches(offered: Sequence[Candidates], target: Target, options: Options) -> list[Candidates] | None:
    """Candidates with the number of rows per event that is fastest for the best kernel of each node.

    None if that is one row for all nodes, if the caller pushes single rows, for the goal `ram`, and for devices.
    """
    if options.input_mode != "whole" or options.optimize == "ram" or target.device:
        return None
    known: dict[object, Candidates] = {}
    found: list[Candidates] = []
    for listed in offered:
        kind = _kind(listed)
        if kind not in known:
            known[kind] = _in_batches(listed, target, options)
        found.append(tuple(map(_like, listed, known[kind])))
    return found if any(c.choice.rows for listed in found for c in listed) else None


def in_fewest(offered: Sequence[Candidates]) -> list[Candidates] | None:
    """For each node, only its candidates with the fewest rows per event. None if no candidate is left out.

    A schedule by rows takes the number of rows per event from the fastest kernel of each step. A slower kernel with
    fewer rows may be the only one that fits.
    """
    found = [_in_fewest(listed) for listed in offered]
    return found if any(len(few) < len(listed) for few, listed in zip(found, offered, strict=True)) else None


def _in_fewest(listed: Candidates) -> Candidates:
    fewest = min((batch_of(c.choice) for c in listed if c.choice.can_run_by_rows), default=1)
    return tuple(c for c in listed if not c.choice.can_run_by_rows or batch_of(c.choice) == fewest)


def _kind(listed: Candidates) -> object:
    """Key of the candidates' costs: layers with equal keys are examined once."""
    call = listed[0].choice.call
    types = tuple((t.shape, t.dtype) if t else None for t in (*call.inputs, *call.outputs))
    return types, tuple((c.choice.kernel.symbol, not c.choice.kernel.form.refills, c.cost, c.rows_cost) for c in listed)


def _like(c: Candidate, other: Candidate) -> Candidate:
    """Candidate `c` with the rows per event of `other`: the same kernel in another layer with equal costs."""
    rows = other.choice.rows
    return replace(c, choice=replace(c.choice, rows=rows), rows_cost=other.rows_cost) if rows else c


def _in_batches(listed: Candidates, target: Target, options: Options) -> Candidates:
    able = [c for c in listed if c.choice.can_run_by_rows]
    multiplying = [c for c in able if _multiplies(c)]
    if not multiplying:
        return listed
    most = (1 - WORTH) * min(c.rows_cost for c in able)
    batches = [n for n in BATCHES if n < rows_of(multiplying[0].choice.call.output.shape)]
    hopeful = [c for c in multiplying if c.cost <= most]  # no number of rows beats the whole tensor
    tried = [rows_costs_of(c, batches, target, options) for c in hopeful]
    least = [min(found) for found in zip(*tried, strict=True)]
    if min(least, default=np.inf) > most:
        return listed
    batch = batches[least.index(min(least))]
    changed = {id(c): _with_rows(c, batch, target, options) for c in multiplying}
    return tuple(changed.get(id(c), c) for c in listed)


def _multiplies(c: Candidate) -> bool:
    return isinstance(c.choice.kernel.form, Run) and c.choice.call.op.macs(c.choice.call) > 0


def _with_rows(c: Candidate, rows: int, target: Target, options: Options) -> Candidate:
    [cost] = rows_costs_of(c, [rows], target, options)
    return replace(c, choice=replace(c.choice, rows=rows), rows_cost=cost)
