# SPDX-License-Identifier: Apache-2.0
"""Random networks in every mode, and random streams: `python -m tests.rows.soak [--graphs N] [--first SEED]`.

Tests run a fixed twentieth.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.rows import streams
from tests.rows.checks import MODES, failures
from tests.rows.graphs import WINDOWED, RandomGraph, planted_graph, random_graph
from tests.rows.joins import joining_graph
from tests.rows.program import Workshop

GRAPHS = 200
AT_ONCE = 10
LEAST_OF_EACH = 20
EVERY = 4
MADE = {1: planted_graph, 2: joining_graph}
STREAMED = (*WINDOWED, "RESIZE_NEAREST_NEIGHBOR")


def batches(first: int, count: int, size: int = AT_ONCE) -> Iterator[list[RandomGraph]]:
    """`count` networks from seed `first` on, some at a time; one in four has channels to remove, one in four joins."""
    for start in range(first, first + count, size):
        seeds = range(start, min(start + size, first + count))
        yield [MADE.get(seed % EVERY, random_graph)(seed) for seed in seeds]


def rare(operators: Counter[str], names: Sequence[str] = WINDOWED, least: int = LEAST_OF_EACH) -> list[str]:
    """Windowed operators that occur too seldom to be tested."""
    return [f"{name} occurs {operators[name]} times only" for name in names if operators[name] < least]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=GRAPHS)
    parser.add_argument("--first", type=int, default=0, help="seed of the first network")
    options = parser.parse_args(arguments)
    operators: Counter[str] = Counter()
    streamed: Counter[str] = Counter()
    found: list[str] = []
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mcugen-") as scratch:
        workshop = Workshop(Path(scratch) / "kernels")
        for k, graphs in enumerate(batches(options.first, options.graphs)):
            for graph in graphs:
                operators += graph.operators
            news = failures(graphs, workshop, Path(scratch) / f"batch{k}")
            print("\n".join([f"  {line}" for line in news] or ["."]), flush=True)
            found += news
        for k, graphs in enumerate(streams.batches(options.first, options.graphs, AT_ONCE)):
            for graph in graphs:
                streamed += graph.operators
            news = streams.failures(graphs, workshop, Path(scratch) / f"streams{k}")
            print("\n".join([f"  {line}" for line in news] or ["."]), flush=True)
            found += news
    found += rare(streamed, STREAMED) if options.graphs >= GRAPHS else []
    found += rare(operators) if options.graphs >= GRAPHS else []
    seconds = time.monotonic() - started
    what = f"{options.graphs} networks in {len(MODES)} modes, and as many streams"
    print(f"{what}: {len(found)} failures, {seconds:.0f} s, {dict(operators + streamed)}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
