"""Recipes tried on folds of the samples: solved on one part, judged as integers on the other; several at a time."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from mcugen.graph import Graph
from mcugen.quantize.balance import balanced
from mcugen.quantize.floats import Floats
from mcugen.quantize.recipe import Recipe, Widths
from mcugen.quantize.solve import solved
from mcugen.quantize.steps import stored_inputs, to_real
from mcugen.quantize.walk import outputs

_NOISE = 1e-9
"""A result of which less than this share is noise counts as equal: 90 dB."""

Task = tuple[Recipe, Widths, int]


@dataclass
class Bench:
    """A float network on samples, and the folds to try recipes on: pairs of (solve, judge) indices of samples."""

    floats: Floats
    folds: tuple[tuple[np.ndarray, np.ndarray], ...]
    _parts: dict[tuple[int, float | None], Floats] = field(default_factory=dict)

    def part(self, fold: int, floor: float | None = None) -> Floats:
        """The float network on the samples that a fold solves with; -1 stands for all samples.

        floor: that of balanced channels; None for channels as they are.
        """
        key = (fold, floor)
        if key not in self._parts:
            self._parts[key] = self._part(fold, floor)
        return self._parts[key]

    def _part(self, fold: int, floor: float | None) -> Floats:
        if floor is None:
            return self.floats if fold < 0 else self.floats.part(self.folds[fold][0])
        plain = self.part(fold)
        graph = balanced(plain.graph, plain.reference, plain.observed(), floor, frozenset(plain.overrides))
        return plain if graph is plain.graph else Floats(graph, plain.reference, plain.given(), None, plain.overrides)

    def network(self, recipe: Recipe, widths: Widths, fold: int = -1) -> Graph:
        """The integer network that a recipe makes of the samples of a fold, or of all."""
        return solved(self.part(fold, recipe.floor if recipe.balanced else None), recipe, widths)

    def score(self, task: Task) -> np.ndarray:
        """The SQNR in dB of each sample that the fold holds out."""
        recipe, widths, fold = task
        return sqnr_each(self.floats.part(self.folds[fold][1]), self.network(recipe, widths, fold))


_SHARED: list[Bench] = []
"""The bench of a worker process: it comes with the fork, so that samples are never copied."""


def _score(task: Task) -> np.ndarray:
    return _SHARED[0].score(task)


@dataclass
class Pool:
    """Runs tasks of a bench, in processes where there are several cores."""

    bench: Bench
    workers: ProcessPoolExecutor | None

    def scores(self, tasks: Iterable[Task]) -> list[np.ndarray]:
        """The scores of each task, in order."""
        if self.workers is None:
            return [self.bench.score(task) for task in tasks]
        return list(self.workers.map(_score, tasks))


@contextmanager
def pool(bench: Bench, jobs: int) -> Iterator[Pool]:
    """A pool of that many processes; 0: one for each core."""
    jobs = min(jobs or os.cpu_count() or 1, max(1, len(bench.folds)))
    if jobs == 1 or "fork" not in multiprocessing.get_all_start_methods():
        yield Pool(bench, None)
        return
    bench.floats.outputs()  # What is kept of the float network then comes with the fork.
    _SHARED[:] = [bench]
    try:
        with ProcessPoolExecutor(jobs, multiprocessing.get_context("fork")) as workers:
            yield Pool(bench, workers)
    finally:
        _SHARED.clear()


def outputs_of(floats: Floats, graph: Graph) -> tuple[np.ndarray, ...]:
    """The outputs of an integer network for the samples of a float one, as real numbers, [samples, *shape] each."""
    found = outputs(graph, floats.reference, stored_inputs(graph, floats.given()))
    return tuple(to_real(a, graph.type(name)) for name, a in zip(graph.outputs, found, strict=True))


def sqnr_each(floats: Floats, graph: Graph) -> np.ndarray:
    """The SQNR of each sample over all outputs, in dB: the integer network against the float one."""
    signal, noise = np.zeros(floats.count), np.zeros(floats.count)
    for real, got in zip(floats.outputs(), outputs_of(floats, graph), strict=True):
        a = real.reshape(floats.count, -1).astype(np.float64)
        signal += (a**2).sum(axis=1)
        noise += ((a - got.reshape(floats.count, -1)) ** 2).sum(axis=1)
    return np.asarray(10 * np.log10(np.maximum(signal, 1e-30) / np.maximum(noise, 1e-30 + _NOISE * signal)))
