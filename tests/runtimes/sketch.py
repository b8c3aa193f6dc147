# SPDX-License-Identifier: Apache-2.0
"""A model under construction whose shapes, scales, zero points and data are drawn from a seed."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.support.tflite_writer import DTYPES, ModelWriter

Shape = tuple[int, ...]
Quant = tuple[float, int] | None
"""(scale, zero point), None for types that have none."""

QUANTIZED = ("s8", "u8", "s16")
ACTIVATIONS = ("NONE", "NONE", "NONE", "RELU", "RELU6", "RELU_N1_TO_1")
SETS = 3
"""Input sets of a model: random over the full range, the ends of the range in turn, and few different values."""

_VERSIONS = {"BROADCAST_TO": 2}  # the first that LiteRT knows
MOST_ELEMENTS = 240
_SIZES = (1, 1, 2, 2, 3, 3, 4, 5, 7, 8, 9)


@dataclass(frozen=True, eq=False)
class Drawn:
    """A model, with input sets in the order of its inputs."""

    label: str
    model: bytes
    sets: list[list[np.ndarray]]


@dataclass
class Sketch:
    """Collects tensors and operators; `dtype` is the element type that the model is about."""

    label: str
    dtype: str
    writer: ModelWriter = field(default_factory=ModelWriter)
    inputs: list[int] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    shapes: dict[int, Shape] = field(default_factory=dict)
    dtypes: dict[int, str] = field(default_factory=dict)
    quants: dict[int, Quant] = field(default_factory=dict)
    rng: random.Random = field(init=False)
    data: np.random.Generator = field(init=False)
    _feeds: list[list[np.ndarray]] = field(default_factory=lambda: [[] for _ in range(SETS)])

    def __post_init__(self) -> None:
        self.rng = random.Random(self.label)
        self.data = np.random.default_rng(self.rng.getrandbits(64))

    def drawn(self) -> Drawn:
        return Drawn(self.label, self.writer.build(self.inputs, self.outputs), self._feeds)

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def shape(self, rank: int | None = None, least: int = 0) -> Shape:
        """Sizes of `rank` axes, by default of any rank from `least` to 6, most often 4."""
        if rank is None:
            rank = self.rng.choice([r for r in (1, 2, 3, 4, 4, 4, 4, 5, 6, 0) if r >= least])
        while True:
            found = tuple(self.rng.choice(_SIZES) for _ in range(rank))
            if math.prod(found) <= MOST_ELEMENTS:
                return found

    def quant(self, dtype: str | None = None, near: float | None = None) -> Quant:
        """A scale, most often near another, and a zero point, most often at an end of the range or in its middle."""
        dtype = dtype or self.dtype
        if dtype not in QUANTIZED:
            return None
        usual = near or (0.0003 if dtype == "s16" else 0.05)
        spread = self.rng.choice((0.3, 0.3, 1.0, 1.0, 3.0, 6.0))
        scale = usual * 10.0 ** self.rng.uniform(-spread, spread)
        scale = 2.0 ** round(math.log2(scale)) if self.chance(0.15) else scale
        if dtype == "s16":
            return float(np.float32(scale)), self.rng.randrange(-32768, 32768) if self.chance(0.04) else 0
        low = -128 if dtype == "s8" else 0
        return float(np.float32(scale)), self.rng.choice((low, low + 128, low + 255, low + self.rng.randrange(256)))

    def x(
        self, shape: Sequence[int], dtype: str | None = None, quant: Quant = None, *, below: int | None = None
    ) -> int:
        """Adds an input of the graph. below: its values are indices 0 to below - 1."""
        dtype = dtype or self.dtype
        t = self.tensor(shape, dtype, quant or self.quant(dtype))
        self.inputs.append(t)
        for k, arrays in enumerate(self._feeds):
            arrays.append(self.values(shape, dtype, k) if below is None else self.indices(shape, dtype, below))
        return t

    def plain_x(self, shape: Sequence[int]) -> int:
        """Adds an input of the graph that has no quantization."""
        t = self.tensor(shape, self.dtype)
        self.inputs.append(t)
        for k, arrays in enumerate(self._feeds):
            arrays.append(self.values(shape, self.dtype, k))
        return t

    def tensor(self, shape: Sequence[int], dtype: str, quant: Quant = None, data: Any = None, **more: Any) -> int:
        """Adds a tensor that an operator writes, or with `data` a constant."""
        scale, zero = quant or (None, 0)
        name = f"t{len(self.shapes)}"
        t = self.writer.tensor(name, shape, dtype, scale=scale, zero_point=zero, data=data, **more)
        self.shapes[t], self.dtypes[t], self.quants[t] = tuple(shape), dtype, quant
        return t

    def constant(self, shape: Sequence[int], dtype: str | None = None, quant: Quant = None) -> int:
        """Adds a constant with random values over the full range."""
        dtype = dtype or self.dtype
        return self.tensor(shape, dtype, quant or self.quant(dtype), self.values(shape, dtype, 0))

    def const(self, values: Any, dtype: str = "s32") -> int:
        """Adds a constant without quantization: axes, paddings, shapes."""
        array = np.asarray(values, DTYPES[dtype][0])
        return self.tensor(array.shape, dtype, None, array)

    def result(
        self,
        name: str,
        inputs: Sequence[int],
        shape: Sequence[int],
        dtype: str | None = None,
        quant: Quant = None,
        options: Mapping[str, Any] | None = None,
    ) -> int:
        """Appends an operator with one result, which becomes an output of the graph."""
        dtype = dtype or self.dtype
        y = self.tensor(shape, dtype, quant or self.quant(dtype))
        self.writer.op(name, inputs, [y], options, version=_VERSIONS.get(name, 1))
        self.outputs.append(y)
        return y

    def moved(
        self,
        name: str,
        inputs: Sequence[int],
        shape: Sequence[int],
        like: int,
        options: Mapping[str, Any] | None = None,
    ) -> int:
        """Appends an operator that moves elements of tensor `like`, whose quantization its result has."""
        return self.result(name, inputs, shape, None, self.quants[like], options)

    def values(self, shape: Sequence[int], dtype: str, k: int) -> np.ndarray:
        """Data of input set k."""
        shape, numpy_type = tuple(shape), DTYPES[dtype][0]
        if dtype == "bool":
            return self.data.integers(0, 2, shape).astype(bool)
        if dtype in ("f32", "f16"):
            return (self.data.standard_normal(shape) * (1.0, 10.0, 0.1)[k]).astype(numpy_type)
        limits = np.iinfo(numpy_type)
        if k == 0:
            return self.data.integers(limits.min, limits.max, shape, dtype=numpy_type, endpoint=True)
        if k == 1:
            return self.data.choice(np.array([limits.min, limits.max, 0, 1], numpy_type), shape)
        return self.data.integers(-5 if limits.min else 100, 5 if limits.min else 140, shape).astype(numpy_type)

    def indices(self, shape: Sequence[int], dtype: str, below: int) -> np.ndarray:
        return self.data.integers(0, below, tuple(shape)).astype(DTYPES[dtype][0])
