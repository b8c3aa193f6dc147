"""Strict reading of TOML files. Every key is checked. An error names the key; an unknown key is an error."""

from __future__ import annotations

import functools
import math
import re
import tomllib
from pathlib import Path
from typing import Any

from mcugen.errors import UsageError
from mcugen.system import files

_MAX_BYTES = 1 << 20
_IDENTIFIER = re.compile(r"[a-z][a-z0-9_]*\Z")


def read(path: Path, manual: str) -> TomlTable:
    """The top table of a TOML file. manual: the sentence that errors give as a hint.

    Raises UsageError if the file cannot be read or is not TOML.
    """
    try:
        values = _parsed(files.read(path, _MAX_BYTES).decode("utf-8"))
    except ValueError as e:  # not UTF-8, or not TOML
        raise UsageError(f"not a TOML file: {e}", where=str(path), hint=manual) from e
    return TomlTable(path, "", values, manual)


@functools.lru_cache(maxsize=128)
def _parsed(text: str) -> dict[str, Any]:
    """The values of a TOML file, cached by its text. Callers must not change them: boards share files."""
    return tomllib.loads(text)


class TomlTable:
    """A TOML table that records which keys were read."""

    def __init__(self, path: Path, prefix: str, values: dict[str, Any], manual: str) -> None:
        self._path = path
        self._manual = manual
        self._prefix = prefix
        self._values = values
        self._read: set[str] = set()

    def has(self, key: str) -> bool:
        """Whether the key is present."""
        return key in self._values

    def names(self) -> tuple[str, ...]:
        """The keys present, in the file's order."""
        return tuple(self._values)

    def string(self, key: str, *, empty: bool = False) -> str:
        """A text. It may be empty only if `empty` is true."""
        value = self._get(key)
        if not isinstance(value, str) or not (value or empty):
            raise self.error(key, value, "a text" if empty else "a text that is not empty")
        return value

    def identifier(self, key: str) -> str:
        """A lower-case word that may become a C or linker name."""
        value = self.string(key)
        if not _IDENTIFIER.match(value):
            raise self.error(key, value, "a lower-case name of letters, digits and _")
        return value

    def choice(self, key: str, allowed: frozenset[str]) -> str:
        """A word out of `allowed`."""
        value = self.string(key)
        if value not in allowed:
            raise self.error(key, value, f"one of {', '.join(sorted(allowed))}")
        return value

    def integer(self, key: str, *, low: int, high: int = 2**63) -> int:
        """An integer in low..high."""
        value = self._get(key)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise self.error(key, value, f"an integer in {low}..{high}")
        return value

    def number(self, key: str, *, low: float, high: float = math.inf) -> float:
        """An integer or a float in low..high."""
        value = self._get(key)
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not low <= value <= high:
            raise self.error(key, value, f"a number in {low:g}..{high:g}")
        return float(value)

    def numbers(self, key: str, count: int) -> tuple[float, ...]:
        """A list of `count` numbers."""
        value = self._get(key)
        if not isinstance(value, list) or len(value) != count or {type(v) for v in value} - {int, float}:
            raise self.error(key, value, f"a list of {count} numbers")
        return tuple(map(float, value))

    def boolean(self, key: str) -> bool:
        """true or false."""
        value = self._get(key)
        if not isinstance(value, bool):
            raise self.error(key, value, "true or false")
        return value

    def strings(self, key: str, allowed: frozenset[str] | None = None) -> tuple[str, ...]:
        """A list of texts. If `allowed` is given, each must be in it."""
        value = self._get(key)
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise self.error(key, value, "a list of texts")
        for v in value:
            if allowed is not None and v not in allowed:
                raise self.error(key, v, f"one of {', '.join(sorted(allowed))}")
        return tuple(value)

    def table(self, key: str) -> TomlTable:
        """A sub-table."""
        value = self._get(key)
        if not isinstance(value, dict):
            raise self.error(key, value, "a table")
        return TomlTable(self._path, f"{self._prefix}{key}.", value, self._manual)

    def tables(self, key: str) -> tuple[TomlTable, ...]:
        """A list of tables, `[[key]]` in the file."""
        value = self._get(key)
        if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
            raise self.error(key, value, f"at least one [[{self._prefix}{key}]] table")
        return tuple(TomlTable(self._path, f"{self._prefix}{key}[{i}].", v, self._manual) for i, v in enumerate(value))

    def refuse_unread(self) -> None:
        """Raise UsageError for a key that was never read. A misspelt key must not count as a missing one."""
        for key in self._values:
            if key not in self._read:
                known = ", ".join(sorted(self._read))
                name = f"{self._prefix}{key}"
                message = f"{name} is not a known key (known: {known})"
                raise UsageError(message, where=str(self._path), hint=self._manual)

    def error(self, key: str, value: object, expected: str) -> UsageError:
        """The error for a wrong value. It gives the file, the key, the value and what was expected."""
        shown = "nothing" if value is None else repr(value)
        return UsageError(
            f"{self._prefix}{key} is {shown}, expected {expected}",
            where=str(self._path),
            hint=self._manual,
        )

    def _get(self, key: str) -> object:
        self._read.add(key)
        return self._values.get(key)
