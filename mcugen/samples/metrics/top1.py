"""top1: the share of samples whose greatest score is their class."""

from __future__ import annotations

import numpy as np

from mcugen.errors import UsageError
from mcugen.samples.labels import Truth
from mcugen.samples.metrics import WHERE, Interface, Metric, Outputs, Scores

_MOST_CLASSES_OF_ONE = 2
_HALF = 0.5


def _is_class(truth: Truth) -> bool:
    """Whether each sample has one class."""
    return isinstance(truth, np.ndarray) and truth.ndim == 1 and truth.dtype.kind in "iu"


def fits(truth: Truth, network: Interface) -> bool:
    """Class labels, and a first output that has a score per class, one score, or the class."""
    if network.frames or not isinstance(truth, np.ndarray) or not _is_class(truth):
        return False
    first = network.outputs[0]
    return first.size > 1 or first.numbers_classes or int(truth.max(initial=0)) < _MOST_CLASSES_OF_ONE


def require(truth: Truth, network: Interface) -> None:
    if network.frames or not isinstance(truth, np.ndarray) or not _is_class(truth):
        hint = "use mse, or give a class per sample as label"
        raise UsageError("top1 needs a class per sample", where=WHERE, hint=hint)
    count = network.outputs[0].size
    wrong = np.flatnonzero(truth >= count)
    if count > 1 and wrong.size:
        what = f"the label of sample {wrong[0]} is {truth[wrong[0]]}, but the model has classes 0 to {count - 1}"
        raise UsageError(what, where=WHERE, hint="give the labels that the model was trained on, counted from 0")


def answers(outputs: Outputs) -> np.ndarray:
    """The class of each sample: that of the greatest score; for a single score, whether it is at least 0.5; for an
    integer output, its value.
    """
    first = outputs[0].reshape(len(outputs[0]), -1)
    if first.shape[1] > 1:
        return np.asarray(first.argmax(axis=1))
    return first[:, 0].astype(np.int64) if first.dtype.kind in "iub" else (first[:, 0] >= _HALF).astype(np.int64)


def score(outputs: Outputs, truth: Truth, network: Interface) -> Scores:
    return {"top1": float((answers(outputs) == truth).mean())}


METRIC = Metric(
    "top1",
    fits,
    require,
    score,
    {"top1": "accuracy"},
    frozenset({"top1"}),
    answers,
)
