"""ctc: the edit distance between label sequences and the best path of a network trained with CTC."""

from __future__ import annotations

from itertools import groupby

from mcugen.errors import UsageError
from mcugen.samples.labels import Ragged, Truth
from mcugen.samples.metrics import WHERE, Interface, Metric, Outputs, Scores

KEY = "y"


def edits(found: list[int], wanted: list[int]) -> int:
    """The least number of insertions, deletions and exchanges that make one sequence the other."""
    row = list(range(len(wanted) + 1))
    for k, one in enumerate(found):
        before, row[0] = row[0], k + 1
        for j, other in enumerate(wanted):
            before, row[j + 1] = row[j + 1], min(before + (one != other), row[j] + 1, row[j + 1] + 1)
    return row[-1]


def _count(network: Interface) -> int:
    """The number of classes, the blank included; 0 if the output is no sequence of scores."""
    axes, several = (2, 1) if not network.frames else (1, 1)
    plain = network.outputs[0].plain
    return plain[-1] if len(plain) == axes and plain[-1] > several else 0


def blank_of(truth: Ragged, count: int) -> int:
    """The class that stands for no label: 0, or the last one if 0 is a label. Raises UsageError if both are."""
    labels = truth.parts[KEY]
    for blank in (0, count - 1):
        if not (labels == blank).any():
            return blank
    hint = "leave 0 or the last class to the blank, which no label has"
    raise UsageError(f"labels have both 0 and {count - 1}, so no class is the blank", where=WHERE, hint=hint)


def fits(truth: Truth, network: Interface) -> bool:
    return isinstance(truth, Ragged) and KEY in truth.parts and _count(network) > 0


def require(truth: Truth, network: Interface) -> None:
    count = _count(network)
    if not isinstance(truth, Ragged) or KEY not in truth.parts or truth.parts[KEY].ndim != 1:
        hint = "give the labels of all samples one after the other as 'y', and 'counts' [n] with the number of each"
        raise UsageError("ctc needs a sequence of labels for each sample", where=WHERE, hint=hint)
    if not count:
        shape = list(network.outputs[0].plain)
        hint = "ctc takes outputs [time, classes]"
        raise UsageError(f"an output of shape {shape} is no sequence of scores", where=WHERE, hint=hint)
    labels = truth.parts[KEY]
    if labels.dtype.kind not in "iu" or not labels.size:
        raise UsageError("the labels are no classes", where=WHERE, hint="give whole numbers, at least one")
    wrong = labels[(labels < 0) | (labels >= count)]
    if wrong.size:
        what = f"a label is {wrong[0]}, but the model's classes are 0 to {count - 1}"
        raise UsageError(what, where=WHERE, hint="number the classes as the model does, from 0")
    blank_of(truth, count)


def score(outputs: Outputs, truth: Truth, network: Interface) -> Scores:
    """All edits over all labels, for the greatest score of each step without repetitions and blanks."""
    assert isinstance(truth, Ragged)
    count = _count(network)
    blank, best = blank_of(truth, count), outputs[0].reshape(len(outputs[0]), -1, count).argmax(axis=2)
    total = 0
    for path, wanted in zip(best.tolist(), truth.rows(KEY), strict=True):
        total += edits([k for k, _ in groupby(path) if k != blank], wanted.tolist())
    return {"ctc": total / len(truth.parts[KEY])}


METRIC = Metric(
    "ctc",
    fits,
    require,
    score,
    {"ctc": "edit distance"},
    frozenset({"ctc"}),
)
