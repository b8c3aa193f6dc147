"""Clock and wait states of a board, fitted to the cycles that it measured.

Each layer takes the cycles of its instructions, known to an interval of which the board takes one share in all layers,
and the waits for flash reads, which `mcugen simulate` counts for every number of wait states. The fitted number leaves
the least of the measurement unexplained, each layer weighted by its own size.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mcugen.errors import UsageError
from mcugen.report.measured import ProfileLog

_ALIKE = 0.005
"""Tolerance of the unexplained part within which fits are equally good: marks and alignment change it more."""


@dataclass(frozen=True)
class Waits:
    """Wait states of the flash, and their unexplained part `off`: the root mean square of each layer's share.

    alike: other numbers with equally good fits; such a model reads the flash too little to distinguish them.
    """

    states: int
    off: float
    alike: tuple[int, ...]


@dataclass(frozen=True)
class Fit:
    """A board's clock, its source, and its wait states, None if nothing determines them; notes for the user."""

    clock_hz: int
    clock_source: str
    waits: Waits | None
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Stable keys."""
        waits = None if self.waits is None else vars(self.waits) | {"alike": list(self.waits.alike)}
        return {"clock_hz": self.clock_hz, "clock_source": self.clock_source, "wait_states": waits}

    @property
    def lines(self) -> list[str]:
        """Lines for the terminal."""
        lines = [f"  clock        {self.clock_hz / 1e6:.6g} MHz, {self.clock_source}"]
        if self.waits is not None:
            alike = ", ".join(map(str, self.waits.alike))
            also = f"; {alike} explain as much: this model reads too little from flash to tell" if alike else ""
            lines.append(f"  wait states  {self.waits.states}, which leave {self.waits.off:.1%} unexplained{also}")
        return [*lines, *(f"  note: {note}" for note in self.notes)]


def fit(log: ProfileLog, facts: dict[str, Any]) -> Fit:
    """Clock and wait states by a log. Raises UsageError if it does not determine a clock."""
    clock, source, notes = _clock(log)
    simulated = facts.get("simulated")
    found = None
    if not simulated:
        notes.append(f"wait states as before: first `mcugen simulate MODEL --board {facts['board']} --into FOLDER`")
    elif simulated.get("wait_states") is None or not all(step.get("core") for step in simulated["steps"]):
        notes.append("wait states as before: the board.toml did not say what one read of its flash brings (line_bytes)")
    else:
        found = waits_of(log.cycles, *_parts(simulated))
    return Fit(clock, source, found, tuple(notes))


def _clock(log: ProfileLog) -> tuple[int, str, list[str]]:
    if log.microseconds:
        hz = round(1e6 * log.all_cycles / log.microseconds)
        if log.clock_hz and abs(log.clock_hz / hz - 1) > 0.02:
            note = f"the firmware states {log.clock_hz / 1e6:.6g} MHz: its clock was not set as it believes"
            return hz, "measured by MCUGEN_MICROS", [note]
        return hz, "measured by MCUGEN_MICROS", []
    if not log.clock_hz:
        hint = "compile with -DMCUGEN_CLOCK_HZ=168000000, or with a clock of microseconds: see README-profile.md"
        raise UsageError("the log states no clock", where="--fit", hint=hint)
    return log.clock_hz, "stated by the firmware that was measured", []


_Ends = Sequence[tuple[float, float]]


def _parts(simulated: dict[str, Any]) -> tuple[_Ends, Sequence[Sequence[int]]]:
    """Interval of each layer's cycles without waits, and its waits by number of wait states."""
    steps = simulated["steps"]
    most = max(len(step["waits"]) for step in steps)
    waits = [step["waits"] or [0] * most for step in steps]
    return [(step["core"]["low"], step["core"]["high"]) for step in steps], waits


def waits_of(measured: Sequence[float], ends: _Ends, waits: Sequence[Sequence[int]]) -> Waits:
    """The wait states that explain measured cycles best."""
    every = [_unexplained(measured, ends, [of_step[k] for of_step in waits]) for k in range(len(waits[0]))]
    best = min(range(len(every)), key=every.__getitem__)
    alike = tuple(k for k, off in enumerate(every) if k != best and off - every[best] < _ALIKE)
    return Waits(best, every[best], alike)


def _unexplained(measured: Sequence[float], ends: _Ends, waits: Sequence[int]) -> float:
    """Root mean square of each layer's unexplained share, with the best share of the intervals."""
    rows = [(m - low - w, high - low, m) for m, (low, high), w in zip(measured, ends, waits, strict=True) if m > 0]
    square = sum((span / m) ** 2 for _, span, m in rows)
    share = sum(rest * span / m**2 for rest, span, m in rows) / square if square else 0.0
    share = min(max(share, 0.0), 1.0)
    return math.sqrt(sum(((rest - share * span) / m) ** 2 for rest, span, m in rows) / max(len(rows), 1))


def board_text(board: str, found: Fit) -> str:
    """A board.toml with the fitted values. Raises UsageError for the file of a bare core, which has no clock."""
    text, clocks = re.subn(r"(?m)^clock_hz = .*$", f"clock_hz = {found.clock_hz}", board)
    text = re.sub(r"(?m)^clock_source = .*$", f'clock_source = "{found.clock_source}"', text)
    if not clocks:
        raise UsageError("the board.toml states no clock", where="--fit", hint="a bare core has none: give a board's")
    if found.waits is None:
        return text
    return re.sub(r"(?m)^wait_states = \d+", f"wait_states = {found.waits.states}", text, count=1)
