"""`mcugen boards`: the boards to build for, and new boards."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import Any

import click

from mcugen.cli._common import board_names, emit, json_option
from mcugen.errors import UsageError


class _Boards(click.Group):
    """A group of commands. An unknown first word is a search text for the list of boards."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        words = [k for k, word in enumerate(args) if not word.startswith("-")]
        if words and args[words[0]] not in self.commands:
            args.insert(words[0], "--with")
        return super().parse_args(ctx, args)


@click.group("boards", cls=_Boards, invoke_without_command=True, subcommand_metavar="[TEXT | new NAME]")
@click.option("--with", "text", metavar="TEXT", default="", hidden=True)
@click.pass_context
@json_option
def COMMAND(context: click.Context, text: str, as_json: bool) -> None:
    """List the boards and bare cores to build for; with TEXT, only those with TEXT in their name, core or chip.

    `mcugen boards new` makes a board of your own.

    \b
      mcugen boards --wide
      mcugen boards pico
      mcugen boards new my-board --like nrf52840-dk --ram 64K
    """
    from mcugen.boards import target
    from mcugen.report import support_tables

    if context.invoked_subcommand is None:
        rows = support_tables.boards(text)
        if not rows:
            raise UsageError(
                f"no board or core has {text!r} in its name, core or chip",
                hint=f"{target.advice(text)}`mcugen boards` lists all of them",
            )
        emit({"boards": rows}, support_tables.boards_parts(rows), as_json=as_json)


@COMMAND.command("new")
@click.argument("folder", metavar="NAME", type=click.Path(path_type=Path))
@click.option(
    "--like",
    metavar="NAME",
    shell_complete=board_names,
    help="Board or bare core to copy from; see `mcugen boards`.",
)
@click.option("--title", metavar="TEXT", help="Maker and name, and the chip in parentheses; NAME by default.")
@click.option("--clock", metavar="FREQUENCY", help="Highest clock of the core, e.g. `168M`.")
@click.option(
    "--flash",
    multiple=True,
    metavar="MEMORY",
    help="Flash as [NAME=]SIZE[@ADDRESS], e.g. `512K@0x08000000`; may be given several times, code flash first.",
)
@click.option(
    "--ram",
    multiple=True,
    metavar="MEMORY",
    help="RAM as [NAME=]SIZE[@ADDRESS], e.g. `dtcm=64K@0x20000000`; the fastest first.",
)
@click.option("--source", metavar="TEXT", help="Document that states these figures.")
@json_option
def new(folder: Path, as_json: bool, **values: Any) -> None:
    """Write NAME/board.toml, a board of your own.

    On a terminal, it asks for values that no option gives. Elsewhere these are copied from the board of --like; a bare
    core needs --flash and --ram with addresses. Nothing is overwritten.

    \b
      mcugen boards new my-board --like nrf52840-dk --ram 64K --source "a URL"
      mcugen boards new my-board --like cortex-m4 --clock 80M
          --flash 256K@0x08000000 --ram 64K@0x20000000
    """
    from mcugen.boards import new_board
    from mcugen.system import resources

    asked = _asked(values) if sys.stdin.isatty() and not as_json else values
    if not asked["like"]:
        raise UsageError("no board or core to copy from", where="--like", hint="name one that `mcugen boards` lists")
    wish = new_board.Wish(**{key: value for key, value in asked.items() if value})
    board = new_board.write(folder, wish)
    regions = [dataclasses.asdict(r) | {"holds": sorted(r.holds)} for r in board.regions]
    facts = {
        "file": str(folder / "board.toml"),
        "name": board.name,
        "core": board.core,
        "clock_hz": board.clock_hz,
        "regions": regions,
    }
    emit(facts, new_board.as_parts(board, folder, resources.boards()), as_json=as_json)


def _asked(values: dict[str, Any]) -> dict[str, Any]:
    """The options, completed by asking for missing values. An empty answer keeps the default."""
    from mcugen.boards import target

    found = dict(values)
    found["like"] = values["like"] or click.prompt("Like which board or core")
    like = target.load(found["like"])
    clock = f"{like.clock_hz / 1e6:g}M" if like.clock_hz else ""
    for key, question, default in (
        ("title", "Maker and name (chip)", ""),
        ("clock", "Highest clock of the core, e.g. 168M", clock),
    ):
        if not values[key]:
            answer = click.prompt(question, default=default, show_default=bool(default))
            found[key] = "" if answer == default else answer
    for key in ("flash", "ram"):
        known = " ".join(f"{r.name}={r.size_bytes}@{r.address:#x}" for r in like.regions if r.kind == key)
        if not values[key]:
            answer = click.prompt(f"{key}, as SIZE@ADDRESS, several with spaces between", default=known)
            found[key] = () if answer == known else tuple(answer.split())
    if not values["source"] and any(found[key] for key in ("clock", "flash", "ram")):
        found["source"] = click.prompt("Document of these figures", default="given by the user")
    return found
