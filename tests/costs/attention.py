# SPDX-License-Identifier: Apache-2.0
"""Products of two computed matrices, as transformers and mixers have them."""

from __future__ import annotations

from collections.abc import Iterator

from mcugen.ir.op import Example, Op
from mcugen.ir.types import Shape
from mcugen.ops import batch_matmul
from mcugen.ops.batch_matmul import BatchMatmul

# Batches, rows, depth, columns.
PRODUCTS: tuple[Shape, ...] = (
    (3, 49, 16, 49),
    (3, 49, 49, 16),
    (2, 64, 32, 64),
    (2, 64, 64, 32),
    (4, 1, 24, 90),
    (1, 20, 200, 12),
    (1, 5, 8, 17),
    (6, 16, 13, 16),
)


def layers(op: type[Op]) -> Iterator[Example]:
    """The layers of one operator, none for others than these."""
    if op is BatchMatmul:
        for turned in (True, False):
            for dtype, rounding in (("s8", ""), ("s8", "even"), ("f32", ""), ("s16", "")):
                for seed, (batches, rows, depth, cols) in enumerate(PRODUCTS):
                    right = (cols, depth) if turned else (depth, cols)
                    made = BatchMatmul(transpose_b=turned, rounding=rounding)
                    yield batch_matmul.example(made, dtype, (batches, rows, depth), (batches, *right), seed, 3)
