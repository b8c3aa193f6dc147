"""Loss of an integer network, estimated from signal and noise powers on held-out samples."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mcugen.quantize.cross_validation import Bench

CLASSES, ERROR = "classes", "error"
_MOST_CLASSES = 1000
_LEAST = 1e-12


@dataclass(frozen=True, eq=False)
class Loss:
    """A rule that computes losses in %.

    kind: "classes": half of the share of samples whose top class changes; "error": squared error over squared output.
    margins: top class minus second class per held-out sample, fold after fold. size: elements of the output.
    """

    kind: str
    margins: np.ndarray
    size: int

    def of(self, powers: np.ndarray) -> float:
        """Loss in %, from the powers [2 (signal, noise), samples] of all folds.

        The top class changes if the noise exceeds the margin between two classes. The noise is assumed to be normal and
        equally strong on all samples. Few samples then give a better estimate than counting changes would.
        """
        signal, noise = powers.sum(axis=1)
        if self.kind == ERROR:
            return float(100 * noise / max(signal, _LEAST))
        deviation = np.sqrt(2 * noise / (self.size * powers.shape[1]))
        return float(50 * _beyond(self.margins / max(float(deviation), _LEAST)).mean())


def loss_of(bench: Bench, kind: str = "") -> Loss:
    """The rule for a network: "classes" if its only output is a vector smaller than its inputs, otherwise "error"."""
    graph = bench.floats.graph
    outputs = bench.floats.outputs()
    size = graph.type(graph.outputs[0]).size
    given = sum(graph.type(name).size for name in graph.inputs)
    vector = len(outputs) == 1 and graph.type(graph.outputs[0]).shape[-1] == size
    found = kind or (CLASSES if vector and 1 < size <= _MOST_CLASSES and size < given else ERROR)
    if size < 2:
        return Loss(ERROR, np.zeros(0), size)
    real = [bench.judged(fold).outputs()[0] for fold in range(len(bench.folds))]
    ordered = np.sort(np.concatenate([part.reshape(len(part), -1) for part in real]).astype(np.float64), axis=1)
    return Loss(found, ordered[:, -1] - ordered[:, -2], size)


def _beyond(z: np.ndarray) -> np.ndarray:
    """Share of a normal distribution above z standard deviations."""
    return np.array([0.5 * math.erfc(v / math.sqrt(2)) for v in z])
