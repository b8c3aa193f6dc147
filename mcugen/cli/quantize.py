"""`mcugen quantize`: a float model and samples to a model of integers."""

from __future__ import annotations

import ctypes
import os
import tempfile
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
"""M_ARENA_MAX, M_TRIM_THRESHOLD, M_TOP_PAD and M_MMAP_THRESHOLD, as malloc.h numbers them."""


def _one_thread_a_process() -> None:
    """Limit NumPy's library to one thread, as the work is divided by samples; it reads this setting when it is
    loaded."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _keep_memory() -> None:
    """Let malloc reuse freed memory: otherwise the system clears new pages for each array.

    Only the C library of GNU has these settings; with others nothing changes.
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
    "or .wav files. 100 are plenty, 10 are few. Asked for but with --ranges-of.",
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
    help="Quantized model of before, of the same layers: its bits, scales and zero points of activations are taken, so "
    "that `mcugen pack` can put the new weights into firmware in the field.",
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
    "--weights",
    type=click.Choice(["8", "4", "mixed", "float16"]),
    default="8",
    show_default=True,
    help="Bits of weights; mixed: 8 or 4, layer by layer, as the options below ask for; float16: a float model whose "
    "file has half the size.",
)
@click.option(
    "--activations",
    type=click.Choice(["8", "16", "mixed"]),
    default="8",
    show_default=True,
    help="Bits of the data between layers; mixed: 8 or 16, layer by layer.",
)
@click.option(
    "--layer", "layers", multiple=True, metavar="NAME=BITS", help="Bits of one layer, e.g. `conv_3=w4` or `conv_3=a16`."
)
@click.option("--max-loss", metavar="PERCENT", help="Most accuracy that mixed bits may lose, e.g. `0.5%`.")
@click.option(
    "--flash", default="", metavar="SIZE", help="Budget of mixed bits for the constants of the file, e.g. `60K`."
)
@click.option("--ram", default="", metavar="SIZE", help="Budget of mixed bits for RAM, e.g. `20K`.")
@click.option(
    "--board",
    default="host",
    show_default=True,
    metavar="NAME",
    shell_complete=board_names,
    help="Board that mixed bits are to suit.",
)
@click.option(
    "--macs",
    default="",
    metavar="AMOUNT",
    help="Remove whole channels until the model does no more multiply-accumulates than this, a share as `70%` or a "
    "number as `8M`, and train what is left to give what the model gave. Not exact, and takes minutes.",
)
@click.option("--front", is_flag=True, help="Also compare mixed bits from wide to narrow: cost against SQNR.")
@click.option(
    "--loss",
    "judge",
    type=click.Choice(["classes", "error"]),
    help="What --max-loss counts: top classes that change, or squared error. By default by the shape of the output.",
)
@click.option(
    "--resume", type=click.Path(path_type=Path), help="File that keeps trials, to go on with after an interrupt."
)
@click.option(
    "--method",
    type=click.Choice(["full", "min-max"]),
    default="full",
    show_default=True,
    help="full: every step that improves samples held out of it; min-max: none of them, in seconds.",
)
@samples_option
@preprocess_option
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
    "--scheduler",
    default="",
    metavar="ADDRESS",
    help="Run the trials on the workers of a Dask scheduler, e.g. `tcp://host:8786`; the bytes are the same.",
)
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
    data: Path | None,
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

    With --weights mixed or --activations mixed, each layer gets its own; with --ranges-of a retrained model keeps the
    code of the one before; see docs/quantize.md.

    \b
      mcugen quantize model.onnx --data calib.npz --test test.npz -o q.tflite
    """
    _one_thread_a_process()
    _keep_memory()
    from mcugen.system import files  # after the settings that NumPy reads

    older = values["ranges_of"]
    named = {"-o": file, "--report": page, "--cache": values["cache"], "--resume": values["resume"]}
    require_places(named, (model, data, test, older))
    files.require_there(data, test, older)
    if older is not None:
        _check_older(file, older, has_data=data is not None)
    elif data is None:
        hint = "name samples, or with --ranges-of a quantized model of the same layers"
        raise UsageError("there are no samples to quantize with", where="--data", hint=hint)
    if data is not None and values["weights"] == "float16":
        _half(model, data, file, test, values, as_json=as_json)
    else:
        _integers(model, data, file, test, page, values, as_json=as_json)


def _check_older(file: Path, older: Path, *, has_data: bool) -> None:
    """Raise UsageError for options that the older model fixes, or that need samples, and for another format."""
    from mcugen.quantize import quantize_model

    for _, flag in _given(_OF_OLDER):
        raise UsageError(f"{older.name} decides on this option", where=flag, hint=f"leave {flag} or --ranges-of out")
    for _, flag in [] if has_data else _given(_OF_DATA):
        raise UsageError("this needs samples", where=flag, hint="give --data, too, or leave it out")
    if quantize_model.format_of(file) != quantize_model.format_of(older):
        hint = f"end the name in {older.suffix}: the integers of the formats differ"
        raise UsageError(f"{file.name} and {older.name} have different formats", where="-o", hint=hint)


def _given(options: dict[str, str]) -> list[tuple[str, str]]:
    """The options, as name and flag, that the command line has."""
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
        found = quantize_model.quantize(model, data, _choices(values), test=test, progress=update, choose=choose)
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
    """Store weights as float16, in a model that stays float. Raises UsageError for options without effect then."""
    from mcugen.quantize import half, quantize_model

    context = click.get_current_context()
    for name, flag in _given(_OF_INTEGERS):
        if context.params[name] != "float":
            raise UsageError(f"{flag} is for models of integers", hint="leave it out with --weights float16")
    format_name, choices = quantize_model.format_of(file), _choices({**values, "weights": "8"})
    with progress("rounding weights", quiet=as_json) as update:
        found = half.quantize(model, data, choices, test=test, progress=update)
        content = found.written(format_name)
        _require_build(content, file)
    write(file, content)
    given = (found, str(file), len(content))
    emit(half.as_dict(*given), half.as_parts(*given), as_json=as_json)


def _require_build(content: bytes, file: Path) -> None:
    """Read a model file back, and select its kernels. Raises QuantizationError with the layer that has none."""
    from mcugen import pipeline

    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / file.name
        written.write_bytes(content)
        try:
            pipeline.inspect(written, Options())
        except McugenError as error:
            hint = "give this layer other bits by --layer, or its ranges by --cache; or keep the model in floats"
            raise QuantizationError(f"{file} is not written, as its build fails: {error}", hint=hint) from error


def _request(values: dict[str, Any]) -> Any:
    """The goals of mixed bits; None where no option sets any. Raises UsageError."""
    from mcugen.builds.mixed.plan import Request

    mixed = {name: values[name] == "mixed" for name in ("weights", "activations")}
    goals = [name for name in ("max_loss", "flash", "ram", "front") if values[name]]
    if not any(mixed.values()):
        if goals:
            flag = goals[0].replace("_", "-")
            raise UsageError(f"--{flag} needs bits to choose", hint="add --weights mixed or --activations mixed")
        return None
    if not goals:
        hint = "add --max-loss 0.5%, --flash 60K, --ram 20K or --front"
        raise UsageError("mixed bits of what cost or loss?", hint=hint)
    options = Options(**{name: values[name] for name in ("board", "flash", "ram")})
    return Request(
        **mixed, most=_percent(values["max_loss"]), options=options, front=values["front"], judge=values["judge"] or ""
    )


def _percent(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        found = float(text.removesuffix("%"))
    except ValueError:
        found = -1.0
    if not 0 <= found <= _WHOLE:
        raise UsageError(f"{text!r} is no share", where="--max-loss", hint="for example 0.5%")
    return found


def _bits(text: str) -> int:
    return _BYTE if text == "mixed" else int(text)


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
    )
    return QuantizeOptions(
        widths=Widths(_bits(values["weights"]), _bits(values["activations"])),
        shapes=Options(input_shape=values["input_shape"]).shapes,
        input_layout=values["input_layout"] or "",
        output_layout=values["output_layout"] or "",
        **{name: values[name] for name in same},
    )
