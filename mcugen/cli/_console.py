"""Output on a terminal: lines wrapped and tables fitted to its width, colour if supported, and progress."""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Literal, TextIO

import click

from mcugen.system.tabular import Parts, TextTable, text_of

_PROGRESS_AFTER_S, _LEFT_AFTER_S = 1.0, 2.0
_LEAST, _EASE = 8, 16
"""Least width of a layer's name, and of any text while optional columns can still be dropped."""
_GAP, _MARK = 2, 3
_INDENT = 4
_UNIT, _JOINT = re.compile(r"(?<=\d) (?=(?:%|[mun]?s|bytes?|[KM]?B|[kM]?Hz|MAC)(?!\w))"), "\0"
"""The space between a number and its unit, and the placeholder for it while a line is broken."""
QUIET, WIDE = "mcugen.quiet", "mcugen.wide"


def show(parts: Parts) -> None:
    """Print lines and tables: fitted to COLUMNS or the terminal; at full width with --wide or into a file."""
    width = _width(sys.stdout)
    if width is None:
        click.echo(text_of(parts).rstrip("\n"))
        return
    for part in parts:
        if isinstance(part, TextTable):
            _table(part, width)
        else:
            click.echo(_wrapped(part, width))


def say_error(text: str) -> None:
    """Print an error with its hints on standard error, fitted to the terminal, with coloured labels if supported."""
    text, width = f"mcugen: error: {text}", _width(sys.stderr)
    if width is not None:
        text = "\n".join(_wrapped(line, width) for line in text.splitlines())
    if sys.stderr.isatty() and not os.environ.get("NO_COLOR"):
        text = re.sub(r"^  hint:", click.style("  hint:", fg="cyan", bold=True), text, flags=re.MULTILINE)
        text = re.sub(r"^mcugen: error:", click.style("mcugen: error:", fg="red", bold=True), text)
        click.echo(text, err=True, color=True)
    else:
        click.echo(text, err=True)


def is_set(flag: str) -> bool:
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(flag))


def _width(stream: TextIO) -> int | None:
    """Width of standard output or error in characters, None if unlimited."""
    given = os.environ.get("COLUMNS", "")
    if is_set(WIDE) or not (given.isdecimal() or stream.isatty()):
        return None
    return max(shutil.get_terminal_size().columns, 40)


def _wrapped(line: str, width: int) -> str:
    """A line broken at spaces, but never between a number and its unit."""
    indent = " " * (len(line) - len(line.lstrip()) + _INDENT)
    joined = _UNIT.sub(_JOINT, line)
    broken = textwrap.wrap(joined, width, subsequent_indent=indent, break_on_hyphens=False)
    return "\n".join(broken).replace(_JOINT, " ")


def _table(grid: TextTable, width: int) -> None:
    """Print a table. Optional columns that do not fit are named below it; other columns follow in a second table."""
    widths = _widths(grid, width)
    for k, block in enumerate(_blocks(widths, width)):
        if k:
            click.echo()
        _block(grid, block, width)
    left_out = ", ".join(column.head for k, column in enumerate(grid.columns) if k not in widths)
    if left_out:
        click.echo(_wrapped(f"   no room for: {left_out}; --wide shows all", width))


def _block(grid: TextTable, widths: Mapping[int, int], width: int) -> None:
    """Print some columns. Texts wrap at spaces; numbers and names of kernels and chips are never cut."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold", show_edge=False)
    table.add_column("", width=1)
    for k, wide in widths.items():
        column = grid.columns[k]
        justify: Literal["left", "right"] = "right" if column.right else "left"
        table.add_column(column.head, justify=justify, overflow="fold", width=wide)
    for k, row in enumerate(grid.rows):
        is_top = k in grid.top
        cells = [Text(_shortened(row[c], wide) if grid.columns[c].ends else row[c]) for c, wide in widths.items()]
        table.add_row(Text("*" if is_top else " "), *cells, style="bold yellow" if is_top else "")
    Console(width=max(width, _total(widths)), highlight=False).print(table)


def _shortened(text: str, width: int) -> str:
    """The end of a text. Layer names often begin alike."""
    return text if len(text) <= width else f"…{text[len(text) - width + 1 :]}"


def _widths(grid: TextTable, width: int) -> dict[int, int]:
    """Column -> its width. Optional columns are dropped from the right; then layer names shrink, then other texts."""
    found = {k: max(map(len, (column.head, *(row[k] for row in grid.rows)))) for k, column in enumerate(grid.columns)}
    least = {k: _least(grid, k) if grid.columns[k].shrinks else wide for k, wide in found.items()}
    ease = {k: max(least[k], min(wide, _EASE)) for k, wide in found.items()}
    for k in reversed(list(found)):
        if _total({c: ease[c] for c in found}) > width and grid.columns[k].optional:
            del found[k]
    if _total({k: least[k] for k in found}) > width:
        return {k: ease[k] if grid.columns[k].shrinks else wide for k, wide in found.items()}
    for ends in (True, False):
        while _total(found) > width and (wider := [k for k in found if _gives(grid, k, ends) and found[k] > least[k]]):
            found[max(wider, key=lambda k: found[k])] -= 1
    return found


def _gives(grid: TextTable, k: int, ends: bool) -> bool:
    return grid.columns[k].shrinks and grid.columns[k].ends is ends


def _least(grid: TextTable, k: int) -> int:
    """Least width of a column that can shrink: a part of a layer's name, or the longest word of other texts."""
    texts = [grid.columns[k].head, *(row[k] for row in grid.rows)]
    if grid.columns[k].ends:
        return min(max(map(len, texts)), max(_LEAST, len(texts[0])))
    return max((len(word) for text in texts for word in text.split()), default=0)


def _blocks(widths: Mapping[int, int], width: int) -> Iterator[dict[int, int]]:
    """The columns split into tables that fit the width. Each begins with the first column, which names the row."""
    first, *others = widths
    block = {first: widths[first]}
    for k in others:
        if _total(block | {k: widths[k]}) > width and len(block) > 1:
            yield block
            block = {first: widths[first]}
        block[k] = widths[k]
    yield block


def _total(widths: Mapping[int, int]) -> int:
    return _MARK + sum(widths.values()) + _GAP * (len(widths) - 1)


@contextmanager
def progress(title: str, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Show progress on one line of the terminal if the work takes longer than a second. Silent if there is no terminal.

    After two seconds, a text that contains e.g. "3 of 8" is followed by an estimate of the remaining time.
    """
    if quiet or is_set(QUIET) or not sys.stderr.isatty():
        yield lambda text: None
        return
    line, done = _Line(title), threading.Event()

    def keep_time() -> None:
        while not done.wait(_PROGRESS_AFTER_S):
            line.show()

    clock = threading.Thread(target=keep_time, daemon=True)
    clock.start()
    try:
        yield line.say
    finally:
        done.set()
        clock.join()
        line.clear()


class _Line:
    """The progress line: the current work and its time. A thread redraws it every second."""

    def __init__(self, title: str) -> None:
        self._title, self._text = title, ""
        self._started, self._shown = time.monotonic(), 0
        self._lock = threading.Lock()

    def say(self, text: str) -> None:
        """Set the text for the current work."""
        self._text = text
        self.show()

    def show(self) -> None:
        """Write the line, if a second has passed since the start."""
        passed = time.monotonic() - self._started
        if passed < _PROGRESS_AFTER_S:
            return
        with self._lock:
            text = f"{self._title}: {self._text}" if self._text else self._title
            line = f"{text} ({passed:.0f} s{_left(self._text, passed)})"
            sys.stderr.write("\r" + line.ljust(self._shown))
            sys.stderr.flush()
            self._shown = len(line)

    def clear(self) -> None:
        """Erase the line."""
        if self._shown:
            sys.stderr.write("\r" + " " * self._shown + "\r")


def _left(text: str, passed: float) -> str:
    """An estimate of the remaining time if the text has a count, otherwise ""."""
    found = re.search(r"(\d+) of (\d+)", text)
    if found is None or passed < _LEFT_AFTER_S or int(found[1]) == 0:
        return ""
    done, total = int(found[1]), int(found[2])
    return f", about {passed * (total - done) / done:.0f} s left"
