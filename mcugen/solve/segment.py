"""Time against memory of a segment of a network, from one cut to another, from the fastest on.

Stretches lie between cuts, where one tensor is live, so the memory of a segment is the most that any of its stretches
needs, and its cost their sum. For each limit the cheapest row of stretches is found by dynamic programming. What is not
known of a stretch is bounded: its cost by its cheapest kernels, its memory by its ends and by what shorter stretches
inside it need. Only those that an answer rests on are looked into.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from mcugen.solve.candidates import Candidate
from mcugen.solve.schedule.cuts import Cut
from mcugen.solve.stretch import Found, Network, Stretch
from mcugen.solve.walks import Bounds, Walk

TIE = 0.5
"""Cost of a stretch: of equals, the fewest are taken, since plans of them have fewer holes."""


@dataclass(frozen=True, eq=False)
class Row:
    """A row of stretches: its cost, the most bytes in use at once, the kernel of each node by its name, and the steps
    that run row by row together.
    """

    cost: float
    peak: int
    chosen: Mapping[str, Candidate]
    groups: tuple[range, ...]


_Key = tuple[int, int, Walk]
"""The cuts that a stretch lies between, and how it walks."""
_Answer = tuple[_Key, Stretch, Found]


@dataclass(eq=False)
class _Edge:
    """What is known of a stretch. cost: a bound from below until there is an answer, then that of the last one.

    least: no choice of kernels needs less memory. found: the last answer, with what is held from before the stretch.
    """

    cost: float
    least: float
    model: Stretch | None = None
    found: Found | None = None

    def fits(self, limit: float) -> bool:
        return self.found is not None and self.found[1] <= limit


class Segment:
    """The rows of stretches between the first and the last of some cuts, from the fastest to the smallest.

    Rows are also those of other segments that are alike, which begin at other steps.
    most: how many stretches are looked into; there are no rows that need more.
    """

    def __init__(
        self, net: Network, cuts: Sequence[Cut], bounds: Bounds, *, no_rows: bool, most: float = np.inf
    ) -> None:
        self._net, self._cuts, self._left = net, cuts, most
        self._places = [cut.index - cuts[0].index for cut in cuts]  # steps from the first cut on
        self._edges: dict[_Key, _Edge] = {}
        self._into: list[list[tuple[_Key, _Edge]]] = [[] for _ in self._cuts]
        for key, edge in self._first_edges(bounds, no_rows):
            self._edges[key] = edge
            self._into[key[1]].append((key, edge))

    def within(self, start: int, limit: float, cost: float = np.inf) -> Row | None:
        """The fastest row from a step on within a limit of memory, if it costs less than `cost`. Limits of later calls
        are no higher.
        """
        path = self._cheapest(limit, cost)
        if path is None or limit < 0:
            return None
        edges = [(key, self._edges[key]) for key in path]
        return self._row(start, [(key, e.model, e.found) for key, e in edges if e.model and e.found])

    def least_bytes(self, enough: float) -> float:
        """What the row of stretches with the least memory needs at least, as far as that is over `enough`.

        No kernels are searched for: of each stretch the bytes count that no choice of kernels can go below.
        """
        while True:
            path, least = self._leanest(enough)
            unknown = [key for key in path if self._edges[key].model is None]
            if not unknown:
                return least
            for key in unknown:
                self._model(key)

    def _leanest(self, enough: float) -> tuple[list[_Key], float]:
        """The path from the first cut to the last that needs least memory by what is known, and of equals the one with
        the fewest stretches that are not; and what it needs.
        """
        best = [(enough, 0)] + [(np.inf, 0)] * (len(self._cuts) - 1)
        via: dict[int, _Key] = {}
        for key, edge in self._edges.items():  # those into a cut come after all into cuts before it
            before, unknown = best[key[0]]
            reached = max(before, edge.least), unknown + (edge.model is None)
            if reached < best[key[1]]:
                best[key[1]], via[key[1]] = reached, key
        path: list[_Key] = []
        at = len(best) - 1
        while at in via:
            path.append(via[at])
            at = via[at][0]
        return path, best[-1][0]

    def _first_edges(self, bounds: Bounds, no_rows: bool) -> Iterator[tuple[_Key, _Edge]]:
        whole = bounds.whole
        for j, b in enumerate(self._cuts):
            for i, a in enumerate(self._cuts[:j]):
                ends = max(a.nbytes, b.nbytes) + a.held_bytes
                if j == i + 1:
                    yield (i, j, Walk.WHOLE), _Edge(float(whole[b.index] - whole[a.index]), ends)
                for walk, cost in () if no_rows else bounds.walks(a.index, b.index):
                    yield (i, j, walk), _Edge(cost, ends)

    def _cheapest(self, limit: float, most: float) -> list[_Key] | None:
        """The cheapest row of stretches within the limit; None where its cost is `most` or more."""
        while True:
            path = self._shortest(limit, most)
            unknown = [key for key in path or () if not self._edges[key].fits(limit)]
            if not unknown:
                return path
            if self._left <= 0:
                return None
            for key in unknown:
                self._look_into(key, limit)

    def _shortest(self, limit: float, most: float) -> list[_Key] | None:
        """The path from the first cut to the last with the least bounds of cost, if that is below `most`."""
        best = [0.0] + [np.inf] * (len(self._cuts) - 1)
        via: list[_Key | None] = [None] * len(self._cuts)
        for j in range(1, len(self._cuts)):
            for key, edge in self._into[j]:
                total = best[key[0]] + edge.cost + TIE
                if edge.least <= limit and total < best[j]:
                    best[j], via[j] = total, key
        path: list[_Key] = []
        while (last := via[path[-1][0] if path else len(via) - 1]) is not None:
            path.append(last)
        return path[::-1] if best[-1] < most else None

    def along(self, start: int, groups: Sequence[range], limit: float) -> Row:
        """These rows from a step on, with the cheapest kernels of each stretch within the limit, else the leanest."""
        answers: list[_Answer] = []
        for key in self._path_of(start, groups):
            model, held = self._model(key), self._cuts[key[0]].held_bytes
            cost, peak, picks = model.within(limit - held) or model.leanest()
            answers.append((key, model, (cost, peak + held, picks)))
        return self._row(start, answers)

    def _path_of(self, start: int, groups: Sequence[range]) -> Iterator[_Key]:
        """The stretches of a row: those by rows, and those that run whole between the cuts outside of them."""
        at = {start + place: k for k, place in enumerate(self._places)}
        grouped = {k for group in groups for k in range(at[group.start], at[group.stop])}
        ends = [(at[group.start], at[group.stop], Walk.ROWS) for group in groups]
        yield from sorted(ends + [(k, k + 1, Walk.WHOLE) for k in range(len(self._cuts) - 1) if k not in grouped])

    def _model(self, key: _Key) -> Stretch:
        i, j, walk = key
        edge, last = self._edges[key], len(self._net.running)
        if edge.model is None:
            self._left -= 1
            a, b = self._cuts[i], self._cuts[j]
            steps = range(a.index, b.index)
            edge.model = self._net.stretch(steps, walk, is_first=a.index == 0, is_last=b.index == last)
            edge.least = max(edge.least, edge.model.least_bytes() + a.held_bytes)
            edge.cost = max(edge.cost, edge.model.least_cost)
            if walk is Walk.ROWS:
                self._bound_around(i, j, edge.model.inner)
        return edge.model

    def _look_into(self, key: _Key, limit: float) -> None:
        edge, held = self._edges[key], self._cuts[key[0]].held_bytes
        model = self._model(key)
        if edge.least > limit:
            return
        found = model.within(limit - held)
        if found is None:
            edge.least = max(edge.least, limit + 1)  # for this limit and all below
            return
        edge.found = (found[0], found[1] + held, found[2])
        edge.cost = found[0]

    def _bound_around(self, i: int, j: int, inner: int) -> None:
        """What is live inside a stretch by rows, its ends left out, is live in every longer one around it."""
        for key in product(range(i + 1), range(j, len(self._cuts)), (Walk.ROWS,)):
            if (edge := self._edges.get(key)) is not None:
                edge.least = max(edge.least, inner)

    def _row(self, start: int, answers: Sequence[_Answer]) -> Row:
        chosen: dict[str, Candidate] = {}
        cost, peak, groups = 0.0, 0, []
        for (i, j, walk), model, found in answers:
            steps = range(start + self._places[i], start + self._places[j])
            nodes = self._net.running[steps.start : steps.stop]
            alike = zip(nodes, model.picks(found), strict=True)
            chosen |= {n[0].choice.node.name: n[self._net.place[c]] for n, c in alike}
            cost, peak = cost + found[0], max(peak, found[1])
            if walk is not Walk.WHOLE:
                groups.append(steps)
        return Row(cost, peak, chosen, tuple(groups))
