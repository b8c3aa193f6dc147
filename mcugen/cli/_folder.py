"""Folders of builds: their report.json, its pages, and results noted there."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mcugen.cli._common import write
from mcugen.errors import UsageError

if TYPE_CHECKING:
    from mcugen.options import Options
    from mcugen.pipeline import Artifact

REPORT = "report.json"

into_option = click.option(
    "--into",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Also add the result to the report of the build in FOLDER, made from this MODEL with these options.",
)


def document_of(folder: Path) -> dict[str, Any]:
    """The report.json of a build. Raises UsageError if there is none that this version can show."""
    from mcugen.report import page
    from mcugen.system import files

    path = folder / REPORT
    try:
        return dict(page.checked(json.loads(files.read(path)), str(path)))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"cannot be read: {error}", where=str(path), hint="give the folder of a build") from error


def require_build(folder: Path | None, options: Options) -> None:
    """Raise UsageError, before any work, if the folder of --into has no build, or none for this board."""
    from mcugen.boards import target

    if folder is None:
        return
    document, board = document_of(folder), target.load(options.board_name).name
    boards = [one["board"] for one in document.get("models", [document])]
    if board not in boards:
        raise UsageError(
            f"the folder holds another build: board is {boards[0]!r} there and {board!r} here",
            where=str(folder),
            hint="give the options that the folder was built with; report.json there has the command",
        )


def rewrite(folder: Path, document: dict[str, Any]) -> None:
    """Write report.json again, and the pages of the report that exist in the folder."""
    from mcugen.report import page

    write(folder / REPORT, (json.dumps(document, indent=2) + "\n").encode())
    for name, content in ((page.HTML, page.html), (page.BADGE, page.badge)):
        if name in document["files"]:
            write(folder / name, content(document))


@dataclass(frozen=True)
class Noted:
    """The folder of a build whose report.json gets a result; None for no folder.

    document: its report.json. part: the part of `document` about the model.
    """

    folder: Path | None
    document: dict[str, Any]
    part: dict[str, Any]

    def note(self, key: str, found: Any) -> None:
        """Write a result under a key of report.json. found: a dataclass, or a list of them."""
        if self.folder is None:
            return
        several = isinstance(found, list | tuple)
        self.part[key] = [dataclasses.asdict(f) for f in found] if several else dataclasses.asdict(found)
        rewrite(self.folder, self.document)


def opened(folder: Path | None, build: Artifact, *, any_schedule: bool = False) -> Noted:
    """The folder of --into. Raises UsageError, before any work, if it holds another build."""
    from mcugen import report
    from mcugen.report import noted

    if folder is None:
        return Noted(None, {}, {})
    document = document_of(folder)
    part = noted.member(document, report.as_dict(build.report), str(folder), any_schedule=any_schedule)
    return Noted(folder, document, part)
