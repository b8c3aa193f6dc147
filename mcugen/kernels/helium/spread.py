"""Packing of depthwise weights into the lanes of interleaved rows. A weight beyond int8 is split over two lanes that
read the same tap.
"""

from __future__ import annotations

import numpy as np

from mcugen.ir.call import Call
from mcugen.kernels.helium import packing
from mcugen.ops import _filter
from mcugen.ops._weighted import matrix, window_of

WEAVE = 4
"""Rows per word."""

WORDS = 4
"""Words per vector."""


def words_of(w: np.ndarray, h: int, width: int) -> np.ndarray:
    """Weights [channels, words * WEAVE] in the order of the interleaved rows."""
    rows = np.pad(w.reshape(-1, h, width), ((0, 0), (0, -h % WEAVE), (0, 0)))
    return rows.reshape(w.shape[0], -1, WEAVE, width).transpose(0, 1, 3, 2).reshape(w.shape[0], -1)


def spread(call: Call, *, columns: bool = True) -> tuple[np.ndarray, int] | None:
    """(int8 weights [channels, words * WEAVE], the column that unused words read), or None if weights do not fit.

    Unused rows of a word read the window's last row again, and unused words read one of its columns again. Two lanes
    then read the same tap and share a weight beyond int8. columns: whether unused words may be used this way.
    """
    w, (h, width) = matrix(call), window_of(call).kernel
    words = packing.padded(words_of(w, h, width))
    if words.shape[1] > packing.LANES:
        return None
    for column in range(width if columns else 1):
        found = words.reshape(w.shape[0], WORDS, WEAVE).copy()
        used = -(-h // WEAVE) * width
        if used < WORDS and columns:
            found[:, used] = found[:, column] - np.clip(found[:, column], -128, 127)
            found[:, column] -= found[:, used]
        if h % WEAVE:
            last = slice(used - width, used)
            rest = found[:, last, h % WEAVE - 1] - np.clip(found[:, last, h % WEAVE - 1], -128, 127)
            found[:, last, WEAVE - 1] += rest
            found[:, last, h % WEAVE - 1] -= rest
        if found.min(initial=0) >= -128 and found.max(initial=0) <= 127:
            return found.reshape(w.shape[0], -1), column
    return None


def spreads(call: Call) -> bool:
    "weights are int8, or larger ones can be split over taps that are read twice"
    return _filter.constant_weights(call) and spread(call) is not None


def spreads_rows(call: Call) -> bool:
    "weights are int8, or larger ones can be split over taps of rows that are read twice"
    return _filter.constant_weights(call) and spread(call, columns=False) is not None


def free_column(call: Call) -> int:
    """The column that unused words read a second time."""
    found = spread(call)
    return found[1] if found else 0
