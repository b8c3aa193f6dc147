# SPDX-License-Identifier: Apache-2.0
"""Compares the objects of two builds: equal but for the hashes in the names of kernels.

A kernel's name ends in a hash of its text, comments included. In its place stands here a digest of the object that
defines the name, so that two kernels exchanged are still a difference.
"""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_HASH = re.compile(r"(?<=[a-z0-9]_)[0-9a-f]{6}(?![a-zA-Z0-9])")
_SYMBOLS, _RELA, _EMPTY, _REL = 2, 4, 8, 9
_LOADED = 2
_SECTION, _FILE = 3, 4
_UNDEFINED, _RESERVED = 0, 0xFF00


@dataclass(frozen=True)
class Object:
    """The parts of an object file that linkers read.

    sections: name, type, flags, size and hash of the content of those that are loaded; relocations: section, offset,
    type, addend and symbol; symbols: name, section, value, size, kind and binding.
    """

    sections: Sequence[Sequence[Any]]
    relocations: Sequence[Sequence[Any]]
    symbols: Sequence[Sequence[Any]]

    def exports(self) -> Iterator[str]:
        """The names that other objects may use."""
        return (name for name, section, *_, kind in self.symbols if section and kind >> 4)

    def digest(self, names: dict[str, str] | None = None) -> str:
        """A hash of all, with hashes in the names that it defines left out. names: what to write for these names."""

        def plain(name: str) -> str:
            base = name.partition("+")[0]
            return (names or {}).get(name) or (_HASH.sub("", name) if names is None or base in own else name)

        own = {*(name for name, section, *_ in self.symbols if section), *(name for name, *_ in self.sections)}
        rows = [
            sorted([plain(name), *rest] for name, *rest in self.sections),
            sorted([plain(section), *rest, plain(name)] for section, *rest, name in self.relocations),
            sorted([plain(name), plain(section), *rest] for name, section, *rest in self.symbols),
        ]
        return hashlib.sha256(repr(rows).encode()).hexdigest()


def digests(objects: Iterable[Object]) -> list[str]:
    """Sorted digests of the objects of a build, in which each name with a hash has the digest of what it names."""
    objects = list(objects)
    names = {
        name: f"{_HASH.sub('', name)}#{item.digest()}"
        for item in objects
        for name in item.exports()
        if _HASH.search(name)
    }
    return sorted(item.digest(names) for item in objects)


def numbered(text: str, source: str) -> str:
    """A text in which each hash in a name that a source has too is a number, in the order of the source."""
    numbers: dict[str, str] = {}
    for found in _HASH.findall(source):
        numbers.setdefault(found, str(len(numbers)))
    return _HASH.sub(lambda found: numbers.get(found[0], found[0]), text)


@dataclass(frozen=True)
class _Layout:
    """The structures of one class of ELF. symbol: where name, value, size, kind and section stand in a symbol."""

    header: struct.Struct
    section: struct.Struct
    symbols: struct.Struct
    symbol: tuple[int, int, int, int, int]
    relocations: dict[int, struct.Struct]
    shift: int


_LAYOUTS = {
    1: _Layout(
        struct.Struct("<16sHHIIIIIHHHHHH"), struct.Struct("<10I"), struct.Struct("<IIIBBH"), (0, 1, 2, 3, 5),
        {_REL: struct.Struct("<II"), _RELA: struct.Struct("<IIi")}, 8,
    ),
    2: _Layout(
        struct.Struct("<16sHHIQQQIHHHHHH"), struct.Struct("<IIQQQQIIQQ"), struct.Struct("<IBBHQQ"), (0, 4, 5, 1, 3),
        {_REL: struct.Struct("<QQ"), _RELA: struct.Struct("<QQq")}, 32,
    ),
}  # fmt: skip


def read(path: Path) -> Object:
    """The facts of a little-endian object file.

    Source: Tool Interface Standard, Executable and Linking Format, version 1.2; System V ABI, chapter 4, for 64 bits.
    """
    data = path.read_bytes()
    layout = _LAYOUTS[data[4]]
    header = layout.header.unpack_from(data)
    rows = [layout.section.unpack_from(data, header[6] + k * layout.section.size) for k in range(header[12])]
    names = [_text(_content(data, rows[header[13]]), row[0]) for row in rows]
    symbols: list[tuple[str, str, int, int, int]] = []
    for row in (row for row in rows if row[1] == _SYMBOLS):
        strings = _content(data, rows[row[6]])
        symbols = [_symbol(layout, entry, strings, names) for entry in layout.symbols.iter_unpack(_content(data, row))]
    loaded = [k for k, row in enumerate(rows) if row[2] & _LOADED]
    sections = [(names[k], *rows[k][1:3], rows[k][5], _digest(_content(data, rows[k]))) for k in loaded]
    relocations = [
        (
            names[row[7]],
            entry[0],
            entry[1] & ((1 << layout.shift) - 1),
            sum(entry[2:]),
            symbols[entry[1] >> layout.shift],
        )
        for row in rows
        if row[1] in layout.relocations and row[7] in loaded
        for entry in layout.relocations[row[1]].iter_unpack(_content(data, row))
    ]
    return Object(
        sections,
        [(*row, symbol[0] or f"{symbol[1]}+{symbol[2]}") for *row, symbol in relocations],
        [symbol for symbol in symbols if symbol[0]],
    )


def _symbol(
    layout: _Layout, entry: Sequence[int], strings: bytes, sections: Sequence[str]
) -> tuple[str, str, int, int, int]:
    """Name, section, value, size and kind. Names that compilers number (.L12) are none, nor are those of files."""
    name, value, size, kind, section = (entry[k] for k in layout.symbol)
    text = "" if kind & 15 in (_SECTION, _FILE) else _text(strings, name)
    place = str(section) if section >= _RESERVED else sections[section] if section != _UNDEFINED else ""
    return "" if text.startswith(".L") else text, place, value, size, kind


def _content(data: bytes, row: Sequence[int]) -> bytes:
    return b"" if row[1] == _EMPTY else data[row[4] : row[4] + row[5]]


def _text(strings: bytes, offset: int) -> str:
    return strings[offset : strings.index(b"\0", offset)].decode("utf-8", errors="replace")


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
