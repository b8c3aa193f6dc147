# SPDX-License-Identifier: Apache-2.0
"""Every choice of kernels and rows of small random networks, against the curve of time and memory.

usage: python -m tests.solve.exhaustive [--graphs N] [--first SEED]
Prints, for each network, the worst ratio of the curve's cost to the least cost at the same memory, and ends with exit
status 1 where one is over 1.03. Peaks are those of schedules as built.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise, product
from pathlib import Path

from mcugen import pipeline, solve
from mcugen.ir.graph import Graph
from mcugen.ir.kernel import Ring
from mcugen.options import Options
from mcugen.solve import schedule
from mcugen.solve.candidates import Candidate, Candidates
from mcugen.solve.modes import EVENT_COST
from mcugen.solve.plan import lower_bound
from mcugen.solve.schedule.cuts import Parts, cuts_of
from mcugen.solve.schedule.places import sources
from mcugen.solve.time_memory_curve import CostCurve, Point
from tests.rows.graphs import random_graph

WORST = 1.03
MOST_LAYERS = 7
MOST_CHOICES = 3000
"""Sets of kernels of a stretch; networks with more are left out."""
BOARDS = ("cortex-m4", "cortex-m55", "cortex-m0plus", "rv32imc")
Front = list[tuple[float, int]]
"""Costs with their peaks, of which none is at most another in both."""


def candidates_of(folder: Path, seed: int) -> tuple[Graph, list[Candidates]]:
    """A random network with few candidates for each node: the fastest, and those that need the least."""
    (folder / "m.tflite").write_bytes(random_graph(seed).data)
    model = pipeline.prepare(folder / "m.tflite", Options(board=BOARDS[seed % len(BOARDS)], optimize="speed"))
    listed = solve.candidates_of(model.graph, model.board, model.options)
    return model.graph, [_few(found) for found in listed]


def _few(listed: Candidates) -> Candidates:
    lean = sorted(listed, key=lambda c: (c.working_bytes, c.cost))[:1]
    anew = [c for c in listed if c.choice.kernel.form.refills][:1]
    rings = [c for c in listed if isinstance(c.choice.kernel.form, Ring)]
    kept = [c for c in rings if any(c.choice.kernel.refilling is a.choice.kernel for a in anew)]
    wanted = {id(c) for c in (*listed[:1], *kept, *anew, *lean)}
    return tuple(c for c in listed if id(c) in wanted)


def points(graph: Graph, candidates: Sequence[Candidates]) -> list[Point]:
    return list(CostCurve(graph, candidates, keep_input=False, pushed=None, no_rows=False).points())


def least(graph: Graph, candidates: Sequence[Candidates]) -> Front | None:
    """The best of all cuts, rows and kernels; None for a network with too many."""
    cuts = cuts_of(graph, [c[0].choice for c in candidates], keep_input=False)
    if sum(c[0].choice.kernel.has_code for c in candidates) > MOST_LAYERS:
        return None

    @cache
    def part(a: int, b: int, by_rows: bool) -> Front | None:
        steps = range(cuts[a].index, cuts[b].index)
        every = _every(graph, candidates, steps, by_rows)
        return None if every is None else _best((cost, peak + cuts[a].held_bytes) for cost, peak in every)

    found: Front = []
    for taken in product((False, True), repeat=len(cuts) - 2):
        ends = [0, *(k + 1 for k, is_taken in enumerate(taken) if is_taken), len(cuts) - 1]
        for flags in product((False, True), repeat=len(ends) - 1):
            total: Front = [(0.0, 0)]
            for (a, b), flag in zip(pairwise(ends), flags, strict=True):
                own = part(a, b, flag)
                if own is None:
                    return None
                total = _best((c + d, max(p, q)) for c, p in total for d, q in own)
            found = _best([*found, *total])
    return found


def _every(graph: Graph, candidates: Sequence[Candidates], steps: range, by_rows: bool) -> Front | None:
    running = [listed for listed in candidates if listed[0].choice.kernel.has_code]
    lists = [running[k] for k in steps]
    count = 1
    for listed in lists:
        count *= len(listed)
    if count > MOST_CHOICES:
        return None
    return _best(_built(graph, candidates, steps, by_rows, picks) for picks in product(*lists))


def _built(
    graph: Graph, candidates: Sequence[Candidates], steps: range, by_rows: bool, picks: tuple[Candidate, ...]
) -> tuple[float, int]:
    """(cost, peak) of a stretch with these kernels."""
    chosen = {c.choice.node.name: c.choice for c in picks}
    choices = [chosen.get(listed[0].choice.node.name, listed[0].choice) for listed in candidates]
    sub, places = Parts(graph, choices).of(steps)
    inside = [choices[at] for at in places]
    groups = [range(len(steps))] if by_rows else []
    of = sources(choices)  # an output may be bytes of an input
    kept = {source for name in graph.outputs for source in of.get(name, (name,))}
    made = schedule.build(sub, inside, groups, keep_input=bool(set(sub.inputs) & kept))
    cost = sum(c.rows_cost if by_rows and c.choice.can_run_by_rows else c.cost for c in picks)
    return cost + EVENT_COST * len(made.trace), lower_bound(made.buffers())[0]


def _best(found: Sequence[tuple[float, int]] | Iterator[tuple[float, int]]) -> Front:
    kept: Front = []
    for cost, peak in sorted(found):
        if not kept or peak < kept[-1][1]:
            kept.append((cost, peak))
    return kept


def ratio(curve: Sequence[Point], front: Front) -> float:
    """The worst ratio of costs, over all budgets that the front can keep."""
    worst = 1.0
    for cost, peak in front:
        fitting = [p.cost for p in curve if p.peak <= peak]
        worst = max(worst, min(fitting, default=float("inf")) / cost)
    return worst


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="seed of the first network")
    options = parser.parse_args(arguments)
    seed, done, over = options.first, 0, 0
    with tempfile.TemporaryDirectory(prefix="mcugen-") as folder:
        while done < options.graphs:
            graph, candidates = candidates_of(Path(folder), seed)
            front = least(graph, candidates)
            if front is not None:
                worst = ratio(points(graph, candidates), front)
                print(f"seed {seed}: {len(front)} best, {worst:.4f}", flush=True)
                done, over = done + 1, over + (worst > WORST)
            seed += 1
    print(f"{done} networks, {over} over {WORST}")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
