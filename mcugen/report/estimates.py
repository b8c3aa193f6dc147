"""Estimated cost of a build from the costs of its kernels; none for cores without measurements."""

from __future__ import annotations

from mcugen.report.facts import CycleFacts, Report
from mcugen.schedule import Schedule, Step
from mcugen.select import costs
from mcugen.target import Target


def of_step(step: Step, schedule: Schedule, board: Target) -> CycleFacts | None:
    """The cycles of a step in one inference, or, streaming, in one frame."""
    choice = step.choice
    found = costs.estimate(choice.kernel, choice.call, board.core, step.by_rows, choice.rows or None)
    if not found.is_fitted:
        return None
    share = step.walked_rows if schedule.streams and step.writes_rows else 1
    return CycleFacts(found.cycles_low // share, found.cycles_high // share)


def total(steps: list[CycleFacts | None]) -> CycleFacts | None:
    """The cycles of all steps, None where those of one are not known."""
    known = [s for s in steps if s is not None]
    if len(known) != len(steps):
        return None
    return CycleFacts(sum(s.low for s in known), sum(s.high for s in known))


def as_lines(facts: Report) -> list[str]:
    """The line of the report on cycles: per MAC and as time where those are known."""
    if facts.cycles is None:
        return []
    low, high = facts.cycles.low, facts.cycles.high
    parts = [f"  cycles   {low:>10,} to {high:,}, estimated without wait states"]
    if facts.macs:
        parts.append(f"{low / facts.macs:.2f} to {high / facts.macs:.2f} per MAC")
    if facts.clock_hz:
        parts.append(f"{milliseconds(facts.cycles, facts.clock_hz)} ms")
    return ["; ".join(parts)]


def milliseconds(cycles: CycleFacts, clock_hz: int) -> str:
    """The least and the most time."""
    return " to ".join(three_digits(1e3 * end / clock_hz) for end in (cycles.low, cycles.high))


def three_digits(value: float) -> str:
    """A number with three digits, or with all before the point."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def of_text(cycles: CycleFacts | None) -> str:
    """A step's cycles for a column."""
    return "" if cycles is None else f"{cycles.low:,} to {cycles.high:,}"
