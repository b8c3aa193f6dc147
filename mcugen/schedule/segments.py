"""Splits a network where one tensor carries all, and finds which segments to run row by row for the least RAM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mcugen.graph import Graph
from mcugen.op import Form
from mcugen.plan import lower_bound
from mcugen.schedule import Choice, build
from mcugen.schedule.storage import aliases

FIRST_CUTS = 8
MAX_CUTS = 64
HOPELESS = 1.25
"""A segment this much over the limit will not get better by growing; slightly over, it may: its last tensor goes."""


@dataclass(frozen=True)
class Segment:
    """Steps [start, stop), their peak in bytes, and whether they run row by row; `events` is the cost in calls."""

    start: int
    stop: int
    peak: int
    by_rows: bool
    events: int

    @property
    def steps(self) -> range:
        return range(self.start, self.stop)


def least_ram(graph: Graph, choices: Sequence[Choice], *, keep_input: bool, pushed: str | None) -> list[Segment]:
    """The segmentation with the smallest peak, and among those the one with the fewest events.

    A first search over the cuts with the smallest tensors gives a peak; the second looks at every cut below it.
    """
    running = [c for c in choices if c.kernel.form is not Form.ALIAS]
    search = _Search(graph, choices, running, keep_input, pushed)
    places = _places(graph, running, aliases(choices))
    smallest = sorted(places, key=lambda i: (places[i], i))
    first = _ends(smallest[:FIRST_CUTS], len(running))
    limit = _minimax(first, search.table(first, None))
    cuts = _ends([i for i in smallest if places[i] < limit][:MAX_CUTS], len(running))
    table = search.table(cuts, limit)
    return _fewest_events(cuts, table, _minimax(cuts, table))


def _ends(places: Sequence[int], count: int) -> list[int]:
    return sorted({0, count, *places})


@dataclass
class _Search:
    """Peaks of segments, each found once."""

    graph: Graph
    choices: Sequence[Choice]
    running: Sequence[Choice]
    keep_input: bool
    pushed: str | None
    known: dict[tuple[int, int], list[Segment]] = field(default_factory=dict)

    def table(self, cuts: Sequence[int], limit: int | None) -> dict[tuple[int, int], list[Segment]]:
        """The segments between cuts; a start's longer segments are left out once one of them is over the limit."""
        found: dict[tuple[int, int], list[Segment]] = {}
        for i, a in enumerate(cuts):
            for b in cuts[i + 1 :]:
                found[a, b] = self._segments(a, b)
                if limit is not None and min(s.peak for s in found[a, b]) > HOPELESS * limit:
                    break
        return found

    def _segments(self, a: int, b: int) -> list[Segment]:
        if (a, b) not in self.known:
            steps = range(a, b)
            self.known[a, b] = _evaluate(self.graph, self.choices, self.running, steps, self.keep_input, self.pushed)
        return self.known[a, b]


def _minimax(cuts: Sequence[int], table: dict[tuple[int, int], list[Segment]]) -> int:
    """The smallest peak of any segmentation."""
    best = {cuts[0]: 0}
    for b in cuts[1:]:
        best[b] = min(max(best[a], min(s.peak for s in table[a, b])) for a in cuts if (a, b) in table and a in best)
    return best[cuts[-1]]


def _fewest_events(cuts: Sequence[int], table: dict[tuple[int, int], list[Segment]], limit: int) -> list[Segment]:
    """Segments within the limit, with the fewest events in all."""
    best: dict[int, tuple[int, list[Segment]]] = {cuts[0]: (0, [])}
    for b in cuts[1:]:
        options = [
            (best[a][0] + s.events, [*best[a][1], s])
            for a in cuts
            if (a, b) in table and a in best
            for s in table[a, b]
            if s.peak <= limit
        ]
        if options:
            best[b] = min(options, key=lambda option: option[0])
    return best[cuts[-1]][1]


def _evaluate(
    graph: Graph,
    choices: Sequence[Choice],
    running: Sequence[Choice],
    steps: range,
    keep_input: bool,
    pushed: str | None,
) -> list[Segment]:
    """The segment run whole and run by rows."""
    sub, chosen = _subgraph(graph, choices, [running[i] for i in steps])
    found = []
    at_start = pushed if pushed in sub.inputs else None
    for groups in ([], [range(len(steps))]):
        schedule = build(sub, chosen, groups, keep_input=keep_input, pushed=at_start)
        peak, _ = lower_bound(schedule.buffers())
        found.append(Segment(steps.start, steps.stop, peak, bool(groups), len(schedule.trace)))
    return found


def _subgraph(graph: Graph, choices: Sequence[Choice], wanted: Sequence[Choice]) -> tuple[Graph, list[Choice]]:
    """The part of the graph with the wanted steps and the aliases between and after them."""
    names = {c.node.name for c in wanted}
    made = {name for c in wanted for name in c.node.outputs}
    chosen = []
    for choice in choices:
        is_alias = choice.kernel.form is Form.ALIAS
        if choice.node.name in names or (is_alias and choice.node.inputs[0] in made):
            chosen.append(choice)
            made |= set(choice.node.outputs)
    nodes = tuple(c.node for c in chosen)
    read_outside = {n for node in graph.nodes if node not in nodes for n in node.inputs} | set(graph.outputs)
    inputs = dict.fromkeys(
        n for node in nodes for n in node.inputs if n is not None and n not in made and not graph.tensors[n].is_constant
    )
    outputs = tuple(n for node in nodes for n in node.outputs if n in read_outside)
    return Graph(graph.name, graph.tensors, nodes, tuple(inputs), outputs), chosen


def _places(graph: Graph, running: Sequence[Choice], alias: dict[str, str]) -> dict[int, int]:
    """Where a single tensor is live between two steps: index of the second -> bytes of the tensor."""
    last: dict[str, int] = {}
    for i, choice in enumerate(running):
        for name in choice.node.inputs:
            if name is not None and not graph.tensors[name].is_constant:
                last[alias.get(name, name)] = i
    last.update({alias.get(name, name): len(running) for name in graph.outputs})
    born = dict.fromkeys(graph.inputs, -1) | {n: i for i, c in enumerate(running) for n in c.node.outputs}
    places: dict[int, int] = {}
    for i in range(1, len(running)):
        live = [name for name, start in born.items() if start < i <= last.get(name, -1)]
        if len(live) == 1:
            places[i] = graph.type(live[0]).nbytes
    return places
