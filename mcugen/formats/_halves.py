"""Which constants of a file are stored as float16: those whose values it holds, where that saves something."""

from __future__ import annotations

import numpy as np


def is_wide_enough(data: np.ndarray) -> bool:
    """Whether a constant is one of weights: float32, with more than one axis that is longer than 1."""
    return data.dtype == np.float32 and sum(n > 1 for n in data.shape) > 1


def held(data: np.ndarray | None) -> np.ndarray | None:
    """The same values as float16; None for constants that are not weights, or that would change."""
    if data is None or not is_wide_enough(data):
        return None
    with np.errstate(over="ignore"):
        narrow = data.astype(np.float16)
    return narrow if np.array_equal(narrow.astype(np.float32), data) else None
