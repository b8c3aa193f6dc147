"""Reads a little-endian ELF image of 32 or 64 bits, as far as firmware needs: sections and symbols.

Source: Tool Interface Standard, Executable and Linking Format, version 1.2; System V ABI, chapter 4, for 64 bits.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mcugen.errors import ToolError

_MAGIC = b"\x7fELF"
_LITTLE_ENDIAN = 1
_SYMTAB = 2
_NOBITS = 8
_ALLOC = 2


@dataclass(frozen=True)
class _Layout:
    """The structures of one ELF class. symbol: indices of value and size in a row of `symbols`."""

    header: struct.Struct
    section: struct.Struct
    symbols: struct.Struct
    symbol: tuple[int, int]


_LAYOUTS = {
    1: _Layout(struct.Struct("<16sHHIIIIIHHHHHH"), struct.Struct("<10I"), struct.Struct("<IIIBBH"), (1, 2)),
    2: _Layout(struct.Struct("<16sHHIQQQIHHHHHH"), struct.Struct("<IIQQQQIIQQ"), struct.Struct("<IBBHQQ"), (4, 5)),
}


@dataclass(frozen=True)
class Section:
    """A section: its address at run time, its size in bytes, and its content (empty if the file holds none)."""

    name: str
    address: int
    size_bytes: int
    data: bytes
    is_loaded: bool


@dataclass(frozen=True)
class Elf:
    """An image's sections by name, and its symbols: name -> (address, size in bytes)."""

    sections: dict[str, Section]
    symbols: dict[str, tuple[int, int]]

    def section_bytes(self, belongs: Callable[[str], bool]) -> int:
        """The bytes of target memory that the loaded sections take whose name satisfies `belongs`."""
        return sum(s.size_bytes for s in self.sections.values() if s.is_loaded and belongs(s.name))


def read_elf(path: Path) -> Elf:
    """Parse an ELF file. Raises ToolError if it is damaged or not little-endian."""
    data = path.read_bytes()
    try:
        return _parse(data)
    except (struct.error, IndexError, ValueError) as e:
        raise ToolError(f"not a little-endian ELF image: {e}", where=str(path)) from e


def _parse(data: bytes) -> Elf:
    if data[:4] != _MAGIC or data[4] not in _LAYOUTS or data[5] != _LITTLE_ENDIAN:
        raise ValueError("wrong magic bytes")
    layout = _LAYOUTS[data[4]]
    header = layout.header.unpack_from(data)
    offset, count, names_index = header[6], header[12], header[13]
    rows = [layout.section.unpack_from(data, offset + i * layout.section.size) for i in range(count)]
    names = _content(data, rows[names_index])
    sections = {}
    symbols: dict[str, tuple[int, int]] = {}
    for row in rows:
        name = _text(names, row[0])
        sections[name] = Section(name, row[3], row[5], _content(data, row), bool(row[2] & _ALLOC))
        if row[1] == _SYMTAB:
            symbols = dict(_symbols(layout, _content(data, row), _content(data, rows[row[6]])))
    return Elf(sections, symbols)


def _content(data: bytes, row: tuple[int, ...]) -> bytes:
    return b"" if row[1] == _NOBITS else data[row[4] : row[4] + row[5]]


def _text(strings: bytes, offset: int) -> str:
    return strings[offset : strings.index(b"\0", offset)].decode("utf-8", errors="replace")


def _symbols(layout: _Layout, table: bytes, strings: bytes) -> Iterator[tuple[str, tuple[int, int]]]:
    value, size = layout.symbol
    for row in layout.symbols.iter_unpack(table):
        if row[0]:
            yield _text(strings, row[0]), (row[value], row[size])
