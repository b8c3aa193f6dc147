"""How many samples the guard tries its steps on, and how often: by the work of the network, so that results repeat."""

from __future__ import annotations

from dataclasses import dataclass

from mcugen.ir.graph import Graph

_PER_ELEMENT = 50
"""What requantizing one element costs, in multiply-accumulates."""
_FOUR_FOLDS, _TWO_FOLDS, _MOST = 4e8, 5e9, 1e10
_FEWEST, _FEW = 12, 16


@dataclass(frozen=True)
class Effort:
    """Samples that trials use, and how many times each is repeated with other samples held out."""

    samples: int
    folds: int


def effort_of(graph: Graph, samples: int) -> Effort:
    """The effort that keeps a quantization of a network within a minute or two."""
    one = work(graph)
    used = max(min(samples, _FEWEST), min(samples, int(_MOST / max(one, 1))))
    total = one * used
    four = _FOUR_FOLDS if used >= _FEW else _TWO_FOLDS
    return Effort(used, 4 if total < four else 2 if total < _TWO_FOLDS else 1)


def work(graph: Graph) -> float:
    """Multiply-accumulates of one sample, and the like of them for elements that are only moved or rounded."""
    total = 0.0
    for node in graph.nodes:
        call = graph.call(node, "")
        total += call.op.macs(call) + _PER_ELEMENT * sum(t.size for t in call.outputs)
    return total
