# SPDX-License-Identifier: Apache-2.0
"""1x1 convolutions whose sums can be chosen: one pixel for each, with all channels at their own scales.

All rows of weights are equal, 1 for the first input and the largest weight for all others, so that the first inputs of
a pixel make any sum. The expected results are rational numbers, rounded here.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from mcugen.ir.op import Example
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops.conv2d import Conv2D
from tests.support.cases import Case, cases_of

INPUTS = 20
REACH = (INPUTS - 1) * 127 * 127 + 126
"""The largest sum."""

PIXELS = 1024
"""Pixels of an input set."""

RANDOM_SUMS = 10_000
FEWER_SUMS = 1_000
"""Random sums on this machine, and in the sample of emulated cores, which are slower."""


@dataclass(frozen=True)
class Channels:
    """Scales of data, of each channel's weights and of the result, as float32, and the result's zero point."""

    x: float
    w: tuple[float, ...]
    y: float
    zero: int
    rounding: str = "even"

    @property
    def factors(self) -> list[Fraction]:
        x, y = (Fraction(float(np.float32(v))) for v in (self.x, self.y))
        return [x * Fraction(float(np.float32(w))) / y for w in self.w]

    def example(self) -> Example:
        count = len(self.w)
        x = TensorType((1, 1, PIXELS, INPUTS), "s8", QuantParams((self.x,), (0,)))
        w = TensorType((count, 1, 1, INPUTS), "s8", QuantParams(self.w, (0,) * count))
        y = TensorType((1, 1, PIXELS, count), "s8", QuantParams((self.y,), (self.zero,)))
        return Example(Conv2D(rounding=self.rounding), (x, w, None), (y,), {1: weights(count)})

    def results(self, sums: np.ndarray) -> np.ndarray:
        """[sums, channels]: the meaning, straight from its definition."""
        if self.rounding == "single":
            x, y = np.float32(self.x), np.float32(self.y)
            scales = [np.float32(np.float32(x * np.float32(w)) / y) for w in self.w]
            found = np.rint(np.stack([sums.astype(np.float32) * s for s in scales], axis=1))
        else:
            exact = [[round(int(v) * f) for v in sums] for f in self.factors]
            found = np.array(exact).T
        return np.clip(found + self.zero, -128, 127).astype(np.int8)

    def sums(self, drawn: int) -> np.ndarray:
        """Every sum at which a channel's exact result changes, both neighbours of it, and so many random ones."""
        halves = [(2 * v - 1) / (2 * f) for f in self.factors for v in range(-128 - self.zero, 128 - self.zero)]
        near = np.array([int(h) + d for h in halves if abs(h) < REACH for d in (-2, -1, 0, 1, 2)])
        steps = np.unique(np.clip(np.concatenate([near, [-REACH, REACH, 0]]), -REACH, REACH))
        return np.concatenate([steps, np.random.default_rng(1).integers(-REACH, REACH, drawn, endpoint=True)])


def weights(channels: int) -> np.ndarray:
    row = np.full(INPUTS, 127, np.int8)
    row[0] = 1
    return np.broadcast_to(row, (channels, 1, 1, INPUTS)).copy()


def pixels(sums: np.ndarray) -> np.ndarray:
    """[sums, INPUTS] int8 whose products with the weights add up to the sums."""
    rest = np.sign(sums) * (np.abs(sums) % 127)
    left = (sums - rest) // 127
    found = np.zeros((sums.size, INPUTS), np.int8)
    found[:, 0] = rest
    for k in range(1, INPUTS):
        taken = np.clip(left, -127, 127)
        found[:, k] = taken
        left = left - taken
    assert not left.any()
    return found


class Sums(Conv2D):
    """The operator for the examples of `cases_of`. Source: none."""


def cases(channels: Channels, features: frozenset[str], name: str, drawn: int) -> list[Case]:
    """The convolution on every kernel that takes it, run on all those sums. name: prefixes C symbols."""
    kind = type("Sums", (Sums,), {"examples": classmethod(lambda cls: [channels.example()])})
    found, refused = cases_of(kind, features, 1, name, variants=False)
    assert not refused, refused
    return [filled(case, channels, drawn) for case in found]


def filled(case: Case, channels: Channels, drawn: int) -> Case:
    """The case on these sums instead of drawn data."""
    inputs, outputs = _data(channels, drawn)
    names = tuple(f"sums {k}" for k in range(len(inputs)))
    return replace(case, set_names=names, inputs=inputs, expected=dict.fromkeys(case.expected, outputs))


@functools.cache
def _data(channels: Channels, drawn: int) -> tuple[tuple[list[np.ndarray], ...], tuple[list[np.ndarray], ...]]:
    """The inputs of all sums and their results, which are the same for all kernels."""
    sums = channels.sums(drawn)
    count = -(-sums.size // PIXELS)
    sets = np.resize(sums, count * PIXELS).reshape(count, PIXELS)
    inputs = tuple([pixels(part).reshape(1, 1, PIXELS, INPUTS)] for part in sets)
    outputs = tuple([channels.results(part).reshape(1, 1, PIXELS, -1)] for part in sets)
    return inputs, outputs


def _drawn(seed: int, count: int) -> Channels:
    rng = np.random.default_rng(seed)
    w = tuple(float(v) for v in rng.uniform(0.0005, 0.02, count))
    return Channels(float(rng.uniform(0.005, 0.1)), w, float(rng.uniform(0.02, 0.2)), int(rng.integers(-128, 127)))


NETWORKS: Mapping[str, Channels] = {
    "random": _drawn(1, 5),
    "ties": Channels(0.5, (2.0**-6, 2.0**-9, 2.0**-11, 3 * 2.0**-10), 0.25, -5),
    "single": replace(_drawn(3, 6), rounding="single"),
}
"""Channels by name; `ties` have scales that are powers of two, so that many sums lie halfway between two results."""
