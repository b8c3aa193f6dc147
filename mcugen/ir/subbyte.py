"""Storage of elements smaller than a byte: several per byte, the first in the lowest bits.

Arrays in Python are unpacked: they have one byte per element. Source: TensorFlow Lite,
kernels/internal/portable_tensor_utils.cc, UnpackDenseInt4IntoInt8.
"""

from __future__ import annotations

import numpy as np


def packed(values: np.ndarray, bits: int) -> np.ndarray:
    """Integers packed in row-major order without gaps, as uint8. The last byte is filled up with zeros."""
    each = 8 // bits
    flat = values.reshape(-1).astype(np.uint8) & ((1 << bits) - 1)
    groups = np.pad(flat, (0, -flat.size % each)).reshape(-1, each)
    stored: np.ndarray = np.bitwise_or.reduce(groups << (bits * np.arange(each, dtype=np.uint8)), axis=1)
    return stored.astype(np.uint8)


def unpacked(data: np.ndarray, bits: int, size: int, *, signed: bool) -> np.ndarray:
    """The first `size` integers of packed bytes, as int8 if signed, else as uint8."""
    each = 8 // bits
    parts = data.view(np.uint8).reshape(-1, 1) >> (bits * np.arange(each, dtype=np.uint8)) & ((1 << bits) - 1)
    flat = parts.reshape(-1)[:size]
    if not signed:
        return flat
    sign = 1 << (bits - 1)
    return ((flat.astype(np.int16) ^ sign) - sign).astype(np.int8)
