"""How many bytes of code a kernel adds to an image: measured by ci/fit, kept in code_sizes.json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources as package_files

from mcugen.kernel import Kernel

TABLE = "code_sizes.json"
_UNKNOWN_BYTES = 1024
"""Of a kernel that was not measured, as one from outside."""


def code_bytes(kernel: Kernel, core: str) -> int:
    """Bytes of code and constants of a kernel's functions at -O2; the mean of its copies, where it has some."""
    if not kernel.has_code:
        return 0
    return _table().get(core, {}).get(kernel.symbol, _UNKNOWN_BYTES)


@cache
def _table() -> Mapping[str, Mapping[str, int]]:
    file = package_files.files("mcugen.select") / TABLE
    data = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return {core: data.get(table, {}) if isinstance(table, str) else table for core, table in data.items()}
