"""Comparison of a quantized network with its float network on the samples of a test."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mcugen.errors import UsageError
from mcugen.ir.graph import Graph
from mcugen.quantize.cross_validation import outputs_of
from mcugen.quantize.float_values import FloatRun
from mcugen.quantize.noise import decibels, powers

MAX_CLASSES = 1000


@dataclass(frozen=True)
class OverTime:
    """SQNR of sequences, in dB. frames: of each sequence; worst: of the worst sequence; tenths: by tenths of time."""

    frames: int
    worst: float
    tenths: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Score:
    """Results of a test.

    samples: number of samples; sqnr: signal-to-quantization-noise ratio of all outputs, in dB
    before, after: accuracy in %, or mean squared error to the targets, of the float and of the integer network; None
    without labels
    metric: name of this measure; confusion: [label, answer] of the integer network, None without classes
    over_time: if samples are sequences
    """

    samples: int
    sqnr: float
    metric: str = ""
    before: float | None = None
    after: float | None = None
    confusion: np.ndarray | None = None
    over_time: OverTime | None = None


def score(floats: FloatRun, graph: Graph, labels: np.ndarray | None) -> Score:
    """The score of an integer network. labels: classes [n], targets [n, ...], or None."""
    wanted, found = floats.outputs(), outputs_of(floats, graph)
    sqnr = float(decibels(powers(wanted, found).sum(axis=1)))
    if labels is None:
        return Score(floats.count, sqnr)
    (metric, before), (_, after) = worth(wanted[0], labels), worth(found[0], labels)
    scores = found[0].reshape(floats.count, -1)
    has_classes = are_classes(labels, scores.shape[1])
    table = confusion(labels, scores.argmax(axis=1), scores.shape[1]) if has_classes else None
    return Score(floats.count, sqnr, metric, before, after, table)


def worth(output: np.ndarray, labels: np.ndarray) -> tuple[str, float]:
    """Metric and its value: the share of right classes in %, or the mean squared error to the targets."""
    found = output.reshape(len(output), -1)
    if are_classes(labels, found.shape[1]):
        return "accuracy, %", 100 * float((found.argmax(axis=1) == labels).mean())
    return "mean squared error", float(((found.astype(np.float64) - labels.reshape(len(output), -1)) ** 2).mean())


def require_classes(graph: Graph, labels: np.ndarray | None, where: str) -> None:
    """Raise UsageError for labels with classes that the network does not have."""
    count = graph.type(graph.outputs[0]).size
    if labels is None or not are_classes(labels, count):
        return
    wrong = np.flatnonzero(labels >= count)
    if wrong.size:
        what = f"the label of sample {wrong[0]} is {labels[wrong[0]]}, but the model has classes 0 to {count - 1}"
        raise UsageError(what, where=where, hint="give the labels that the model was trained on")


def are_classes(labels: np.ndarray, count: int) -> bool:
    """Whether labels are classes of a network with `count` scores."""
    return labels.ndim == 1 and labels.dtype.kind in "iu" and count > 1


def confusion(labels: np.ndarray, answers: np.ndarray, count: int) -> np.ndarray | None:
    """Counts of each [label, answer] among `count` classes; None if there are too many classes, or an answer is no
    class.
    """
    if count > MAX_CLASSES or int(answers.min(initial=0)) < 0:
        return None
    found = np.zeros((count, count), np.int64)
    np.add.at(found, (labels, answers), 1)
    return found
