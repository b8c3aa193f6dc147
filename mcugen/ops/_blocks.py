"""Sums of floats in a pinned order that loses few bits: first within blocks, then over the blocks."""

from __future__ import annotations

import numpy as np

BLOCK = 64
"""Numbers of a block, as in the C."""


def summed(x: np.ndarray) -> np.ndarray:
    """The sum along the first axis, float32 [n, ...] to [...]. Each addition rounds to float32."""
    total = np.zeros(x.shape[1:], np.float32)
    for start in range(0, len(x), BLOCK):
        partial = np.zeros_like(total)
        for row in x[start : start + BLOCK]:
            partial = partial + row
        total = total + partial
    return total
