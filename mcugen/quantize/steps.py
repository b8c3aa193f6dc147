"""Real numbers as stored integers and back, as the runtimes' Quantize and Dequantize do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcugen.ir.graph import Graph
from mcugen.ir.types import TensorType
from mcugen.oracle import quantized


def to_steps(real: np.ndarray, t: TensorType) -> np.ndarray:
    """Real numbers as stored integers, halves away from zero."""
    return quantized.from_real(real, t).astype(t.np_dtype)


def to_real(stored: np.ndarray, t: TensorType) -> np.ndarray:
    """Stored integers as real numbers, float32; what has no scale is what it is."""
    return stored if t.quant is None else quantized.to_real(stored, t)


def stored_inputs(graph: Graph, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Real inputs [samples, *shape] as a quantized network takes them."""
    types = [graph.type(name) for name in graph.inputs]
    return [a if t.quant is None else to_steps(a, t) for a, t in zip(arrays, types, strict=True)]
