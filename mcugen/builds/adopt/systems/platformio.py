"""PlatformIO: adds a source filter and an include folder, and removes the library from lib_deps."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from mcugen.builds.adopt.build_files import LIBRARY, Edits, ModelCode
from mcugen.builds.adopt.patch_text import LineEdit
from mcugen.builds.adopt.tree import FirmwareTree

EMBEDS = "platformio.ini"


def claims(tree: FirmwareTree, folder: str, sources: Sequence[str]) -> bool:
    path = f"{folder}platformio.ini"
    return path in tree.known and "\n[env" in "\n" + tree.text(path)


def lines(tree: FirmwareTree, folder: str, sources: Sequence[str], code: ModelCode) -> Edits:
    path = f"{folder}platformio.ini"
    rows = tree.text(path).splitlines()
    libraries = f"{folder}lib/"
    folders = {name.removeprefix(libraries).split("/")[0] for name in tree.paths if name.startswith(libraries)}
    ignored = [] if code.keeps_library else sorted(name for name in folders if LIBRARY.fullmatch(name))
    wanted = {"build_flags": [f"-I{code.folder}", "-ffp-contract=off"], "build_src_filter": [f"+<../{code.folder}/>"]}
    wanted |= {"lib_ignore": ignored} if ignored else {}
    edits: list[LineEdit] = []
    sections = [k for k, row in enumerate(rows) if row.startswith("[")]
    common = next((k for k in sections if rows[k].startswith("[env]")), None)
    for k, first in enumerate(sections):
        last = sections[k + 1] if k + 1 < len(sections) else len(rows)
        if rows[first].startswith("[env:"):
            edits += _section(rows, first, last, wanted, _options(rows, common, sections))
    gone = [] if code.keeps_library else [k for k, row in enumerate(rows) if _is_dependency(row)]
    return {path: [*edits, *(LineEdit(k, 1, ()) for k in gone), *_not_embedded(rows, code)]}


def _not_embedded(rows: Sequence[str], code: ModelCode) -> Iterator[LineEdit]:
    """Edits that remove the models from board_build.embed_files."""
    in_list = False
    for k, row in enumerate(rows):
        is_option = re.match(r"[\w.]+\s*=|\[", row)
        in_list = bool(re.match(r"board_build\.embed_(?:txt)?files\s*=", row)) if is_option else in_list
        words = row.split("=", 1)[-1].split() if in_list else []
        kept = [word for word in words if PurePosixPath(word.strip(",")).name not in code.embedded]
        if kept != words:
            head = row.split("=", 1)[0] + "=" if is_option else "   "
            new = (f"{head} {' '.join(kept)}".rstrip().encode("latin-1"),)
            yield LineEdit(k, 1, new if kept or is_option else ())


def _options(rows: Sequence[str], start: int | None, sections: Sequence[int]) -> set[str]:
    """Names of the options that the section [env] sets for all environments."""
    if start is None:
        return set()
    end = next((k for k in sections if k > start), len(rows))
    return {row.split("=")[0].strip() for row in rows[start:end] if "=" in row and row[:1].strip()}


def _section(
    rows: Sequence[str], first: int, last: int, wanted: dict[str, list[str]], common: set[str]
) -> list[LineEdit]:
    """Edits that add values to options of one environment, or add the option if the environment does not set it."""
    edits, own = list[LineEdit](), list[str]()
    for name, values in wanted.items():
        at = next((k for k in range(first, last) if re.match(rf"{name}\s*=", rows[k])), None)
        if at is not None:
            edits.append(LineEdit(at + 1, 0, tuple(f"    {value}".encode() for value in values)))
            continue
        inherited = [f"${{env.{name}}}"] if name in common else ["+<*>"] if name == "build_src_filter" else []
        own += [f"{name} =", *(f"    {value}" for value in (*inherited, *values))]
    return [LineEdit(first + 1, 0, tuple(row.encode() for row in own)), *edits] if own else edits


def _is_dependency(row: str) -> bool:
    """Whether a line under lib_deps names the library, as `owner/name @ version` or by its URL."""
    entry = re.match(r"[ \t]+(?:https?://)?([^\s@#]+?)(?:\.git)?(?=[\s@#]|$)", row)
    return entry is not None and "=" not in row.split("@")[0] and LIBRARY.fullmatch(entry[1]) is not None
