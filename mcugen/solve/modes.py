"""Schedule modes of a stretch, whole tensors or rows, and lower bounds of their cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt

from mcugen.ir.kernel import Accumulate, Window
from mcugen.solve.candidates import Candidate, Candidates
from mcugen.solve.schedule.steps import Choice, Step, batch_of

EVENT_COST = 15.0
"""Cost of calling a kernel once (one event), beyond the kernel's fitted terms: 15 to 20 instructions on Cortex-M4 and
M7.
"""
MOST_MIXED = 8
"""Largest number of steps of a stretch for which the mode MIXED is tried. In longer stretches it saves
little memory.
"""


class Mode(Enum):
    """Schedule mode of a stretch. MIXED: by rows, except for steps whose fastest kernels work on whole tensors."""

    WHOLE = "whole"
    ROWS = "rows"
    MIXED = "mixed"

    def of(self, listed: Candidates) -> Sequence[Candidate]:
        """Candidates of a node in this mode. By rows: candidates with the same number of rows per event as the
        fastest.
        """
        if self is Mode.WHOLE:
            return [c for c in listed if not c.choice.kernel.form.refills]
        if self is Mode.MIXED and _is_faster_whole(listed):
            return [c for c in listed if not c.choice.can_run_by_rows]
        able = [c for c in listed if c.choice.can_run_by_rows] or list(listed)
        rows = rows_of(min(able, key=lambda c: c.rows_cost))
        return [c for c in able if rows_of(c) == rows]


def rows_of(c: Candidate) -> tuple[bool, int]:
    """(whether an event is a row of the input instead of the output, rows per event)."""
    return isinstance(c.choice.kernel.form, Accumulate), batch_of(c.choice)


def reads_again(choice: Choice) -> bool:
    """Whether the kernel, run by rows, reads rows of earlier events again."""
    return isinstance(choice.kernel.form, Window) or choice.kernel.form.refills


def _is_faster_whole(listed: Candidates) -> bool:
    able = [c.rows_cost for c in listed if c.choice.can_run_by_rows]
    return bool(able) and min((c.cost for c in listed if not c.choice.can_run_by_rows), default=np.inf) < min(able)


@dataclass(frozen=True, eq=False)
class Bounds:
    """Running sums over the steps before each index.

    whole, by_rows: least costs. able: number of steps that can run by rows. mixed: number of these steps whose
    fastest kernel works on whole tensors.
    """

    whole: npt.NDArray[np.float64]
    by_rows: npt.NDArray[np.float64]
    able: npt.NDArray[np.int64]
    mixed: npt.NDArray[np.int64]

    @classmethod
    def of(cls, running: Sequence[Candidates]) -> Bounds:
        """The running sums for steps with these candidates."""
        return cls(
            np.cumsum([0.0, *(min(c.cost for c in listed) + EVENT_COST for listed in running)]),
            np.cumsum([0.0, *(_rows_bound(listed) for listed in running)]),
            np.cumsum([0, *(any(c.choice.can_run_by_rows for c in listed) for listed in running)]),
            np.cumsum([0, *(_is_faster_whole(listed) for listed in running)]),
        )

    def modes(self, a: int, b: int) -> Sequence[tuple[Mode, float]]:
        """Row-by-row modes that the steps [a, b) can run in, each with a lower bound of its cost."""
        modes = [Mode.ROWS] if self.able[b] > self.able[a] else []
        if len(modes) and self.mixed[b] > self.mixed[a] and 1 < b - a <= MOST_MIXED:
            modes.append(Mode.MIXED)
        return [(mode, float(self.by_rows[b] - self.by_rows[a])) for mode in modes]


def _rows_bound(listed: Candidates) -> float:
    """Lower bound of the cost of a step in a stretch that runs by rows."""
    return min(
        c.rows_cost + EVENT_COST * Step(0, c.choice, True, batch_of(c.choice)).events
        if c.choice.can_run_by_rows
        else c.cost + EVENT_COST
        for c in listed
    )
