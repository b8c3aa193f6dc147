"""Models in formats that mcugen does not read: their kinds, and recipes that convert them to a format that it reads.

kinds.toml lists the kinds; the first that fits is taken. A file is only looked at, never unpacked, loaded or run.
"""

from __future__ import annotations

import fnmatch
import functools
import io
import re
import tomllib
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcugen.errors import UsageError

_FILE, _STEM = "FILE", "STEM"
_MAX_MEMBERS = 1 << 14
_TEXT = 4096


@dataclass(frozen=True)
class Kind:
    """A format, recognised by the content: all of `magic`, `members` and `text` that are given must fit. If no kind's
    content fits, the suffix decides.

    title     the format's name for users
    magic     bytes at `offset`
    members   patterns of names in a zip archive or a folder; each must match a name
    text      a regular expression that the beginning of a text matches
    recipe    what to do: lines of Python or of a shell; FILE is the file's name, STEM the name without its suffix
    needs     packages that pip must install for the recipe, for its test
    makes     Python that makes such a file, for the test of the recipe
    """

    title: str
    recipe: str
    suffixes: tuple[str, ...] = ()
    magic: bytes = b""
    offset: int = 0
    members: tuple[str, ...] = ()
    text: str = ""
    needs: str = ""
    makes: str = ""

    def has(self, data: bytes, names: Sequence[str]) -> bool:
        """Whether a file's content is of this kind. names: the members of an archive or folder."""
        if not (self.magic or self.members or self.text):
            return False
        if self.magic and data[self.offset : self.offset + len(self.magic)] != self.magic:
            return False
        if self.members and not all(fnmatch.filter(names, pattern) for pattern in self.members):
            return False
        return not self.text or re.match(self.text.encode(), data[:_TEXT]) is not None

    def refusal(self, path: Path) -> UsageError:
        """The error for a file of this kind, with its recipe."""
        name = self._own_name(path)
        lines = self.recipe.strip().replace(_FILE, name).replace(_STEM, Path(name).stem).splitlines()
        if name != path.name:
            lines[0] = f"rename it to {name!r}, as other tools go by the name; {lines[0]}"
        first = f"{lines[0]}\n" if lines[0].endswith(":") else f"convert it to one that mcugen reads:\n    {lines[0]}\n"
        hint = first + "\n".join(f"    {line}".rstrip() for line in lines[1:])
        return UsageError(f"is {self.title}, which mcugen does not read", where=path.name, hint=hint.rstrip())

    def is_named(self, path: Path) -> bool:
        """Whether a file's name has this kind's suffix."""
        return any(f".{path.name.lower()}".endswith(f".{suffix}") for suffix in self.suffixes)

    def _own_name(self, path: Path) -> str:
        """The name that the file should have, so that its own tools accept it and the recipe does not overwrite it."""
        return path.name if not self.suffixes or self.is_named(path) else f"{path.stem}.{self.suffixes[0]}"


@functools.cache
def kinds() -> tuple[Kind, ...]:
    """All kinds, in the order in which they are tried."""
    listed = tomllib.loads((Path(__file__).parent / "kinds.toml").read_text(encoding="utf-8"))["kind"]
    return tuple(_kind(item) for item in listed)


def _kind(item: dict[str, Any]) -> Kind:
    lists = {key: tuple(item.get(key, ())) for key in ("suffixes", "members")}
    return Kind(**{**item, **lists, "magic": bytes.fromhex(item.get("magic", ""))})


def of(path: Path, data: bytes, *, by_suffix: bool) -> Kind | None:
    """The kind of a file or a folder; None if it is unknown. by_suffix: whether the name may decide."""
    names = _names(path, data)
    known = [kind for kind in kinds() if kind.has(data, names)]
    if by_suffix:
        known += [kind for kind in kinds() if kind.is_named(path)]
    return known[0] if known else None


def _names(path: Path, data: bytes) -> list[str]:
    """The names in an archive or a folder; empty for other files."""
    if path.is_dir():
        return [f"{entry.name}/" if entry.is_dir() else entry.name for entry in path.iterdir()]
    if not data.startswith(b"PK"):
        return []
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return archive.namelist()[:_MAX_MEMBERS]
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, UnicodeDecodeError):
        return []
