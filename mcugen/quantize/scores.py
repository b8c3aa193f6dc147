"""Comparison of a quantized network with its float network on the samples of a test."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mcugen.ir.graph import Graph
from mcugen.quantize.cross_validation import outputs_of
from mcugen.quantize.float_values import FloatRun
from mcugen.quantize.noise import decibels, powers
from mcugen.samples import metrics
from mcugen.samples.labels import Truth
from mcugen.samples.metrics import Interface, Metric, Outputs, Value

MAX_CLASSES = 1000


@dataclass(frozen=True)
class OverTime:
    """SQNR of sequences, in dB. frames: of each sequence; worst: of the worst sequence; tenths: by tenths of time."""

    frames: int
    worst: float
    tenths: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Compared:
    """A score of the float and of the integer network. title: what it is, in words; shares are in %."""

    name: str
    title: str
    before: Value
    after: Value


@dataclass(frozen=True, eq=False)
class Score:
    """Results of a test.

    samples: number of samples; sqnr: signal-to-quantization-noise ratio of all outputs, in dB
    compared: scores by the labels, the first one the most important; empty without labels
    confusion: [label, answer] of the integer network, None without classes
    over_time: if samples are sequences
    """

    samples: int
    sqnr: float
    compared: tuple[Compared, ...] = ()
    confusion: np.ndarray | None = None
    over_time: OverTime | None = None

    @property
    def metric(self) -> str:
        """The first score in words, "" without labels."""
        return self.compared[0].title if self.compared else ""

    @property
    def before(self) -> Value | None:
        """The first score of the float network; in % if it is a share."""
        return self.compared[0].before if self.compared else None

    @property
    def after(self) -> Value | None:
        """The first score of the integer network; in % if it is a share."""
        return self.compared[0].after if self.compared else None


@dataclass(frozen=True, eq=False)
class LabelledTest:
    """Labels of samples, and the metric that compares outputs with them."""

    metric: Metric
    truth: Truth
    network: Interface

    def compared(self, wanted: Outputs, found: Outputs) -> tuple[Compared, ...]:
        """The scores of a float network's outputs and of an integer network's."""
        before, after = (self.metric.score(outputs, self.truth, self.network) for outputs in (wanted, found))
        return tuple(
            Compared(name, self._in_words(name), self._scaled(name, before[name]), self._scaled(name, after[name]))
            for name in before
        )

    def worth(self, outputs: Outputs) -> tuple[str, float]:
        """The first score with its title."""
        found = self.compared(outputs, outputs)[0]
        return found.title, found.before if isinstance(found.before, float) else found.before[0]

    def confusion(self, outputs: Outputs) -> np.ndarray | None:
        """Counts of each [label, answer]; None if labels are not classes of samples."""
        if self.metric.answers is None or not isinstance(self.truth, np.ndarray):
            return None
        return confusion(self.truth, self.metric.answers(outputs), self.network.outputs[0].size)

    def _in_words(self, name: str) -> str:
        return self.metric.titles.get(name, name) + (", %" if name in self.metric.shares else "")

    def _scaled(self, name: str, value: Value) -> Value:
        factor = 100 if name in self.metric.shares else 1
        return tuple(factor * v for v in value) if isinstance(value, tuple) else factor * value


def labelled_test(
    graph: Graph, truth: Truth, metric: str, task: str, network: Interface | None = None
) -> LabelledTest | None:
    """The test by the labels of samples; None without labels. Raises UsageError if the metric does not fit them."""
    if truth is None:
        return None
    known = metrics.interface_of(graph) if network is None else network
    return LabelledTest(metrics.chosen(metric, truth, known, task), truth, known)


def score(floats: FloatRun, graph: Graph, test: LabelledTest | None) -> Score:
    """The score of an integer network."""
    wanted, found = floats.outputs(), outputs_of(floats, graph)
    sqnr = float(decibels(powers(wanted, found).sum(axis=1)))
    if test is None:
        return Score(floats.count, sqnr)
    return Score(floats.count, sqnr, test.compared(wanted, found), test.confusion(found))


def confusion(labels: np.ndarray, answers: np.ndarray, count: int) -> np.ndarray | None:
    """Counts of each [label, answer] among `count` classes; None if there are too many classes, or an answer is no
    class.
    """
    most = max(count, int(labels.max(initial=0)) + 1, int(answers.max(initial=0)) + 1)
    if most > MAX_CLASSES or int(answers.min(initial=0)) < 0:
        return None
    found = np.zeros((most, most), np.int64)
    np.add.at(found, (labels, answers), 1)
    return found
