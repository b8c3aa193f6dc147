"""Data that drives one sum of products up: the greatest value under positive weights, the least under others."""

from __future__ import annotations

import numpy as np

from mcugen.ir.call import Call
from mcugen.ops._window import Window


def extremes(call: Call, rising: np.ndarray) -> np.ndarray:
    """The greatest stored integer of operand 0 where `rising`, else the least."""
    info = np.iinfo(call.input(0).np_dtype)
    return np.where(rising, info.max, info.min).astype(call.input(0).np_dtype)


def image(call: Call, w: np.ndarray, window: Window) -> np.ndarray | None:
    """An image in which windows their own size apart see each weight of w, [rows, columns, channels], in its place."""
    x = call.input(0)
    if x.is_float:
        return None
    pad = window.pad((x.shape[1], x.shape[2]))
    rows, columns = ((np.arange(x.shape[1 + d]) + pad[d]) % window.extent(d) // window.dilation[d] for d in (0, 1))
    rising = np.tile(w[rows][:, columns] > 0, x.shape[3] // w.shape[2])  # groups see the same
    return np.broadcast_to(extremes(call, rising), x.shape)
