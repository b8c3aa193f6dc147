# SPDX-License-Identifier: Apache-2.0
"""Extra script of PlatformIO: the flatbuffers in ESPHome's main.cpp give way to builds with `--export tflm`.

ESPHome writes each model as `static const uint8_t NAME[] PROGMEM = {...}`, which has no name for the linker. Every
array whose SHA-256 is that of a build in a folder `mcugen/` of the project becomes a reference to the build's record,
the first `--symbol` of the build. Other arrays stay as they are. docs/tflm.md has the lines of the YAML file.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ARRAY = re.compile(r"static const uint8_t (\w+)\[\] PROGMEM = \{([\s0-9A-Fa-fxX,]*)\};")
SYMBOL = re.compile(r"^MCUGEN_TFLM_NAME\((\w+), mcugen_tflm_\w+\)", re.MULTILINE)
ARENA = re.compile(r"the tensor arena of \w+ needs (\d+) bytes")


def symbols_of(folders: Sequence[Path]) -> dict[str, str]:
    """The variable that stands for each flatbuffer, by the SHA-256 of the flatbuffer. Folders: one of each build."""
    found = {}
    for folder in folders:
        (source,) = folder.glob("*_tflm.cc")
        symbol = SYMBOL.search(source.read_text())
        if symbol is None:
            raise SystemExit(f"{folder}: build the model with --symbol NAME, a name that the firmware does not have")
        found[json.loads((folder / "report.json").read_text())["sha256"]] = symbol[1]
    return found


def swapped(text: str, symbols: Mapping[str, str]) -> str:
    """The text of main.cpp with a reference in place of each array that was built."""

    def replaced(array: re.Match[str]) -> str:
        data = bytes(int(number, 0) for number in array[2].replace(",", " ").split())
        symbol = symbols.get(hashlib.sha256(data).hexdigest())
        if symbol is None:
            return array[0]
        return f"extern const uint8_t {symbol}[];\nstatic const uint8_t *const {array[1]} = {symbol};"

    return ARRAY.sub(replaced, text)


def arenas(manifest: Path, folder: Path) -> tuple[int, int]:
    """Bytes of the tensor arena that a manifest of microWakeWord asks for, and that the build needs."""
    asked = json.loads(manifest.read_text())["micro"]["tensor_arena_size"]
    needed = ARENA.search((folder / "README-tflm.md").read_text())
    if needed is None:
        raise SystemExit(f"{folder}: no build with --export tflm")
    return asked, int(needed[1])


def main(env: Any) -> None:
    """Change main.cpp of a project before it is compiled, and compile the builds beside it."""
    project = Path(env.subst("$PROJECT_DIR"))
    folders = sorted(path.parent for path in project.glob("mcugen/*/report.json"))
    source = project / "src" / "main.cpp"
    source.write_text(swapped(source.read_text(), symbols_of(folders)))
    for folder in folders:
        env.Prepend(CPPPATH=[str(folder)])
        env.BuildSources(f"$BUILD_DIR/mcugen/{folder.name}", str(folder), "-<examples>")


if "Import" in globals():  # only PlatformIO defines it
    Import("env")  # type: ignore[name-defined]  # noqa: F821
    main(env)  # type: ignore[name-defined]  # noqa: F821
