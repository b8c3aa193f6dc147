"""Order of events in the generated code. An event is one step, or one row of a step."""

from __future__ import annotations

import math

from mcugen.errors import UnsupportedError
from mcugen.solve.schedule import INPUT, Schedule


def events_after_rows(schedule: Schedule, rows: int) -> list[int]:
    """For each pushed row, the number of events that have run by the time the next row is pushed."""
    done, until = 0, []
    for event in schedule.trace:
        if event.step == INPUT:
            until.append(done)
        else:
            done += 1
    return [*until[1:], *[done] * (rows - len(until) + 1)]


def period(schedule: Schedule) -> int:
    """Number of frames after which every ring is back at its first row. Raises UnsupportedError if it is too large."""
    rings = [step.ring_rows or 1 for step in schedule.steps]
    period = math.lcm(*(buffer.kept for buffer in schedule.row_buffers.values()), *rings)
    if period >= 2**31:
        raise UnsupportedError(f"the rings of this model repeat only after {period} frames")
    return period


def index_type(largest: int) -> str:
    return "uint8_t" if largest < 2**8 else "uint16_t" if largest < 2**16 else "uint32_t"


def order_of(schedule: Schedule) -> list[tuple[int, int]]:
    """The (step, event) pairs of interleaved steps, in order. Empty if the steps run one after another."""
    return [(e.step, e.event) for e in schedule.trace if e.step != INPUT] if schedule.interleaved else []
