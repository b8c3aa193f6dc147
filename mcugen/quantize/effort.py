"""Effort of the guard: samples and repetitions of its trials, by the work of the network, so that results repeat."""

from __future__ import annotations

from dataclasses import dataclass

from mcugen.ir.graph import Graph

_PER_ELEMENT = 50
"""Cost of requantizing one element, in multiply-accumulates."""
_FOUR_FOLDS, _TWO_FOLDS, _MOST = 4e8, 5e9, 1e10
_FEWEST, _FEW = 12, 16


@dataclass(frozen=True)
class Effort:
    """Number of samples that trials use, and of repetitions with other samples held out."""

    samples: int
    folds: int


def effort_of(graph: Graph, samples: int) -> Effort:
    """Effort that limits a quantization of a network to a minute or two."""
    one = work(graph)
    used = max(min(samples, _FEWEST), min(samples, int(_MOST / max(one, 1))))
    total = one * used
    four = _FOUR_FOLDS if used >= _FEW else _TWO_FOLDS
    return Effort(used, 4 if total < four else 2 if total < _TWO_FOLDS else 1)


def work(graph: Graph) -> float:
    """Multiply-accumulates of one sample, with equivalents for elements that are only moved or rounded."""
    total = 0.0
    for node in graph.nodes:
        call = graph.call(node, "")
        total += call.op.macs(call) + _PER_ELEMENT * sum(t.size for t in call.outputs)
    return total
