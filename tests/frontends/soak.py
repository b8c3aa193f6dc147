# SPDX-License-Identifier: Apache-2.0
"""The whole fuzz of damaged .tflite files: `python -m tests.frontends.soak`; tests run a fixed tenth of it."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.frontends import damage, edits, small_models

FLIPS = 10_000
SEED = 7
ROOT = Path(__file__).resolve().parents[2]


def flipped_files(count: int) -> list[bytes]:
    """Byte flips of three models: two thirds of the smallest, where most bytes are structure."""
    sources = (
        (small_models.three_dense(), count - 2 * (count // 6)),
        (small_models.image_net(), count // 6),
        ((ROOT / "examples/digits/digits.tflite").read_bytes(), count // 6),
    )
    return [file for k, (data, part) in enumerate(sources) for file in damage.flips(data, part, SEED + k)]


def edited_files(every: int = 1) -> tuple[list[str], list[bytes]]:
    """Single fields of the repository's own models changed, with what was changed; every how-manieth is taken."""
    names: list[str] = []
    files: list[bytes] = []
    for k, (name, data) in enumerate(_all_edits()):
        if k % every == 0:
            names.append(name)
            files.append(data)
    return names, files


def _all_edits() -> Iterator[tuple[str, bytes]]:
    for path in sorted((ROOT / "tests/models").glob("*.tflite")):
        for what, data in edits.edited(path.read_bytes()):
            yield f"{path.stem}: {what}", data


def report(title: str, files: list[bytes], names: Iterable[str] | None = None) -> int:
    """Judge the files, print what became of them, and return how many failed."""
    verdicts = damage.judge(files, jobs=os.cpu_count() or 1)
    known = list(names) if names else [f"case {k}" for k in range(len(files))]
    print(f"{title}: {dict(Counter(v.kind for v in verdicts))}")
    failed = damage.failures(verdicts)
    for verdict in failed[:20]:
        print(f"  {known[verdict.case]}\n{verdict.text}")
    return len(failed)


def main() -> int:
    cut = damage.truncations(small_models.three_dense()) + damage.truncations(small_models.image_net())
    failed = report("truncations", cut) + report("byte flips", flipped_files(FLIPS))
    names, files = edited_files()
    return 1 if failed + report("edited fields", files, names) else 0


if __name__ == "__main__":
    sys.exit(main())
