# SPDX-License-Identifier: Apache-2.0
"""Front ends: filters, mel bands, cosine transforms and the resizing of images."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mcugen.ir.op import Example, Op
from mcugen.ir.types import TensorType
from mcugen.ops.banded import FRACTION, Banded
from mcugen.ops.biquad import Biquad
from mcugen.ops.power import Power

# Shape of the data, axis, results, rows of the matrix, taps of a row, step.
BANDED = (
    *(
        ((1, 257), 1, 40, 40, 12, 0),
        ((1, 40), 1, 10, 10, 40, 0),
        ((1, 129), 1, 20, 20, 9, 0),
        ((1, 13), 1, 13, 13, 13, 0),
    ),
    *(
        ((1, 500), 1, 500, 1, 2, 1),
        ((1, 640), 1, 160, 1, 65, 4),
        ((1, 441), 1, 160, 160, 30, 441),
        ((4, 80), 1, 64, 64, 5, 0),
    ),
    *(((1, 12, 40, 3), 2, 16, 16, 5, 0), ((1, 24, 10, 1), 1, 8, 8, 3, 0), ((1, 12, 16, 3), 3, 1, 1, 3, 0)),
    *(((1, 20, 12, 3), 1, 30, 30, 2, 0), ((1, 49, 10), 1, 49, 49, 5, 0), ((2, 30, 7), 1, 10, 1, 3, 3)),
)
POWERS = ((1, 514), (1, 258), (4, 130), (1, 66), (1, 1026), (2, 34))
FILTERS = (((1, 400), 1), ((1, 160), 2), ((2, 100), 3), ((1, 30), 1), ((3, 64), 2), ((1, 800), 1))


def layers(op: type[Op]) -> Iterator[Example]:
    """The layers of one operator, none for others than these."""
    if op is Banded:
        yield from (banded(dtype, *sizes, seed) for dtype in ("f32", "u8") for seed, sizes in enumerate(BANDED))
    if op is Power:
        types = (TensorType(shape, "f32") for shape in POWERS)
        yield from (Example(op(), (x,), op().infer(x), {}, seed) for seed, x in enumerate(types))
    if op is Biquad:
        yield from (filtered(*sizes, seed) for seed, sizes in enumerate(FILTERS))


def banded(
    dtype: str, shape: tuple[int, ...], axis: int, count: int, rows: int, taps: int, step: int, seed: int
) -> Example:
    """Rows that are spread over the axis, with equal weights."""
    op = Banded(axis, tuple((shape[axis] - taps) * r // max(rows, 1) for r in range(rows)), count, step)
    x, w = TensorType(shape, dtype), TensorType((rows, taps), "f32" if dtype == "f32" else "s32")
    weights = np.full(w.shape, 1 / taps if dtype == "f32" else (1 << FRACTION) // taps, w.np_dtype)
    return Example(op, (x, w), op.infer(x, w), {1: weights}, seed)


def filtered(shape: tuple[int, ...], sections: int, seed: int) -> Example:
    x, w = TensorType(shape, "f32"), TensorType((sections, 5), "f32")
    weights = np.tile(np.float32([0.2, 0.4, 0.2, -0.5, 0.3]), (sections, 1))
    return Example(Biquad(), (x, w), Biquad().infer(x, w), {1: weights}, seed)
