# SPDX-License-Identifier: Apache-2.0
"""Budgets of RAM from the least to the most, and whether more is ever slower.

usage: python -m tests.solve.budgets FOLDER [--steps N] [--only NAME]... [--cores LIST]
Solves int8 models of a collection for each core and goal, for N budgets from the least RAM to that of whole tensors.
Prints the costs at both ends, and ends with exit status 1 where a larger budget costs more, by the estimates that
kernels are chosen by, where a budget is not kept, or where a search that knows those before it finds something else
than one that knows nothing, which is looked into for one budget in eight.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from mcugen import pipeline, solve
from mcugen.options import Options

MODELS = (
    "hello_world",
    "micro_speech",
    "mlperf_ad",
    "mlperf_ic",
    "mlperf_kws",
    "mlperf_strww",
    "mlperf_vww",
    "person_detect",
)
CORES = "cortex-m0plus,cortex-m4,cortex-m55"
GOALS = ("speed", "balanced")
ANEW = 8
"""One of this many budgets is also solved without the results for others."""


def walked(model: pipeline.Prepared, steps: int) -> tuple[list[float], list[int], int]:
    """Cost and budget left over of each budget, from the least to the most; how many a search anew solves otherwise."""
    graph, board, options = model.graph, model.board, model.options
    most = solve.solve(graph, board, options).ram_bytes
    least = solve.solve(graph, board, replace(options, optimize="ram")).ram_bytes
    known = solve.Known.brief(solve.candidates_of(graph, board, options))
    costs, left, other = [], [], 0
    for k in range(steps):
        budget = least + (most - least) * k // max(steps - 1, 1)
        asked = replace(options, ram=str(budget))
        solution, cost = solve.solve_with_time(graph, board, asked, known)
        costs.append(cost)
        left.append(budget - solution.ram_bytes)
        if k % ANEW == 0:
            anew, cost_anew = solve.solve_with_time(graph, board, asked)
            other += (anew.ram_bytes, cost_anew) != (solution.ram_bytes, cost)
    return costs, left, other


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--cores", default=CORES)
    given = parser.parse_args(arguments)
    wrong = 0
    for name in given.only or MODELS:
        path = next(iter(sorted(given.folder.glob(f"{name}_int8/*.tflite"))))
        for board in given.cores.split(","):
            for goal in GOALS:
                model = pipeline.prepare(path, Options(board=board, optimize=goal))
                costs, left, other = walked(model, given.steps)
                slower = sum(b > a for a, b in pairwise(costs))
                over = sum(room < 0 for room in left)
                wrong += slower + over + other
                ends = f"{costs[0]:,.0f} to {costs[-1]:,.0f}"
                faults = f"{slower} slower, {over} over, {other} otherwise when searched anew"
                print(f"{name} {board} {goal}: {ends}, {faults}", flush=True)
    print(f"{wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
