"""RAM against instructions: the Pareto-optimal schedules of a model."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any

from mcugen import pipeline, solve
from mcugen.boards.machine import Energy
from mcugen.emit.command import command_of
from mcugen.errors import MemoryBudgetError, NoKernelError, TargetError, UsageError
from mcugen.machines.toolchain import count
from mcugen.options import GOALS, Options
from mcugen.pipeline import Artifact
from mcugen.report import curve_chart, estimates
from mcugen.report.facts import CycleFacts, PointFacts
from mcugen.solve.advice import knee_of
from mcugen.system import tabular
from mcugen.system.forked import Apart
from mcugen.verify import emulated
from mcugen.verify.cases import cases as drawn_cases
from mcugen.verify.runs import OracleRun, sequence_of

MAX_POINTS = 4
"""Most points besides those of the presets and the knee."""

_SEARCHED_APART = ("balanced", "ram")
"""Goals that take long to solve. Other processes solve them, while this process solves and counts the others."""

_Key = object
"""Key that equal builds share, or the TargetError that refused the build."""


@dataclass(frozen=True)
class ParetoPoint:
    """One schedule. Units: bytes; kernel calls; instructions per inference, None if nothing can count them.

    flash_bytes: the constants. events: kernel calls. by_rows: steps that run row by row, as "0-4, 7". agrees: whether
    the emulated run gave the oracle's results. cycles: the build's estimate; None if a kernel's costs are not known for
    the core. presets: goals of --optimize whose build, within the user's budgets, is this schedule.
    """

    ram_bytes: int
    flash_bytes: int
    events: int
    by_rows: str
    instructions: int | None
    agrees: bool | None
    cycles: CycleFacts | None = None
    presets: tuple[str, ...] = ()

    @property
    def cost(self) -> int:
        """Instructions if counted, otherwise kernel calls."""
        return self.events if self.instructions is None else self.instructions


@dataclass(frozen=True)
class Front:
    """The points, sorted from the fastest to the smallest. notes: what was left out, and why.

    knee: the point beyond which saving RAM costs most, or None. command: builds the knee.
    """

    name: str
    board: str
    machine: str
    points: tuple[ParetoPoint, ...]
    notes: tuple[str, ...]
    knee: ParetoPoint | None = None
    command: str = ""
    clock_hz: int | None = None
    called: str = ""
    energy: Energy | None = None

    @property
    def agrees(self) -> bool:
        """Whether all emulated runs gave the oracle's results."""
        return all(point.agrees is not False for point in self.points)


def front(path: Path, options: Options, progress: Callable[[str], None] = lambda text: None) -> Front:
    """Plan the presets and at most MAX_POINTS further schedules, and run each on the emulated board.

    Raises UsageError for --input-mode frames, which has one schedule, and MemoryBudgetError if no schedule fits.
    """
    if options.input_mode == "frames":
        raise UsageError(
            "--input-mode frames has only one schedule, so there is nothing to compare", hint="compare whole or rows"
        )
    model = pipeline.prepare(path, options)
    progress("finding schedules")
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        return _Builds(model, pool, progress).front()


class _Builds:
    """Builds firmware for each schedule of a model. It is compiled and run while the next schedule is planned."""

    def __init__(self, model: pipeline.Prepared, pool: ThreadPoolExecutor, progress: Callable[[str], None]) -> None:
        self._model, self._pool, self._progress = model, pool, progress
        self._machine = model.board.emulator.machine if model.board.emulator else ""
        self._case = next(iter(drawn_cases(model.imported, 1)))
        self._known = self._new(GOALS[0])
        self._artifacts: dict[object, Artifact] = {}
        self._counting: dict[object, Future[ParetoPoint]] = {}
        self._presets: dict[object, tuple[str, ...]] = {}
        self._allowed: dict[_Key, tuple[Options, _Key]] = {}
        self._refused: list[TargetError] = []
        self._oracle = Lock()
        self._runs: list[OracleRun] | None = None

    def front(self) -> Front:
        """The presets, further points, and the knee of all."""
        goals = [goal for goal in GOALS if goal != "ram" or not self._model.options.no_rows]
        made, besides = self._made(goals)
        every = [*(made[goal] for goal in goals), *besides]
        self._refused = [key for key in every if isinstance(key, TargetError)]
        self._counting = {key: self._counting[key] for key in every if not isinstance(key, TargetError)}
        self._presets = {key: tuple(goal for goal in goals if made[goal] == key) for key in self._counting}
        if not self._counting:
            raise self._refused[-1]
        found = Front(
            self._model.name,
            self._model.board.name,
            self._machine,
            _best(self._points().values()),
            tuple(self._notes()),
            clock_hz=self._model.board.clock_hz,
            energy=self._model.board.energy,
            called=self._model.called,
        )
        knee = knee_of([(p.ram_bytes, p.cost) for p in found.points])
        return found if knee is None else self._with_knee(found, found.points[knee])

    def _points(self) -> dict[_Key, ParetoPoint]:
        """The points of all builds counted. The build of the estimated knee starts while they are counted."""
        counting = dict(self._counting)
        if self._machine:
            self._foresee_knee()
        for k, counted in enumerate(counting.values()):
            counted.result()
            done = f"{k + 1} of {len(counting)} schedules"
            self._progress(f"{done} {'counted' if self._machine else 'planned'}")
        return {key: self._point(key) for key in counting}

    def _foresee_knee(self) -> None:
        points = {key: self._estimated(key) for key in self._counting}
        best = _best(points.values()) if all(point.cycles for point in points.values()) else ()
        knee = knee_of([(p.ram_bytes, p.cost) for p in best])
        if knee is not None:
            self._within(next(key for key, point in points.items() if point == best[knee]))

    def _estimated(self, key: _Key) -> ParetoPoint:
        """The point with estimated cycles in place of instructions."""
        point = replace(_planned(self._artifacts[key]), presets=self._presets[key])
        return replace(point, instructions=point.cycles.low + point.cycles.high) if point.cycles else point

    def _made(self, goals: Sequence[str]) -> tuple[dict[str, _Key], list[_Key]]:
        """Keys of the builds for the goals, and of further builds.

        The longest searches start first, so that compilers have work early.
        """
        options, board = self._model.options, self._model.board
        with ExitStack() as processes:
            apart = {goal: processes.enter_context(self._apart(goal)) for goal in goals if goal in _SEARCHED_APART}
            if self._machine:
                self._pool.submit(count.plugin)  # compiled in this process, so that it is ready when needed
            found = solve.front(self._model.graph, self._known, options, board, MAX_POINTS)
            made = {goal: self._solved(self._aiming(goal)) for goal in goals if goal not in apart}
            made |= {goal: self._added(of.result(), self._aiming(goal)) for goal, of in apart.items()}
            return made, [self._added(solution, options) for solution in found]

    def _apart(self, goal: str) -> Apart[solve.Solution | TargetError]:
        """Search in another process for the solution of the build for a goal."""
        known = self._new(goal) if goal == "ram" else self._known  # this goal has its own candidates
        return Apart(lambda: self._solution(self._aiming(goal), known), known.parts(self._model.graph))

    def _aiming(self, goal: str) -> Options:
        return replace(self._model.options, optimize=goal)

    def _new(self, goal: str) -> solve.Known:
        options = solve.planned_as(self._aiming(goal))
        return solve.Known.brief(solve.candidates_of(self._model.graph, self._model.board, options))

    def _point(self, key: _Key) -> ParetoPoint:
        return replace(self._counting[key].result(), presets=self._presets.get(key, ()))

    def _solution(self, options: Options, known: solve.Known) -> solve.Solution | TargetError:
        """The solution of a build with these options, or the error that refuses it."""
        try:
            return solve.solve(self._model.graph, self._model.board, options, known)
        except (MemoryBudgetError, NoKernelError) as error:
            return error

    def _solved(self, options: Options) -> _Key:
        """The key of a build with these options, see `_added`."""
        return self._added(self._solution(options, self._known), options)

    def _added(self, solution: solve.Solution | TargetError, options: Options) -> _Key:
        """The key of a solution's build, after starting its count; or the error that refuses it."""
        if isinstance(solution, TargetError):
            return solution
        try:
            artifact = pipeline.coded(replace(self._model, options=options), solution)
        except MemoryBudgetError as error:
            return error
        functions = tuple(step.function for step in artifact.report.steps)
        regions = tuple((region.name, region.size) for region in artifact.view.regions)
        key = functions, tuple(artifact.schedule.trace), regions, tuple(sorted(artifact.plan.offset.items()))
        if key not in self._counting:
            self._artifacts[key] = artifact
            self._counting[key] = self._pool.submit(self._counted if self._machine else _planned, artifact)
        return key

    def _counted(self, artifact: Artifact) -> ParetoPoint:
        with self._oracle:
            if self._runs is None:
                self._runs = sequence_of(artifact, self._case)
        return _planned(artifact, *emulated.counted(artifact, self._case, self._runs))

    def _notes(self) -> Iterator[str]:
        if self._machine:
            yield from self._model.notes
        if self._model.graph.stream:
            windows = self._model.graph.stream.stride
            yield f"figures are those of one decision, after {windows} window{'s' if windows > 1 else ''}"
        misfits = sum(isinstance(error, MemoryBudgetError) for error in self._refused)
        if misfits:
            yield f"{misfits} of the schedules do not fit"
        if not self._machine:
            yield f"{self._model.board.name} has no emulated machine to count instructions on"

    def _within(self, key: _Key) -> tuple[Options, _Key]:
        """The options of a build limited to the RAM of another build, and its key."""
        if key not in self._allowed:
            goal = "balanced" if self._model.options.optimize == "ram" else self._model.options.optimize
            taken = {region.name: region.size for region in self._artifacts[key].view.regions}
            options = replace(solve.allowing(self._model.options, taken), optimize=goal)
            self._allowed[key] = options, self._solved(options)
        return self._allowed[key]

    def _with_knee(self, found: Front, knee: ParetoPoint) -> Front:
        """The front with its knee: the build whose RAM budget is that of the point `knee`, so that a command can repeat
        it.
        """
        options, key = self._within(next(key for key in self._presets if self._point(key) == knee))
        if isinstance(key, TargetError):
            why = f"no knee is named: --optimize {options.optimize} has no plan within its budget"
            return replace(found, notes=(*found.notes, why))
        point = self._point(key)
        if point.presets:  # a preset needs no budget
            goal = options.optimize if options.optimize in point.presets else point.presets[0]
            options = self._aiming(goal)
        command = command_of(options, self._model.name, self._model.imported.format)
        points = found.points if point in found.points else _sorted((*found.points, point))
        return replace(found, points=points, knee=point, command=command)


def _planned(artifact: Artifact, instructions: int | None = None, agrees: bool | None = None) -> ParetoPoint:
    schedule = artifact.schedule
    return ParetoPoint(
        ram_bytes=artifact.report.ram_bytes,
        flash_bytes=artifact.report.weights_bytes,
        events=len(schedule.trace),
        by_rows=solve.ranges(step.index for step in schedule.steps if step.by_rows),
        instructions=instructions,
        agrees=agrees,
        cycles=artifact.report.cycles,
    )


def _sorted(points: Iterable[ParetoPoint]) -> tuple[ParetoPoint, ...]:
    return tuple(sorted(points, key=lambda p: (p.cost, p.ram_bytes, p.flash_bytes)))


def _best(points: Iterable[ParetoPoint]) -> tuple[ParetoPoint, ...]:
    """The presets, and the points that no other equals or beats in RAM, flash and cost.

    Flash and cost are compared with a tolerance.
    """
    found: list[ParetoPoint] = []
    for point in sorted(points, key=lambda p: (not p.presets, p.ram_bytes, p.flash_bytes, p.cost)):
        if point.presets or not any(_beats(other, point) for other in found):
            found.append(point)
    return _sorted(found)


def _beats(one: ParetoPoint, other: ParetoPoint) -> bool:
    smaller = one.ram_bytes <= other.ram_bytes and one.flash_bytes <= solve.DOMINANCE_TOLERANCE * other.flash_bytes
    return smaller and one.cost <= solve.DOMINANCE_TOLERANCE * other.cost


def as_dict(result: Front) -> dict[str, Any]:
    """The front as a dictionary with stable keys for JSON.

    points: fields of ParetoPoint. knee: a point or null. clock_hz, energy: may be null.
    """
    return {key: value for key, value in asdict(result).items() if key != "called"}


def as_facts(result: Front) -> tuple[PointFacts, ...]:
    """The points for report.json."""
    return tuple(
        PointFacts(
            p.ram_bytes,
            p.flash_bytes,
            p.cost,
            p.instructions is not None,
            p.by_rows,
            p == result.knee,
            result.command if p == result.knee else "",
            p.cycles,
            p.presets,
        )
        for p in result.points
    )


def as_text(result: Front) -> str:
    """The points as a table."""
    return tabular.text_of(as_parts(result))


def as_parts(result: Front) -> tabular.Parts:
    """The points, with presets and knee named, and the command that builds the knee."""
    unit = "instructions" if result.machine else "calls of kernels"
    where = f" (emulated {result.machine})" if result.machine else ""
    marked = frozenset(k for k, point in enumerate(result.points) if point == result.knee)
    knee = ["", f"  the knee, beyond which RAM costs most: {result.command} -o out/"] if result.knee else []
    return [
        f"{result.called or result.name} on {result.board}{where}: RAM against {unit}",
        *(f"  note: {note}" for note in result.notes),
        "",
        tabular.TextTable(tuple(_columns(result, unit)), tuple(_row(p, result) for p in result.points), marked),
        *knee,
        "  rows with a name: --optimize NAME; others: --optimize speed --ram BYTES, the fastest that fits",
    ]


def _columns(result: Front, unit: str) -> Iterator[tabular.TableColumn]:
    """The columns for the rows of `_row`."""
    heads = ["RAM", "constants", unit, *([""] if result.machine else [])]
    yield from (tabular.TableColumn(head, right=True) for head in heads)
    if _is_estimated(result) and result.clock_hz:
        yield tabular.TableColumn("ms", right=True)
    if _is_estimated(result) and result.energy:
        yield tabular.TableColumn("energy", right=True, optional=True)
    yield tabular.TableColumn("what it is", shrinks=True)
    if _is_estimated(result):
        yield tabular.TableColumn("estimated cycles", right=True, optional=True)
    yield tabular.TableColumn("steps row by row", shrinks=True, optional=True)


def _is_estimated(result: Front) -> bool:
    return all(point.cycles for point in result.points)


def _row(p: ParetoPoint, result: Front) -> tuple[str, ...]:
    fastest = max(result.points[0].cost, 1)
    more = f"{100 * p.cost / fastest - 100:+.2f} %" if p is not result.points[0] else ""
    cells = [f"{p.ram_bytes:,}", f"{p.flash_bytes:,}", f"{p.cost:,}", *([more] if result.machine else [])]
    cycles = p.cycles if _is_estimated(result) else None
    cells += [estimates.milliseconds(cycles, result.clock_hz)] if cycles and result.clock_hz else []
    cells += [estimates.joules(cycles, result.energy)] if cycles and result.energy else []
    name = curve_chart.name_of(p.presets, is_knee=p == result.knee)
    differs = "DIFFERS from the reference" if p.agrees is False else ""
    cells.append(", ".join(filter(None, (differs, name))))
    return (*cells, *([estimates.of_text(cycles)] if cycles else []), p.by_rows or "-")


def plot(result: Front) -> bytes:
    """SVG picture of the presets, the knee, and the Pareto-optimal points in RAM and cost. Flash is ignored."""
    unit = "instructions" if result.machine else "calls of kernels"
    title = f"{result.called or result.name} on {result.board}"
    shown = []
    for p in _best(replace(p, flash_bytes=0) for p in result.points):
        knee = result.knee is not None and p == replace(result.knee, flash_bytes=0)
        shown.append(
            (p.ram_bytes, p.cost, f"row by row: {p.by_rows or '-'}", curve_chart.name_of(p.presets, is_knee=knee))
        )
    return curve_chart.picture(title, unit, shown)
