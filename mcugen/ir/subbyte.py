"""Storage of elements smaller than a byte: several to a byte, the first in the lowest bits.

In Python they are unpacked: arrays with one byte per element.
Source: TensorFlow Lite, kernels/internal/portable_tensor_utils.cc, UnpackDenseInt4IntoInt8.
"""

from __future__ import annotations

import numpy as np


def packed(values: np.ndarray, bits: int) -> np.ndarray:
    """Integers as stored, row by row without gaps; uint8. The last byte is filled with zeros."""
    each = 8 // bits
    flat = values.reshape(-1).astype(np.uint8) & ((1 << bits) - 1)
    groups = np.pad(flat, (0, -flat.size % each)).reshape(-1, each)
    stored: np.ndarray = np.bitwise_or.reduce(groups << (bits * np.arange(each, dtype=np.uint8)), axis=1)
    return stored.astype(np.uint8)


def unpacked(data: np.ndarray, bits: int, size: int, *, signed: bool) -> np.ndarray:
    """The first `size` integers of stored bytes; int8 where they are signed, else uint8."""
    each = 8 // bits
    parts = data.view(np.uint8).reshape(-1, 1) >> (bits * np.arange(each, dtype=np.uint8)) & ((1 << bits) - 1)
    flat = parts.reshape(-1)[:size]
    if not signed:
        return flat
    sign = 1 << (bits - 1)
    return ((flat.astype(np.int16) ^ sign) - sign).astype(np.int8)
