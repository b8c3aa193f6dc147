"""Cycles that a board measured per layer, compared with the build's estimates."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcugen.errors import UsageError
from mcugen.system import tabular

_BEGIN = re.compile(r"mcugen-profile 2 (\w+) ([0-9a-f]{16}) runs=(\d+) hz=(\d+) mark=(\d+) cycles=(\d+) us=(\d+)")
_STEP = re.compile(r"\bstep (\d+) (\d+) (\d+) (.*)")
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_LEAST_ALIKE, _ALIKE = 3, 1.15
"""Fewest layers needed to detect a common factor, and the largest ratio between their factors."""
_END = re.compile(r"mcugen-profile end(?: (\d+))?$")


@dataclass(frozen=True)
class ProfileLog:
    """Profile that a board printed. cycles: per step, in one run, without the cost of the profiling marks.

    all_cycles, microseconds: of all runs, with marks and code outside of layers; 0 if no clock measured the time.
    """

    model: str
    sha256: str
    runs: int
    clock_hz: int
    cycles: tuple[float, ...]
    names: tuple[str, ...]
    all_cycles: int = 0
    microseconds: int = 0
    title: str = ""

    @property
    def called(self) -> str:
        """Name of the model for texts."""
        return tabular.called(self.title, self.model)


@dataclass(frozen=True)
class MeasuredStep:
    """A step: its measured cycles, and the bounds of the estimate, or None."""

    index: int
    name: str
    measured: float
    low: float | None
    high: float | None

    @property
    def off(self) -> str:
        """Error of the estimate in percent. "" if there is no estimate, or if the measurement lies within its
        bounds.
        """
        if self.low is None or self.high is None or self.low <= self.measured <= self.high:
            return ""
        end = self.high if self.measured > self.high else self.low
        return f"{self.measured / end - 1:+.0%}" if end else ""


def checksum(lines: Sequence[str]) -> int:
    """CRC-32 of the lines of a log. The log's last line states it."""
    return zlib.crc32("".join(f"{line}\n" for line in lines).encode())


def capture(data: bytes) -> str:
    """Text of a file that a terminal wrote, without colours. PowerShell writes UTF-16 with a byte order mark."""
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    return _COLOUR.sub("", data.decode(encoding, errors="replace"))


def parse(text: str, where: str) -> ProfileLog:
    """The last complete log in a capture of the serial line. A terminal program may have put prefixes before its lines.

    Raises UsageError, with the fault of the last log, if none is complete.
    """
    found: ProfileLog | None = None
    begun: list[re.Match[str]] = []
    wrong = ""
    for line in (part.rstrip() for part in text.splitlines()):
        if match := _BEGIN.search(line):
            begun = [match]
        elif begun and (match := _END.search(line)):
            stated, real = match[1], checksum([m[0] for m in begun])
            if stated and int(stated) == real:
                found = _log(begun[0], begun[1:])
            else:
                wrong = f"the log is damaged: its checksum is {stated or 'missing'}, its lines give {real}"
            begun = []
        elif begun and (match := _STEP.search(line)):
            begun.append(match)
    if begun:
        count = len(begun) - 1
        wrong = f"the log is cut off after {count} layer{'' if count == 1 else 's'}"
    if found is None or not found.runs:
        hint = "a log begins with `mcugen-profile 2` and ends with `mcugen-profile end NUMBER`; see README-profile.md"
        if found is None and wrong:
            hint = "print it and capture it again, with no other output between its lines"
        raise UsageError("no complete log of a run" if found or not wrong else wrong, where=where, hint=hint)
    return found


def _log(begun: re.Match[str], steps: list[re.Match[str]]) -> ProfileLog:
    runs, cost = int(begun[3]), int(begun[5])
    cycles = tuple(max(int(s[2]) - int(s[3]) * cost, 0) / max(runs, 1) for s in steps)
    time = (int(begun[6]), int(begun[7]))
    return ProfileLog(begun[1], begun[2], runs, int(begun[4]), cycles, tuple(s[4] for s in steps), *time)


def layers(log: ProfileLog, facts: Mapping[str, Any]) -> list[MeasuredStep]:
    """Measured cycles per layer, with the estimate. If the report has a simulation, estimates from counted
    instructions.

    Raises UsageError if the log is of another build.
    """
    if (log.model, log.sha256) != (facts["name"], facts["sha256"][:16]) or len(log.cycles) != len(facts["steps"]):
        raise UsageError(
            f"the log is of {log.model} with {len(log.cycles)} layers, but the build is of {facts['name']} with "
            f"{len(facts['steps'])}, or of another model file",
            hint="give the folder that the firmware was built from; if this is it, lines of the log were lost",
        )
    found = []
    steps = (facts["simulated"] or facts)["steps"]
    often = {} if facts["simulated"] else _runs(facts.get("stream"))
    for index, (step, name, measured) in enumerate(zip(steps, log.names, log.cycles, strict=True)):
        low, high = (step["cycles"][end] * often.get(index, 1) if step["cycles"] else None for end in ("low", "high"))
        found.append(MeasuredStep(index, name, measured, low, high))
    return found


def _runs(stream: Mapping[str, Any] | None) -> dict[int, int]:
    """Step -> its runs between two decisions, for the front end of a stream of samples."""
    if stream is None:
        return {}
    front = sum(part["steps"] for part in stream["parts"] if part["name"] == "front end")
    return dict.fromkeys(range(front), stream["stride"])


def as_dict(log: ProfileLog, found: list[MeasuredStep]) -> dict[str, Any]:
    """The measurements under stable keys, for JSON."""
    return {
        "name": log.model,
        "runs": log.runs,
        "clock_hz": log.clock_hz or None,
        "cycles": sum(layer.measured for layer in found),
        "layers": [vars(x) | {"off": x.off or None} for x in found],
    }


def as_parts(log: ProfileLog, found: list[MeasuredStep]) -> tabular.Parts:
    """The board's total, and a table of the layers."""
    total = sum(layer.measured for layer in found)
    time = f", {1000 * total / log.clock_hz:.3f} ms" if log.clock_hz else ""
    columns = (
        tabular.TableColumn("step", right=True),
        tabular.TableColumn("layer", shrinks=True, ends=True),
        tabular.TableColumn("measured", right=True),
        tabular.TableColumn("estimated", right=True, optional=True),
        tabular.TableColumn("off", right=True),
    )
    rows = []
    for x in found:
        estimate = "" if x.low is None or x.high is None else f"{x.low:,.0f} to {x.high:,.0f}"
        rows.append((str(x.index), x.name, f"{x.measured:,.0f}", estimate, x.off))
    grid = tabular.TextTable(columns, tuple(rows), tabular.largest([x.measured for x in found]))
    head = f"{log.called}: {total:,.0f} cycles measured{time}, the mean of {log.runs} runs"
    return [head, *_factor_lines(found), "", grid]


def factor(found: Sequence[MeasuredStep]) -> float | None:
    """Measured cycles divided by the middle of the estimates, if nearly all layers are off by one factor.

    None if there are too few layers, if estimates hold, or if the layers' factors differ.
    """
    ratios = sorted(2 * x.measured / (x.low + x.high) for x in found if x.low and x.high)
    if len(ratios) < _LEAST_ALIKE:
        return None
    edge = len(ratios) // 10
    low, middle, high = ratios[edge], ratios[len(ratios) // 2], ratios[-1 - edge]
    is_off = sum(bool(x.off) for x in found) > len(found) / 2
    return middle if is_off and low > middle / _ALIKE and high < middle * _ALIKE else None


def _factor_lines(found: Sequence[MeasuredStep]) -> list[str]:
    ratio = factor(found)
    if ratio is None:
        return []
    return [
        f"  note: all layers take about {ratio:.2f} times the middle of their estimates: no layer is slow, the core "
        "is. Compare the clock of the cycle counter with that of the core, the wait states of the flash and the caches "
        "with the file of the board, and the level of optimization"
    ]


def html(log: ProfileLog, found: list[MeasuredStep], escape: Any) -> str:
    """A page without external files: per layer, a bar for the measurement, beside the bounds of the estimate."""
    most = max([x.measured for x in found] + [x.high or 0 for x in found] + [1])
    rows = []
    for x in found:
        span = "" if x.low is None or x.high is None else f"{x.low:,.0f} to {x.high:,.0f}"
        width = 100 * x.measured / most
        rows.append(
            f"<tr><td>{x.index}<td>{escape(x.name)}<td>{x.measured:,.0f}<td>{span}<td>{x.off}"
            f'<td><div style="background:#37c;height:1em;width:{width:.1f}%"></div>'
        )
    style = "body{font:15px sans-serif;margin:2em}td,th{padding:.2em .7em;text-align:left}td:last-child{width:30em}"
    head = "<tr><th>Step<th>Layer<th>Measured cycles<th>Estimated<th>Off<th>"
    title = f"{escape(log.title or log.model)}: cycles measured on the board"
    body = f"<h1>{title}</h1><p>Mean of {log.runs} runs.</p><table>{head}{''.join(rows)}</table>"
    top = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title><style>{style}</style>'
    return f"{top}{body}</html>\n"
