"""The guard on trials whose noise is given: what is kept, and why."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mcugen.quantize.guard import Guard
from mcugen.quantize.recipe import Recipe, Widths


def pool(count: int, rare: float) -> Any:
    """Trials whose noise is a thousandth of the signal, and `rare` in one sample; a fifth more with wider ranges."""

    def powers(recipe: Recipe) -> np.ndarray:
        noise = np.full(count, 1e-3 if recipe.widen == 1 else 1.2e-3)
        noise[0] = rare if recipe.widen == 1 else noise[0]
        return np.stack([np.ones(count), noise])

    bench = SimpleNamespace(folds=[()], floats=SimpleNamespace(count=count, older=None))
    return SimpleNamespace(bench=bench, results=lambda tasks: [powers(recipe) for recipe, _, _ in tasks])


@pytest.mark.parametrize(("count", "rare", "widens"), [(100, 0.5, True), (100, 1e-3, False), (40, 0.1, False)])
def test_ranges_are_widened_for_what_few_samples_have(count: int, rare: float, widens: bool) -> None:
    found = Guard(pool(count, rare), Widths()).judged()
    assert (found.recipe.widen > 1) == widens
    step = next(trial for trial in found.trials if trial.step == "ranges widened")
    assert step.gain < -0.15
    assert step.kept == widens
