"""Choice of the constants that a written file stores as float16: weights that float16 represents exactly."""

from __future__ import annotations

import numpy as np


def is_wide_enough(data: np.ndarray) -> bool:
    """Whether a constant counts as weights: float32, with two or more axes longer than 1."""
    return data.dtype == np.float32 and sum(n > 1 for n in data.shape) > 1


def held(data: np.ndarray | None) -> np.ndarray | None:
    """The data as float16; None for constants that are not weights, or that float16 cannot represent exactly."""
    if data is None or not is_wide_enough(data):
        return None
    with np.errstate(over="ignore"):
        narrow = data.astype(np.float16)
    return narrow if np.array_equal(narrow.astype(np.float32), data) else None
