"""Entry points by which installed packages extend mcugen, by group. A package that fails at import is named.

An object chosen by name (an export, an instruction set) is imported when it is chosen, and must work then. Operators
and kernel families are always imported; one whose import fails is left out, and each build prints a note of it.
"""

from __future__ import annotations

import functools
import sys
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from typing import Any

from mcugen.errors import UsageError


def installed(group: str) -> dict[str, EntryPoint]:
    """Name -> entry point of a group that users choose from, sorted by name; nothing is imported yet.

    Raises UsageError where two packages use one name.
    """
    found: dict[str, EntryPoint] = {}
    for entry in _sorted(group):
        other = found.setdefault(entry.name, entry)
        if other.value != entry.value:
            raise UsageError(
                f"two packages name an entry point {entry.name!r} in {group}: {other.value} and {entry.value}",
                hint="uninstall one of the two packages",
            )
    return found


def load(entry: EntryPoint) -> Any:
    """The object that an entry point names.

    Raises UsageError, with the package's name and what it raised, where its import fails or ends the program, or where
    it fails when it is asked for a name that it does not have.
    """
    try:
        found = entry.load()
        getattr(found, "absent", None)  # a module's own `__getattr__` may raise anything
        return found
    except (Exception, SystemExit) as error:
        package = f" of {entry.dist.name} {entry.dist.version}" if entry.dist is not None else ""
        raise UsageError(
            f"plugin {entry.name!r}{package} fails at import: {type(error).__name__}: {error}",
            where=f"{entry.group}: {entry.value}",
            hint="repair or uninstall that package",
        ) from error


def working(group: str) -> tuple[tuple[str, Any], ...]:
    """(name, object) of every entry point of a group that can be imported, sorted by name."""
    return _imported(group)[0]


def failures(group: str) -> tuple[str, ...]:
    """The import errors of the group's entry points that cannot be loaded; each names its package."""
    return _imported(group)[1]


@functools.cache
def _imported(group: str) -> tuple[tuple[tuple[str, Any], ...], tuple[str, ...]]:
    found: list[tuple[str, Any]] = []
    failed: list[str] = []
    for entry in _sorted(group):
        try:
            found.append((entry.name, load(entry)))
        except UsageError as error:
            failed.append(str(error))
    return tuple(found), tuple(failed)


def _sorted(group: str) -> list[EntryPoint]:
    return sorted(_installed(group, *sys.path), key=lambda entry: (entry.name, entry.value))


@functools.lru_cache(maxsize=32)
def _installed(group: str, *path: str) -> EntryPoints:
    """The entry points of a group of all packages in the folders of `sys.path`, whose metadata is read once."""
    return entry_points(group=group)
