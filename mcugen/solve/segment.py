"""Time against memory of one segment of a network, from the fastest solution to the smallest.

A stretch is the steps between two cuts, run in one schedule mode. A path is a sequence of stretches that covers the
segment. One tensor is live at a cut, so the memory of a path is the maximum over its stretches, and its cost is their
sum. For each memory limit, dynamic programming finds the cheapest path.

Kernels of a stretch are searched only if the stretch may be part of the answer. Until then it has lower bounds: of cost
by its cheapest kernels, of memory by the tensors at its ends and by shorter stretches inside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from mcugen.solve.candidates import Candidate
from mcugen.solve.modes import Bounds, Mode
from mcugen.solve.schedule.cuts import Cut
from mcugen.solve.stretch import Found, Network, Stretch

TIE = 0.5
"""Cost added per stretch, so that of equal paths the one with the fewest stretches wins. Its plan has fewer gaps."""


@dataclass(frozen=True, eq=False)
class SegmentPath:
    """A path of stretches.

    peak: the most bytes in use at once. chosen: node name -> kernel. groups: ranges of steps that run row by row
    together.
    """

    cost: float
    peak: int
    chosen: Mapping[str, Candidate]
    groups: tuple[range, ...]


_Key = tuple[int, int, Mode]
"""Indices of the two cuts that a stretch lies between, and its schedule mode."""
_Answer = tuple[_Key, Stretch, Found]


@dataclass(eq=False)
class _Edge:
    """Bounds and answer of one stretch.

    cost: a lower bound until there is an answer, then the cost of the last answer. least: lower bound of memory in
    bytes for any kernels. found: the last answer. Its bytes include `Cut.held_bytes` of the first cut.
    """

    cost: float
    least: float
    model: Stretch | None = None
    found: Found | None = None

    def fits(self, limit: float) -> bool:
        return self.found is not None and self.found[1] <= limit


class Segment:
    """Paths of stretches from the first cut to the last, from the fastest to the smallest.

    Equal segments that begin at other steps share this object. most: limit of stretches whose kernels are searched.
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

    def within(self, start: int, limit: float, cost: float = np.inf) -> SegmentPath | None:
        """The fastest path within a memory limit, or None if there is none whose cost is below `cost`.

        start: the step at which the segment begins. Limits must not rise from call to call.
        """
        path = self._cheapest(limit, cost)
        if path is None or limit < 0:
            return None
        edges = [(key, self._edges[key]) for key in path]
        return self._row(start, [(key, e.model, e.found) for key, e in edges if e.model and e.found])

    def least_bytes(self, enough: float) -> float:
        """Lower bound in bytes of the memory of every path. The least result is `enough`.

        No kernels are searched: each stretch counts with its lower bound for any kernels.
        """
        while True:
            path, least = self._leanest(enough)
            unknown = [key for key in path if self._edges[key].model is None]
            if not unknown:
                return least
            for key in unknown:
                self._model(key)

    def _leanest(self, enough: float) -> tuple[list[_Key], float]:
        """The path with the lowest bound of memory (of equals, the one with the fewest unexamined stretches), and the
        bound.
        """
        best = [(enough, 0)] + [(np.inf, 0)] * (len(self._cuts) - 1)
        via: dict[int, _Key] = {}
        for key, edge in self._edges.items():  # edges into a cut come after all edges into earlier cuts
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
                    yield (i, j, Mode.WHOLE), _Edge(float(whole[b.index] - whole[a.index]), ends)
                for mode, cost in () if no_rows else bounds.modes(a.index, b.index):
                    yield (i, j, mode), _Edge(cost, ends)

    def _cheapest(self, limit: float, most: float) -> list[_Key] | None:
        """The cheapest path within the limit; None if its cost is `most` or more."""
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
        """The path with the least sum of lower bounds of cost, if that is below `most`."""
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

    def along(self, start: int, groups: Sequence[range], limit: float) -> SegmentPath:
        """The path with these groups of row-by-row steps.

        Each stretch has the cheapest kernels within the limit, or the kernels with the least memory if none are.
        """
        answers: list[_Answer] = []
        for key in self._path_of(start, groups):
            model, held = self._model(key), self._cuts[key[0]].held_bytes
            cost, peak, picks = model.within(limit - held) or model.leanest()
            answers.append((key, model, (cost, peak + held, picks)))
        return self._row(start, answers)

    def _path_of(self, start: int, groups: Sequence[range]) -> Iterator[_Key]:
        """The stretches of a path: one by rows per group, and one of whole tensors between each other pair of adjacent
        cuts.
        """
        at = {start + place: k for k, place in enumerate(self._places)}
        grouped = {k for group in groups for k in range(at[group.start], at[group.stop])}
        ends = [(at[group.start], at[group.stop], Mode.ROWS) for group in groups]
        yield from sorted(ends + [(k, k + 1, Mode.WHOLE) for k in range(len(self._cuts) - 1) if k not in grouped])

    def _model(self, key: _Key) -> Stretch:
        i, j, mode = key
        edge, last = self._edges[key], len(self._net.running)
        if edge.model is None:
            self._left -= 1
            a, b = self._cuts[i], self._cuts[j]
            steps = range(a.index, b.index)
            edge.model = self._net.stretch(steps, mode, is_first=a.index == 0, is_last=b.index == last)
            edge.least = max(edge.least, edge.model.least_bytes() + a.held_bytes)
            edge.cost = max(edge.cost, edge.model.least_cost)
            if mode is Mode.ROWS:
                self._bound_around(i, j, edge.model.inner)
        return edge.model

    def _look_into(self, key: _Key, limit: float) -> None:
        edge, held = self._edges[key], self._cuts[key[0]].held_bytes
        model = self._model(key)
        if edge.least > limit:
            return
        found = model.within(limit - held)
        if found is None:
            edge.least = max(edge.least, limit + 1)  # for this limit and all lower ones
            return
        edge.found = (found[0], found[1] + held, found[2])
        edge.cost = found[0]

    def _bound_around(self, i: int, j: int, inner: int) -> None:
        """Raise the memory bounds of all longer stretches by rows around the stretch (i, j) to `inner` bytes."""
        for key in product(range(i + 1), range(j, len(self._cuts)), (Mode.ROWS,)):
            if (edge := self._edges.get(key)) is not None:
                edge.least = max(edge.least, inner)

    def _row(self, start: int, answers: Sequence[_Answer]) -> SegmentPath:
        chosen: dict[str, Candidate] = {}
        cost, peak, groups = 0.0, 0, []
        for (i, j, mode), model, found in answers:
            steps = range(start + self._places[i], start + self._places[j])
            nodes = self._net.running[steps.start : steps.stop]
            alike = zip(nodes, model.picks(found), strict=True)
            chosen |= {n[0].choice.node.name: n[self._net.place[c]] for n, c in alike}
            cost, peak = cost + found[0], max(peak, found[1])
            if mode is not Mode.WHOLE:
                groups.append(steps)
        return SegmentPath(cost, peak, chosen, tuple(groups))
