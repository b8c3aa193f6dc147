# SPDX-License-Identifier: Apache-2.0
"""Quantized ONNX models with scales at the ends of float32, or that are none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.formats.quantized_models import FLOATS, INTEGERS
from tests.formats.quantized_writer import TYPES, Writer

BUILDS = {**{f"qdq_{n}": b for n, b in FLOATS.items()}, **{f"qlinear_{n}": b for n, b in INTEGERS.items()}}
SCALES = (1e-45, 1e-38, 1e-30, 1e-15, 1e-11, 1e-8, 1e8, 1e15, 1e30, 3e38, 0.0, -0.1, float("inf"), float("nan"))


@dataclass
class Extreme(Writer):
    """A writer that takes another scale at one place. at: the number of the parameter, as they are asked for."""

    at: int = 0
    scale: float = 1.0
    asked: int = 0

    def parameters(self, dtype: str, scale: Any = None, zero: Any = None) -> tuple[float, int, tuple[str, str]]:
        kind, low, high = TYPES[dtype]
        drawn = float(self.rng.uniform(0.01, 0.1)) if scale is None else scale
        zero = int(self.rng.integers(low // 2, high // 2)) if zero is None else zero
        found = self.scale if self.asked == self.at else drawn
        self.asked += 1
        return found, zero, (self.constant(found), self.constant(zero, kind))


def models(seed: int, count: int) -> Iterator[tuple[str, bytes, list[np.ndarray]]]:
    """So many models by what was changed, with a set of inputs each."""
    rng = np.random.default_rng(seed)
    names = sorted(BUILDS)
    for k in range(count):
        name, scale, at = names[rng.integers(len(names))], SCALES[rng.integers(len(SCALES))], int(rng.integers(3))
        writer = Extreme(seed + k, at=at, scale=scale)
        with np.errstate(all="ignore"):
            content = writer.model(BUILDS[name](writer)).SerializeToString()
        yield f"{name}, scale {at} is {scale:g}", content, writer.data(1)[0]
