# SPDX-License-Identifier: Apache-2.0
"""Builds every model of a collection for half of the cores and looks for names that C99 need not keep apart.

usage: python -m tests.emit.name_sweep FOLDER
Each model is built with a prefix made from its folder's name, for the one half of the cores and the other in turn.
Prints each external name of over 31 characters and each of a file of over 63, and ends with exit status 1 where there
is one.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import mcugen
from mcugen.boards import target
from mcugen.emit.bundle import MAX_NAME
from mcugen.errors import McugenError
from mcugen.options import c_name_from

_PRESETS = ("speed", "balanced", "ram", "flash")
_HIDDEN = re.compile(
    r'/\*.*?\*/|"(?:\\.|[^"\\])*"|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*|\bMG_DECLARE_\w+', re.DOTALL | re.MULTILINE
)
_TYPE = re.compile(r"}\s*\w+\s*;|\btypedef\b[^;{]*;")
_NAMED = re.compile(rf"\b([A-Za-z_]\w{{{MAX_NAME},}})\s*(?:\(|(?:\[[^\]\n]*\]\s*)*[=;])")
_OWN = re.compile(r"^static\b[^;={}(]*?\b(\w+)\s*[(\[=;]", re.MULTILINE)
_MACRO = re.compile(r"^#define (\w+)", re.MULTILINE)
_MAX_OWN = 63
"""Characters that C99 keeps apart in a name of one file (5.2.4.1)."""


def long_names(files: Mapping[str, bytes]) -> Iterator[str]:
    """Functions and objects of over 31 characters that C files define or declare, those of one file of over 63; as
    "file: name".
    """
    texts = {
        file: _TYPE.sub(";", _HIDDEN.sub(" ", content.decode()))
        for file, content in files.items()
        if file.endswith((".c", ".h"))
    }
    own = {name for text in texts.values() for name in _OWN.findall(text)}
    own |= {name for file in texts for name in _MACRO.findall(files[file].decode())}
    for file, text in texts.items():
        found = {name for name in _NAMED.findall(text) if name not in own or len(name) > _MAX_OWN}
        yield from sorted(f"{file}: {name}" for name in found)


def main(root: Path) -> int:
    cores = [b.name for b in map(target.load, target.names()) if b.core == b.name and b.emulators]
    builds = failed = 0
    for k, model in enumerate(sorted(p for p in root.rglob("model.*") if p.suffix in (".tflite", ".onnx"))):
        for j, core in enumerate(cores[k % 2 :: 2]):
            name = c_name_from(model.parent.name)
            try:
                made = mcugen.compile(model, board=core, optimize=_PRESETS[(k // 2 + j) % len(_PRESETS)], name=name)
            except McugenError as error:
                print(f"{model} {core}: refused: {error}")
                continue
            builds += 1
            found = list(long_names(made.files))
            failed += bool(found)
            for line in found:
                print(f"{model} {core}: {line}", flush=True)
    print(f"{builds:,} builds, {failed:,} with a long name")
    return int(bool(failed or not builds))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
