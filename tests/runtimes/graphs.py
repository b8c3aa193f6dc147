# SPDX-License-Identifier: Apache-2.0
"""Random graphs: the one-operator models' drawing, on tensors that are there already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.runtimes.operators import OPERATORS
from tests.runtimes.sketch import Drawn, Quant, Shape, Sketch

MOST_OPERATORS = 9
_MOVING = (
    "RESHAPE", "SQUEEZE", "TRANSPOSE", "PAD", "STRIDED_SLICE", "SLICE", "CONCATENATION", "SPLIT", "SPLIT_V", "PACK",
    "UNPACK", "RESIZE_NEAREST_NEIGHBOR", "REVERSE_V2", "MAX_POOL_2D",
)  # fmt: skip
_WEIGHING = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "TRANSPOSE_CONV", "AVERAGE_POOL_2D")
_COMPUTING = ("ADD", "SUB", "MUL", "MAXIMUM", "MINIMUM", "MEAN", "SOFTMAX", "LOGISTIC", "TANH", "LEAKY_RELU", "RELU")
_USUAL = (*_MOVING, *_WEIGHING, *_WEIGHING, *_COMPUTING, *_COMPUTING)
_SPECIAL = ("RELU6", "RELU_N1_TO_1", "TILE", "GATHER", "REDUCE_MAX", "REDUCE_MIN", "SPACE_TO_DEPTH", "DEPTH_TO_SPACE")
_OF_TYPE = {
    "s8": (*_USUAL, *_SPECIAL, "HARD_SWISH", "PRELU", "QUANTIZE", "QUANTIZE"),
    "u8": (*_USUAL, *_SPECIAL, "HARD_SWISH", "QUANTIZE"),
    "s16": (*_USUAL, *_SPECIAL, "QUANTIZE", "QUANTIZE"),
    "f32": (*_USUAL, *_SPECIAL, "ABS", "NEG", "SQUARED_DIFFERENCE"),
}
"""Operators of each type. No step from float to integer: a difference in the last bit of a float would become one."""


@dataclass
class GraphSketch(Sketch):
    """Draws operators whose operands are, where their shapes fit, what earlier ones have written."""

    def shape(self, rank: int | None = None, least: int = 0) -> Shape:
        offered = [t for t in (self.outputs if self.chance(0.9) else self.inputs) if self._offers(t)]
        known = [s for s in map(self.shapes.__getitem__, offered) if rank in (None, len(s)) and len(s) >= least]
        return self.rng.choice(known) if known and self.chance(0.9) else super().shape(rank, least)

    def x(
        self, shape: Sequence[int], dtype: str | None = None, quant: Quant = None, *, below: int | None = None
    ) -> int:
        fitting = [
            t
            for t, s in self.shapes.items()
            if self._offers(t) and below is None and s == tuple(shape) and quant in (None, self.quants[t])
        ]
        if fitting and (dtype or self.dtype) == self.dtype and self.chance(0.95):
            return self.rng.choice(fitting[-4:])
        return super().x(shape, dtype, quant, below=below)

    def present(self) -> list[str]:
        """The element types of what can be read."""
        return [self.dtypes[t] for t in (*self.inputs, *self.outputs)]

    def _offers(self, t: int) -> bool:
        return self.dtypes[t] == self.dtype and t in (*self.inputs, *self.outputs)


def draw(seed: int) -> Drawn:
    """The graph of this seed: always the same."""
    first = Sketch(f"graph {seed}", "")
    dtype = first.rng.choice(("s8", "s8", "s8", "s16", "s16", "u8", "f32"))
    sketch = GraphSketch(f"graph {dtype} {seed}", dtype)
    special = sketch.chance(0.3)
    for _ in range(sketch.rng.randint(2, MOST_OPERATORS)):
        sketch.dtype = sketch.rng.choice([t for t in sketch.present() if t in _OF_TYPE] or [dtype])
        names = _OF_TYPE[sketch.dtype] if special else tuple(n for n in _OF_TYPE[sketch.dtype] if n not in _SPECIAL)
        OPERATORS[sketch.rng.choice(names)][1](sketch)
    return sketch.drawn()
