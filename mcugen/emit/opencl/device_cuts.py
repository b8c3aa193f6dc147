"""Cuts where a model may be divided over two devices: the bytes of the arena that the later steps need."""

from __future__ import annotations

from itertools import pairwise

from mcugen.solve.plan import MemoryPlan
from mcugen.solve.schedule import Schedule

Span = tuple[int, int]
"""First byte, and number of bytes."""


def cuts(schedule: Schedule, plan: MemoryPlan) -> list[list[Span]]:
    """For each number of steps on the first device, the bytes that the second needs to run the others.

    The spans include gaps between the runs of a tensor. A model with states is not divided: the list is empty.
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
    """The union of the spans, in as few spans as possible."""
    bounds = sorted((at, at + size) for at, size in spans)
    found: list[list[int]] = []
    for first, end in bounds:
        if found and first <= found[-1][1]:
            found[-1][1] = max(found[-1][1], end)
        else:
            found.append([first, end])
    assert all(a[1] < b[0] for a, b in pairwise(found))
    return [(first, end - first) for first, end in found]
