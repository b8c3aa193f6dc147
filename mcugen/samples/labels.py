"""Labels of test samples: classes as integers, targets as floats."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mcugen.errors import UsageError
from mcugen.samples.column import Column

MAX_BYTES = 1 << 28
_MOST_CLASS = int(np.iinfo(np.int32).max)


@dataclass(frozen=True, eq=False)
class Labels:
    """int64 classes [n], float32 targets [n, ...], or None."""

    values: np.ndarray | None
    notes: tuple[str, ...] = ()


def of(found: np.ndarray | Column | None, total: int, n: int) -> Labels:
    """The labels of the first n of `total` samples. Raises UsageError if they do not fit the samples.

    Whole numbers and booleans are classes, one for each sample. Rows with a single 1 (one-hot) are classes, too. Other
    floats are targets.
    """
    if found is None or isinstance(found, np.ndarray):
        return Labels(None if found is None else found[:n])
    if found.count != total:
        message = f"has {found.count} labels for {total} samples"
        raise UsageError(message, where=found.where, hint="give one label for each sample")
    size = 8 * n * math.prod(found.shape)
    if size > MAX_BYTES:
        what = f"labels take {size:,} bytes, more than {MAX_BYTES:,}"
        raise UsageError(what, where=found.where, hint="take fewer: --samples N")
    values = np.concatenate([*found.blocks(n)]).reshape(n, *found.shape)
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        sample = int(np.nonzero(~np.isfinite(values))[0][0])
        what = f"label of sample {sample} is not a finite number"
        raise UsageError(what, where=found.where, hint="correct the labels")
    return _interpreted(values.reshape(n) if values.size == n else values, found.where)


def _interpreted(values: np.ndarray, where: str) -> Labels:
    if values.ndim == 2 and ((values == 0) | (values == 1)).all() and (values.sum(axis=1) == 1).all():
        return Labels(values.argmax(axis=1).astype(np.int64), (f"{where}: rows with a single 1 are taken as classes",))
    if values.dtype.kind == "f":
        return Labels(values.astype(np.float32))
    if values.ndim > 1:
        message = f"expected a class for each sample, found whole numbers of shape {list(values.shape)}"
        raise UsageError(message, where=where, hint="give classes as [n], or targets as floats")
    wrong = values[(values < 0) | (values > _MOST_CLASS)]
    if wrong.size:
        hint = f"give classes from 0 to {_MOST_CLASS:,}"
        raise UsageError(f"label {wrong[0]} is no class", where=where, hint=hint)
    return Labels(values.astype(np.int64))
