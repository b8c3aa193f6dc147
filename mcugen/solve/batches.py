"""Several rows at a time, where images are narrow: a kernel that computes blocks of three pixels leaves two of a row of
five to a slower loop, and none of three rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mcugen.boards.target import Target
from mcugen.ir.kernel import Form
from mcugen.ir.types import rows_of
from mcugen.options import Options
from mcugen.solve.candidates import Candidate, Candidates, rows_costs_of
from mcugen.solve.schedule.steps import batch_of

BATCHES = (2, 3, 4)
"""Rows an event that are tried."""

WORTH = 0.02
"""The share of a layer's time, row by row, that several rows an event must save."""


def in_batches(offered: Sequence[Candidates], target: Target, options: Options) -> list[Candidates] | None:
    """The same candidates, with as many rows an event as suit the fastest of each node; None where that is one.

    Rows that the caller pushes come one by one, and the least RAM holds as few as there can be.
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
    """The same candidates without those that take more rows an event than others of their node; None where all take as
    many.

    Walks take as many rows as the fastest kernel of each step; a slower one may be what fits.
    """
    found = [_in_fewest(listed) for listed in offered]
    return found if any(len(few) < len(listed) for few, listed in zip(found, offered, strict=True)) else None


def _in_fewest(listed: Candidates) -> Candidates:
    fewest = min((batch_of(c.choice) for c in listed if c.choice.can_run_by_rows), default=1)
    return tuple(c for c in listed if not c.choice.can_run_by_rows or batch_of(c.choice) == fewest)


def _kind(listed: Candidates) -> object:
    """What the costs of the candidates depend on: layers of one kind are looked into once."""
    call = listed[0].choice.call
    types = tuple((t.shape, t.dtype) if t else None for t in (*call.inputs, *call.outputs))
    return types, tuple((c.choice.kernel.symbol, c.choice.kernel.keeps, c.cost, c.rows_cost) for c in listed)


def _like(c: Candidate, other: Candidate) -> Candidate:
    """The candidate with the rows of one of the same kernel, in a layer of the same kind."""
    rows = other.choice.rows
    return replace(c, choice=replace(c.choice, rows=rows), rows_cost=other.rows_cost) if rows else c


def _in_batches(listed: Candidates, target: Target, options: Options) -> Candidates:
    able = [c for c in listed if c.choice.can_run_by_rows]
    multiplying = [c for c in able if _multiplies(c)]
    if not multiplying:
        return listed
    most = (1 - WORTH) * min(c.rows_cost for c in able)
    batches = [n for n in BATCHES if n < rows_of(multiplying[0].choice.call.output.shape)]
    hopeful = [c for c in multiplying if c.cost <= most]  # several rows take no less than all of them
    tried = [rows_costs_of(c, batches, target, options) for c in hopeful]
    least = [min(found) for found in zip(*tried, strict=True)]
    if min(least, default=np.inf) > most:
        return listed
    batch = batches[least.index(min(least))]
    changed = {id(c): _with_rows(c, batch, target, options) for c in multiplying}
    return tuple(changed.get(id(c), c) for c in listed)


def _multiplies(c: Candidate) -> bool:
    return c.choice.kernel.form is Form.POINTWISE and c.choice.call.op.macs(c.choice.call) > 0


def _with_rows(c: Candidate, rows: int, target: Target, options: Options) -> Candidate:
    [cost] = rows_costs_of(c, [rows], target, options)
    return replace(c, choice=replace(c.choice, rows=rows), rows_cost=cost)
