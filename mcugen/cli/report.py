"""`mcugen report`: makes the page of an existing build, or one that compares two builds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from mcugen.cli._common import GroupedCommand, emit, json_option, require_places, write
from mcugen.cli._folder import REPORT, document_of
from mcugen.errors import UsageError


@click.command("report", cls=GroupedCommand)
@click.argument("folders", metavar="FOLDER...", nargs=-1, type=click.Path(path_type=Path))
@click.option("--compare", is_flag=True, help="Compare two builds side by side, in FILE.html.")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of report.json, docs/report.schema.json.")
@click.option(
    "-o",
    "--output",
    "file",
    type=click.Path(path_type=Path),
    help="File to write; by default report.html in the folder, or compare.html here.",
)
@json_option
def COMMAND(folders: tuple[Path, ...], compare: bool, schema: bool, file: Path | None, as_json: bool) -> None:
    """Make the page of a build again, from the report.json in its FOLDER.

    \b
      mcugen report out/
      mcugen report --compare before/ after/ -o compare.html
    """
    from mcugen.report import page
    from mcugen.report import schema as described

    if schema:
        emit(described.schema(), json.dumps(described.schema(), indent=2), as_json=as_json)
        return
    wanted = 2 if compare else 1
    if len(folders) != wanted:
        given = "1 folder" if len(folders) == 1 else f"{len(folders)} folders"
        raise UsageError(f"{given} given, not {wanted}", hint="give one folder, or two with --compare")
    found = [document_of(folder) for folder in folders]
    target = file or (Path("compare.html") if compare else folders[0] / page.HTML)
    require_places({"-o": target}, [folder / REPORT for folder in folders])
    if compare:
        if any("models" in facts for facts in found):
            raise UsageError("builds of several models cannot be compared", hint="give builds of one model")
        write(target, page.comparison(found[0], found[1], (str(folders[0]), str(folders[1]))))
    else:
        _listed(folders[0], found[0], target)
        write(target, page.html(found[0]))
    emit({"written": str(target)}, f"written: {target}", as_json=as_json)


def _listed(folder: Path, facts: dict[str, Any], target: Path) -> None:
    """Add a page that the build left out to the list of its files, so that the next build may replace it."""
    if target == folder / target.name and target.name not in facts["files"]:
        facts["files"] = sorted([*facts["files"], target.name])
        write(folder / REPORT, (json.dumps(facts, indent=2) + "\n").encode())
