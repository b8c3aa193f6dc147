"""Reads a 32-bit little-endian ELF image: sections and symbols, no more than firmware needs.

Source: Tool Interface Standard, Executable and Linking Format, version 1.2.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mcugen.errors import ToolError

_HEADER = struct.Struct("<16sHHIIIIIHHHHHH")
_SECTION = struct.Struct("<10I")
_SYMBOL = struct.Struct("<IIIBBH")
_SYMTAB = 2
_NOBITS = 8
_ALLOC = 2


@dataclass(frozen=True)
class Section:
    """A section: where it is at run time, its size in bytes, and its content (empty when it has none in the file)."""

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
        """The bytes that the loaded sections whose name `belongs` take in the target's memory."""
        return sum(s.size_bytes for s in self.sections.values() if s.is_loaded and belongs(s.name))


def read_elf(path: Path) -> Elf:
    """Parse an ELF file; raises ToolError when it is not a 32-bit little-endian one, or is damaged."""
    data = path.read_bytes()
    try:
        return _parse(data)
    except (struct.error, IndexError, ValueError) as e:
        raise ToolError(f"not a 32-bit little-endian ELF image: {e}", where=str(path)) from e


def _parse(data: bytes) -> Elf:
    header = _HEADER.unpack_from(data)
    if header[0][:6] != b"\x7fELF\x01\x01":
        raise ValueError("wrong magic bytes")
    offset, count, names_index = header[6], header[12], header[13]
    rows = [_SECTION.unpack_from(data, offset + i * _SECTION.size) for i in range(count)]
    names = _content(data, rows[names_index])
    sections = {}
    symbols: dict[str, tuple[int, int]] = {}
    for row in rows:
        name = _text(names, row[0])
        sections[name] = Section(name, row[3], row[5], _content(data, row), bool(row[2] & _ALLOC))
        if row[1] == _SYMTAB:
            symbols = _symbols(_content(data, row), _content(data, rows[row[6]]))
    return Elf(sections, symbols)


def _content(data: bytes, row: tuple[int, ...]) -> bytes:
    return b"" if row[1] == _NOBITS else data[row[4] : row[4] + row[5]]


def _text(strings: bytes, offset: int) -> str:
    return strings[offset : strings.index(b"\0", offset)].decode("utf-8", errors="replace")


def _symbols(table: bytes, strings: bytes) -> dict[str, tuple[int, int]]:
    rows = _SYMBOL.iter_unpack(table)
    return {_text(strings, name): (value, size) for name, value, size, *_ in rows if name}
