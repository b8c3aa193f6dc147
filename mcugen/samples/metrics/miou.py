"""miou: intersection over union of each class of pixels, averaged over the classes that occur."""

from __future__ import annotations

import numpy as np

from mcugen.errors import UsageError
from mcugen.ir.types import Shape
from mcugen.samples.labels import Truth
from mcugen.samples.metrics import WHERE, Interface, Metric, Outputs, Scores

IGNORED = (-1, 255)
"""Labels of pixels that do not count, unless they are classes."""


def _axis(truth: Truth, shape: Shape) -> int | None:
    """The axis of the scores of classes in an output [n, *shape]; -1 if it numbers classes; None if labels do not fit.

    Labels have the other axes. If both ends would do, it is the last.
    """
    if not isinstance(truth, np.ndarray) or truth.dtype.kind not in "iu" or truth.ndim < 3:
        return None
    pixels = truth.shape[1:]
    if shape[:-1] == pixels:
        return truth.ndim
    return 1 if shape[1:] == pixels else -1 if shape == pixels else None


def fits(truth: Truth, network: Interface) -> bool:
    return not network.frames and _axis(truth, network.outputs[0].plain) is not None


def require(truth: Truth, network: Interface) -> None:
    first = network.outputs[0]
    axis = None if network.frames else _axis(truth, first.plain)
    if axis is None or not isinstance(truth, np.ndarray):
        hint = "give the class of each pixel as whole numbers [n, height, width]"
        raise UsageError(f"the labels do not fit an output of shape {list(first.plain)}", where=WHERE, hint=hint)
    if axis < 0 and not first.numbers_classes:
        hint = "miou takes an output with a score per class, or one of integers that number classes"
        raise UsageError(f"output {first.name!r} has no classes", where=WHERE, hint=hint)
    if axis < 0:
        return
    count = first.plain[axis - 1]
    wrong = np.argwhere((truth >= count) & ~np.isin(truth, IGNORED))
    if wrong.size:
        sample, *place = (int(k) for k in wrong[0])
        what = f"pixel {place} of sample {sample} has the class {truth[tuple(wrong[0])]}"
        hint = "number the classes as the model does; pixels that do not count are -1 or 255"
        raise UsageError(f"{what}, but the model has classes 0 to {count - 1}", where=WHERE, hint=hint)


def score(outputs: Outputs, truth: Truth, network: Interface) -> Scores:
    """Sums over all samples for each class, then the mean over classes that labels or answers have."""
    assert isinstance(truth, np.ndarray)
    shape = network.outputs[0].plain
    axis, found = _axis(truth, shape), outputs[0].reshape(len(truth), *shape)
    assert axis is not None
    answers = found if axis < 0 else found.argmax(axis=axis)
    count = max(int(answers.max(initial=0)), int(truth.max(initial=0))) + 1 if axis < 0 else shape[axis - 1]
    counts = truth >= 0 if axis < 0 else (truth >= 0) & (truth < count)
    pairs = np.bincount(truth[counts] * count + answers[counts].astype(np.int64), minlength=count**2)
    table = pairs.reshape(count, count)
    both, either = np.diag(table), table.sum(axis=0) + table.sum(axis=1) - np.diag(table)
    if not either.any():
        raise UsageError("no pixel counts", where=WHERE, hint="give classes other than -1 and 255")
    return {"miou": float((both[either > 0] / either[either > 0]).mean())}


METRIC = Metric(
    "miou",
    fits,
    require,
    score,
    {"miou": "mean intersection over union"},
    frozenset({"miou"}),
)
