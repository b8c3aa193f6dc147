"""The guard: every step of a quantization is tried on held-out samples, and kept only if it improves them.

The integer model itself is judged, with the runtime's exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mcugen.quantize.activation_ranges import LEAST_ERROR
from mcugen.quantize.cross_validation import TaskPool
from mcugen.quantize.float_values import FloatRun
from mcugen.quantize.noise import decibels
from mcugen.quantize.recipe import AS_BEFORE, LEAST_SQUARES, Recipe, Widths

FEW = 64
"""Number of samples below which a step must win clearly, and equalization is tried with a floor, too."""
_MOST_DB = 90.0
"""SQNR above which results count as equal."""
_TIE = 0.5
_CAREFUL = 0.25
_MANY_ROWS = 1000
"""Number of results beyond which their mean does not depend on a few samples."""
Change = dict[str, Any]
"""Fields of a recipe, and their new values."""


@dataclass(frozen=True)
class Trial:
    """A tried step: the recipe with it, its score and gain in dB on held-out samples, and whether it was kept."""

    step: str
    recipe: Recipe
    score: float
    gain: float
    kept: bool


@dataclass(frozen=True, eq=False)
class Judged:
    """The chosen recipe, and all trials in order; the first is the plainest recipe."""

    recipe: Recipe
    trials: tuple[Trial, ...]


@dataclass(frozen=True)
class RecipeStep:
    """A step to try: alternative changes of the recipe, the expected best first; the measured best is taken.

    wins_ties: whether the step is expected to help, so that a tie is enough to keep it; for_rare: whether it helps
    values that occur in few samples, so that less noise in total is enough, too; unless: name of a step that makes
    this step needless if it was kept
    """

    name: str
    changes: tuple[Change, ...]
    wins_ties: bool = True
    for_rare: bool = False
    unless: str = ""


@dataclass
class Guard:
    """Tries recipes in the processes of a TaskPool."""

    pool: TaskPool
    widths: Widths
    progress: Callable[[str], None] = lambda text: None
    _powers: dict[Recipe, np.ndarray] = field(default_factory=dict)

    def judged(self) -> Judged:
        """Try step after step, and keep each that reproduces the held-out samples better."""
        steps, plain = tuple(self._steps()), plainest(self.pool.bench.floats)
        self._try([plain, *(replace(plain, **change) for change in steps[0].changes)])  # trials that run in any case
        best, trials = plain, [Trial(f"{plain.ranges}, nearest", plain, self._mean(plain), 0.0, True)]
        for step in steps:
            tried = [found for found in (replace(best, **change) for change in step.changes) if found != best]
            if not tried or any(t.kept for t in trials if t.step == step.unless):
                continue
            self.progress(step.name)
            self._try(tried)
            candidate = self._best(tried)
            gain = self._scores(candidate) - self._scores(best)
            kept = self._keeps(gain, step.wins_ties) or (step.for_rare and self._is_quieter(candidate, best))
            trials.append(Trial(step.name, candidate, self._mean(candidate), float(gain.mean()), kept))
            best = candidate if kept else best
        return Judged(best, tuple(trials))

    def _steps(self) -> Iterator[RecipeStep]:
        """Steps in the order of their trials; with an older model none that changes its ranges or channels."""
        fitted = {"bias": True, "rounding": LEAST_SQUARES}
        count = self.pool.bench.floats.count
        wider = {"widen": 1 + 1 / count**0.5}
        balanced = [{"balanced": True, "floor": floor} for floor in ((0.0, _CAREFUL) if count < FEW else (0.0,))]
        is_new = self.pool.bench.floats.older is None
        if is_new:
            yield RecipeStep("channels balanced", (*balanced, *({**b, **wider} for b in balanced if count < FEW)))
        large = {"least_rows": _MANY_ROWS}
        yield RecipeStep("weights by least squares", (fitted,))
        yield RecipeStep(
            "biases corrected", ({"bias": True}, {"bias": True, **large}), unless="weights by least squares"
        )
        if self.widths.has_few_bits:
            yield RecipeStep("weights refitted", ({**fitted, "refit": True},))
        if is_new:
            yield RecipeStep("ranges", ({"ranges": LEAST_ERROR}, {"ranges": "99.999"}), wins_ties=False)
            yield RecipeStep("ranges widened", (wider, {"widen": 1.0}), for_rare=True)
        yield RecipeStep("least squares again", (fitted, {**fitted, **large}), unless="weights by least squares")

    def _best(self, tried: list[Recipe]) -> Recipe:
        """The best of several recipes; with many samples, a later recipe must be clearly better than earlier ones."""
        if self.pool.bench.floats.count < FEW:
            return max(tried, key=self._mean)
        best = tried[0]
        for recipe in tried[1:]:
            mean, doubt = _certain(self._scores(recipe) - self._scores(best))
            best = recipe if mean > doubt else best
        return best

    def _try(self, recipes: list[Recipe]) -> None:
        folds = range(len(self.pool.bench.folds))
        new = [recipe for recipe in recipes if recipe not in self._powers]
        found = iter(self.pool.results([(recipe, self.widths, fold) for recipe in new for fold in folds]))
        for recipe in new:
            self._powers[recipe] = np.concatenate([next(found) for _ in folds], axis=1)

    def _scores(self, recipe: Recipe) -> np.ndarray:
        """SQNR of each held-out sample, in dB."""
        return decibels(self._powers[recipe], _MOST_DB)

    def _is_quieter(self, recipe: Recipe, than: Recipe) -> bool:
        """Whether a recipe has less noise in total than another; always False with few samples."""
        noise, before = (self._powers[r][1].sum() for r in (recipe, than))
        return self.pool.bench.floats.count >= FEW and bool(noise < before)

    def _keeps(self, gain: np.ndarray, wins_ties: bool) -> bool:
        """Whether a step is kept: with few samples it must win clearly; with more, a tie is enough if `wins_ties`."""
        mean, doubt = _certain(gain)
        if self.pool.bench.floats.count < FEW:
            return mean > doubt
        return mean > (-min(_TIE, doubt) if wins_ties else 0.0)

    def _mean(self, recipe: Recipe) -> float:
        return float(self._scores(recipe).mean())


def plainest(floats: FloatRun) -> Recipe:
    """The recipe that all steps start from."""
    return Recipe() if floats.older is None else Recipe(ranges=AS_BEFORE)


def _certain(gain: np.ndarray) -> tuple[float, float]:
    """Mean of a gain over samples, and the standard error of this mean."""
    return float(gain.mean()), float(gain.std() / len(gain) ** 0.5)


def folds(count: int, parts: int) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """`parts` pairs of (samples to solve with, samples to judge by). The samples to judge by are disjoint quarters.

    A single sample is judged by itself.
    """
    every = np.arange(count)
    if count < 2:
        return ((every, every),)
    quarters = min(4, count)
    held = [every % quarters == k for k in range(min(parts, quarters))]
    return tuple((np.flatnonzero(~mask), np.flatnonzero(mask)) for mask in held)
