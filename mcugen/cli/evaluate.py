"""`mcugen evaluate`: accuracy and speed of a model on labelled samples."""

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
    samples_option,
    task_option,
    words_of_host,
)
from mcugen.cli._console import progress
from mcugen.options import Options


@click.command("evaluate", cls=GroupedCommand)
@model_argument
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    required=True,
    help="Labelled samples: an .npz with inputs and `y`, or a folder with one folder of images or sounds per class.",
)
@click.option(
    "--metric",
    default="",
    metavar="NAME",
    help="A metric of docs/run.md, such as miou, or FILE.py:FUNCTION, a function of outputs and labels; by default "
    "chosen by the labels.",
)
@task_option
@click.option(
    "--state",
    "states",
    multiple=True,
    metavar="OUT=IN",
    help="A state: the output OUT is the next frame's input IN. May be given several times. Samples are then sequences "
    "[n, frames, ...].",
)
@click.option(
    "--emulated",
    "on_core",
    type=click.IntRange(0),
    default=2,
    show_default=True,
    help="Samples to also run on the emulated core of --board.",
)
@samples_option
@model_options
@json_option
def COMMAND(
    model: Path,
    data: Path,
    metric: str,
    task: str | None,
    states: tuple[str, ...],
    on_core: int,
    limit: int | None,
    as_json: bool,
    **values: Any,
) -> int:
    """Score MODEL on labelled samples, with the C of a build compiled for this computer.

    The C computes exactly what the firmware computes, so its accuracy is the firmware's. With --board, the first
    samples also run on the board's emulated core, where their outputs are compared with the NumPy reference and their
    instructions are counted. A model with states is reset before each sample; a sample may be a sequence of frames.

    \b
      mcugen evaluate model.tflite --data test.npz
      mcugen evaluate model.tflite --data test.npz --metric score.py:f1
      mcugen evaluate detector.tflite --data boxes.npz --task detection
    """
    from mcugen.system import files
    from mcugen.verify.evaluation import evaluation_report, scoring

    files.require_there(data)
    words = words_of_host(values)
    with progress("evaluating", quiet=as_json) as update:
        update("building")
        artifact = built_here(model, values)
        has_core = values["board"] != Options.board and bool(artifact.target.emulators)
        result = scoring.evaluate(
            artifact,
            data,
            metric=metric,
            task=task or "",
            states=states,
            limit=limit,
            preprocess=words,
            on_core=on_core if has_core else 0,
            progress=update,
        )
    emit(evaluation_report.as_dict(result), evaluation_report.as_parts(result), as_json=as_json)
    return 0 if result.agrees else 1
