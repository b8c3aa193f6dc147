# SPDX-License-Identifier: Apache-2.0
"""The fuzz of damaged model files: `python -m tests.formats.soak [onnx] [nnef] [tflite] [random] [--every K]`; all by
default.

Tests run a fixed part of it. --every: of the single fields of .tflite files, how many-th are changed; all take hours.
random: damaged random models of all formats (tests/random/mutants.py), --count of them from --seed on.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from tests.formats import damage, edits, nnef_edits, nnef_models, onnx_damage, small_models
from tests.random import mutants
from tests.random.soak import today

FLIPS = 10_000
EDITS_EVERY = 20
NNEF_CASES = 10_000
ONNX_CASES = 10_000
RANDOM_CASES = 1_000
SEED = 7
LIMITS = 10.0, 100.0, 1_000_000_000
"""Seconds of a core, seconds and bytes that a file may take: some that were damaged are of large tensors."""
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
    for path, what, edit in islice(_all_edits(), 0, None, every):
        names.append(f"{path.stem}: {what}")
        files.append(edits.applied(edit, path.read_bytes()))
    return names, files


def _all_edits() -> Iterator[tuple[Path, str, edits.Edit]]:
    for path in sorted((ROOT / "tests/models").glob("*.tflite")):
        for what, edit in edits.edits_of(path.read_bytes()):
            yield path, what, edit


def nnef_files(count: int) -> list[bytes]:
    """An archive of a small NNEF model cut at random bytes, and with bytes of its members flipped."""
    data = nnef_models.tar(nnef_models.small())
    rng = np.random.default_rng(SEED)
    cut = [data[:size] for size in rng.integers(0, len(data), count // 4).tolist()]
    return cut + [_flipped_members(np.random.default_rng([SEED, k])) for k in range(count - len(cut))]


def _flipped_members(rng: np.random.Generator) -> bytes:
    """The archive with one to three bytes of its files changed, of texts mostly."""
    files = nnef_models.small()
    names = sorted(files, key=lambda name: name.endswith(".dat"))
    for _ in range(int(rng.integers(1, 4))):
        name = names[int(rng.integers(0, 2 if rng.random() < 0.7 else len(names)))]
        damaged = bytearray(files[name])
        place = int(rng.integers(0, min(len(damaged), 200) if name.endswith(".dat") else len(damaged)))
        damaged[place] ^= 1 << int(rng.integers(0, 7)) if rng.random() < 0.7 else int(rng.integers(1, 256))
        files[name] = bytes(damaged)
    return nnef_models.tar(files)


def nnef_reports() -> int:
    """The faults of damaged archives of NNEF models."""
    pairs = list(nnef_edits.all_edited())
    files, names = [data for _, data in pairs], [what for what, _ in pairs]
    failed = report("edited fields of NNEF files", files, names, "damaged.tar")
    return failed + report("NNEF files", nnef_files(NNEF_CASES), name="damaged.tar")


def report(title: str, files: list[bytes], names: Iterable[str] | None = None, name: str = "damaged.tflite") -> int:
    """Judge the files, print what became of them, and return how many failed."""
    verdicts = damage.judge(files, jobs=os.cpu_count() or 1, name=name)
    known = list(names) if names else [f"case {k}" for k in range(len(files))]
    print(f"{title}: {dict(Counter(v.kind for v in verdicts))}")
    failed = damage.failures(verdicts)
    for verdict in failed[:20]:
        print(f"  {known[verdict.case]}\n{verdict.text}")
    return len(failed)


def onnx_reports() -> int:
    """Judge .onnx files that were cut or flipped, and those with single fields edited; how many failed."""
    pairs = list(onnx_damage.all_edited())
    files, names = [data for _, data in pairs], [what for what, _ in pairs]
    failed = report("edited fields of .onnx files", files, names, "damaged.onnx")
    return failed + report("damaged .onnx files", onnx_damage.damaged(ONNX_CASES), name="damaged.onnx")


def tflite_reports(every: int = EDITS_EVERY) -> int:
    """Judge .tflite files that were cut or flipped, and those with single fields edited; how many failed."""
    cut = damage.truncations(small_models.three_dense()) + damage.truncations(small_models.image_net())
    failed = report("truncations", cut) + report("byte flips", flipped_files(FLIPS))
    names, files = edited_files(every)
    return failed + report("edited fields", files, names)


def random_reports(first: int, count: int) -> int:
    """Judge damaged random models of these seeds; how many failed."""
    drawn = [mutants.draw(seed) for seed in range(first, first + count)]
    failed = 0
    for name in sorted({own for _, own, _ in drawn}):
        mine = [k for k, (_, own, _) in enumerate(drawn) if own == name]
        names = [f"seed {first + k}: {drawn[k][0]}" for k in mine]
        failed += report(f"damaged random {name}", [drawn[k][2] for k in mine], names, name)
    return failed


REPORTS = {
    "onnx": onnx_reports,
    "nnef": nnef_reports,
    "tflite": tflite_reports,
    "random": lambda: random_reports(today(), RANDOM_CASES),
}


def main() -> int:
    damage.CPU_SECONDS, damage.WALL_SECONDS, damage.MEMORY_BYTES = LIMITS
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("formats", nargs="*", default=list(REPORTS), metavar="FORMAT")
    parser.add_argument("--every", type=int, default=EDITS_EVERY, metavar="K")
    parser.add_argument("--count", type=int, default=RANDOM_CASES, help="damaged random models")
    parser.add_argument("--seed", type=int, default=today(), help="the first of them (default: by the date)")
    options = parser.parse_args()
    if unknown := set(options.formats) - REPORTS.keys():
        parser.error(f"no format is called {', '.join(sorted(unknown))}")
    reports = REPORTS | {"tflite": lambda: tflite_reports(options.every)}
    reports["random"] = lambda: random_reports(options.seed, options.count)
    return int(sum(reports[name]() for name in options.formats) > 0)


if __name__ == "__main__":
    sys.exit(main())
