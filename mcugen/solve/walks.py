"""How the steps of a stretch walk, whole tensors or rows, and the least that each of them costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt

from mcugen.ir.kernel import Form
from mcugen.solve.candidates import Candidate, Candidates
from mcugen.solve.schedule.steps import Choice, Step, batch_of

EVENT_COST = 15.0
"""Cost of one event beyond the fitted terms of its kernel: 15 to 20 instructions in runs on Cortex-M4 and M7."""
MOST_MIXED = 8
"""Most steps of a stretch that is also tried with whole tensors in between, which saves little memory."""


class Walk(Enum):
    """MIXED: by rows, but for the steps whose fastest kernels take whole tensors."""

    WHOLE = "whole"
    ROWS = "rows"
    MIXED = "mixed"

    def of(self, listed: Candidates) -> Sequence[Candidate]:
        """The candidates of a node that walk so; of those by rows, the ones that take as many as the fastest."""
        if self is Walk.WHOLE:
            return [c for c in listed if c.choice.kernel.keeps]
        if self is Walk.MIXED and _is_faster_whole(listed):
            return [c for c in listed if not c.choice.can_run_by_rows]
        able = [c for c in listed if c.choice.can_run_by_rows] or list(listed)
        walk = rows_of(min(able, key=lambda c: c.rows_cost))
        return [c for c in able if rows_of(c) == walk]


def rows_of(c: Candidate) -> tuple[bool, int]:
    """Which rows a candidate walks, those of the input or of the output, and how many an event."""
    return c.choice.kernel.form is Form.ACCUMULATE, batch_of(c.choice)


def reads_again(choice: Choice) -> bool:
    """Whether the kernel, by rows, reads rows again that it has read."""
    kernel = choice.kernel
    return kernel.form is Form.WINDOW or (kernel.form is Form.RING and not kernel.keeps)


def _is_faster_whole(listed: Candidates) -> bool:
    able = [c.rows_cost for c in listed if c.choice.can_run_by_rows]
    return bool(able) and min((c.cost for c in listed if not c.choice.can_run_by_rows), default=np.inf) < min(able)


@dataclass(frozen=True, eq=False)
class Bounds:
    """For each place between steps, of those before it: the least cost, whole and by rows, and how many can run by
    rows, and have a faster kernel that cannot.
    """

    whole: npt.NDArray[np.float64]
    walked: npt.NDArray[np.float64]
    able: npt.NDArray[np.int64]
    mixed: npt.NDArray[np.int64]

    @classmethod
    def of(cls, running: Sequence[Candidates]) -> Bounds:
        """The bounds of the costs of steps with these candidates."""
        return cls(
            np.cumsum([0.0, *(min(c.cost for c in listed) + EVENT_COST for listed in running)]),
            np.cumsum([0.0, *(_rows_bound(listed) for listed in running)]),
            np.cumsum([0, *(any(c.choice.can_run_by_rows for c in listed) for listed in running)]),
            np.cumsum([0, *(_is_faster_whole(listed) for listed in running)]),
        )

    def walks(self, a: int, b: int) -> Sequence[tuple[Walk, float]]:
        """How the steps from a to b, b left out, may walk by rows, and the least that this costs."""
        ways = [Walk.ROWS] if self.able[b] > self.able[a] else []
        if len(ways) and self.mixed[b] > self.mixed[a] and 1 < b - a <= MOST_MIXED:
            ways.append(Walk.MIXED)
        return [(way, float(self.walked[b] - self.walked[a])) for way in ways]


def _rows_bound(listed: Candidates) -> float:
    """The least that a step can cost where it runs by rows, or in a stretch that does."""
    return min(
        c.rows_cost + EVENT_COST * Step(0, c.choice, True, batch_of(c.choice)).events
        if c.choice.can_run_by_rows
        else c.cost + EVENT_COST
        for c in listed
    )
