# SPDX-License-Identifier: Apache-2.0
"""Random models of a kind against the runtime that they are for: `python -m tests.random.soak KIND`.

    python -m tests.random.soak KIND [--count N] [--seed S] [--keep FOLDER] [--jobs J]

Needs the runtimes (`pip install -e '.[runtimes]'`). Prints how many are equal, refused by name, wrong, and so on; each
failure with its seed; and why mcugen refuses, most frequent first. Exit status 1 where anything failed, or where more
is refused than the kind allows.
"""

from __future__ import annotations

import argparse
import datetime
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count, islice
from pathlib import Path

from tests.random import drawing, judging
from tests.random.judging import Verdict

_SHOWN = 12
"""Reasons of refusals that are printed."""


def today() -> int:
    """The first seed of a day: 100,000 are left until the next."""
    return int(datetime.date.today().strftime("%Y%m%d")) * 100_000


def verdicts(kind: str, first: int, wanted: int, jobs: int = 1) -> Iterator[Verdict]:
    """The verdicts on the seeds from the first on, until `wanted` models could be judged."""
    parts = (range(start, start + judging.AT_ONCE) for start in count(first, judging.AT_ONCE))
    with ThreadPoolExecutor(jobs) as pool:
        while wanted > 0:
            taken = list(islice(parts, min(jobs, -(-wanted // judging.AT_ONCE))))
            for part in pool.map(lambda seeds: list(judging.judged(kind, seeds)), taken):
                for verdict in part:
                    if verdict.outcome != judging.UNJUDGED:
                        wanted -= 1
                    if wanted >= 0:
                        yield verdict


def reason(why: str) -> str:
    """A refusal without what differs from model to model: names, numbers and places."""
    line = next((x for x in reversed(why.splitlines()) if x.strip()), "")
    text = re.sub(r"node \d+( \w+: node \d+)*", "node", line.strip())
    return re.sub(r"(?<!\w)'[^']*'|\"[^\"]*\"|\[[^]]*\]|-?\d+(\.\d+)?(e[-+]?\d+)?", "_", text)[:140]


def keep(folder: Path, kind: str, verdict: Verdict) -> Path:
    """Write the file of a failure, named by its seed, with the verdict beside it."""
    drawn = drawing.kind(kind).draw(verdict.seed)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{kind}_{verdict.seed}{Path(drawn.file).suffix}"
    path.write_bytes(drawn.data)
    path.with_suffix(".txt").write_text(f"{verdict.outcome}\n{drawn.choices}\n{verdict.label}\n{verdict.why}\n")
    return path


def report(kind: str, found: Sequence[Verdict]) -> int:
    """Print the sums and what failed; the exit status."""
    sums = Counter(verdict.outcome for verdict in found)
    asked = len(found) - sums[judging.UNJUDGED]
    print(f"{kind}: {asked} models, {', '.join(f'{n} {outcome}' for outcome, n in sorted(sums.items()))}")
    slowest = max(found, key=lambda verdict: verdict.seconds)
    print(f"  slowest build: {slowest.seconds:.1f} s of processor time, seed {slowest.seed}")
    for outcome in (judging.REFUSED, judging.UNJUDGED):
        reasons = Counter(reason(verdict.why) for verdict in found if verdict.outcome == outcome)
        for text, n in reasons.most_common(_SHOWN):
            print(f"  {n} {outcome}: {text}")
    share, likely = sums[judging.REFUSED] / max(asked, 1), drawing.kind(kind).LIKELY
    if share > likely:
        print(f"  {share:.0%} are refused, more than {likely:.0%}")
    return int(any(sums[outcome] for outcome in judging.FAILURES) or share > likely)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=drawing.names())
    parser.add_argument("--count", type=int, default=500, help="models (default 500)")
    parser.add_argument("--seed", type=int, default=today(), help="the first seed (default: by the date)")
    parser.add_argument("--keep", type=Path, help="folder for the files of failures")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time (default 1)")
    options = parser.parse_args(arguments)
    print(f"{options.kind}: seeds from {options.seed}", flush=True)
    found = []
    for verdict in verdicts(options.kind, options.seed, options.count, options.jobs):
        found.append(verdict)
        if verdict.outcome in judging.FAILURES:
            print(f"  seed {verdict.seed}: {verdict.outcome}: {verdict.label}: {verdict.why}", flush=True)
            if options.keep:
                keep(options.keep, options.kind, verdict)
    return report(options.kind, found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
