"""Order of the steps: in a branching network some orders need less memory at once than the order in the file.

A search state is the set of the steps that have run, as bits of an integer. The live tensors depend on this set alone,
so the order of least peak is a shortest path over sets. A step that adds no live bytes, and needs no more while it runs
than the peak so far, always runs at once, since it can do no harm.

The search is exact up to a number of tried steps. Beyond it, a beam search keeps the best sets of each size, and
narrows the beam if tries run short. When they are used up, the rule for branches (`branches.py`) completes the best
set. The order by this rule alone is taken if it is better.

Source: dynamic programming over downsets after Liberis and Lane (2019), with a best-first search in its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property, reduce
from heapq import heappop, heappush, nsmallest
from operator import or_
from typing import NamedTuple

from mcugen.ir.graph import Graph
from mcugen.solve.schedule.branches import in_branches
from mcugen.solve.schedule.places import sources
from mcugen.solve.schedule.steps import Choice, Step

_TRIES = 200_000
_BEAM = 48
_BEAM_TRIES = 600_000
_KNOWN_USERS = 64
"""Largest number of readers of a step's tensors for which memory changes are cached, to bound the cache."""

Order = tuple[int, ...]
_Users = tuple[int, ...]
_Reads = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Work:
    """One step. reads, writes: its tensors. over: for each operand that it may overwrite, the tensors that the operand
    consists of. own_bytes: its scratch and ring.
    """

    reads: tuple[str, ...]
    writes: tuple[str, ...]
    over: tuple[tuple[str, ...], ...] = ()
    own_bytes: int = 0


class _Step:
    """A step as bit sets of steps and sizes in bytes. The users of a tensor are the steps that read it.

    reads: (bytes, users) of each tensor whose last reader it may be. over: users of each operand that it may overwrite.
    users: all of these users. known: cache from the set of users that have run to (additional bytes while the step
    runs, additional bytes after it).
    """

    def __init__(self, result_bytes: int, staying_bytes: int, own_bytes: int, reads: _Reads, over: _Users) -> None:
        self._result_bytes, self._staying_bytes, self._own_bytes = result_bytes, staying_bytes, own_bytes
        self._reads, self._over = reads, over
        self.users = reduce(or_, (*over, *(users for _, users in reads)), 0)
        self._few_users = self.users.bit_count() <= _KNOWN_USERS
        self.known: dict[int, tuple[int, int]] = {}

    def learn(self, done: int, bit: int) -> tuple[int, int]:
        """Compute the additional bytes during and after this step, if the steps in `done` have run, and cache them.
        bit: the bit of this step.
        """
        left = ~(done | bit)
        during, after = self._own_bytes, self._staying_bytes
        if all(users & left for users in self._over):
            during += self._result_bytes
        after -= sum(size for size, users in self._reads if not users & left)
        if self._few_users:
            self.known[done & self.users] = during, after
        return during, after


@dataclass(frozen=True)
class OrderProblem:
    """Steps in a valid order. nbytes: size of each tensor. kept: tensors that stay live to the end.

    Tensors that no step writes are live from the start.
    """

    works: tuple[Work, ...]
    nbytes: Mapping[str, int]
    kept: frozenset[str] = frozenset()

    @cached_property
    def users(self) -> dict[str, int]:
        """Tensor -> bit set of the steps that read it."""
        found = dict.fromkeys(self.nbytes, 0)
        for i, work in enumerate(self.works):
            for name in work.reads:
                found[name] |= 1 << i
        return found

    @cached_property
    def needs(self) -> tuple[int, ...]:
        """Per step, a bit set of the steps that must run directly before it."""
        writer = {name: 1 << i for i, work in enumerate(self.works) for name in work.writes}
        return tuple(sum({writer.get(name, 0) for name in work.reads}) for work in self.works)

    @cached_property
    def followers(self) -> tuple[tuple[int, ...], ...]:
        """Per step, the steps that read its results."""
        found: list[list[int]] = [[] for _ in self.works]
        writer = {name: i for i, work in enumerate(self.works) for name in work.writes}
        for i, work in enumerate(self.works):
            for k in {writer[name] for name in work.reads if name in writer}:
                found[k].append(i)
        return tuple(map(tuple, found))

    @cached_property
    def steps(self) -> tuple[_Step, ...]:
        """The steps as bit sets and bytes."""
        return tuple(map(self._step, self.works))

    def _step(self, work: Work) -> _Step:
        result = sum(self.nbytes[name] for name in work.writes)
        staying = sum(self.nbytes[name] for name in work.writes if self.users[name] or name in self.kept)
        dying = [name for name in work.reads if name not in self.kept]
        over = tuple(
            reduce(or_, (self.users[name] for name in names))
            for names in work.over
            if set(names) <= set(dying) and self._size(names) >= result
        )
        reads = tuple((self.nbytes[name], self.users[name]) for name in dying)
        return _Step(result, staying, work.own_bytes, reads, over)

    def _size(self, names: Sequence[str]) -> int:
        return sum(self.nbytes[name] for name in names)

    @cached_property
    def start_bytes(self) -> int:
        """Bytes live before the first step."""
        written = {name for work in self.works for name in work.writes}
        there = [name for name in self.nbytes if name not in written and (self.users[name] or name in self.kept)]
        return sum(self.nbytes[name] for name in there)

    def run(self, done: int, live: int, i: int) -> tuple[int, int]:
        """(bytes needed while step i runs, bytes live after it) if the steps in `done` have run."""
        step = self.steps[i]
        during, after = step.known.get(done & step.users) or step.learn(done, 1 << i)
        return live + during, live + after

    def peak(self, order: Sequence[int]) -> int:
        """The most bytes needed at any step of an order."""
        done, live, most = 0, self.start_bytes, self.start_bytes
        for i in order:
            during, live = self.run(done, live, i)
            done |= 1 << i
            most = max(most, during)
        return most

    @cached_property
    def floor(self) -> int:
        """Lower bound on the bytes of every order: the operands and results of a step are live while it runs."""
        return max((self._alone(work) for work in self.works), default=0)

    def _alone(self, work: Work) -> int:
        read = sum(self.nbytes[name] for name in set(work.reads))
        result = sum(self.nbytes[name] for name in work.writes)
        taken = any(self._size(names) >= result for names in work.over)
        return read + work.own_bytes + (0 if taken else result)


def best_order(problem: OrderProblem, tries: int = _TRIES) -> Order:
    """The order with the least peak found. It is optimal if the search ends within `tries` steps. The given order wins
    ties.
    """
    given = tuple(range(len(problem.works)))
    most = problem.peak(given)
    if most <= problem.floor or len(given) < 3:
        return given
    branched = in_branches(problem)
    # An order of the search wins a tie with the rule for branches, so its limit includes an equal peak.
    found = _Search(problem, min(most, problem.peak(branched) + 1)).run(tries)
    return min([given, found or given, branched], key=problem.peak)


class _State(NamedTuple):
    """done, order: steps that have run, as bits and in order. ready: steps that can run next. live: bytes live now.
    peak: the most bytes in use so far.
    """

    done: int
    order: Order
    ready: Order
    live: int
    peak: int


class _Search:
    """Search for an order whose peak is below a limit."""

    def __init__(self, problem: OrderProblem, limit: int) -> None:
        self._problem, self._limit = problem, limit
        self._all = (1 << len(problem.works)) - 1
        self._tried = 0

    def run(self, tries: int) -> Order | None:
        """The order with the least peak, or a good order if that takes more than `tries` steps. None if no order is
        found.
        """
        problem = self._problem
        first = tuple(i for i, needs in enumerate(problem.needs) if not needs)
        start = self._settled(_State(0, (), first, problem.start_bytes, max(problem.start_bytes, problem.floor)))
        heap = [(start.peak, -len(start.order), start.order, start)]
        seen: set[int] = set()
        while heap:
            state = heappop(heap)[-1]
            if state.done == self._all:
                return state.order
            if state.done in seen:
                continue
            seen.add(state.done)
            for after in self._following(state, seen):
                if self._tried >= tries:
                    return self._beam(start)
                heappush(heap, (after.peak, -len(after.order), after.order, after))
        return None

    def _beam(self, start: _State) -> Order | None:
        """Beam search over the best sets of each size. Of the orders that reach a set, the one with the lower peak
        counts.
        """
        end = self._tried + _BEAM_TRIES
        level = [start]
        finished: _State | None = None
        while level:
            found = self._next_level(level, end)
            if self._tried >= end:
                completed = (*level[0].order, *in_branches(self._problem, level[0].done))
                return min([completed, *([finished.order] if finished else [])], key=self._problem.peak)
            whole = found.pop(self._all, None)
            if whole is not None and (finished is None or whole.peak < finished.peak):
                finished = whole
            level = nsmallest(_BEAM, found.values(), key=lambda s: (s.peak, s.live, s.order))
        return finished.order if finished else None

    def _next_level(self, level: Sequence[_State], end: int) -> dict[int, _State]:
        """Sets with one more step than those of `level`, within the level's share of the remaining tries.

        level: search states, the best first. end: limit of tries in all.
        """
        left = len(self._problem.works) - min(len(state.order) for state in level)
        share = self._tried + (end - self._tried) // left
        found: dict[int, _State] = {}
        for state in level:
            for after in self._following(state, frozenset()):
                known = found.get(after.done)
                if known is None or (after.peak, after.order) < (known.peak, known.order):
                    found[after.done] = after
                if self._tried >= end:
                    return found
            if self._tried >= share:
                return found
        return found

    def _following(self, state: _State, seen: Set[int]) -> Iterator[_State]:
        """The search states after one more step. States over the limit, and sets in `seen`, are left out."""
        self._tried += len(self._problem.works)
        for i in state.ready:
            during, live = self._problem.run(state.done, state.live, i)
            done = state.done | 1 << i
            if during < self._limit and done not in seen:
                ready = self._after(state.ready, done, i)
                yield self._settled(_State(done, (*state.order, i), ready, live, max(state.peak, during)))

    def _settled(self, state: _State) -> _State:
        """The state after all steps that add no bytes and fit the peak so far, the earliest first."""
        order, done, live, ready = list(state.order), state.done, state.live, state.ready
        # `Problem.run` is inlined here: the search spends most of its time in this loop.
        steps, peak = self._problem.steps, state.peak
        harmless = True
        while harmless:
            harmless = False
            self._tried += len(steps)
            for i in ready:
                step = steps[i]
                during, after = step.known.get(done & step.users) or step.learn(done, 1 << i)
                if after <= 0 and live + during <= peak:
                    harmless, done, live = True, done | 1 << i, live + after
                    ready = self._after(ready, done, i)
                    order.append(i)
                    break
        return _State(done, tuple(order), ready, live, peak)

    def _after(self, ready: Order, done: int, i: int) -> Order:
        """The steps that can run after step i, in order. ready: the steps that could run before it. done: bit set of
        the steps that have run, with i.
        """
        opened = self._opened(done, i)
        at = ready.index(i)
        rest = ready[:at] + ready[at + 1 :]
        return tuple(sorted((*rest, *opened))) if opened else rest

    def _opened(self, done: int, i: int) -> list[int]:
        """The steps that become ready because step i has run. done: bit set of the steps that have run, with i."""
        needs, left = self._problem.needs, ~done
        return [k for k in self._problem.followers[i] if not needs[k] & left]


def problem_of(graph: Graph, choices: Sequence[Choice]) -> OrderProblem:
    """The ordering problem of a network with these kernels, each run on whole tensors."""
    of = sources(choices)
    works = [_work(c, of, graph) for c in choices if c.kernel.has_code]
    names = dict.fromkeys([*graph.given, *(n for w in works for n in (*w.reads, *w.writes))])
    kept = {source for name in graph.kept for source in of.get(name, (name,))} | {s.before for s in graph.states}
    return OrderProblem(tuple(works), {name: graph.type(name).nbytes for name in names}, frozenset(kept))


def _work(choice: Choice, of: Mapping[str, tuple[str, ...]], graph: Graph) -> Work:
    node, kernel, step = choice.node, choice.kernel, Step(0, choice)
    given = [() if name is None else of.get(name, (name,)) for name in node.inputs]
    reads = [name for names in given for name in names if not graph.tensors[name].is_constant]
    over = kernel.overwritable(choice.call)
    alone = tuple(given[k] for k in over if given[k] and all(reads.count(name) == 1 for name in given[k]))
    return Work(tuple(dict.fromkeys(reads)), node.outputs, alone, step.scratch_bytes + step.ring_bytes)


def reordered(graph: Graph, choices: Sequence[Choice]) -> list[int]:
    """Indices of the choices in the best order found. Nodes without code follow the last step that they depend on."""
    order = best_order(problem_of(graph, choices))
    running = [i for i, c in enumerate(choices) if c.kernel.has_code]
    place = {i: (rank, i) for rank, i in enumerate(running[k] for k in order)}
    writer = {name: place[i] for i in running for name in choices[i].node.outputs}
    of = sources(choices)
    for i, choice in enumerate(choices):
        if not choice.kernel.has_code:
            place[i] = (max(writer.get(source, (-1, i))[0] for source in of[choice.node.outputs[0]]), i)
    return sorted(range(len(choices)), key=lambda i: place[i])


def peak_of(graph: Graph, choices: Sequence[Choice]) -> int:
    """The most bytes in use at any step, if the choices run in this order, each on whole tensors."""
    problem = problem_of(graph, choices)
    return problem.peak(range(len(problem.works)))
