"""`mcugen drift`: counters that firmware kept in the field."""

from __future__ import annotations

from pathlib import Path

import click

from mcugen.cli._common import emit, json_option


@click.command("drift")
@click.argument("first", type=click.Path(path_type=Path))
@click.argument("later", type=click.Path(path_type=Path), required=False)
@json_option
def COMMAND(first: Path, later: Path | None, as_json: bool) -> None:
    """Show how often each class was the result and how many inputs were saturated, for one log or two.

    The firmware counts with the header of `mcugen build --export drift`. With two logs, a FIRST and a LATER one, the
    distance between their classes is printed too: the share of runs that would have to change their class.
    """
    from mcugen.report import drift_counters, measured
    from mcugen.system import files

    paths = [first] if later is None else [first, later]
    found = [drift_counters.parse(measured.capture(files.read(path)), str(path)) for path in paths]
    emit(drift_counters.as_dict(found), drift_counters.as_parts(found), as_json=as_json)
