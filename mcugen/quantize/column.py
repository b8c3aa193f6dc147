"""The samples of one input as a source holds them, read in blocks so that nothing is in memory twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from mcugen.types import Shape

BLOCK_BYTES = 1 << 22
"""Bytes of samples that are read at once."""


@dataclass(frozen=True, eq=False)
class Column:
    """Samples that are yet to be read.

    where: file and key, for errors
    count: samples there are
    shape: of one sample, as it is stored
    dtype: of the stored numbers
    blocks: the first n samples, as arrays [k, *shape] whose k add up to n; raises UsageError
    channels: the axis of a sample that holds the channels, where the source knows it
    """

    where: str
    count: int
    shape: Shape
    dtype: np.dtype
    blocks: Callable[[int], Iterator[np.ndarray]]
    channels: int | None = None

    def all(self) -> np.ndarray:
        """All samples as one array."""
        blocks = list(self.blocks(self.count))
        return np.concatenate(blocks) if blocks else np.empty((0, *self.shape), self.dtype)
