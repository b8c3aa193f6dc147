"""Conversion of real numbers to stored integers and back, as in the runtimes' Quantize and Dequantize."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcugen.ir.graph import Graph
from mcugen.ir.types import TensorType
from mcugen.oracle import quantized


def to_steps(real: np.ndarray, t: TensorType) -> np.ndarray:
    """Stored integers of real numbers, halves rounded away from zero."""
    return quantized.from_real(real, t).astype(t.np_dtype)


def to_real(stored: np.ndarray, t: TensorType) -> np.ndarray:
    """Real numbers of stored integers, float32; tensors without a scale are unchanged."""
    return stored if t.quant is None else quantized.to_real(stored, t)


def stored_inputs(graph: Graph, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Real inputs [samples, *shape] in the types of a quantized network."""
    types = [graph.type(name) for name in graph.inputs]
    return [a if t.quant is None else to_steps(a, t) for a, t in zip(arrays, types, strict=True)]
