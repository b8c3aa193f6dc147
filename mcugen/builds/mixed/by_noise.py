"""Data of 16 bits for the loudest tensors: noises of single tensors in 8 bits add up, so one run for each is enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import UsageError
from mcugen.quantize.cross_validation import TaskPool
from mcugen.quantize.float_values import FloatRun
from mcugen.quantize.guard import Guard
from mcugen.quantize.recipe import Recipe, Widths
from mcugen.quantize.tensor_noise import TensorNoise, noises

_LEAST = 1e-12
_MOST_RUNS = 6
"""Most choices that are run if the first falls short of the goal."""


@dataclass(frozen=True)
class NoiseChoice:
    """The bits of all layers with some tensors in 16 bits, the loudest first, and the SQNR in dB: as the sum of the
    other noises predicts it, and of a run on held-out samples.
    """

    widths: Widths
    tensors: tuple[TensorNoise, ...]
    predicted: float
    sqnr: float


def chosen(workers: TaskPool, base: Widths, least: float, progress: Callable[[str], None]) -> NoiseChoice:
    """The fewest of the loudest tensors in 16 bits with which the network reaches `least` dB. Raises UsageError."""
    recipe = Guard(workers, base, progress).judged().recipe
    bench = workers.bench
    part = bench.part(0, recipe.floor if recipe.balanced else None)
    progress("running each tensor alone")
    loud = noises(part, FloatRun(part.graph, part.reference, bench.judged(0).given()), recipe, base)
    widest = _noise(workers, recipe, _widened(base, loud))
    count, sqnr, predicted = 0, _decibels(_noise(workers, recipe, base)), _decibels(widest + sum(t.noise for t in loud))
    for _ in range(_MOST_RUNS):
        if sqnr >= least:
            break
        count = max(count + 1, _enough(loud, widest, 10 ** (-least / 10)))
        if count > len(loud):
            break
        predicted = _decibels(widest + sum(t.noise for t in loud[count:]))
        sqnr = _decibels(_noise(workers, recipe, _widened(base, loud[:count])))
        progress(f"{count} tensors in 16 bits: {sqnr:.1f} dB, {predicted:.1f} dB predicted")
    if sqnr < least:
        what = f"--max-loss {least:g}dB: {len(loud)} tensors may have 16 bits, and all of them reach "
        hint = "ask for less, or give --activations 16"
        raise UsageError(f"{what}{_decibels(widest):.1f} dB", hint=hint)
    return NoiseChoice(_widened(base, loud[:count]), tuple(loud[:count]), predicted, sqnr)


def _widened(base: Widths, tensors: Sequence[TensorNoise]) -> Widths:
    for tensor in tensors:
        base = tensor.widened(base)
    return base


def _enough(loud: Sequence[TensorNoise], widest: float, goal: float) -> int:
    """How many of the loudest tensors must have 16 bits, so that the noise of the others and `widest`, the noise if
    all have 16, add up to at most the goal; one more than there are if that is impossible.
    """
    for count in range(len(loud) + 1):
        if widest + sum(t.noise for t in loud[count:]) <= goal:
            return count
    return len(loud) + 1


def _noise(workers: TaskPool, recipe: Recipe, widths: Widths) -> float:
    """The noise of an integer network on all held-out samples, as a share of the signal."""
    found = workers.results([(recipe, widths, fold) for fold in range(len(workers.bench.folds))])
    signal, noise = np.concatenate(found, axis=1).sum(axis=1)
    return float(noise / max(signal, _LEAST))


def _decibels(noise: float) -> float:
    return float(-10 * np.log10(max(noise, _LEAST)))
