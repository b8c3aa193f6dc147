"""The guard: every step of a quantization is tried on samples that it has not seen, and kept only where these gain.

The integer model itself is judged, as the runtime computes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mcugen.quantize.bench import Pool
from mcugen.quantize.floats import Floats
from mcugen.quantize.noise import decibels
from mcugen.quantize.ranges import LEAST_ERROR
from mcugen.quantize.recipe import AS_BEFORE, LEAST_SQUARES, Recipe, Widths

FEW = 64
"""Below so many samples a step must win clearly, and channels are balanced with care as well."""
_MOST_DB = 90.0
"""With less noise a result counts as equal."""
_TIE = 0.5
_CAREFUL = 0.25
_MANY_ROWS = 1000
"""From so many results on, their mean is not that of a few samples."""
Change = dict[str, Any]


@dataclass(frozen=True)
class Trial:
    """A step that was tried: the recipe with it, what it brought in dB on held-out samples, and whether it was kept."""

    step: str
    recipe: Recipe
    score: float
    gain: float
    kept: bool


@dataclass(frozen=True, eq=False)
class Judged:
    """The recipe that was chosen, and the trials that led there, in order; the first is the plainest recipe."""

    recipe: Recipe
    trials: tuple[Trial, ...]


@dataclass(frozen=True)
class Step:
    """A step to try: changes of the recipe, the first known to be the strongest; the best is taken.

    wins_ties: whether it is known to be the stronger way, so that a tie is its gain; for_rare: whether it is for values
    that few samples have, so that less noise in all samples together is a gain as well; unless: a step that makes it
    needless
    """

    name: str
    changes: tuple[Change, ...]
    wins_ties: bool = True
    for_rare: bool = False
    unless: str = ""


@dataclass
class Guard:
    """Trials of recipes in a pool. tell: is given a line of progress."""

    pool: Pool
    widths: Widths
    tell: Callable[[str], None] = lambda text: None
    _powers: dict[Recipe, np.ndarray] = field(default_factory=dict)

    def judged(self) -> Judged:
        """Step after step, each kept where the samples that it has not seen are reproduced better with it."""
        steps, plain = tuple(self._steps()), plainest(self.pool.bench.floats)
        self._try([plain, *(replace(plain, **change) for change in steps[0].changes)])  # All that is certain to run.
        best, trials = plain, [Trial(f"{plain.ranges}, nearest", plain, self._mean(plain), 0.0, True)]
        for step in steps:
            tried = [found for found in (replace(best, **change) for change in step.changes) if found != best]
            if not tried or any(t.kept for t in trials if t.step == step.unless):
                continue
            self.tell(step.name)
            self._try(tried)
            candidate = self._best(tried)
            gain = self._scores(candidate) - self._scores(best)
            kept = self._keeps(gain, step.wins_ties) or (step.for_rare and self._is_quieter(candidate, best))
            trials.append(Trial(step.name, candidate, self._mean(candidate), float(gain.mean()), kept))
            best = candidate if kept else best
        return Judged(best, tuple(trials))

    def _steps(self) -> Iterator[Step]:
        """The steps in the order in which they are tried; ranges of an older model and their channels stay."""
        fitted = {"bias": True, "rounding": LEAST_SQUARES}
        count = self.pool.bench.floats.count
        wider = {"widen": 1 + 1 / count**0.5}
        balanced = [{"balanced": True, "floor": floor} for floor in ((0.0, _CAREFUL) if count < FEW else (0.0,))]
        is_new = self.pool.bench.floats.older is None
        if is_new:
            yield Step("channels balanced", (*balanced, *({**b, **wider} for b in balanced if count < FEW)))
        large = {"least_rows": _MANY_ROWS}
        yield Step("weights by least squares", (fitted,))
        yield Step("biases corrected", ({"bias": True}, {"bias": True, **large}), unless="weights by least squares")
        if self.widths.has_few_bits:
            yield Step("weights refitted", ({**fitted, "refit": True},))
        if is_new:
            yield Step("ranges", ({"ranges": LEAST_ERROR}, {"ranges": "99.999"}), wins_ties=False)
            yield Step("ranges widened", (wider, {"widen": 1.0}), for_rare=True)
        yield Step("least squares again", (fitted, {**fitted, **large}), unless="weights by least squares")

    def _best(self, tried: list[Recipe]) -> Recipe:
        """The best of several; with many samples a later one must be clearly better than those before it."""
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
        """The SQNR of each held-out sample."""
        return decibels(self._powers[recipe], _MOST_DB)

    def _is_quieter(self, recipe: Recipe, than: Recipe) -> bool:
        """Whether there is less noise in all samples together, of which there must be enough to have rare values."""
        noise, before = (self._powers[r][1].sum() for r in (recipe, than))
        return self.pool.bench.floats.count >= FEW and bool(noise < before)

    def _keeps(self, gain: np.ndarray, wins_ties: bool) -> bool:
        """With few samples a step must win clearly; with more, a tie goes to a step that is known to be stronger."""
        mean, doubt = _certain(gain)
        if self.pool.bench.floats.count < FEW:
            return mean > doubt
        return mean > (-min(_TIE, doubt) if wins_ties else 0.0)

    def _mean(self, recipe: Recipe) -> float:
        return float(self._scores(recipe).mean())


def plainest(floats: Floats) -> Recipe:
    """The recipe that all steps begin with."""
    return Recipe() if floats.older is None else Recipe(ranges=AS_BEFORE)


def _certain(gain: np.ndarray) -> tuple[float, float]:
    """The mean of a gain, and how far it is in doubt."""
    return float(gain.mean()), float(gain.std() / len(gain) ** 0.5)


def folds(count: int, parts: int) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """`parts` pairs of (samples to solve with, samples to judge by), the latter a quarter each and never the same.

    A single sample is judged by itself.
    """
    every = np.arange(count)
    if count < 2:
        return ((every, every),)
    quarters = min(4, count)
    held = [every % quarters == k for k in range(min(parts, quarters))]
    return tuple((np.flatnonzero(~mask), np.flatnonzero(mask)) for mask in held)
