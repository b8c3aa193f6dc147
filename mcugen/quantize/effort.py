"""Size of the guard's trials. It depends on the network's work, not on the machine's speed, so that results repeat."""

from __future__ import annotations

from dataclasses import dataclass

from mcugen.ir.graph import Graph

_PER_ELEMENT = 50
"""Cost of requantizing one element, in multiply-accumulates."""
_FOUR_FOLDS, _TWO_FOLDS, _MOST = 4e8, 5e9, 1e10
_FEWEST, _FEW = 12, 16


@dataclass(frozen=True)
class Effort:
    """Number of samples that trials use, and number of folds. Each fold holds out other samples."""

    samples: int
    folds: int


def effort_of(graph: Graph, samples: int) -> Effort:
    """Effort with which the quantization of a network takes a minute or two."""
    one = work(graph)
    used = max(min(samples, _FEWEST), min(samples, int(_MOST / max(one, 1))))
    total = one * used
    four = _FOUR_FOLDS if used >= _FEW else _TWO_FOLDS
    return Effort(used, 4 if total < four else 2 if total < _TWO_FOLDS else 1)


def work(graph: Graph) -> float:
    """Multiply-accumulates of one sample, plus 50 for each element of a result."""
    total = 0.0
    for node in graph.nodes:
        call = graph.call(node, "")
        total += call.op.macs(call) + _PER_ELEMENT * sum(t.size for t in call.outputs)
    return total
