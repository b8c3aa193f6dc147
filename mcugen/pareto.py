"""RAM against instructions: the schedules of a model of which no other is both smaller and faster."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from mcugen import pipeline, select, tabular
from mcugen.emit.command import command_of
from mcugen.errors import MemoryBudgetError, UsageError
from mcugen.options import Options
from mcugen.pipeline import Artifact
from mcugen.reference.inputs import Case
from mcugen.reference.inputs import cases as drawn_cases
from mcugen.report import curve
from mcugen.report.facts import PointFacts
from mcugen.select.advice import knee_of
from mcugen.verify import emulated

MAX_POINTS = 8


@dataclass(frozen=True)
class Point:
    """One solution. Units: bytes; calls of kernels; instructions of an inference, None where nothing can count them.

    flash_bytes: the constants.
    by_rows: the steps that run row by row, as "0-4, 7". agrees: whether the emulated run gave
    what the oracle gives.
    """

    ram_bytes: int
    flash_bytes: int
    events: int
    by_rows: str
    instructions: int | None
    agrees: bool | None

    @property
    def cost(self) -> int:
        return self.events if self.instructions is None else self.instructions


@dataclass(frozen=True)
class Front:
    """The points from the fastest to the smallest. notes: what was left out, and why.

    knee: the one beyond which saving RAM costs most, and command what builds it; None and "" where there is none.
    """

    name: str
    board: str
    machine: str
    points: tuple[Point, ...]
    notes: tuple[str, ...]
    knee: Point | None = None
    command: str = ""
    called: str = ""

    @property
    def agrees(self) -> bool:
        """Whether no emulated run gave other bits than the oracle."""
        return all(point.agrees is not False for point in self.points)


def front(path: Path, options: Options, tell: Callable[[str], None] = lambda text: None) -> Front:
    """Plan at most MAX_POINTS schedules between whole tensors and the least RAM, and run each on the emulated board.

    Raises McugenError: UsageError for --input-mode frames, which has one schedule; MemoryBudgetError where none fits.
    """
    if options.input_mode == "frames":
        raise UsageError("--input-mode frames has one schedule only", hint="compare whole or rows")
    model = pipeline.prepare(path, options)
    tell("finding schedules")
    model = replace(model, options=replace(model.options, no_report=True))
    known = select.Known(select.candidates_of(model.graph, model.board, model.options))
    built, misfits = _built(model, select.front(model.graph, known, model.options, model.board, MAX_POINTS))
    notes = [f"{len(misfits)} of the schedules do not fit"] if misfits else []
    machine = model.board.emulator.machine if model.board.emulator else ""
    if not machine:
        notes.append(f"{model.board.name} has no emulated machine to count instructions on")
    else:
        notes = [*model.notes, *notes]
    measured = _counted if machine else _point
    case = next(iter(drawn_cases(model.imported, 1)))
    counted: list[Point] = []
    made: dict[Point, Artifact] = {}
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        for artifact, point in zip(built, pool.map(partial(measured, case=case), built), strict=True):
            counted.append(point)
            made.setdefault(point, artifact)
            tell(f"{len(counted)} of {len(built)} schedules {'counted' if machine else 'planned'}")
    found = Front(model.name, model.board.name, machine, _best(counted), tuple(notes), called=model.called)
    knee = knee_of([(p.ram_bytes, p.cost) for p in found.points])
    return (
        found
        if knee is None
        else _with_knee(found, model, made[found.points[knee]], known, partial(measured, case=case))
    )


def _with_knee(
    found: Front, model: pipeline.Prepared, knee: Artifact, known: select.Known, measured: Callable[[Artifact], Point]
) -> Front:
    """The front with its knee: what a build with that budget of RAM gives, so that the command keeps its word."""
    goal = "balanced" if model.options.optimize == "ram" else model.options.optimize
    taken = {region.name: region.size for region in knee.view.regions}
    options = replace(select.allowing(model.options, taken), optimize=goal)
    further = known if goal == model.options.optimize else None
    try:
        solution = select.solve(model.graph, model.board, options, further)
        artifact = pipeline.finish(replace(model, options=options), solution)
    except MemoryBudgetError:
        why = f"no knee is named: --optimize {goal} has no plan within its budget"
        return replace(found, notes=(*found.notes, why))
    point = measured(artifact)
    command = command_of(options, model.name, model.imported.format)
    points = found.points if point in found.points else (*found.points, point)
    ordered = tuple(sorted(points, key=lambda p: (p.cost, p.ram_bytes, p.flash_bytes)))
    return replace(found, points=ordered, knee=point, command=command)


def _built(
    model: pipeline.Prepared, solutions: Iterable[select.Solution]
) -> tuple[list[Artifact], list[MemoryBudgetError]]:
    """The artifacts that fit; the refusals of the others. Raises the last refusal where none fits."""
    built: list[Artifact] = []
    misfits: list[MemoryBudgetError] = []
    for solution in solutions:
        try:
            built.append(pipeline.finish(model, solution))
        except MemoryBudgetError as error:
            misfits.append(error)
    if not built:
        raise misfits[-1]
    return built, misfits


def _counted(artifact: Artifact, case: Case) -> Point:
    return _point(artifact, case, *emulated.counted(artifact, case))


def _point(artifact: Artifact, case: Case, instructions: int | None = None, agrees: bool | None = None) -> Point:
    schedule = artifact.schedule
    return Point(
        ram_bytes=artifact.report.ram_bytes,
        flash_bytes=artifact.report.weights_bytes,
        events=len(schedule.trace),
        by_rows=select.ranges(step.index for step in schedule.steps if step.by_rows),
        instructions=instructions,
        agrees=agrees,
    )


def _best(points: Sequence[Point]) -> tuple[Point, ...]:
    """The points that no other equals or beats in RAM, flash and cost; from the fastest to the smallest."""
    found: list[Point] = []
    for point in sorted(points, key=lambda p: (p.cost, p.ram_bytes, p.flash_bytes)):
        if not any(p.ram_bytes <= point.ram_bytes and p.flash_bytes <= point.flash_bytes for p in found):
            found.append(point)
    return tuple(found)


def as_dict(result: Front) -> dict[str, Any]:
    """Stable keys: name, board, machine, notes, points (with the fields of Point), knee (a point or null), command."""
    return {key: value for key, value in asdict(result).items() if key != "called"}


def as_facts(result: Front) -> tuple[PointFacts, ...]:
    """What report.json holds of the points."""
    return tuple(
        PointFacts(
            p.ram_bytes,
            p.flash_bytes,
            p.cost,
            p.instructions is not None,
            p.by_rows,
            p == result.knee,
            result.command if p == result.knee else "",
        )
        for p in result.points
    )


def as_text(result: Front) -> str:
    """The points as a table; the last column says which steps run row by row."""
    return tabular.text_of(as_parts(result))


def as_parts(result: Front) -> tabular.Parts:
    """The points, the knee marked, and the command that builds it."""
    unit = "instructions" if result.machine else "calls of kernels"
    where = f" (emulated {result.machine})" if result.machine else ""
    fastest = max(result.points[0].cost, 1)
    rows = []
    for p in result.points:
        said = "DIFFERS from the reference" if p.agrees is False else "the knee" if p == result.knee else ""
        more = f"{100 * p.cost / fastest - 100:+.2f} %" if result.machine and p is not result.points[0] else ""
        sizes = (f"{p.ram_bytes:,}", f"{p.flash_bytes:,}", f"{p.cost:,}", more, f"{p.events:,}")
        rows.append((*sizes, p.by_rows or "-", said))
    heads = ("RAM", "constants", unit, "", "events")
    columns = (
        *(tabular.Column(head, right=True) for head in heads),
        tabular.Column("steps row by row", shrinks=True),
        tabular.Column(""),
    )
    marked = frozenset(k for k, point in enumerate(result.points) if point == result.knee)
    knee = ["", f"  the knee, beyond which RAM costs most: {result.command} -o out/"] if result.knee else []
    return [
        f"{result.called or result.name} on {result.board}{where}: RAM against {unit}",
        *(f"  note: {note}" for note in result.notes),
        "",
        tabular.Grid(columns, tuple(rows), marked),
        *knee,
    ]


def plot(result: Front) -> bytes:
    """The points that are best in RAM and cost, whatever their flash, as an SVG picture."""
    unit = "instructions" if result.machine else "events"
    title = f"{result.called or result.name} on {result.board}: RAM against {unit}"
    shown = _best([replace(p, flash_bytes=0) for p in result.points])
    return curve.picture(title, unit, [(p.ram_bytes, p.cost, f"row by row: {p.by_rows or '-'}") for p in shown])
