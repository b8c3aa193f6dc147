# SPDX-License-Identifier: Apache-2.0
"""docs/cli.md and docs/errors.md, made of the command line and the errors: python -m tests.support.reference_pages"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from mcugen import errors
from mcugen.cli import cli
from mcugen.cli._common import GroupedOption
from mcugen.errors import McugenError
from mcugen.options import Options

DOCS = Path(__file__).resolve().parents[2] / "docs"
WIDTH = 116
_MADE = "Made by `python -m tests.support.reference_pages`; a test compares."


SHARED = "options-of-a-build"
OF_ALL = {"--json", "--quiet", "--wide", "--help"}
"""Options of every command, listed once."""
WRITING = {item.name for item in dataclasses.fields(Options) if item.metadata.get("building")}
"""Options of a build for its output files."""


def command_line() -> str:
    """The manual of every command; their common options come first."""
    context = click.Context(cli, info_name="mcugen", terminal_width=WIDTH, **cli.context_settings)
    commands = list(_commands(cli, context))
    assert all(set().union(*map(_names, _own(*each))) >= OF_ALL for each in commands)
    taken = [option for command, _ in commands for option in command.params if isinstance(option, GroupedOption)]
    head = [f"# Command line\n\n{_MADE}\n`mcugen COMMAND --help` prints all options of a command.\n"]
    head += ["## Options of every command\n", _options(o for o in _own(*commands[0]) if _names(o) & OF_ALL)]
    head += [f"## Options of a build\n\nOne that writes no files lacks {_flags(WRITING)}.\n"]
    groups: dict[str, dict[str, click.Option]] = {}
    for option in taken:
        groups.setdefault(option.group, {}).setdefault(str(option.name), option)
    for group, options in groups.items():
        head += [f"### {group}\n", _options(options.values())]
    every = {name for options in groups.values() for name in options}
    return "\n".join([*head, *(_manual(command, own, every) for command, own in commands)])


def _commands(group: click.Group, context: click.Context) -> Iterator[tuple[click.Command, click.Context]]:
    """The commands of a group, and those below them."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        own = click.Context(command, info_name=name, parent=context, terminal_width=WIDTH)
        yield command, own
        if isinstance(command, click.Group):
            yield from _commands(command, own)


def _manual(command: click.Command, context: click.Context, every: set[str]) -> str:
    """The description of a command and its own options. every: the names of all build options."""
    formatter = context.make_formatter()
    command.format_usage(context, formatter)
    command.format_help_text(context, formatter)
    own = [o for o in _own(command, context) if not (isinstance(o, GroupedOption) or _names(o) & OF_ALL)]
    if records := _records(own, context):
        with formatter.section("Options"):
            formatter.write_dl(records)
    parts = [f"## {context.command_path}\n\n```text\n{formatter.getvalue().rstrip()}\n```\n"]
    taken = {str(option.name) for option in command.params if isinstance(option, GroupedOption)}
    if taken:
        parts.append(f"Further options: [those of a build](#{SHARED}){_without(taken, every)}.\n")
    return "\n".join(parts)


def _without(taken: set[str], every: set[str]) -> str:
    """The build options that a command has, in the fewest words."""
    lacking = every - taken
    if len(taken) < len(lacking):
        return f": {_flags(taken)}"
    kind = " that writes no files" if lacking >= WRITING else ""
    others = lacking - WRITING if kind else lacking
    return f"{kind}, but for {_flags(others)}" if others else kind


def _flags(names: Iterable[str]) -> str:
    return ", ".join(f"`--{name.replace('_', '-')}`" for name in sorted(names))


def _own(command: click.Command, context: click.Context) -> list[click.Option]:
    """The options of a command as its help lists them."""
    return [option for option in command.get_params(context) if isinstance(option, click.Option)]


def _names(option: click.Option) -> set[str]:
    return set(option.opts)


def _options(options: Iterable[click.Option]) -> str:
    """A block with options as the help prints them."""
    context = click.Context(cli, info_name="mcugen", terminal_width=WIDTH)
    formatter = context.make_formatter()
    formatter.write_dl(_records(options, context))
    return f"```text\n{formatter.getvalue().rstrip()}\n```\n"


def _records(options: Iterable[click.Option], context: click.Context) -> list[tuple[str, str]]:
    """(option, what it does) of each option that is not hidden."""
    return [record for option in options if (record := option.get_help_record(context))]


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
