# SPDX-License-Identifier: Apache-2.0
"""Random models in mcugen's oracle and in both outside runtimes: `python -m tests.runtimes.soak`.

    python -m tests.runtimes.soak [--models N] [--graphs N] [--first SEED]

Needs tflite-micro and ai-edge-litert (`pip install -e '.[runtimes]'`). Models that mcugen refuses by name do not count.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count, islice

from mcugen.machines.toolchain.runtimes import Runtime
from tests.runtimes import graphs, operators
from tests.runtimes.judging import REFERENCES, Judgement, judge
from tests.runtimes.sketch import Drawn

MODELS, GRAPHS = 5000, 1000


def models(first: int) -> Iterator[Drawn]:
    """One-operator models without end: of each operator and type in turn."""
    for seed in count(first):
        for name, dtype in operators.KINDS:
            yield operators.draw(name, dtype, seed)


def judged(drawn: Iterator[Drawn], runtimes: dict[str, Runtime], wanted: int, refused: list[Judgement]) -> Iterator:
    """Judgements of the first models that mcugen does not refuse; those that it refuses are added to `refused`."""
    found = (judge(model, runtimes) for model in drawn)
    kept = (j for j in found if j.outcome != "refused" or refused.append(j))
    return islice(kept, wanted)


def run(
    title: str, drawn: Iterator[Drawn], runtimes: dict[str, Runtime], wanted: int, tell: Callable[..., None]
) -> int:
    """Judge `wanted` models, print those that are wrong, and return their number."""
    refused: list[Judgement] = []
    outcomes: Counter[str] = Counter()
    for judgement in judged(drawn, runtimes, wanted, refused):
        outcomes[judgement.outcome] += 1
        if judgement.outcome == "wrong":
            tell(f"  {judgement.label}: {judgement.why}", flush=True)
    tell(f"{title}: {dict(outcomes)}, besides {len(refused)} that mcugen refuses", flush=True)
    return outcomes["wrong"]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=MODELS, help=f"one-operator models (default {MODELS})")
    parser.add_argument("--graphs", type=int, default=GRAPHS, help=f"graphs (default {GRAPHS})")
    parser.add_argument("--first", type=int, default=0, help="seed to begin with (default 0)")
    options = parser.parse_args(arguments)
    with ExitStack() as stack:
        runtimes = {name: stack.enter_context(Runtime(name)) for name in REFERENCES}
        print(", ".join(r.version for r in runtimes.values()))
        wrong = run("one-operator models", models(options.first), runtimes, options.models, print)
        wrong += run("graphs", map(graphs.draw, count(options.first)), runtimes, options.graphs, print)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
