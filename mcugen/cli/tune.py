"""`mcugen tune`: finds the fastest kernel and tile of each step, measured on a device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mcugen.cli._common import build_options, emit, json_option, options_of, require_places
from mcugen.cli._console import progress


@click.command("tune")
@click.argument("models", metavar="MODEL...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    "table",
    type=click.Path(path_type=Path),
    help="The table to write, or to extend; by default the table beside the board's file.",
)
@click.option("--device", default="", metavar="NAME", help="Part of the device's name, or PLATFORM:DEVICE.")
@build_options
@json_option
def COMMAND(models: tuple[Path, ...], table: Path | None, device: str, as_json: bool, **values: Any) -> None:
    """Measure the kernels and tiles that can run MODEL's steps on this computer's OpenCL device.

    Candidates are limited by the device's limits and its roofline, then timed and compared with a simple launch. Builds
    for the board use the table beside its board.toml.
    """
    from mcugen.boards import target
    from mcugen.machines.toolchain import opencl
    from mcugen.opencl_bench import tuning
    from mcugen.solve import device_kernels

    require_places({"-o": table}, list(models))
    opencl.environment(device)
    options = options_of(values)
    place = table or target.load(options.board_name).folder / device_kernels.TABLE
    with progress("tuning", quiet=as_json) as update:
        found = tuning.tune(models, options, place, update)
    facts = {
        "table": str(found.table),
        "calls": len(found.entries),
        "measured": found.measured,
        "known": found.known,
        "refused": found.refused,
    }
    lines = [f"{found.measured} calls measured, {found.known} were known, {len(found.entries)} in {found.table}"]
    lines += [f"  another result: {text}" for text in found.refused]
    emit(facts, lines, as_json=as_json)
