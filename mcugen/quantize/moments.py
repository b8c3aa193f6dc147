"""Moments of the inputs of layers with weights."""

from __future__ import annotations

import numpy as np

from mcugen.quantize import layers, rounding
from mcugen.quantize.backwards import Arrays, GradientNetwork
from mcugen.quantize.parallel import in_threads, parts

_AT_ONCE = 4
"""Parts whose rows are in memory at a time."""


def moments_of(network: GradientNetwork, inputs: Arrays) -> dict[str, rounding.Moments]:
    """The moments of each layer's inputs, by its name."""
    count = len(next(iter(inputs.values())))

    def part(which: slice) -> Arrays:
        run = network.run({name: a[which] for name, a in inputs.items()})
        size = which.stop - which.start
        steps = {name: thinning(x.shape[1] // size * count, x.shape[2]) for name, x in run.met.items()}
        return {name: x[:, :: steps[name]].copy() for name, x in run.met.items()}

    sums: dict[str, layers.Gathered] = {}
    every = parts(network, count)
    for k in range(0, len(every), _AT_ONCE):
        for met in in_threads(part, every[k : k + _AT_ONCE]):
            for name, x in met.items():
                sums.setdefault(name, layers.Gathered((len(x), 1, x.shape[2]), True, False))
                sums[name].add(x, np.zeros((len(x), x.shape[1], 1), np.float32))
    return {name: gathered.moments() for name, gathered in sums.items()}


def thinning(rows: int, taps: int) -> int:
    """Step between sampled rows, so that enough remain for this many taps. It is odd, to reach all image columns."""
    return max(1, rows // max(layers.ENOUGH_ROWS, layers.ROWS_PER_TAP * taps)) | 1
