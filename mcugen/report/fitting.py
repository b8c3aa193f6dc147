"""Fits the clock and the wait states of a board to cycles that it measured.

A layer's cycles are those of its instructions, plus waits for flash reads. The former are known as an interval; the
board is assumed to lie at the same fraction of it in all layers. `mcugen simulate` counts the waits for each number of
wait states. The fit chooses the number that leaves the least unexplained, with each layer's error relative to its own
cycles.
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
"""Fits whose unexplained parts differ by less than this are equally good. Profiling marks and alignment change
it more.
"""


@dataclass(frozen=True)
class Waits:
    """Fitted wait states of the flash. off: unexplained part, the root mean square of the layers' relative errors.

    alike: other numbers whose fits are equally good. If there are any, the model reads the flash too little to
    distinguish.
    """

    states: int
    off: float
    alike: tuple[int, ...]


@dataclass(frozen=True)
class Fit:
    """A board's clock, its source, and its wait states, or None if nothing determines them. notes: for the user."""

    clock_hz: int
    clock_source: str
    waits: Waits | None
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Values under stable keys, for JSON."""
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
    """Clock and wait states from a log. facts: report.json. Raises UsageError if the log does not determine a clock."""
    clock, source, notes = _clock(log)
    simulated = facts.get("simulated")
    found = None
    if not simulated:
        notes.append(
            f"wait states not fitted: first run `mcugen simulate MODEL --board {facts['board']} --into FOLDER`"
        )
    elif simulated.get("wait_states") is None or not all(step.get("core") for step in simulated["steps"]):
        notes.append(
            "wait states not fitted: board.toml lacks line_bytes, the bytes that one read of the flash fetches"
        )
    else:
        found = waits_of(log.cycles, *_parts(simulated))
    return Fit(clock, source, found, tuple(notes))


def _clock(log: ProfileLog) -> tuple[int, str, list[str]]:
    if log.microseconds:
        hz = round(1e6 * log.all_cycles / log.microseconds)
        if log.clock_hz and abs(log.clock_hz / hz - 1) > 0.02:
            note = f"the firmware states {log.clock_hz / 1e6:.6g} MHz: the real clock differs"
            return hz, "measured by MCUGEN_MICROS", [note]
        return hz, "measured by MCUGEN_MICROS", []
    if not log.clock_hz:
        hint = "compile with -DMCUGEN_CLOCK_HZ=168000000, or with a clock of microseconds: see README-profile.md"
        raise UsageError("the log states no clock", where="--fit", hint=hint)
    return log.clock_hz, "stated by the firmware that was measured", []


_Ends = Sequence[tuple[float, float]]


def _parts(simulated: dict[str, Any]) -> tuple[_Ends, Sequence[Sequence[int]]]:
    """Per layer, the interval of its cycles without waits, and its waits by number of wait states."""
    steps = simulated["steps"]
    most = max(len(step["waits"]) for step in steps)
    waits = [step["waits"] or [0] * most for step in steps]
    return [(step["core"]["low"], step["core"]["high"]) for step in steps], waits


def waits_of(measured: Sequence[float], ends: _Ends, waits: Sequence[Sequence[int]]) -> Waits:
    """The wait states that explain the measured cycles best.

    measured: cycles per layer. ends, waits: as `_parts` gives them.
    """
    every = [_unexplained(measured, ends, [of_step[k] for of_step in waits]) for k in range(len(waits[0]))]
    best = min(range(len(every)), key=every.__getitem__)
    alike = tuple(k for k, off in enumerate(every) if k != best and off - every[best] < _ALIKE)
    return Waits(best, every[best], alike)


def _unexplained(measured: Sequence[float], ends: _Ends, waits: Sequence[int]) -> float:
    """Root mean square of the layers' relative errors, with the best position in the intervals."""
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
