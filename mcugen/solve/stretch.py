"""Kernels of a stretch within a memory limit. A stretch is a range of steps that run in one schedule mode.

The order of events in a stretch does not depend on the kernels. So the bytes in use at each event are a sum: the live
rows of tensors, and the working memory of each step's kernel. Rows stay live longer if a kernel reads rows of earlier
events again, because it keeps no converted rows.

The sums may be a few bytes off: they assume that tensors share memory as they do if no kernel reads rows again. The
plan uses the exact schedule.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.graph import Graph
from mcugen.solve.candidates import Candidate, Candidates
from mcugen.solve.exchange import KernelOffer, Load, Loads, Part, Picks, Search
from mcugen.solve.modes import EVENT_COST, Mode, reads_again
from mcugen.solve.schedule import Schedule, Step, build
from mcugen.solve.schedule.cuts import Parts
from mcugen.solve.schedule.steps import Choice
from mcugen.solve.schedule.storage import RowBuffer, build_buffers, busy_spans, times_of

MAX_SETS = 1000
"""Largest number of combinations of kernels of a stretch for which all are tried."""
Found = tuple[float, int, Picks]
"""Cost, most bytes in use at once, and the index of each step's kernel in `Stretch.offers`."""


@dataclass(eq=False)
class Stretch:
    """The possible kernels of a stretch, and the bytes that they need.

    offers  for each step, its kernels, the cheapest first
    rows    bytes of tensors at each event, if no kernel reads rows again
    more    for each buffer: step -> additional bytes at each event if the step reads rows again
    events  number of events
    inner   lower bound of bytes without the tensors at both ends of the stretch
    """

    offers: list[list[KernelOffer]]
    rows: Load
    more: list[dict[int, Part]]
    events: int
    inner: int = 0
    _answers: dict[float, Found | None] = field(default_factory=dict, init=False)

    @property
    def least_cost(self) -> float:
        """The cost with the cheapest kernels."""
        return sum(offers[0].cost for offers in self.offers) + EVENT_COST * self.events

    def least_bytes(self, rows: Load | None = None) -> int:
        """Lower bound of memory in bytes for any kernels. rows: replaces `self.rows`."""
        return int(((self.rows if rows is None else rows) + self._least_own).max(initial=0))

    @functools.cached_property
    def _least_own(self) -> Load:
        """At each event, the sum over the steps of the least working memory of any of their kernels."""
        load = np.zeros(len(self.rows), np.int64)
        for offers in self.offers:
            span = slice(min(o.own.start for o in offers), max(o.own.end for o in offers))
            load[span] += np.minimum.reduce([o.own.over(span) for o in offers])
        return load

    def within(self, limit: float) -> Found | None:
        """The cheapest choice that needs at most `limit` bytes; None if there is none.

        If there are few choices, all are tried. Otherwise a local search continues from the answer for the next higher
        limit, and may miss the cheapest.
        """
        if math.prod(len(offers) for offers in self.offers) <= MAX_SETS:
            return next((found for found in self._every if found[1] <= limit), None)
        if limit not in self._answers:
            above = [known for known, found in self._answers.items() if known > limit and found]
            self._answers[limit] = self._searched(limit, self._answers[min(above)] if above else None)
        return self._answers[limit]

    def _searched(self, limit: float, last: Found | None) -> Found | None:
        search = Search(self._loads)
        found = search.reduced(last[2] if last else (0,) * len(self.offers), limit)
        lean = search.reduced(self._leanest(), limit) if found is None or not last else None
        both = [self._found(search.improved(picks, limit)) for picks in (found, lean) if picks is not None]
        return min(both, key=lambda f: (f[0], f[1]), default=None)

    @functools.cached_property
    def _loads(self) -> Loads:
        return Loads(self.offers, self.rows, self.more)

    @functools.cached_property
    def _every(self) -> list[Found]:
        """Combinations of kernels that no other beats in both cost and memory, the cheapest first."""
        kept: list[Found] = []
        for found in sorted((self._cost(picks), peak, picks) for peak, picks in self._loads.peaks()):
            if not kept or found[1] < kept[-1][1]:
                kept.append(found)
        return kept

    def picks(self, found: Found) -> list[Candidate]:
        """The candidates of an answer."""
        return [offers[k].candidate for offers, k in zip(self.offers, found[2], strict=True)]

    def leanest(self) -> Found:
        """The choice of kernels with the least working memory."""
        return self._found(self._leanest())

    def _found(self, picks: Picks) -> Found:
        return self._cost(picks), int(self._loads.of(picks).max(initial=0)), picks

    def _leanest(self) -> Picks:
        memory = [[int(o.own.load.max(initial=0)) for o in offers] for offers in self.offers]
        return tuple(
            min(range(len(o)), key=lambda k: (own[k], o[k].cost)) for o, own in zip(self.offers, memory, strict=True)
        )

    def _cost(self, picks: Sequence[int]) -> float:
        return sum(self.offers[s][k].cost for s, k in enumerate(picks)) + EVENT_COST * self.events


@dataclass(frozen=True, eq=False)
class Frame:
    """Data of a stretch that do not depend on the costs of its kernels. Not a frame of a stream.

    times: the events of each step. rows, more: as in `Stretch`. inside: `rows` without the tensors at both ends of the
    stretch.
    """

    steps: Sequence[Step]
    times: Sequence[Sequence[int]]
    rows: Load
    inside: Load
    more: list[dict[int, Part]]


@dataclass(frozen=True, eq=False)
class FramesCache:
    """Cache of `Frame` objects for equal stretches, also for networks with other candidates.

    _forms: key of a node -> (number that stands for the key, candidates). The key contains ids of kernels, so the
    candidates are stored to keep these kernels alive.
    """

    made: dict[tuple[object, ...], Frame] = field(default_factory=dict)
    _forms: dict[object, tuple[int, Sequence[Candidate]]] = field(default_factory=dict)

    def form_of(self, usable: Sequence[Candidate]) -> int:
        """A number for a node with these candidates. Nodes with equal numbers lead to equal frames."""
        return self._forms.setdefault(_form(usable), (len(self._forms), usable))[0]


@dataclass(frozen=True, eq=False)
class Network:
    """A graph with the candidates of its nodes.

    keep_input, pushed: as in `schedule.build`. results: tensors that stay live to the end. frames: cache shared with
    earlier networks.
    """

    graph: Graph
    candidates: tuple[Candidates, ...]
    keep_input: bool
    pushed: str | None
    results: frozenset[str]
    frames: FramesCache = field(default_factory=FramesCache)
    _stretches: dict[tuple[object, ...], Stretch] = field(default_factory=dict)

    @functools.cached_property
    def by_mode(self) -> Mapping[Mode, Mapping[str, Sequence[Candidate]]]:
        """Candidates of each node in each schedule mode."""
        return {mode: {k[0].choice.node.name: mode.of(k) for k in self.candidates} for mode in Mode}

    @functools.cached_property
    def parts(self) -> Parts:
        """Maker of subgraphs."""
        return Parts(self.graph, [listed[0].choice for listed in self.candidates])

    @functools.cached_property
    def running(self) -> list[Candidates]:
        """The candidates of the nodes that become steps."""
        return [listed for listed in self.candidates if listed[0].choice.kernel.has_code]

    @functools.cached_property
    def place(self) -> Mapping[Candidate, int]:
        """Index of each candidate in the tuple of its node."""
        return {c: k for listed in self.candidates for k, c in enumerate(listed)}

    @functools.cached_property
    def kinds(self) -> list[int]:
        """A number for each node. Nodes with equal numbers are equal in everything that stretches depend on."""
        return _numbered(_kind(listed) for listed in self.candidates)

    @functools.cached_property
    def forms(self) -> Mapping[Mode, list[int]]:
        """Per schedule mode, a number for each node. Nodes with equal numbers lead to equal schedules."""
        names = [listed[0].choice.node.name for listed in self.candidates]
        return {mode: [self.frames.form_of(of[n]) for n in names] for mode, of in self.by_mode.items()}

    def stretch(self, steps: range, mode: Mode, *, is_first: bool, is_last: bool) -> Stretch:
        """The stretch of these steps, or an equal stretch, whose candidates have the same indices in the tuples of
        their nodes.

        is_first, is_last: whether the stretch begins or ends with the network.
        """
        part, places = self.parts.of(steps)
        where = (mode, is_first, is_last, self.keeps(part))
        key = (*where, *self._shape_of(part, [self.kinds[at] for at in places]))
        if key not in self._stretches:
            alike = (*where, *self._shape_of(part, [self.forms[mode][at] for at in places]))
            if alike not in self.frames.made:
                self.frames.made[alike] = frame_of(self, part, mode, is_first=is_first, is_last=is_last)
            self._stretches[key] = stretch(self, part, self.frames.made[alike], mode)
        return self._stretches[key]

    def shape(self, steps: range) -> tuple[object, ...]:
        """Cache key for a range of steps. Ranges with equal keys have equal stretches in each schedule mode."""
        part, places = self.parts.of(steps)
        ends = steps.start == 0, steps.stop == len(self.running), self.keeps(part)
        kept = (name in self.results for node in part.nodes for name in (*node.inputs, *node.outputs))
        return (*ends, *kept, *self._shape_of(part, [self.kinds[at] for at in places]))

    def _shape_of(self, part: Graph, kinds: Sequence[int]) -> Iterator[int]:
        """Numbers that describe a subgraph: the kind of each node, and which tensors it reads and writes."""
        number: dict[str, int] = {}
        for node, kind in zip(part.nodes, kinds, strict=True):
            yield kind
            for name in (*node.inputs, *node.outputs):
                known = name is not None and not part.tensors[name].is_constant
                yield number.setdefault(str(name), len(number)) if known else -1
        for name in (*part.inputs, None, *part.outputs):
            yield number[name] if name is not None else -1
        yield number.get(self.pushed or "", -1) if self.pushed in part.inputs else -1

    def keeps(self, part: Graph) -> bool:
        """Whether the inputs of a subgraph stay live until its end."""
        whole = self.keep_input and set(part.inputs) <= set(self.graph.inputs)
        return whole or bool(self.results & set(part.inputs))


def _numbered(kinds: Iterable[object]) -> list[int]:
    """A number for each object; equal objects get equal numbers."""
    known: dict[object, int] = {}
    return [known.setdefault(kind, len(known)) for kind in kinds]


def _kind(listed: Candidates) -> object:
    """Key of a node with these candidates. Nodes with equal keys are equal in stretches."""
    return _operation(listed[0].choice.call), tuple(map(_traits, listed))


def _form(usable: Sequence[Candidate]) -> object:
    """Key of a node with these candidates. Nodes with equal keys are equal in schedules."""
    found = [_first(usable, returns=returns) for returns in (False, True)]
    traits = tuple((id(c.kernel), c.rows, c.kernel.form.window(c.call)) for c in found)
    return _operation(usable[0].choice.call), traits


def _operation(call: Call) -> object:
    types = tuple((t.shape, t.dtype) if t else None for t in (*call.inputs, *call.outputs))
    return _op_of(call.op), types, tuple(c is None for c in call.constants)


def _op_of(op: object) -> object:
    try:
        hash(op)
    except TypeError:
        return id(op)
    return type(op), op


def _traits(c: Candidate) -> object:
    kernel, call = c.choice.kernel, c.choice.call
    window = kernel.form.window(call)
    return id(kernel), c.cost, c.rows_cost, c.choice.working, window


def stretch(net: Network, part: Graph, frame: Frame, mode: Mode) -> Stretch:
    """The stretch of a part of the network."""
    usable = net.by_mode[mode]
    nodes = [node for node in part.nodes if usable[node.name][0].choice.kernel.has_code]
    offers = [
        _offers(step, usable[node.name], times)
        for step, node, times in zip(frame.steps, nodes, frame.times, strict=True)
    ]
    made = Stretch(offers, frame.rows, frame.more, len(frame.rows))
    made.inner = made.least_bytes(frame.inside)
    return made


def frame_of(net: Network, part: Graph, mode: Mode, *, is_first: bool, is_last: bool) -> Frame:
    """The frame of a subgraph: data that do not depend on the costs of its kernels."""
    usable, by_rows = net.by_mode[mode], mode is not Mode.WHOLE
    made = _built(net, part, [_first(usable[node.name], returns=False) for node in part.nodes], by_rows)
    times, length = times_of(made.steps, made.trace), len(made.trace)
    loads = _loads(made.row_buffers)
    rows = _sum(loads.values(), length)
    ends = (() if is_first else made.graph.inputs) + (() if is_last else made.graph.outputs)
    left_out = {made.buffer_name[name] for name in ends if name in made.buffer_name}
    inside = rows - _sum((load for name, load in loads.items() if name in left_out), length)
    return Frame(made.steps, times, rows, inside, _more(net, made, usable, loads) if by_rows else [])


def _more(
    net: Network, made: Schedule, usable: Mapping[str, Sequence[Candidate]], loads: Mapping[str, Part]
) -> list[dict[int, Part]]:
    """For each buffer: step -> additional bytes if the step reads rows again.

    Each round exchanges the kernels of steps that read different buffers, so that their effects do not mix.
    """
    late: dict[int, Step] = {}
    reads: dict[int, set[str]] = {}
    for step in made.steps:
        other = replace(step, choice=_first(usable[step.choice.node.name], returns=True))
        read = {made.buffer_name[a.tensor] for a in other.reads(0) if a.tensor in made.buffer_name}
        if read and reads_again(other.choice) != reads_again(step.choice):
            late[step.index], reads[step.index] = other, read
    found: dict[str, dict[int, Part]] = {}
    while late:
        turn: dict[str, int] = {}
        for k in late:
            if not reads[k] & turn.keys():
                turn |= dict.fromkeys(reads[k], k)
        steps = [late.pop(s.index) if s.index in turn.values() else s for s in made.steps]
        buffers = build_buffers(made.graph, steps, made.trace, made.places, net.keeps(made.graph), made.pushed)
        for buffer, load in _loads({name: buffer for name, buffer in buffers.items() if name in turn}).items():
            more = load.less(loads[buffer])
            if len(more.load):
                found.setdefault(buffer, {})[turn[buffer]] = more
    return list(found.values())


def _first(found: Sequence[Candidate], *, returns: bool) -> Choice:
    return next((c.choice for c in found if reads_again(c.choice) == returns), found[0].choice)


def _built(net: Network, part: Graph, choices: Sequence[Choice], by_rows: bool) -> Schedule:
    steps = sum(choice.kernel.has_code for choice in choices)
    pushed = net.pushed if net.pushed in part.inputs else None
    return build(part, choices, [range(steps)] if by_rows else [], keep_input=net.keeps(part), pushed=pushed)


def _loads(found: Mapping[str, RowBuffer]) -> dict[str, Part]:
    """Buffer name -> the bytes in use at each event."""
    return {name: Part.of_pieces(buffer.to_plan().pieces) for name, buffer in found.items()}


def _sum(parts: Iterable[Part], length: int) -> Load:
    """Sum of the parts' bytes at each event."""
    found = np.zeros(length, np.int64)
    for part in parts:
        found[part.start : part.end] += part.load
    return found


def _offers(step: Step, listed: Sequence[Candidate], times: Sequence[int]) -> list[KernelOffer]:
    """Kernels of a step that no other kernel beats in cost, working memory and rereading of rows together."""
    found: list[KernelOffer] = []
    kept: list[tuple[int, int, bool]] = []
    start = times[0]
    busy = np.zeros(times[-1] + 1 - start, np.int64)
    for first, last in busy_spans(step, times):
        busy[first - start : last + 1 - start] = 1
    waits = not busy.all()
    for c in sorted(listed, key=lambda c: c.rows_cost if step.by_rows else c.cost):
        whole, *parts = c.choice.working
        passing, staying = parts if step.by_rows else (whole, 0)
        needs = passing + staying, staying if waits else 0, step.by_rows and reads_again(c.choice)
        if not any(most <= needs[0] and least <= needs[1] and returns <= needs[2] for most, least, returns in kept):
            kept.append(needs)
            load = Part(start, passing * busy + staying)
            found.append(KernelOffer(c, c.rows_cost if step.by_rows else c.cost, load, needs[2]))
    return found
