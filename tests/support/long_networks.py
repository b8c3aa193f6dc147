# SPDX-License-Identifier: Apache-2.0
"""Networks of any number of small layers, in a chain or in several branches."""

from __future__ import annotations

import numpy as np

from tests.support.tflite_writer import ModelWriter

SHAPE = (1, 8, 8, 4)


def network(layers: int, branches: int = 1) -> bytes:
    """1x1, 3x3 and depthwise convolutions of small images in so many branches that take turns, and sums at the end."""
    m, random = ModelWriter(), np.random.default_rng(1)
    x = m.tensor("x", SHAPE, "s8", scale=0.05)
    ends = [x] * branches
    for k in range(layers - branches + 1):
        y = m.tensor(f"t{k}", SHAPE, "s8", scale=0.05)
        _layer(m, random, k // branches % 3, (ends[k % branches], y), f"{k}")
        ends[k % branches] = y
    while len(ends) > 1:
        y = m.tensor(f"sum{len(ends)}", SHAPE, "s8", scale=0.05)
        m.op("ADD", [ends.pop(), ends.pop()], [y])
        ends.append(y)
    return m.build([x], ends)


def _layer(m: ModelWriter, random: np.random.Generator, kind: int, ends: tuple[int, int], name: str) -> None:
    c, size = SHAPE[3], (1, 3, 3)[kind]
    shape = (1, size, size, c) if kind == 2 else (c, size, size, c)
    scales = {"scale": [0.01] * c, "zero_point": [0] * c, "axis": 3 if kind == 2 else 0}
    w = m.tensor(f"w{name}", shape, "s8", data=random.integers(-127, 128, shape), **scales)
    bias = random.integers(-500, 500, c)
    b = m.tensor(f"b{name}", (c,), "s32", scale=[0.0005] * c, zero_point=[0] * c, data=bias)
    options = {"padding": "SAME", "stride_h": 1, "stride_w": 1}
    if kind == 2:
        m.op("DEPTHWISE_CONV_2D", [ends[0], w, b], [ends[1]], {**options, "depth_multiplier": 1})
    else:
        m.op("CONV_2D", [ends[0], w, b], [ends[1]], options)
