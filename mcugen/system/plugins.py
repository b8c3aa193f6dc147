"""Entry points by which installed packages extend mcugen. Each belongs to a group, such as exports.

An export or instruction set is imported when the user chooses it by name, and an import error ends the command.
Operators and kernel families are always imported. If one fails at import it is left out, and each build prints a note
that names its package.
"""

from __future__ import annotations

import functools
import sys
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from typing import Any

from mcugen.errors import UsageError


def installed(group: str) -> dict[str, EntryPoint]:
    """Name -> entry point of a group that users choose from, sorted by name. Nothing is imported.

    Raises UsageError if two packages use one name.
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

    Raises UsageError if the import fails or ends the program, or if looking up an unknown attribute raises anything but
    AttributeError. The error gives the package and its message.
    """
    try:
        found = entry.load()
        getattr(found, "absent", None)  # a module may define `__getattr__`, which may raise anything
        return found
    except (Exception, SystemExit) as error:
        package = f" of {entry.dist.name} {entry.dist.version}" if entry.dist is not None else ""
        raise UsageError(
            f"plugin {entry.name!r}{package} fails at import: {type(error).__name__}: {error}",
            where=f"{entry.group}: {entry.value}",
            hint="repair or uninstall the package",
        ) from error


def working(group: str) -> tuple[tuple[str, Any], ...]:
    """(name, object) of every entry point of a group that can be imported, sorted by name."""
    return _imported(group)[0]


def failures(group: str) -> tuple[str, ...]:
    """Import errors of a group's entry points, one text per entry point. Each names the package."""
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
    """The entry points of a group in all packages on `path`, the cache key: metadata is read once per path."""
    return entry_points(group=group)
