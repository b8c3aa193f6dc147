"""`mcugen run`: the outputs of a model for given inputs, computed by its C on this computer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mcugen.cli._common import (
    GroupedCommand,
    built_here,
    emit,
    json_option,
    model_argument,
    model_options,
    require_places,
    samples_option,
    words_of_host,
    write,
)
from mcugen.cli._console import progress


@click.command("run", cls=GroupedCommand)
@model_argument
@click.option(
    "--input",
    "data",
    type=click.Path(path_type=Path),
    required=True,
    help="Samples: an .npy, a .wav, an .npz with an array per input, or a folder of .npy files, images or .wav files.",
)
@click.option(
    "-o", "--output", "file", type=click.Path(path_type=Path), help="File to write: .npy, or .npz with all outputs."
)
@click.option(
    "--stored/--real",
    default=None,
    help="Write quantized outputs as stored integers, or as real numbers; by default like the inputs.",
)
@click.option(
    "--record",
    type=click.Path(path_type=Path),
    help="Also write inputs and outputs to FILE.npz, for `verify --golden`.",
)
@samples_option
@model_options
@json_option
def COMMAND(
    model: Path, data: Path, file: Path | None, stored: bool | None, record: Path | None, as_json: bool, **values: Any
) -> None:
    """Run MODEL on samples, with the C of a build compiled for this computer.

    Floats given for a quantized input are quantized; integers are taken as stored values. A model with states is reset
    before each sample. Without -o, the outputs are printed.

    \b
      mcugen run model.tflite --input x.npy -o y.npy
      mcugen run model.tflite --input images/ --preprocess resize=96x96 --json
    """
    from mcugen import samples
    from mcugen.system import files
    from mcugen.verify.evaluation import outputs as found_outputs
    from mcugen.verify.evaluation.scoring import run_all

    require_places({"-o": file, "--record": record}, (model, data))
    found_outputs.require_kinds(file, record)
    files.require_there(data)
    limit, words = values.pop("limit"), words_of_host(values)
    with progress("running", quiet=as_json) as update:
        artifact = built_here(model, values)
        found = samples.load(data, artifact.imported, limit=limit, preprocess=words, to_run=True)
        update("compiling")
        loaded = artifact.load()
        update(f"{found.count} samples")
        outputs = run_all(loaded, found.arrays, real=None if stored is None else not stored)
        if record is not None:
            write(record, found_outputs.recording(loaded, found.arrays))
    named = found_outputs.Named(
        loaded.name, tuple(end.name for end in loaded.outputs), outputs, found.notes, artifact.called
    )
    if file is not None:
        write(file, named.as_bytes(file))
    emit(named.as_dict(), named.as_parts(file), as_json=as_json)
