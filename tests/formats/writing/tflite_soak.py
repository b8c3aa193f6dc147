# SPDX-License-Identifier: Apache-2.0
"""Writes models as .tflite and asks both outside runtimes: the written file must have the results of the first one.

usage: python -m tests.formats.writing.tflite_soak [--graphs N] [FOLDER]
Random networks, and every .tflite file of a folder. Prints each that differs, as a graph or in a runtime, and each that
cannot be written; ends with exit status 1 where there is a difference. Needs tflite-micro and ai-edge-litert.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from mcugen.errors import McugenError, UnsupportedError
from mcugen.formats import write
from mcugen.machines.toolchain.runtimes import Runtime
from mcugen.oracle.stimuli import draw
from tests.formats.writing.equality import differences, imported
from tests.runtimes import graphs

RUNTIMES = ("litert", "tflm")
GRAPHS, SETS = 200, 3


def judge(model: bytes, runtimes: Mapping[str, Runtime]) -> tuple[str, str]:
    """(equal, refused, not written or differs, why)."""
    try:
        graph = imported(model)
    except McugenError as error:
        return "refused", error.message
    try:
        written = write.write(graph, "tflite")
    except UnsupportedError as error:
        return "not written", error.message
    found = differences(graph, imported(written))
    sets = [draw(graph, seed) for seed in range(SETS)]
    for which, runtime in runtimes.items():
        want, got = (runtime.run(data, sets) for data in (model, written))
        if got.refused and not want.refused:
            found.append(f"{which} refuses the written file: {got.refused}")
        elif not got.refused and not want.refused and not _equal(want.outputs, got.outputs):
            found.append(f"{which} computes other results")
    return ("differs" if found else "equal"), "; ".join(found)


def _equal(a: list[list[np.ndarray]], b: list[list[np.ndarray]]) -> bool:
    pairs = ((x, y) for one, other in zip(a, b, strict=True) for x, y in zip(one, other, strict=True))
    return all(np.array_equal(x, y, equal_nan=x.dtype.kind == "f") for x, y in pairs)


def models(folder: Path | None, count: int) -> Iterator[tuple[str, bytes]]:
    for seed in range(count):
        yield f"random network {seed}", graphs.draw(seed).model
    for path in sorted(folder.rglob("*.tflite")) if folder else ():
        yield str(path), path.read_bytes()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=int, default=GRAPHS, help=f"random networks (default {GRAPHS})")
    parser.add_argument("folder", type=Path, nargs="?", help="a collection of models")
    options = parser.parse_args(arguments)
    outcomes: Counter[str] = Counter()
    with ExitStack() as stack:
        runtimes = {name: stack.enter_context(Runtime(name)) for name in RUNTIMES}
        for name, model in models(options.folder, options.graphs):
            outcome, why = judge(model, runtimes)
            outcomes[outcome] += 1
            if outcome == "differs" or (outcome == "not written" and options.folder):
                print(f"{name}: {outcome}: {why}", flush=True)
    print(f"written as .tflite: {dict(outcomes)}")
    return int(bool(outcomes["differs"] or not outcomes["equal"]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
