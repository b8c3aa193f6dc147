"""The samples of one input in a source, read in blocks so that no data is in memory twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mcugen.errors import UsageError
from mcugen.ir.types import Shape

BLOCK_BYTES = 1 << 22
"""Bytes of samples that are read at once."""


@dataclass(frozen=True, eq=False)
class Column:
    """Samples that are read later.

    where: file and key, or folder, for errors
    count: number of samples
    shape: shape of one sample as it is stored
    blocks: function n -> the first n samples, in blocks [k, *shape]; it raises UsageError
    channels: the axis of a sample that holds the channels, None if it is unknown
    names: the file of each sample, if each has its own
    rate: samples a second of sounds, as the files have it; 0 if there is none, or files differ
    """

    where: str
    count: int
    shape: Shape
    blocks: Callable[[int], Iterator[np.ndarray]]
    channels: int | None = None
    names: Sequence[str] = ()
    rate: int = 0

    def place(self, sample: int) -> str:
        """The place of a sample, for errors."""
        return self.names[sample] if self.names else self.where


def of_files(
    folder: str, paths: Sequence[Path], read: Callable[[Path], np.ndarray], hint: str, channels: int | None = None
) -> Column:
    """A column with a file for each sample, all of one shape. hint: advice for a file of another shape."""
    shape = read(paths[0]).shape
    names = [named(path) for path in paths]

    def blocks(n: int) -> Iterator[np.ndarray]:
        for path, name in zip(paths[:n], names, strict=False):
            values = read(path)
            if values.shape != shape:
                message = f"has shape {list(values.shape)}, but {names[0]} has {list(shape)}"
                raise UsageError(message, where=name, hint=hint)
            yield values[None]

    return Column(folder, len(paths), shape, blocks, channels, names)


def named(path: Path) -> str:
    """The name of a file for errors: folder/file."""
    return f"{path.parent.name}/{path.name}"
