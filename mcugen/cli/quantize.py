"""`mcugen quantize`: makes an integer model from a float model and samples."""

from __future__ import annotations

import ctypes
import os
import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from mcugen.cli._common import (
    GroupedCommand,
    board_names,
    emit,
    json_option,
    model_argument,
    preprocess_option,
    require_places,
    samples_option,
    task_option,
    write,
)
from mcugen.cli._console import progress
from mcugen.errors import McugenError, QuantizationError, UsageError
from mcugen.options import LAYOUTS, Options

_BYTE, _WHOLE = 8, 100.0
_OF_INTEGERS = {
    "interface": "--io",
    "activations": "--activations",
    "max_loss": "--max-loss",
    "flash": "--flash",
    "ram": "--ram",
    "front": "--front",
    "macs": "--macs",
    "judge": "--loss",
    "resume": "--resume",
    "method": "--method",
    "cache": "--cache",
    "scheduler": "--scheduler",
    "page": "--report",
}
"""Options without effect for a model whose data stay floats."""
_OF_OLDER = {
    "weights": "--weights",
    "block": "--block",
    "activations": "--activations",
    "layers": "--layer",
    "interface": "--io",
    "macs": "--macs",
    "cache": "--cache",
}
"""Options that --ranges-of replaces by the older model's values."""
_OF_DATA = {"method": "--method", "limit": "--limit", "resume": "--resume", "page": "--report"}
"""Options without effect if there are no samples."""

_MALLOPT = {-8: 1, -1: 1 << 30, -2: 1 << 26, -3: 1 << 25}
"""malloc.h's numbers of M_ARENA_MAX, M_TRIM_THRESHOLD, M_TOP_PAD and M_MMAP_THRESHOLD -> their values."""


def _one_thread_a_process() -> None:
    """Limit NumPy's BLAS library to one thread, since processes divide the samples. It reads this setting when
    loaded.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _keep_memory() -> None:
    """Let malloc reuse freed memory. Otherwise the system clears new pages for each array.

    Only the GNU C library has these settings; with other libraries nothing changes.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if os.name == "posix" else None
    if mallopt is not None:
        for setting, value in _MALLOPT.items():
            mallopt(setting, value)


@click.command("quantize", cls=GroupedCommand)
@model_argument
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="Samples to quantize with: an .npz with an array for each input, an .npy, or a folder of .npy files, images "
    "or .wav files. 100 are plenty, 10 are few. Required, except with --ranges-of.",
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
    "--ranges-of",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Earlier quantized model with the same layers. Its bits, scales and zero points of activations are reused, so "
    "that `mcugen pack` can put the new weights into firmware in the field.",
)
@click.option(
    "--state",
    "states",
    multiple=True,
    metavar="OUT=IN",
    help="A state: the output OUT is the next frame's input IN. May be given several times. Samples are then sequences "
    "[n, frames, ...] of the other inputs.",
)
@click.option("--test", type=click.Path(path_type=Path), help="Labelled samples, to measure accuracy before and after.")
@click.option(
    "--metric",
    default="",
    metavar="NAME",
    help="What --test measures, as for `mcugen evaluate`; by default chosen by the labels.",
)
@task_option
@click.option(
    "--io",
    "interface",
    type=click.Choice(["int8", "float"]),
    default="int8",
    show_default=True,
    help="Inputs and outputs of the result: stored integers, or floats.",
)
@click.option(
    "--weights",
    type=click.Choice(["8", "4", "2", "ternary", "mixed", "float16"]),
    default="8",
    show_default=True,
    help="Bits of weights; ternary: -1, 0 or 1 times a scale; mixed: 8 or 4, chosen per layer by the options below; "
    "float16: a float model whose file has half the size.",
)
@click.option(
    "--block",
    type=click.Choice(["32", "64"]),
    help="Weights of 4 bits get a scale for each block of this many, in an .onnx.",
)
@click.option(
    "--activations",
    type=click.Choice(["8", "16", "mixed"]),
    default="8",
    show_default=True,
    help="Bits of the data between layers. 8: states, cells and gates of recurrent layers, and sums that a norm reads, "
    "have 16; mixed: 8 or 16, chosen per layer.",
)
@click.option(
    "--layer", "layers", multiple=True, metavar="NAME=BITS", help="Bits of one layer, e.g. `conv_3=w4` or `conv_3=a16`."
)
@click.option(
    "--max-loss",
    metavar="LOSS",
    help="Largest loss of accuracy by mixed bits, e.g. `0.5%`; with --activations mixed also the least SQNR, e.g. "
    "`36dB`, for which the loudest tensors get 16 bits.",
)
@click.option(
    "--flash", default="", metavar="SIZE", help="Budget for the constants of the file, with mixed bits, e.g. `60K`."
)
@click.option("--ram", default="", metavar="SIZE", help="Budget for RAM, with mixed bits, e.g. `20K`.")
@click.option(
    "--board",
    default="host",
    show_default=True,
    metavar="NAME",
    shell_complete=board_names,
    help="Board for whose costs mixed bits are chosen.",
)
@click.option(
    "--macs",
    default="",
    metavar="AMOUNT",
    help="Remove whole channels until the model has at most this many multiply-accumulates (a share, e.g. `70%`, or a "
    "number, e.g. `8M`), and train the rest to reproduce the model's outputs. Not exact; takes minutes.",
)
@click.option("--front", is_flag=True, help="Also compare mixed bits from wide to narrow: cost against SQNR.")
@click.option(
    "--loss",
    "judge",
    type=click.Choice(["classes", "error"]),
    help="What --max-loss counts: top classes that change, or squared error. Default: chosen by the output's shape.",
)
@click.option(
    "--resume", type=click.Path(path_type=Path), help="File that stores trials, to continue after an interrupt."
)
@click.option(
    "--method",
    type=click.Choice(["full", "min-max"]),
    default="full",
    show_default=True,
    help="full: every step that improves results on held-out samples; min-max: no such steps, takes seconds.",
)
@samples_option
@preprocess_option
@click.option(
    "--cache",
    type=click.Path(path_type=Path),
    help="Calibration cache: a text file with statistics of each tensor. It is written if it does not exist; edit it "
    "to set ranges by hand (`override LOW HIGH`).",
)
@click.option(
    "--report",
    "page",
    type=click.Path(path_type=Path),
    metavar="FILE.html",
    help="Write a page about the steps kept, every layer, problems found, and the test.",
)
@click.option("--jobs", type=click.IntRange(0), default=0, help="Processes; by default one per core.")
@click.option(
    "--scheduler",
    default="",
    metavar="ADDRESS",
    help="Run the trials on the workers of a Dask scheduler, e.g. `tcp://host:8786`. The result is the same.",
)
@click.option(
    "--input-shape",
    multiple=True,
    metavar="NAME:LIST",
    help="Shape of an input that the file leaves open, e.g. `image:1,3,96,96`.",
)
@click.option("--signature", default="", metavar="NAME", help="Signature (network) of a .tflite file to quantize.")
@click.option("--input-layout", type=click.Choice(LAYOUTS), help="Layout of the result's input images.")
@click.option("--output-layout", type=click.Choice(LAYOUTS), help="Layout of the result's output images.")
@json_option
def COMMAND(
    model: Path,
    data: Path | None,
    file: Path,
    test: Path | None,
    page: Path | None,
    as_json: bool,
    **values: Any,
) -> None:
    """Make an integer model of MODEL, a float .onnx, .tflite or NNEF model.

    Each step (balancing channels, rounding weights by least squares, choosing ranges) is fitted to the integers that
    will run, tried on held-out samples, and kept only if it improves them. The table shows what each step gained. The
    result is an ordinary model file, which LiteRT, TensorFlow Lite Micro or ONNX Runtime can run too.

    With --weights mixed or --activations mixed, bits are chosen per layer. With --ranges-of, a retrained model keeps
    the code of the earlier one. See docs/quantize.md.

    \b
      mcugen quantize model.onnx --data calib.npz --test test.npz -o q.tflite
    """
    _one_thread_a_process()
    _keep_memory()
    from mcugen.system import files  # imported after the settings that NumPy reads

    older = values["ranges_of"]
    named = {"-o": file, "--report": page, "--cache": values["cache"], "--resume": values["resume"]}
    require_places(named, (model, data, test, older))
    files.require_there(data, test, older)
    if older is not None:
        _check_older(file, older, has_data=data is not None)
    elif data is None:
        hint = "give samples, or --ranges-of an earlier quantized model with the same layers"
        raise UsageError("there are no samples to quantize with", where="--data", hint=hint)
    if data is not None and values["weights"] == "float16":
        _half(model, data, file, test, values, as_json=as_json)
    else:
        _integers(model, data, file, test, page, values, as_json=as_json)


def _check_older(file: Path, older: Path, *, has_data: bool) -> None:
    """Raise UsageError for options that the older model fixes, for options that need samples, and for another
    format.
    """
    from mcugen.quantize import quantize_model

    for _, flag in _given(_OF_OLDER):
        raise UsageError(f"{older.name} determines this value", where=flag, hint=f"leave {flag} or --ranges-of out")
    for _, flag in [] if has_data else _given(_OF_DATA):
        raise UsageError("this option needs samples", where=flag, hint="give --data as well, or leave the option out")
    if quantize_model.format_of(file) != quantize_model.format_of(older):
        hint = f"end the name in {older.suffix}: the formats round differently"
        raise UsageError(f"{file.name} and {older.name} have different formats", where="-o", hint=hint)


def _given(options: dict[str, str]) -> list[tuple[str, str]]:
    """The options, as (name, flag), that were given on the command line."""
    source = click.get_current_context().get_parameter_source
    return [item for item in options.items() if source(item[0]) is ParameterSource.COMMANDLINE]


def _integers(
    model: Path,
    data: Path | None,
    file: Path,
    test: Path | None,
    page: Path | None,
    values: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    from mcugen.builds.mixed import mixed_report
    from mcugen.builds.mixed.plan import BitsChooser
    from mcugen.quantize import quantization_report, quantize_model

    format_name, request = quantize_model.format_of(file), _request(values)
    chosen = None if request is None else BitsChooser(request)
    choose = None if chosen is None else chosen.choose
    with progress("quantizing", quiet=as_json) as update:
        choices = replace(_choices(values), file_format=format_name)
        found = quantize_model.quantize(model, data, choices, test=test, progress=update, choose=choose)
        content = found.written(format_name)
        _require_build(content, file)
    write(file, content)
    given = (found, str(file), len(content))
    if page is not None:
        from mcugen.report import quantization_page

        write(page, quantization_page.page(*given))
    more = {} if chosen is None else {"mixed": mixed_report.as_dict(chosen)}
    parts = [] if chosen is None else mixed_report.as_parts(chosen)
    emit(
        {**quantization_report.as_dict(*given), **more},
        [*quantization_report.as_parts(*given), *parts],
        as_json=as_json,
    )


def _half(model: Path, data: Path, file: Path, test: Path | None, values: dict[str, Any], *, as_json: bool) -> None:
    """Store weights as float16, in a model that stays float. Raises UsageError for options that then have no effect."""
    from mcugen.quantize import half, quantize_model

    context = click.get_current_context()
    for name, flag in _given(_OF_INTEGERS):
        if context.params[name] != "float":
            raise UsageError(f"{flag} has no effect on a float model", hint="leave it out with --weights float16")
    format_name, choices = quantize_model.format_of(file), _choices({**values, "weights": "8"})
    with progress("rounding weights", quiet=as_json) as update:
        found = half.quantize(model, data, choices, test=test, progress=update)
        content = found.written(format_name)
        _require_build(content, file)
    write(file, content)
    given = (found, str(file), len(content))
    emit(half.as_dict(*given), half.as_parts(*given), as_json=as_json)


def _require_build(content: bytes, file: Path) -> None:
    """Read a model file back, and select its kernels. Raises QuantizationError that names a layer without a kernel."""
    from mcugen import pipeline

    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / file.name
        written.write_bytes(content)
        try:
            pipeline.inspect(written, Options())
        except McugenError as error:
            hint = "set this layer's bits with --layer or its ranges with --cache, or keep the model in floats"
            raise QuantizationError(f"{file} was not written, because its build fails: {error}", hint=hint) from error


def _request(values: dict[str, Any]) -> Any:
    """The goals of mixed bits; None if no option sets any. Raises UsageError."""
    from mcugen.builds.mixed.plan import Request

    mixed = {name: values[name] == "mixed" for name in ("weights", "activations")}
    goals = [name for name in ("max_loss", "flash", "ram", "front") if values[name]]
    if not any(mixed.values()):
        if goals:
            flag = goals[0].replace("_", "-")
            raise UsageError(
                f"--{flag} has no effect without mixed bits", hint="add --weights mixed or --activations mixed"
            )
        return None
    if not goals:
        hint = "add --max-loss 0.5%, --flash 60K, --ram 20K or --front"
        raise UsageError("mixed bits need a limit on cost or loss", hint=hint)
    options = Options(**{name: values[name] for name in ("board", "flash", "ram")})
    least = _decibels(values["max_loss"])
    if least is not None and (mixed["weights"] or any(values[name] for name in ("flash", "ram", "front", "judge"))):
        hint = "give --activations mixed and --max-loss alone, or a loss in percent"
        raise UsageError("a goal in dB is for data alone", where="--max-loss", hint=hint)
    most = None if least is not None else _percent(values["max_loss"])
    return Request(**mixed, most=most, options=options, front=values["front"], judge=values["judge"] or "", least=least)


def _decibels(text: str | None) -> float | None:
    """The number of a text such as 36dB; None for other texts."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?dB", text or "")
    return float(found[1]) if found else None


def _percent(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        found = float(text.removesuffix("%"))
    except ValueError:
        found = -1.0
    if not 0 <= found <= _WHOLE:
        raise UsageError(f"{text!r} is not a percentage", where="--max-loss", hint="write it like 0.5%, or like 36dB")
    return found


def _bits(text: str) -> int:
    from mcugen.quantize.recipe import TERNARY

    return _BYTE if text == "mixed" else TERNARY if text == "ternary" else int(text)


def _block(values: dict[str, Any]) -> int:
    """The weights of a block; 0 if there are none. Raises UsageError for blocks of other weights than those of 4 bits.
    """
    if values["block"] and values["weights"] != "4":
        what = f"--weights {values['weights']} has no blocks: only weights of 4 bits have a scale for each block"
        raise UsageError(what, where="--block", hint="add --weights 4, or leave --block out")
    return int(values["block"] or 0)


def _choices(values: dict[str, Any]) -> Any:
    from mcugen.quantize.quantize_model import QuantizeOptions
    from mcugen.quantize.recipe import Widths

    same = (
        "method",
        "interface",
        "limit",
        "preprocess",
        "jobs",
        "scheduler",
        "cache",
        "signature",
        "layers",
        "resume",
        "macs",
        "ranges_of",
        "states",
        "metric",
    )
    return QuantizeOptions(
        widths=Widths(_bits(values["weights"]), _bits(values["activations"]), block=_block(values)),
        shapes=Options(input_shape=values["input_shape"]).shapes,
        task=values["task"] or "",
        input_layout=values["input_layout"] or "",
        output_layout=values["output_layout"] or "",
        **{name: values[name] for name in same},
    )
