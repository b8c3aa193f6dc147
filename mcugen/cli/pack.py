"""`mcugen pack`: the constants of a retrained model, for firmware in the field."""

from __future__ import annotations

from pathlib import Path

import click

from mcugen.cli._common import emit, json_option, model_argument, require_places, write


@click.command("pack")
@model_argument
@click.option(
    "--build",
    "folder",
    required=True,
    type=click.Path(path_type=Path),
    help="Folder of the build with --weights-blob that the firmware was made from.",
)
@click.option("-o", "--output", "file", required=True, type=click.Path(path_type=Path), help="File to write.")
@click.option(
    "--version",
    type=click.IntRange(0, 2**32 - 1),
    default=1,
    show_default=True,
    help="Version number of these weights; the firmware can read it.",
)
@json_option
def COMMAND(model: Path, folder: Path, file: Path, version: int, as_json: bool) -> None:
    """Make a block of constants from MODEL, retrained, for the code of an earlier build.

    The firmware passes the block's address to NAME_load, which refuses a block that is damaged, truncated or of another
    model. If MODEL needs different code, nothing is written, and the first lines of code that differ are printed.
    """
    from mcugen.builds import weights_blob

    require_places({"-o": file}, [model, *weights_blob.files_of(folder)])
    data = weights_blob.pack(model, folder, version)
    write(file, data)
    facts = {"written": str(file), "bytes": len(data), "version": version}
    emit(facts, f"written: {file}, {len(data):,} bytes, version {version} of the weights", as_json=as_json)
