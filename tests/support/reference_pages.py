# SPDX-License-Identifier: Apache-2.0
"""docs/cli.md and docs/errors.md, made of the command line and the errors: python -m tests.support.reference_pages"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

import click

from mcugen import errors
from mcugen.cli import cli
from mcugen.errors import McugenError

DOCS = Path(__file__).resolve().parents[2] / "docs"
_MADE = "Made by `python -m tests.support.reference_pages`; a test compares."


def command_line() -> str:
    """The manual of every command."""
    parts = [f"# Command line\n\n{_MADE}\n"]
    context = click.Context(cli, info_name="mcugen", terminal_width=100, **cli.context_settings)
    return "\n".join([*parts, *_manuals(cli, context)])


def _manuals(group: click.Group, context: click.Context) -> Iterator[str]:
    """The manual of each command of a group, and of those below it."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        own = click.Context(command, info_name=name, parent=context, terminal_width=100)
        yield f"## {own.command_path}\n\n```text\n{command.get_help(own)}\n```\n"
        if isinstance(command, click.Group):
            yield from _manuals(command, own)


def error_catalogue() -> str:
    """Every error with its exit code and what it means."""
    rows = ["# Errors", "", _MADE, "", "Every error says what is wrong, where, and what to do. `--json` prints it as"]
    rows += ['`{"error": {"kind", "message", "hint"}}`.', "", "| error | kind of | exit code | meaning |"]
    rows.append("|---|---|---:|---|")
    for name, kind in vars(errors).items():
        if inspect.isclass(kind) and issubclass(kind, McugenError):
            about = " ".join((inspect.getdoc(kind) or "").split())
            parent = kind.__bases__[0].__name__
            base = f"`{parent}`" if issubclass(kind.__bases__[0], McugenError) else ""
            rows.append(f"| `{name}` | {base} | {kind.exit_code} | {about} |")
    return "\n".join(rows) + "\n"


PAGES = {"cli.md": command_line, "errors.md": error_catalogue}


def main() -> None:
    for name, made in PAGES.items():
        (DOCS / name).write_text(made(), encoding="utf-8")


if __name__ == "__main__":
    main()
