"""What a terminal shows: lines wrapped and tables fitted to its width, colour where it has some, and progress."""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Literal

import click

from mcugen.tabular import Grid, Parts, text_of

_PROGRESS_AFTER_S, _LEFT_AFTER_S = 1.0, 2.0
_LEAST = 8
"""Characters of a shortened text; where not even these have room, optional columns go."""
_GAP, _MARK = 2, 3
_INDENT = 4
QUIET, WIDE = "mcugen.quiet", "mcugen.wide"


def show(parts: Parts) -> None:
    """Print lines and tables: fitted to COLUMNS or the terminal, in full width into files and with --wide."""
    width = _width()
    if width is None:
        click.echo(text_of(parts).rstrip("\n"))
        return
    for part in parts:
        if isinstance(part, Grid):
            _table(part, width)
        else:
            click.echo(_wrapped(part, width))


def is_set(flag: str) -> bool:
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(flag))


def _width() -> int | None:
    """Characters in a line, None where nothing limits them."""
    given = os.environ.get("COLUMNS", "")
    if is_set(WIDE) or not (given.isdecimal() or sys.stdout.isatty()):
        return None
    return max(shutil.get_terminal_size().columns, 40)


def _wrapped(line: str, width: int) -> str:
    indent = " " * (len(line) - len(line.lstrip()) + _INDENT)
    return "\n".join(textwrap.wrap(line, width, subsequent_indent=indent, break_on_hyphens=False)) or ""


def _table(grid: Grid, width: int) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    widths = _widths(grid, width)
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold", show_edge=False)
    table.add_column("", width=1)
    for k, wide in widths.items():
        column = grid.columns[k]
        justify: Literal["left", "right"] = "right" if column.right else "left"
        table.add_column(column.head, justify=justify, no_wrap=True, overflow="ellipsis", width=wide)
    for k, row in enumerate(grid.rows):
        is_top = k in grid.top
        cells = [Text(_shortened(row[c], wide) if grid.columns[c].ends else row[c]) for c, wide in widths.items()]
        table.add_row(Text("*" if is_top else " "), *cells, style="bold yellow" if is_top else "")
    Console(width=width, highlight=False).print(table)


def _shortened(text: str, width: int) -> str:
    """The end of a text: names of layers begin alike."""
    return text if len(text) <= width else f"…{text[len(text) - width + 1 :]}"


def _widths(grid: Grid, width: int) -> dict[int, int]:
    """Column -> its width. Optional columns leave from the right; then the widest of those that shrink give way."""
    found = {k: max(map(len, (column.head, *(row[k] for row in grid.rows)))) for k, column in enumerate(grid.columns)}
    least = {k: min(wide, _LEAST) if grid.columns[k].shrinks else wide for k, wide in found.items()}
    for k in reversed(list(found)):
        if _total(least) > width and grid.columns[k].optional:
            del found[k], least[k]
    while _total(found) > width and (wider := [k for k in found if found[k] > least[k]]):
        found[max(wider, key=lambda k: found[k])] -= 1
    return found


def _total(widths: Mapping[int, int]) -> int:
    return _MARK + sum(widths.values()) + _GAP * (len(widths) - 1)


@contextmanager
def progress(title: str, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Show progress in a line of the terminal once the work takes longer than a second; silent elsewhere.

    Over two seconds, a text with "3 of 8" in it also says about how long the rest takes.
    """
    started, shown = time.monotonic(), 0
    silent = quiet or is_set(QUIET) or not sys.stderr.isatty()

    def tell(text: str) -> None:
        nonlocal shown
        passed = time.monotonic() - started
        if silent or passed < _PROGRESS_AFTER_S:
            return
        line = f"{title}: {text} ({passed:.0f} s{_left(text, passed)})"
        sys.stderr.write("\r" + line.ljust(shown))
        sys.stderr.flush()
        shown = len(line)

    try:
        yield tell
    finally:
        if shown:
            sys.stderr.write("\r" + " " * shown + "\r")


def _left(text: str, passed: float) -> str:
    """About how long the rest takes, where the text counts."""
    found = re.search(r"(\d+) of (\d+)", text)
    if found is None or passed < _LEFT_AFTER_S or int(found[1]) == 0:
        return ""
    done, total = int(found[1]), int(found[2])
    return f", about {passed * (total - done) / done:.0f} s left"
