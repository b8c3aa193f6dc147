"""Cross-validation of recipes, in parallel processes.

A recipe is solved on one part of the samples, and the integer network is judged on the other part.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from mcugen.ir.graph import Graph
from mcugen.quantize.balance import balanced
from mcugen.quantize.float_values import FloatRun
from mcugen.quantize.kept import ResultCache
from mcugen.quantize.noise import powers
from mcugen.quantize.recipe import Recipe, Widths
from mcugen.quantize.solve import solved
from mcugen.quantize.stored_integers import stored_inputs, to_real
from mcugen.quantize.walk import outputs
from mcugen.system.forked import interrupts_kept

_AT_LEAST = 2
"""Processes that are useful even with one fold, since most steps have alternatives to try."""

Task = tuple[Recipe, Widths, int]
"""A trial: a recipe, the bits of layers, and the index of a fold."""


@dataclass
class Bench:
    """A float network on samples, and the folds to try recipes on: pairs of (solve, judge) indices of samples."""

    floats: FloatRun
    folds: tuple[tuple[np.ndarray, np.ndarray], ...]
    _parts: dict[tuple[int, float | None], FloatRun] = field(default_factory=dict)
    _wanted: dict[int, tuple[np.ndarray, ...]] = field(default_factory=dict)

    def part(self, fold: int, floor: float | None = None) -> FloatRun:
        """The float network on the samples that a fold solves with; fold -1 has all samples.

        floor: least range for equalization, see `Recipe.floor`; None leaves channels as they are.
        """
        key = (fold, floor)
        if key not in self._parts:
            self._parts[key] = self._part(fold, floor)
        return self._parts[key]

    def _part(self, fold: int, floor: float | None) -> FloatRun:
        if floor is None:
            return self.floats if fold < 0 else self.floats.part(self.folds[fold][0])
        plain = self.part(fold)
        graph = balanced(plain.graph, plain.reference, plain.observed(), floor, frozenset(plain.overrides))
        return plain if graph is plain.graph else FloatRun(graph, plain.reference, plain.given(), None, plain.overrides)

    def network(self, recipe: Recipe, widths: Widths, fold: int = -1) -> Graph:
        """The integer network by a recipe, solved on the samples of a fold; fold -1 has all samples."""
        return solved(self.part(fold, recipe.floor if recipe.balanced else None), recipe, widths)

    def judged(self, fold: int) -> FloatRun:
        """The float network on the samples that a fold holds out."""
        return self.floats.part(self.folds[fold][1])

    def result(self, task: Task) -> np.ndarray:
        """Power of the signal, and of the noise, in each sample that the fold holds out: [2, samples]."""
        recipe, widths, fold = task
        judged = self.judged(fold)
        if fold not in self._wanted:
            self._wanted[fold] = judged.outputs()
        return powers(self._wanted[fold], outputs_of(judged, self.network(recipe, widths, fold)))


_SHARED: list[Bench] = []
"""The bench of a worker process, inherited by the fork, so that samples are never copied."""


def _result(task: Task) -> np.ndarray:
    return _SHARED[0].result(task)


Run = Callable[[Sequence[Task]], Iterable[np.ndarray]]


@dataclass
class TaskPool:
    """Worker processes that compute tasks of a Bench, and a cache of the results.

    run: computes tasks and yields their results in order. kept: the cache.
    """

    bench: Bench
    run: Run
    kept: ResultCache = field(default_factory=ResultCache)

    def results(self, tasks: Iterable[Task]) -> list[np.ndarray]:
        """The result of each task, in order; tasks whose results are cached are not run again."""
        wanted = list(tasks)
        new = [task for task in dict.fromkeys(wanted) if self.kept.get(repr(task)) is None]
        for task, found in zip(new, self.run(new) if new else (), strict=True):
            self.kept.add(repr(task), found)
        return [np.asarray(self.kept.get(repr(task))) for task in wanted]


@contextmanager
def pool(bench: Bench, jobs: int, kept: ResultCache | None = None, most: int = 0) -> Iterator[TaskPool]:
    """A pool of `jobs` processes; 0: one for each core.

    kept: results of an earlier run; most: allows this many processes even if there are fewer folds
    """
    known = ResultCache() if kept is None else kept
    jobs = min(jobs or os.cpu_count() or 1, max(_AT_LEAST, len(bench.folds), most))
    if jobs == 1 or "fork" not in multiprocessing.get_all_start_methods():
        yield TaskPool(bench, lambda tasks: map(bench.result, tasks), known)
        return
    bench.floats.outputs()  # computed before the fork, so that all workers share it
    _SHARED[:] = [bench]
    try:
        with ProcessPoolExecutor(jobs, multiprocessing.get_context("fork"), _interruptible) as workers:
            with interrupts_kept():
                workers.submit(_interruptible)  # the first task starts all processes
            yield TaskPool(bench, lambda tasks: workers.map(_result, tasks), known)
    finally:
        _SHARED.clear()


def _interruptible() -> None:
    """Let interrupts end this worker process. They were blocked when the process was forked."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def outputs_of(floats: FloatRun, graph: Graph) -> tuple[np.ndarray, ...]:
    """Outputs of an integer network for the samples of `floats`, as real numbers, [samples, *shape] each."""
    found = outputs(graph, floats.reference, stored_inputs(graph, floats.given()))
    return tuple(to_real(a, graph.type(name)) for name, a in zip(graph.outputs, found, strict=True))
