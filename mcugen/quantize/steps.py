"""Real numbers as stored integers and back, as the runtimes' Quantize and Dequantize do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcugen.graph import Graph
from mcugen.types import TensorType


def to_steps(real: np.ndarray, t: TensorType) -> np.ndarray:
    """Real numbers as stored integers, halves away from zero. Source: reference_ops::AffineQuantize."""
    steps = real.astype(np.float32) / np.float32(t.scale)
    whole = np.copysign(np.floor(np.abs(steps.astype(np.float64)) + 0.5), steps)
    return np.asarray(np.clip(whole + t.zero_point, *t.limits).astype(t.np_dtype))


def to_real(stored: np.ndarray, t: TensorType) -> np.ndarray:
    """Stored integers as real numbers, float32; what has no scale is what it is."""
    if t.quant is None:
        return stored
    return np.asarray((stored.astype(np.float32) - np.float32(t.zero_point)) * np.float32(t.scale))


def stored_inputs(graph: Graph, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Real inputs [samples, *shape] as a quantized network takes them."""
    types = [graph.type(name) for name in graph.inputs]
    return [a if t.quant is None else to_steps(a, t) for a, t in zip(arrays, types, strict=True)]
