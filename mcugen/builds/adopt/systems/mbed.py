"""Mbed: it compiles every source below mbed_app.json, except paths that .mbedignore lists."""

from __future__ import annotations

from collections.abc import Sequence

from mcugen.builds.adopt.build_files import LIBRARY, Edits, ModelCode
from mcugen.builds.adopt.patch_text import LineEdit, lines_of
from mcugen.builds.adopt.tree import FirmwareTree

_SIGNS = ("mbed_app.json", "mbed_app.json5", "mbed-os.lib")


def claims(tree: FirmwareTree, folder: str, sources: Sequence[str]) -> bool:
    return any(folder + sign in tree.known for sign in _SIGNS)


def lines(tree: FirmwareTree, folder: str, sources: Sequence[str], code: ModelCode) -> Edits:
    """Edits that add the interpreter's folders to .mbedignore, and `tensorflow`, which builds may copy there later."""
    path = f"{folder}.mbedignore"
    if code.keeps_library:
        return {}
    below = {name.removeprefix(folder).split("/")[0] for name in tree.paths if name.startswith(folder)}
    patterns = [f"{name}/*".encode() for name in sorted({"tensorflow", *filter(LIBRARY.fullmatch, below)})]
    rows = lines_of(tree.read(path)) if path in tree.known else []
    known = {row.strip() for row in rows}
    new = tuple(pattern for pattern in patterns if pattern not in known)
    return {path: [LineEdit(len(rows), 0, new)]} if new else {}
