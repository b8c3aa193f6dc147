# SPDX-License-Identifier: Apache-2.0
"""Tensors and weights of random networks.

Scales follow from the size of sums, so that values spread over int8 and errors are not hidden by saturation.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import sqrt
from random import Random

import numpy as np

from tests.support.tflite_writer import ModelWriter

KINDS = ("plain", "branches", "odd")
FLOAT_EVERY = 8
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Value:
    """A tensor being built upon. rms: root mean square of its real values, as far as the recipe can tell."""

    index: int
    shape: Shape
    scale: float
    zero_point: int
    rms: float

    @property
    def hwc(self) -> tuple[int, int, int]:
        return self.shape[1], self.shape[2], self.shape[3]


@dataclass
class Tensors:
    """Adds tensors, weights and operators of one network, with the random numbers of a seed."""

    seed: int
    m: ModelWriter = field(default_factory=ModelWriter)
    operators: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.rng = Random(self.seed)
        self.data = np.random.default_rng(self.seed)
        self.kind = KINDS[self.seed % len(KINDS)]
        self.dtype = "f32" if self.seed % FLOAT_EVERY == FLOAT_EVERY - 1 else "s8"

    def _value(self, shape: Shape, scale: float, zero_point: int, rms: float) -> Value:
        name = f"t{len(self.m._tensors)}"
        quant = {"scale": scale, "zero_point": zero_point} if self.dtype == "s8" else {}
        return Value(self.m.tensor(name, shape, self.dtype, **quant), shape, scale, zero_point, rms)

    def _result(self, shape: Shape, rms: float, activation: str = "NONE", like: Value | None = None) -> Value:
        """A tensor whose range holds three times the rms; with `like`, quantized like that one."""
        if like is not None:
            return self._value(shape, like.scale, like.zero_point, rms)
        if activation != "NONE":
            rms /= sqrt(2)
            return self._value(shape, max(rms, 1e-4) * 4 / 255, self.rng.choice((-128, -128, -110)), rms)
        return self._value(shape, max(rms, 1e-4) * 6 / 255, self.rng.randint(-20, 20), rms)

    def _ints(self, values: object) -> int:
        array = np.array(values, np.int32)
        return self.m.tensor(f"t{len(self.m._tensors)}", array.shape, "s32", data=array)

    def _weights(self, shape: Shape, channels: int, axis: int, taps: int, x: Value) -> tuple[list[int], float]:
        """(weights and bias, rms of their sums over `taps` values like x)."""
        name = f"t{len(self.m._tensors)}"
        if self.dtype == "f32":
            w = self.data.standard_normal(shape) / sqrt(taps)
            b = self.data.standard_normal(channels)
            tensors = ((name, shape, w), (f"{name}b", (channels,), b))
            return [self.m.tensor(key, size, "f32", data=values) for key, size, values in tensors], 1.0
        scale = self.data.uniform(0.004, 0.012, channels).astype(np.float32)
        rms = x.rms * 73 * float(np.sqrt(np.mean(scale**2))) * sqrt(taps)
        w = self.data.integers(-127, 127, shape, endpoint=True)
        b = np.round(self.data.normal(0, 0.3 * rms, channels) / (scale * np.float32(x.scale)))
        self._plant(w, b, axis)
        weights = self.m.tensor(name, shape, "s8", scale=scale, zero_point=[0] * channels, axis=axis, data=w)
        bias_scale = scale * np.float32(x.scale)
        bias = self.m.tensor(f"{name}b", (channels,), "s32", scale=bias_scale, zero_point=[0] * channels, data=b)
        return [weights, bias], 1.05 * rms

    def _plant(self, w: np.ndarray, b: np.ndarray, axis: int) -> None:
        """Change weights, whose outputs are on `axis`, and bias in place."""

    def _op(self, name: str, inputs: list[int], output: Value, **options: object) -> Value:
        self.m.op(name, inputs, [output.index], options)
        self.operators[name] += 1
        return output
