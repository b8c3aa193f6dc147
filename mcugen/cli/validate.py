"""`mcugen validate`: recorded or random inputs on a board, over a serial line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mcugen.cli._common import GroupedCommand, build_options, built, emit, json_option, model_argument
from mcugen.cli._console import progress


@click.command("validate", cls=GroupedCommand)
@model_argument
@click.option("--port", required=True, help="Serial port of the board, e.g. /dev/ttyACM0.")
@click.option("--baud", type=int, default=115200, show_default=True, help="Speed of the line.")
@click.option(
    "--timeout",
    type=click.FloatRange(0.1, 3600.0),
    default=10.0,
    show_default=True,
    help="Seconds to wait for an answer. The request is then repeated, at most twice.",
)
@click.option("--cases", "count", type=click.IntRange(1), default=4, show_default=True, help="Number of random inputs.")
@click.option(
    "--golden",
    type=click.Path(path_type=Path),
    help="An .npz with recorded inputs; see verify.",
)
@build_options
@json_option
def COMMAND(
    model: Path,
    port: str,
    baud: int,
    timeout: float,
    count: int,
    golden: Path | None,
    as_json: bool,
    **values: Any,
) -> int:
    """Compare the outputs of the firmware on a board with the NumPy reference, bit for bit.

    The firmware answers over a serial line, with the header of `mcugen build --export validate`. Give MODEL and the
    options of that build. Constants on the board are compared too, and a changed constant is named.
    """
    from mcugen.system import files
    from mcugen.verify import golden as recordings
    from mcugen.verify import onboard
    from mcugen.verify.cases import cases
    from mcugen.verify.serial import SerialLine, require_port

    require_port(port)
    files.require_there(golden)
    with progress("validating", quiet=as_json) as update:
        artifact = built(model, values)
        recorded = recordings.cases(golden, artifact.imported) if golden else []
        drawn = list(cases(artifact.imported, count))[: 0 if recorded else count]
        with SerialLine(port, baud, timeout, onboard.longest_request(artifact)) as line:
            found = onboard.validate(artifact, line, [*recorded, *drawn], update)
    emit(onboard.as_dict(found), onboard.as_parts(found), as_json=as_json)
    return 0 if found.agrees else 1
