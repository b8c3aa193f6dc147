"""`mcugen quantize`: a float model and samples to a model of integers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from mcugen.cli._common import emit, json_option, model_argument, progress, write
from mcugen.options import LAYOUTS, Options


def _one_thread_a_process() -> None:
    """Let the work be divided by samples, not inside of products: NumPy's library reads this when it is loaded."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@click.command("quantize")
@model_argument
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    required=True,
    help="Samples to quantize with: an .npz with an array for each input, an .npy, or a folder of .npy files, images "
    "or .wav files. 100 are plenty, 10 are few.",
)
@click.option(
    "-o",
    "--output",
    "file",
    type=click.Path(path_type=Path),
    required=True,
    help="File to write: a .tflite, or an .onnx with QuantizeLinear and DequantizeLinear.",
)
@click.option(
    "--test", type=click.Path(path_type=Path), help="Samples with labels, to measure accuracy before and after."
)
@click.option(
    "--io",
    "interface",
    type=click.Choice(["int8", "float"]),
    default="int8",
    show_default=True,
    help="Inputs and outputs of the result: integers as they are stored, or floats.",
)
@click.option(
    "--weights", type=click.Choice(["8", "4"]), default="8", show_default=True, help="Bits of weights of all layers."
)
@click.option(
    "--activations",
    type=click.Choice(["8", "16"]),
    default="8",
    show_default=True,
    help="Bits of the data between layers.",
)
@click.option(
    "--method",
    type=click.Choice(["full", "min-max"]),
    default="full",
    show_default=True,
    help="full: every step that improves samples held out of it; min-max: none of them, in seconds.",
)
@click.option("--samples", "limit", type=int, help="Use only the first so many samples.")
@click.option(
    "--preprocess", default="", metavar="STEPS", help="How images or sounds become inputs; see docs/samples.md."
)
@click.option(
    "--cache",
    type=click.Path(path_type=Path),
    help="Calibration cache: a text file of what was seen of each tensor, written where it is not there; edit it to "
    "set ranges by hand (`override LOW HIGH`).",
)
@click.option(
    "--report",
    "page",
    type=click.Path(path_type=Path),
    metavar="FILE.html",
    help="Write a page about what was kept, every layer, what is wrong and the test.",
)
@click.option("--jobs", type=click.IntRange(0), default=0, help="Processes; by default one for each core.")
@click.option(
    "--input-shape",
    multiple=True,
    metavar="NAME:LIST",
    help="Shape of an input that the file leaves open, e.g. `image:1,3,96,96`.",
)
@click.option("--signature", default="", metavar="NAME", help="Which of several networks of a .tflite file.")
@click.option("--input-layout", type=click.Choice(LAYOUTS), help="Order of the result's input images.")
@click.option("--output-layout", type=click.Choice(LAYOUTS), help="Order of the result's output images.")
@json_option
def COMMAND(
    model: Path,
    data: Path,
    file: Path,
    test: Path | None,
    page: Path | None,
    as_json: bool,
    **values: Any,
) -> None:
    """Make an integer model of MODEL, a float .onnx, .tflite or NNEF model.

    Every step (channels balanced, weights rounded by least squares, ranges) is solved against the integers that will
    run, tried on samples held out of it, and kept only where these gain; the table says what each brought. The file is
    an ordinary model that LiteRT, TensorFlow Lite Micro or ONNX Runtime run as well.

    \b
      mcugen quantize model.onnx --data calib.npz --test test.npz -o model.int8.tflite
    """
    _one_thread_a_process()
    from mcugen.quantize import run, text

    format_name = run.format_of(file)
    with progress("quantizing", quiet=as_json) as tell:
        found = run.quantize(model, data, _choices(values), test=test, tell=tell)
        content = found.written(format_name)
    write(file, content)
    given = (found, str(file), len(content))
    if page is not None:
        from mcugen.report import quantization

        write(page, quantization.page(*given))
    emit(text.as_dict(*given), text.as_text(*given), as_json=as_json)


def _choices(values: dict[str, Any]) -> Any:
    from mcugen.quantize.recipe import Widths
    from mcugen.quantize.run import Choices

    same = ("method", "interface", "limit", "preprocess", "jobs", "cache", "signature")
    return Choices(
        widths=Widths(int(values["weights"]), int(values["activations"])),
        shapes=Options(input_shape=values["input_shape"]).shapes,
        input_layout=values["input_layout"] or "",
        output_layout=values["output_layout"] or "",
        **{name: values[name] for name in same},
    )
