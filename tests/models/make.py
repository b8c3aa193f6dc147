# SPDX-License-Identifier: Apache-2.0
"""Makes the test models of this folder: `python tests/models/make.py` writes the same bytes each time.

With `--check` it writes nothing and fails if a file differs from what it would write.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.models import cases_math, cases_mixed, cases_movement, cases_windows
from tests.models.family import Family

FOLDER = Path(__file__).resolve().parent


def models() -> Iterator[tuple[str, bytes]]:
    """Yields (name, file) of every test model."""
    for module in (cases_windows, cases_math, cases_movement, cases_mixed):
        for dtype, op, cases in module.FAMILIES:
            family = Family(f"{dtype}_{op}", dtype)
            cases(family)
            yield family.name, family.build()


def main(arguments: list[str]) -> int:
    """Writes the models, or compares them with `--check`; the exit status is the number of stale files."""
    stale = []
    for name, data in models():
        path = FOLDER / f"{name}.tflite"
        if not path.exists() or path.read_bytes() != data:
            stale.append(path.name)
            if "--check" not in arguments:
                path.write_bytes(data)
    print(f"{len(stale)} changed: {' '.join(stale)}" if stale else "all models are up to date")
    return len(stale) if "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
