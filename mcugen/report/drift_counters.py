"""Drift counters that firmware prints: shares of output classes and of saturated inputs, for one log or two."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from mcugen.errors import UsageError
from mcugen.system import tabular

_LINE = re.compile(r"mcugen-drift 1 (\w+) (\d+) (\d+) (\d+) (\d+(?:,\d+)*)")


@dataclass(frozen=True)
class Counters:
    """Counters of a log. classes: share of the runs per class. saturated: share of all input elements."""

    model: str
    runs: int
    saturated: float
    classes: tuple[float, ...]


def parse(text: str, where: str) -> Counters:
    """The last counters in a log. Raises UsageError if there are none, or if they count no run."""
    found = _LINE.findall(text)
    if not found or int(found[-1][1]) == 0:
        hint = "the firmware prints a line that begins with `mcugen-drift 1`; see README-drift.md"
        raise UsageError("the log has no counters of a run", where=where, hint=hint)
    model, runs, elements, saturated, classes = found[-1]
    n = int(runs)
    shares = tuple(int(count) / n for count in classes.split(","))
    return Counters(model, n, int(saturated) / max(n * int(elements), 1), shares)


def distance(first: Counters, later: Counters) -> float:
    """Half the sum of the differences between class shares: 0 if equal, 1 if no class occurs in both logs.

    Raises UsageError for counters of different models.
    """
    if (first.model, len(first.classes)) != (later.model, len(later.classes)):
        message = f"the logs are of {first.model} and of {later.model}"
        raise UsageError(message, hint="give two logs of one model")
    return sum(abs(a - b) for a, b in zip(first.classes, later.classes, strict=True)) / 2


def as_dict(found: list[Counters]) -> dict[str, Any]:
    """The counters as a dictionary for JSON with stable keys. `distance` exists for two logs only."""
    logs = [{"runs": c.runs, "saturated": c.saturated, "classes": list(c.classes)} for c in found]
    return {"name": found[0].model, "logs": logs} | ({"distance": distance(*found)} if len(found) == 2 else {})


def as_parts(found: list[Counters]) -> tabular.Parts:
    """The number of runs, and a table with a column per log."""
    parts: list[str | tabular.TextTable] = [f"{found[0].model}: " + ", then ".join(f"{c.runs:,} runs" for c in found)]
    if len(found) == 2:
        parts.append(f"  {distance(*found):.1%} of the runs have another class than before")
    rows = [("saturated inputs", *(f"{c.saturated:.2%}" for c in found))]
    rows += [(f"class {k}", *(f"{c.classes[k]:.2%}" for c in found)) for k in range(len(found[0].classes))]
    heads = ("share of", *(f"log {k + 1}" for k in range(len(found))))
    columns = tuple(tabular.TableColumn(head, right=k > 0) for k, head in enumerate(heads))
    return [*parts, tabular.TextTable(columns, tuple(rows))]
