# SPDX-License-Identifier: Apache-2.0
"""Products of two computed matrices and softmaxes with masks, as transformers and mixers have them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mcugen.ir.op import Example, Op
from mcugen.ir.types import Shape
from mcugen.ops import batch_matmul, integer_softmax
from mcugen.ops.batch_matmul import BatchMatmul
from mcugen.ops.integer_softmax import IntegerSoftmax

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
# Rows and elements of a softmax.
SCORES: tuple[Shape, ...] = ((3, 49, 49), (4, 64, 64), (1, 100), (1, 1000), (2, 20, 10), (1, 12), (6, 16, 24))


def layers(op: type[Op]) -> Iterator[Example]:
    """The layers of one operator, none for others than these."""
    if op is BatchMatmul:
        for turned in (True, False):
            for dtype, rounding in (("s8", ""), ("s8", "even"), ("f32", ""), ("s16", "")):
                for seed, (batches, rows, depth, cols) in enumerate(PRODUCTS):
                    right = (cols, depth) if turned else (depth, cols)
                    made = BatchMatmul(transpose_b=turned, rounding=rounding)
                    yield batch_matmul.example(made, dtype, (batches, rows, depth), (batches, *right), seed, 3)
    if op is IntegerSoftmax:
        for seed, shape in enumerate(SCORES):
            causal = np.tril(np.ones(shape[-2:], bool), shape[-1] - shape[-2])
            holes = np.random.default_rng(seed).integers(0, 4, shape[-2:]) > 0
            for mask in (None, causal, holes):
                yield integer_softmax.example(seed, shape, 0.05, mask)
