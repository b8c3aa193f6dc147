"""Random inputs of a model, and runs whose inputs overlap."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcugen.ir.graph import Graph
from mcugen.ir.types import TensorType

Inputs = list[np.ndarray]
_FLOAT_EXTREME = 64.0


def draw(graph: Graph, seed: int) -> Inputs:
    """Random inputs: integers over their full range, floats standard normal."""
    rng = np.random.default_rng(seed)
    return [_draw(rng, graph.type(name)) for name in graph.inputs]


def overlapping(calls: Sequence[Inputs], k: int) -> list[Inputs]:
    """The inputs of runs whose input k is a window over time: each window is the previous window, moved by one row.

    The last row of a window comes from the drawn input of its own run.
    """
    found = [list(calls[0])]
    for inputs in calls[1:]:
        window = np.concatenate([found[-1][k][:, 1:], inputs[k][:, -1:]], axis=1)
        found.append([*inputs[:k], window, *inputs[k + 1 :]])
    return found


def limits(t: TensorType) -> tuple[float, float]:
    """Least and greatest value to feed: the whole range of integers, +-64 for floats."""
    if t.is_float:
        return -_FLOAT_EXTREME, _FLOAT_EXTREME
    return t.limits


def _draw(rng: np.random.Generator, t: TensorType) -> np.ndarray:
    if t.is_float:
        return rng.standard_normal(t.shape).astype(t.np_dtype)
    low, high = limits(t)
    wide = np.uint64 if high > np.iinfo(np.int64).max else np.int64
    return np.asarray(rng.integers(int(low), int(high), t.shape, wide, endpoint=True)).astype(t.np_dtype)
