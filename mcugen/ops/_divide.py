"""Exact division by numbers known at build time, as a multiplication and a shift."""

from __future__ import annotations

import numpy as np


def reciprocals(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(mult u32, shift u8) with n // count == ((2 * n * mult) >> 32) >> shift for every 0 <= n < 2**31.

    counts: positive, below 2**31, any shape.  shift = ceil(log2(count)), mult = ceil(2**(31 + shift) / count): the
    error mult * count - 2**(31 + shift) is below count <= 2**shift, so n times it stays below 2**(31 + shift).
    Source: Granlund and Montgomery, Division by Invariant Integers using Multiplication, theorem 4.2.
    """
    flat = [int(c) for c in np.asarray(counts).reshape(-1)]
    shift = [(c - 1).bit_length() for c in flat]
    mult = [-(-(1 << (31 + s)) // c) for c, s in zip(flat, shift, strict=True)]
    return np.array(mult, np.uint32), np.array(shift, np.uint8)
