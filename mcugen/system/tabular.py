"""Lines and tables of text, which the command line fits to the width of the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_LONGEST_TITLE = 80


@dataclass(frozen=True)
class TableColumn:
    """A column of a table.

    right: aligned to the right, for numbers. shrinks: may be narrowed: its text breaks at spaces. ends: a narrowed text
    loses its beginning instead. optional: a narrow terminal leaves the column out; the rightmost goes first.
    """

    head: str
    right: bool = False
    shrinks: bool = False
    ends: bool = False
    optional: bool = False


@dataclass(frozen=True)
class TextTable:
    """A table. top: indices of the rows to mark, those with the largest values."""

    columns: tuple[TableColumn, ...]
    rows: tuple[tuple[str, ...], ...]
    top: frozenset[int] = frozenset()

    def text(self) -> str:
        """The table as text, each column as wide as its longest cell."""
        heads = tuple(column.head for column in self.columns)
        widths = [max(map(len, cells)) for cells in zip(heads, *self.rows, strict=True)]
        marks = ["*" if k in self.top else " " for k in range(len(self.rows))]
        lines = [
            f" {mark} {self._line(row, widths)}" for mark, row in zip([" ", *marks], [heads, *self.rows], strict=True)
        ]
        return "\n".join(line.rstrip() for line in lines)

    def _line(self, row: Sequence[str], widths: Sequence[int]) -> str:
        cells = zip(self.columns, row, widths, strict=True)
        return "  ".join(cell.rjust(wide) if column.right else cell.ljust(wide) for column, cell, wide in cells)


Parts = Sequence[str | TextTable]
"""Lines and tables of a text. The line with the result comes first."""


def text_of(parts: Parts) -> str:
    """All parts as one text, with tables at full width: for files, pipes and Python."""
    return "\n".join(part if isinstance(part, str) else part.text() for part in parts) + "\n"


def largest(values: Sequence[float], count: int = 3) -> frozenset[int]:
    """The indices of the `count` largest values. Empty for `count` values or fewer, or if all are 0.

    Ties with the smallest of them are all included, as long as the result has at most 2 * count indices. Otherwise all
    of these ties are left out.
    """
    if len(values) <= count:
        return frozenset()
    last = sorted(values, reverse=True)[count - 1]
    found = frozenset(k for k, value in enumerate(values) if value >= last and value > 0)
    return found if len(found) <= 2 * count else frozenset(k for k in found if values[k] > last)


def title_of(stem: str) -> str:
    """A file's stem for display: one line of printable characters, at most 80."""
    shown = "".join(c if c.isprintable() else "?" for c in stem)
    return shown if len(shown) <= _LONGEST_TITLE else f"{shown[: _LONGEST_TITLE - 3]}..."


def called(title: str, name: str) -> str:
    """A model's name for texts: its title, followed by its C name if that differs."""
    return name if title in ("", name) else f"{title} ({name} in C)"
