"""Labels of test samples: classes as integers, targets as floats, and truths of different sizes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mcugen.errors import UsageError
from mcugen.samples.column import Column

MAX_BYTES = 1 << 28
COUNTS = "counts"
"""Key of the number of rows that each sample has in the arrays of a ragged truth."""
_MOST_CLASS = int(np.iinfo(np.int32).max)


@dataclass(frozen=True, eq=False)
class Ragged:
    """Truth whose size differs from sample to sample, such as the boxes of an image, or the letters of an utterance.

    counts: number of rows of each sample, [n]
    parts: by key, the rows of all samples, one sample after the other: [sum of counts, ...]
    where: the file, for errors
    """

    counts: np.ndarray
    parts: Mapping[str, np.ndarray]
    where: str = ""

    def rows(self, key: str) -> list[np.ndarray]:
        """The rows of each sample."""
        return np.split(self.parts[key], np.cumsum(self.counts)[:-1])


Truth = np.ndarray | Ragged | None
"""int64 classes [n] or, for parts of a sample such as pixels, [n, ...]; float32 targets [n, ...]; Ragged; None."""


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels, and notes on how they were read."""

    values: Truth
    notes: tuple[str, ...] = ()


def of(found: np.ndarray | Column | Mapping[str, Column] | None, total: int, n: int) -> Labels:
    """The labels of the first n of `total` samples. Raises UsageError if they do not fit the samples.

    Whole numbers and booleans are classes, of samples or of their parts. Rows with a single 1 (one-hot) are classes,
    too. Other floats are targets. Several columns are a ragged truth.
    """
    if found is None or isinstance(found, np.ndarray):
        return Labels(None if found is None else found[:n])
    if isinstance(found, Mapping):
        return Labels(_ragged(found, total, n))
    _require_count(found, total)
    values = _values(found, n)
    return _interpreted(values.reshape(n) if values.size == n else values, found.where)


def _require_count(found: Column, total: int) -> None:
    if found.count != total:
        message = f"has {found.count} labels for {total} samples"
        raise UsageError(message, where=found.where, hint="give one label for each sample")


def _values(found: Column, n: int) -> np.ndarray:
    """The first n rows of a column, which must be finite."""
    size = 8 * n * math.prod(found.shape)
    if size > MAX_BYTES:
        what = f"labels take {size:,} bytes, more than {MAX_BYTES:,}"
        raise UsageError(what, where=found.where, hint="take fewer: --samples N")
    values = np.concatenate([*found.blocks(n)] if n else [np.zeros(0)]).reshape(n, *found.shape)
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        sample = int(np.nonzero(~np.isfinite(values))[0][0])
        what = f"label of sample {sample} is not a finite number"
        raise UsageError(what, where=found.where, hint="correct the labels")
    return values


def _ragged(found: Mapping[str, Column], total: int, n: int) -> Ragged:
    given = found[COUNTS]
    _require_count(given, total)
    counts = _values(given, total).reshape(total, -1)
    if counts.shape[1] != 1 or counts.dtype.kind not in "iu" or int(counts.min(initial=0)) < 0:
        hint = "give [samples] whole numbers: how many rows of the other arrays each sample has"
        raise UsageError("does not count the rows of each sample", where=given.where, hint=hint)
    counts = counts[:, 0].astype(np.int64)
    rows, first = int(counts.sum()), int(counts[:n].sum())
    parts = {}
    for key, column in found.items():
        if key == COUNTS:
            continue
        if column.count != rows:
            hint = "write the rows of all samples one after the other"
            raise UsageError(f"has {column.count} rows, but the counts add up to {rows}", where=column.where, hint=hint)
        parts[key] = _values(column, first)
    return Ragged(counts[:n], parts, given.where.partition(":")[0])


def _interpreted(values: np.ndarray, where: str) -> Labels:
    if values.ndim == 2 and ((values == 0) | (values == 1)).all() and (values.sum(axis=1) == 1).all():
        return Labels(values.argmax(axis=1).astype(np.int64), (f"{where}: rows with a single 1 are taken as classes",))
    if values.dtype.kind == "f":
        return Labels(values.astype(np.float32))
    least = 0 if values.ndim == 1 else -1
    wrong = values[(values < least) | (values > _MOST_CLASS)]
    if wrong.size:
        hint = f"give classes from 0 to {_MOST_CLASS:,}"
        raise UsageError(f"label {wrong[0]} is no class", where=where, hint=hint)
    return Labels(values.astype(np.int64))
