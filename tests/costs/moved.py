# SPDX-License-Identifier: Apache-2.0
"""Tensors that are cut along their channels, and rows of tables that are looked up, as of embeddings of words."""

from __future__ import annotations

from collections.abc import Iterator

from mcugen.ir.op import Example, Op
from mcugen.ir.types import QuantParams, Shape, TensorType
from mcugen.ops import gather
from mcugen.ops._join import MAX_PARTS
from mcugen.ops.gather import Gather
from mcugen.ops.split import Split

KINDS = (("s8", QuantParams((0.5,), (-3,))), ("f32", None))
# A table, how many of its rows are taken.
TABLES: tuple[tuple[Shape, Shape], ...] = (
    ((500, 16), (256,)),
    ((200, 32), (20,)),
    ((1000, 8), (1, 80)),
    ((60, 13), (40,)),
    ((28, 28, 3), (14,)),
    ((50, 100), (50,)),
    ((8, 3), (4,)),
)
# Rows and columns, channels of a part.
CUT: tuple[tuple[Shape, int], ...] = (
    ((24, 24), 8),
    ((14, 14), 29),
    ((8, 8), 24),
    ((49, 1), 20),
    ((1, 1), 64),
    ((3, 2), 3),
)


def layers(op: type[Op]) -> Iterator[Example]:
    """The layers of one operator, none for others than these."""
    for kind in KINDS:
        if op is Gather:
            yield from (
                gather.example(0, Gather(0), table, index, ids, kind)
                for table, index in TABLES
                for ids in ("s32", "s64")
            )
        if op is Split:
            yield from (cut(parts, size, channels, kind) for parts in range(2, MAX_PARTS + 1) for size, channels in CUT)


def cut(parts: int, size: Shape, channels: int, kind: tuple[str, QuantParams | None]) -> Example:
    op, x = Split(3, (channels,) * parts), TensorType((1, *size, channels * parts), *kind)
    return Example(op, (x,), tuple(TensorType(y.shape, *kind) for y in op.infer(x)), {}, parts)
