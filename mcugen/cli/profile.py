"""`mcugen profile`: cycles that a board measured, compared with the build's estimates."""

from __future__ import annotations

import html
import json
from dataclasses import replace
from pathlib import Path

import click

from mcugen.cli._common import emit, json_option, require_places, write
from mcugen.errors import UsageError


@click.command("profile")
@click.argument("log", type=click.Path(path_type=Path))
@click.option(
    "--build", "folder", required=True, type=click.Path(path_type=Path), help="Folder that the firmware was built from."
)
@click.option("-o", "--output", "page", type=click.Path(path_type=Path), help="Also write a page, FILE.html.")
@click.option(
    "--fit",
    type=click.Path(path_type=Path),
    help="Also write this board.toml, with the board's clock and the wait states that best explain the cycles.",
)
@json_option
def COMMAND(log: Path, folder: Path, page: Path | None, fit: Path | None, as_json: bool) -> None:
    """Compare the cycles that a board logged, per layer, with the build's estimates.

    LOG is a capture of the lines that firmware prints with the header of `mcugen build --export profile`. Other lines
    in between do no harm. A measurement outside the estimate is marked with its distance from it.
    """
    from mcugen.boards import target
    from mcugen.report import fitting, measured
    from mcugen.system import files

    require_places({"-o": page, "--fit": fit}, [log, folder / "report.json"])
    try:
        facts = json.loads(files.read(folder / "report.json"))
        found = replace(measured.parse(measured.capture(files.read(log)), str(log)), title=facts["title"])
        layers = measured.layers(found, facts)
    except (ValueError, LookupError, TypeError) as error:
        raise UsageError(f"cannot be read: {error}", where=str(folder), hint="give the folder of a build") from error
    if page is not None:
        write(page, measured.html(found, layers, html.escape).encode())
    shown, parts = measured.as_dict(found, layers), measured.as_parts(found, layers)
    if fit is not None:
        fitted = fitting.fit(found, facts)
        write(fit, fitting.board_text(target.text(facts["board"]), fitted).encode())
        shown, parts = shown | {"fit": fitted.as_dict()}, [*parts, "", *fitted.lines]
    emit(shown, parts, as_json=as_json)
