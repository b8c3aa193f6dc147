# SPDX-License-Identifier: Apache-2.0
"""Convolutions, dense ones among them, of float data with int8 weights, of the shapes of published networks."""

from __future__ import annotations

from collections.abc import Iterator

from mcugen.ir.op import Example, Op
from mcugen.ops import hybrid_conv2d, hybrid_depthwise_conv2d
from mcugen.ops.hybrid_conv2d import HybridConv2D
from mcugen.ops.hybrid_depthwise_conv2d import HybridDepthwiseConv2D

Size = tuple[int, int, int]
Pair = tuple[int, int]

# Images with their rows and columns, channels, kernel, stride, outputs, padding.
CONVOLUTIONS: tuple[tuple[Size, int, Pair, Pair, int, str], ...] = (
    ((1, 25, 5), 64, (1, 1), (1, 1), 64, "SAME"),
    ((1, 49, 10), 1, (10, 4), (2, 2), 64, "SAME"),
    ((1, 32, 32), 3, (3, 3), (1, 1), 16, "SAME"),
    ((1, 8, 8), 64, (3, 3), (2, 2), 64, "SAME"),
    ((1, 28, 28), 1, (3, 3), (1, 1), 8, "VALID"),
    ((1, 13, 13), 12, (3, 3), (1, 1), 16, "VALID"),
    ((1, 12, 12), 30, (1, 1), (1, 1), 24, "SAME"),
    ((1, 20, 1), 40, (3, 1), (1, 1), 32, "SAME"),
    ((1, 1, 1), 257, (1, 1), (1, 1), 128, "VALID"),
    ((1, 1, 1), 128, (1, 1), (1, 1), 257, "VALID"),
    ((1, 1, 1), 490, (1, 1), (1, 1), 12, "VALID"),
    ((1, 1, 1), 64, (1, 1), (1, 1), 10, "VALID"),
    ((1, 1, 1), 30, (1, 1), (1, 1), 7, "VALID"),
    ((16, 1, 1), 40, (1, 1), (1, 1), 32, "VALID"),
)
# Rows and columns, channels, kernel, stride.
DEPTHWISE: tuple[tuple[Pair, int, Pair, Pair], ...] = (
    ((25, 5), 64, (3, 3), (1, 1)),
    ((24, 24), 16, (3, 3), (1, 1)),
    ((48, 48), 8, (3, 3), (2, 2)),
    ((14, 14), 24, (5, 5), (1, 1)),
    ((6, 6), 128, (3, 3), (2, 2)),
    ((3, 3), 256, (3, 3), (1, 1)),
    ((30, 1), 40, (9, 1), (1, 1)),
    ((14, 13), 19, (3, 3), (1, 1)),
    ((5, 7), 3, (3, 3), (1, 1)),
)


def layers(op: type[Op]) -> Iterator[Example]:
    """The layers of one operator, none for others than these. Convolutions scale sums twice, dense layers once."""
    if op is HybridConv2D:
        for seed, (size, c, kernel, stride, o, padding) in enumerate(CONVOLUTIONS):
            fields = {"stride": stride, "padding": padding, "twice": size[1:] != (1, 1)}
            yield hybrid_conv2d.example(seed, size, c, o, kernel, **fields)
    if op is HybridDepthwiseConv2D:
        for seed, (size, c, kernel, stride) in enumerate(DEPTHWISE):
            yield hybrid_depthwise_conv2d.example(seed, (1, *size), c, kernel, stride=stride)
