# SPDX-License-Identifier: Apache-2.0
"""Random networks in every mode: `python -m tests.rows.soak [--graphs N] [--first SEED]`; tests run a fixed tenth."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.rows.checks import MODES, failures
from tests.rows.graphs import WINDOWED, RandomGraph, random_graph
from tests.rows.program import Workshop

GRAPHS = 200
AT_ONCE = 10
LEAST_OF_EACH = 20


def batches(first: int, count: int, size: int = AT_ONCE) -> Iterator[list[RandomGraph]]:
    """`count` networks from seed `first` on, some at a time."""
    for start in range(first, first + count, size):
        yield [random_graph(seed) for seed in range(start, min(start + size, first + count))]


def rare(operators: Counter[str], least: int = LEAST_OF_EACH) -> list[str]:
    """Windowed operators that occur too seldom to be tested."""
    return [f"{name} occurs {operators[name]} times only" for name in WINDOWED if operators[name] < least]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=GRAPHS)
    parser.add_argument("--first", type=int, default=0, help="seed of the first network")
    options = parser.parse_args(arguments)
    operators: Counter[str] = Counter()
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
    found += rare(operators) if options.graphs >= GRAPHS else []
    seconds = time.monotonic() - started
    print(f"{options.graphs} networks in {len(MODES)} modes: {len(found)} failures, {seconds:.0f} s, {dict(operators)}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
