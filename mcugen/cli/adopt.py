"""`mcugen adopt`: firmware of TensorFlow Lite Micro, switched to compiled models."""

from __future__ import annotations

from pathlib import Path

import click

from mcugen.cli._common import board_names, emit, json_option, write
from mcugen.cli._console import progress
from mcugen.errors import UsageError
from mcugen.options import GOALS, Options


@click.command("adopt")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--write", "is_written", is_flag=True, help="Apply the patch as well.")
@click.option("--undo", is_flag=True, help="Take an applied patch back, and nothing else.")
@click.option(
    "--board", default="host", show_default=True, metavar="NAME", shell_complete=board_names, help="Board or bare core."
)
@click.option("--optimize", type=click.Choice(GOALS), default="ram", show_default=True, help="As in `mcugen build`.")
@json_option
def COMMAND(folder: Path, is_written: bool, undo: bool, board: str, optimize: str, as_json: bool) -> None:
    """Switch the firmware in FOLDER from TensorFlow Lite Micro's interpreter to compiled models.

    FOLDER is read: its model arrays, .tflite files, calls of GetModel, arenas and resolvers. Each model is built, and
    FOLDER.patch, beside the folder, adds the C behind TensorFlow Lite Micro's interface, leaves the flatbuffers out,
    and edits the build files of CMake, make, PlatformIO, Arduino, ESP-IDF or Zephyr. The firmware's code stays.

    Programs that cannot be switched are named with the reason; if none can, nothing is written. --undo is refused if a
    file of the patch has changed since.

    \b
      mcugen adopt firmware/
      mcugen adopt firmware/ --write --board cortex-m4
      mcugen adopt firmware/ --undo
    """
    from mcugen.builds.adopt import adoption, adoption_report

    if is_written and undo:
        raise UsageError("--write contradicts --undo", hint="leave one of them out")
    path = adoption.patch_path(folder)
    if undo:
        changed = adoption.take_back(folder)
        emit({"undone": changed}, f"{path.name}: taken back, {len(changed)} files", as_json=as_json)
        return
    with progress("building", quiet=as_json) as update:
        update(folder.name)
        result = adoption.adopt(folder, Options(board=board, optimize=optimize))
    write(path, result.patch)
    if is_written:
        result.write()
    facts = adoption_report.as_dict(result, str(path), written=is_written)
    emit(facts, adoption_report.as_parts(result, path.name, written=is_written), as_json=as_json)
