# SPDX-License-Identifier: Apache-2.0
"""Builds models with the mcugen on the module path, which may be an older one: it uses the public interface alone.

usage: python replay_build.py REQUEST.json RECORDS.json
The request: {"builds": [{"model", "board", "preset", "backend"}], "store": a folder, or "" to keep no file}.
The records are in the order of the builds; see `record`.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import mcugen

NAME = "model"


def record(build: dict[str, str], store: Path | None) -> dict[str, Any]:
    """A build's files as hashes and what it costs, or the error with which it is refused.

    store: the folder that gets every file, under its hash.
    """
    try:
        made = mcugen.compile(
            build["model"], board=build["board"], optimize=build["preset"], backend=build["backend"], name=NAME
        )
    except mcugen.McugenError as error:
        return {"refused": f"{type(error).__name__}: {error}"}
    except Exception as error:  # a defect of one checkout, which the other need not have
        return {"refused": f"broken off by {type(error).__name__}: {error}"}
    contents = {name: content.encode() if isinstance(content, str) else content for name, content in made.files.items()}
    files = {name: hashlib.sha256(content).hexdigest() for name, content in sorted(contents.items())}
    if store is not None:
        store.mkdir(parents=True, exist_ok=True)
        for name, digest in files.items():
            if not (store / digest).is_file():
                part = store / f"{digest}.{NAME}"
                part.write_bytes(contents[name])
                part.replace(store / digest)
    report = json.loads(contents["report.json"])
    cycles = report["cycles"]
    return {
        "files": files,
        "RAM": report["ram_bytes"],
        "constants": report["weights_bytes"],
        "cycles": None if cycles is None else (cycles["low"] + cycles["high"]) // 2,
    }


def main(request: str, records: str) -> None:
    asked = json.loads(Path(request).read_text(encoding="utf-8"))
    store = Path(asked["store"]) if asked["store"] else None
    Path(records).write_text(json.dumps([record(build, store) for build in asked["builds"]]), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
