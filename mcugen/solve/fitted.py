"""Reader of the measurements of `ci/fit`: costs/<core>.json in each folder of kernels, one row for each kernel.

A row holds the bytes of the kernel's code and, per term, three coefficients of `solve/costs.py`: instructions, least
cycles and most cycles. A file may hold just the name of another core, whose file is then used.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from mcugen import kernels
from mcugen.errors import UsageError
from mcugen.formats import registry
from mcugen.ir.kernel import Kernel

FOLDER = "costs"
CODE = "code"
COMMON = (
    *("macs", "outputs", "inputs", "bytes", "pixels", "patches", "rest", "odd", "runs"),
    *("calls", "once", "events", "converted"),
)
"""Terms that every kernel has; see `solve/costs.py`."""


@dataclass(frozen=True)
class FittedCost:
    """Measured cost of a kernel on a core. terms: name -> instructions, least cycles and most cycles per unit of the
    term.
    """

    code_bytes: int
    terms: Mapping[str, tuple[float, float, float]]


@cache
def rows(core: str) -> Mapping[str, FittedCost]:
    """Symbol -> row on a core. Raises UsageError for a row with a term that the kernel does not state."""
    return {symbol: row for folder, found in places() for symbol, row in read(folder, found, core).items()}


def places() -> list[tuple[Path, tuple[Kernel, ...]]]:
    """The folders with rows, and the kernels defined in them."""
    return kernels.places(dict.fromkeys((*registry.load().ops, *registry.own())))


def read(folder: Path, found: Iterable[Kernel], core: str) -> dict[str, FittedCost]:
    """The measured costs of the kernels of a folder on a core; empty if the folder has no file for that core."""
    path = folder / FOLDER / f"{core}.json"
    if not path.is_file():
        return {}
    table: dict[str, dict[str, Any]] | str = json.loads(path.read_text(encoding="utf-8"))
    if isinstance(table, str):
        return read(folder, found, table)
    stated: dict[str, set[str]] = {}
    for kernel in found:
        stated.setdefault(kernel.symbol, {CODE, *COMMON}).update(kernel.cost.terms)
    for symbol, row in table.items():
        for name in row.keys() - stated.get(symbol, set()):
            what = f"states no {name!r}" if symbol in stated else "is not among the kernels there"
            raise UsageError(f"{symbol} {what}", where=str(path), hint="run ci/fit again, or name it in Kernel.terms")
    return {
        symbol: FittedCost(row[CODE], {name: tuple(of) for name, of in row.items() if name != CODE})
        for symbol, row in table.items()
    }
