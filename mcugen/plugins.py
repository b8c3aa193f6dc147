"""Entry points: what installed packages add to mcugen, by group. A package that fails at import is named."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Any

from mcugen.errors import UsageError


def installed(group: str) -> dict[str, EntryPoint]:
    """Name -> entry point of a group, sorted by name; nothing is imported yet.

    Raises UsageError where two packages use one name.
    """
    found: dict[str, EntryPoint] = {}
    for entry in sorted(entry_points(group=group), key=lambda entry: (entry.name, entry.value)):
        other = found.setdefault(entry.name, entry)
        if other.value != entry.value:
            raise UsageError(
                f"two packages name an entry point {entry.name!r} in {group}: {other.value} and {entry.value}",
                hint="uninstall one of the two packages",
            )
    return found


def load(entry: EntryPoint) -> Any:
    """The object that an entry point names.

    Raises UsageError, with the package's name and what it raised, where its import fails or ends the program.
    """
    try:
        return entry.load()
    except (Exception, SystemExit) as error:
        package = f" of {entry.dist.name} {entry.dist.version}" if entry.dist is not None else ""
        raise UsageError(
            f"plugin {entry.name!r}{package} fails at import: {type(error).__name__}: {error}",
            where=f"{entry.group}: {entry.value}",
            hint="repair or uninstall that package",
        ) from error
