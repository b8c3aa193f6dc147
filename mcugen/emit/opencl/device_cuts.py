"""Cuts that divide a model over two devices, each as the bytes of the arena that the later steps need."""

from __future__ import annotations

from itertools import pairwise

from mcugen.solve.plan import MemoryPlan
from mcugen.solve.schedule import Schedule

Span = tuple[int, int]
"""(first byte, number of bytes) in the arena."""


def cuts(schedule: Schedule, plan: MemoryPlan) -> list[list[Span]]:
    """For each number of steps on the first device: the bytes that the second device needs to run the other steps.

    Spans of a tensor with padded rows include the gaps. A model with states is not divided: the list is empty.
    """
    graph, steps = schedule.graph, schedule.steps
    if graph.states:
        return []

    def span(tensor: str) -> Span:
        at, t = schedule.places[tensor], graph.type(tensor)
        rows = t.size // t.shape[-1] if at.pitch and t.shape else 1
        extent = (rows - 1) * at.pitch + t.nbytes // rows if at.pitch else t.nbytes
        return plan.offset[at.buffer] + at.start, extent

    later, made = set(graph.outputs), set[str]()
    found: list[list[Span]] = []
    for step in reversed(steps):
        node = step.choice.node
        later |= {name for name in node.inputs if name and graph.tensors[name].data is None}
        made |= set(node.outputs)
        found.append(_merged([span(name) for name in later - made]))
    return list(reversed(found))


def _merged(spans: list[Span]) -> list[Span]:
    """The union of the spans, as few spans as possible, sorted."""
    bounds = sorted((at, at + size) for at, size in spans)
    found: list[list[int]] = []
    for first, end in bounds:
        if found and first <= found[-1][1]:
            found[-1][1] = max(found[-1][1], end)
        else:
            found.append([first, end])
    assert all(a[1] < b[0] for a, b in pairwise(found))
    return [(first, end - first) for first, end in found]
