"""Models of a collection in every input mode: `python -m tests.machines.native.soak FOLDER [NAME ...]`.

The library that `mcugen.load` calls must give the bytes that the program of `mcugen verify` gives, from several threads
with an object each.
"""

from __future__ import annotations

import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import mcugen
from mcugen.options import INPUT_MODES
from mcugen.pipeline import Artifact
from mcugen.verify.cases import cases
from mcugen.verify.runs import runs_of
from tests.machines.native.sides import differ, differences, outputs
from tests.support.collection import Model, collection

BOARDS = ("host", "cortex-m4", "cortex-m55", "cortex-m0plus")
THREADS = 3
CASES = 2


def faults(artifact: Artifact) -> list[str]:
    """Differences from verify's program, and between threads."""
    drawn = list(cases(artifact.imported, CASES))[: CASES + 2]
    found = differences(artifact, drawn)
    runs = runs_of(artifact, drawn[0])
    with ThreadPoolExecutor(THREADS) as pool:
        several = list(pool.map(lambda _: list(outputs(artifact, artifact.load(), runs)), range(THREADS)))
    for k, pair in enumerate(zip(*several, strict=True)):
        found += [f"threads, run {k}"] if any(differ(pair[0], other) for other in pair[1:]) else []
    return found


def check(model: Model, mode: str) -> str:
    """The result of a model in a mode: "" where its outputs are equal."""
    board = BOARDS[zlib.crc32(f"{model.name} {mode}".encode()) % len(BOARDS)]
    try:
        artifact = mcugen.compile(model.path, board=board, input_mode=mode, name="model")
    except mcugen.McugenError as error:
        return f"refused: {error}".splitlines()[0][:150]
    found = faults(artifact)
    return f"DIFFERS on {board}: {'; '.join(found[:5])}" if found else ""


def main(arguments: list[str]) -> int:
    models = [m for m in collection(Path(arguments[0])) if not arguments[1:] or any(a in m.name for a in arguments[1:])]
    equal = refused = wrong = 0
    for model in models:
        for mode in INPUT_MODES:
            result = check(model, mode)
            equal, refused = equal + (not result), refused + result.startswith("refused")
            wrong += result.startswith("DIFFERS")
            print(f"{model.name} {mode}: {result or 'equal'}", flush=True)
    print(f"{len(models)} models: {equal} equal to verify's outputs, {refused} refused, {wrong} differing")
    return int(wrong > 0 or not equal)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
