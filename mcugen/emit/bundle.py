"""Which runtime files a model needs: its kernels, and the headers they include."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from mcugen import resources
from mcugen.errors import InternalError

_INCLUDE = re.compile(rb'^#include "mcugen/([\w./]+)"$', re.MULTILINE)


def runtime_files(kernels: Iterable[str], headers: Iterable[str]) -> dict[str, bytes]:
    """Path in the output folder -> content, for kernel sources, their headers and everything those include."""
    root = resources.c_runtime()
    files = {f"kernels/{Path(name).name}": _read(root / "src" / name) for name in kernels}
    wanted = ["runtime.h", *headers, *(h for text in files.values() for h in includes(text))]
    seen: dict[str, bytes] = {}
    while wanted:
        header = wanted.pop()
        if header not in seen:
            seen[header] = _read(root / "include" / "mcugen" / header)
            wanted += includes(seen[header])
    return files | {f"mcugen/{name}": seen[name] for name in sorted(seen)}


def includes(text: bytes) -> list[str]:
    """The runtime headers a source names, without the folder."""
    return [name.decode() for name in _INCLUDE.findall(text)]


def _read(path: Path) -> bytes:
    if not path.is_file():
        raise InternalError(f"the runtime file {path.name} is missing")
    return path.read_bytes()
