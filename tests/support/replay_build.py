# SPDX-License-Identifier: Apache-2.0
"""Builds one model for many targets with the mcugen on the module path, which may be an older one: run as a program.

usage: python replay_build.py MODEL OUT [CORE PRESET]...     (OUT.json gets a record of each; see `record`)
With one core and preset, OUT is also the folder that the emitted files are written to.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import mcugen
from mcugen.errors import McugenError

NAME = "model"


def record(model: Path, core: str, preset: str, folder: Path | None = None) -> dict[str, Any]:
    """A build's files as hashes and what it costs, or the error with which it is refused."""
    try:
        made = mcugen.compile(model, board=core, optimize=preset, name=NAME)
    except McugenError as error:
        return {"core": core, "preset": preset, "refused": f"{type(error).__name__}: {error}"}
    files = {name: content.encode() if isinstance(content, str) else content for name, content in made.files.items()}
    if folder is not None:
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
    cycles = made.report.cycles
    return {
        "core": core,
        "preset": preset,
        "files": {name: hashlib.sha256(content).hexdigest() for name, content in sorted(files.items())},
        "RAM": made.report.ram_bytes,
        "constants": made.report.weights_bytes,
        "cycles": None if cycles is None else (cycles.low + cycles.high) // 2,
    }


def main(arguments: list[str]) -> None:
    model, out, asked = Path(arguments[0]), Path(arguments[1]), arguments[2:]
    pairs = list(zip(asked[::2], asked[1::2], strict=True))
    records = [record(model, core, preset, out if len(pairs) == 1 else None) for core, preset in pairs]
    out.with_suffix(".json").write_text(json.dumps(records), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
