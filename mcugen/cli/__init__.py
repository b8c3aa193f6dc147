"""The command line: arguments to Options, results to text or JSON. The only place that prints or exits."""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import sys
import traceback
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mcugen import __version__
from mcugen.cli._common import (
    GroupedCommand,
    build_options,
    built,
    chained,
    emit,
    json_option,
    model_argument,
    model_options,
    models_argument,
    options_of,
    picture_path,
    verify_options,
    write,
)
from mcugen.cli._console import WIDE, is_set, progress, say_error
from mcugen.cli._folder import into_option, opened, require_build
from mcugen.errors import InternalError, McugenError, UsageError

if TYPE_CHECKING:
    from mcugen.system.result_cache import BuildResult

_COLLECT_AFTER = 1_000_000
"""Allocations between two garbage collections. A build makes few reference cycles, and imports would trigger many
collections.
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit. Exit code: 0 for success, 1 if a check found differences, otherwise the error's
    code.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    gc.set_threshold(_COLLECT_AFTER)
    # NumPy warns of overflows, and shows source lines of mcugen
    warnings.filterwarnings("ignore", category=RuntimeWarning)
    try:
        code = _run(given)
    except McugenError as error:
        _print_error(error, as_json="--json" in given)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        _print_error(_of_click(error), as_json="--json" in given)
        sys.exit(error.exit_code)
    except (click.exceptions.Abort, KeyboardInterrupt):
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
    sys.exit(code if isinstance(code, int) else 0)


def _run(given: Sequence[str]) -> Any:
    """The command's result. An unexpected exception becomes an InternalError with the place where it was raised."""
    try:
        return cli.main(given, prog_name="mcugen", standalone_mode=False)
    except (McugenError, click.ClickException, click.exceptions.Abort, BrokenPipeError):
        raise
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(last.filename).name}:{last.lineno}"
        raise InternalError(f"{type(error).__name__}: {error}", where=place) from error


def _print_error(error: McugenError, *, as_json: bool) -> None:
    if as_json:
        _print_json_error(type(error).__name__, str(error), error.hint)
    say_error(error.explain())


def _of_click(error: click.ClickException) -> UsageError:
    """An error of the click library as a UsageError in mcugen's style."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "mcugen"
    message = " ".join(error.format_message().split()).rstrip(".")
    return UsageError(f"{message[:1].lower()}{message[1:]}", hint=f"see `{command} --help`")


def _print_json_error(kind: str, message: str, hint: str) -> None:
    click.echo(json.dumps({"error": {"kind": kind, "message": message, "hint": hint}}, indent=2))


class _Commands(click.Group):
    """The group of all commands. The commands in this module list their options in groups."""

    command_class = GroupedCommand


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="mcugen")
def cli() -> None:
    """Compile trained neural networks to standalone C for microcontrollers.

    The generated C needs no library, no heap and no interpreter. Its results equal those of the reference runtime bit
    for bit (TensorFlow Lite Micro by default). Check it before you have a board:

    \b
      mcugen inspect  model.tflite                    what is in the model
      mcugen build    model.tflite --board cortex-m7 -o out/
      mcugen verify   model.tflite                    C against NumPy, every layer
      mcugen simulate model.tflite --board cortex-m7  the firmware, emulated
      mcugen pareto   model.tflite --board cortex-m7  what RAM costs in time

    \b Exit status: 0 success, 1 a check found differences, 2 wrong usage, 3 unusable model, 4 target too small or
    without a kernel, 5 external tool missing or failed, 70 defect of mcugen.
    """


@cli.command()
@models_argument
@click.option(
    "-o",
    "--output",
    "folder",
    type=click.Path(path_type=Path),
    required=True,
    help="Folder to write; replaced if it holds an earlier build.",
)
@click.option("--share-arena", is_flag=True, help="Let several models share one memory; one runs at a time.")
@click.option("--no-cache", is_flag=True, help="Neither take the build from MCUGEN_CACHE nor store it there.")
@build_options
@json_option
def build(
    models: tuple[Path, ...], folder: Path, share_arena: bool, no_cache: bool, as_json: bool, **values: Any
) -> None:
    """Write MODEL as standalone C into a folder.

    The folder contains NAME.h (the interface), NAME.c, NAME_weights.c, the kernels used, examples/main.c, a
    CMakeLists.txt, report.json, and memory.svg, a picture of the memory map. A build that fails writes nothing.

    Several models need --chain or --share-arena. --chain makes one model of them. With --share-arena, their files go to
    one folder, and --name, by default "models", names the header with a union of their memories.

    The environment variable MCUGEN_CACHE names a folder that stores builds. A stored build is copied, not computed
    again, if the model, the options, all files that it read and mcugen itself are the same.

    \b
      mcugen build model.tflite --board nucleo-h743zi -o out/
    """
    from mcugen.system import output_folder, result_cache

    output_folder.require_place(folder)
    if share_arena and values.pop("chain"):
        raise UsageError("--share-arena contradicts --chain", hint="leave one of them out")
    place = None if no_cache else result_cache.folder_of(os.environ)
    with progress("building", quiet=as_json) as update:
        update(f"{len(models)} models" if share_arena else models[0].name)
        make = partial(_shared_result if share_arena else _result, models, values)
        result = make() if place is None else result_cache.result_of(place, _texts(models, share_arena, values), make)
        kept = output_folder.write(folder, result.files, result.shared)
    if kept:  # on standard error, so that JSON output stays valid
        click.echo(f"mcugen: edited since the last build, kept beside the new: {', '.join(kept)}", err=True)
    emit(result.facts, result.parts, as_json=as_json)


def _texts(*arguments: Any) -> list[str]:
    """The arguments of a command as texts, one for each value."""
    found: list[str] = []
    for value in arguments:
        if isinstance(value, dict):
            found += _texts(*(x for pair in sorted(value.items()) for x in pair))
        elif isinstance(value, tuple | list):
            found += [f"{len(value)} values", *_texts(*value)]
        else:
            found.append(str(value))
    return found


def _result(models: Sequence[Path], values: dict[str, Any]) -> BuildResult:
    """The result of a build of one model, or of a chain of models."""
    from mcugen import report
    from mcugen.system.result_cache import BuildResult

    made = built(chained(models, values), values)
    return BuildResult(made.files, made.kernels, report.as_dict(made.report), report.as_parts(made.report))


def _shared_result(models: Sequence[Path], values: dict[str, Any]) -> BuildResult:
    """The result of a build of several models that share one memory."""
    from mcugen.builds import shared_arena
    from mcugen.system.result_cache import BuildResult

    made = shared_arena.build(models, options_of(values))
    return BuildResult(made.files, made.kernels, shared_arena.as_dict(made), shared_arena.as_parts(made))


@cli.command()
@models_argument
@click.option(
    "--cases",
    "count",
    type=click.IntRange(0),
    default=16,
    show_default=True,
    help="Number of random inputs, besides the extreme ones.",
)
@click.option(
    "--golden",
    type=click.Path(path_type=Path),
    help="An .npz with inputs in0_0, ... and the runtime's outputs out0_0, ...",
)
@click.option(
    "--trace",
    type=click.Path(path_type=Path),
    help="A trace.json with hashes of the runtime's tensors for the first input of --golden.",
)
@click.option(
    "--runtime",
    is_flag=False,
    flag_value="reference",
    type=click.Choice(["reference", "tflm", "litert", "ort"]),
    help="Fail unless this runtime is installed and agrees on all inputs; by default the runtime to reproduce.",
)
@into_option
@verify_options
@json_option
def verify(
    models: tuple[Path, ...],
    count: int,
    golden: Path | None,
    trace: Path | None,
    runtime: str | None,
    into: Path | None,
    device: str,
    as_json: bool,
    **values: Any,
) -> int:
    """Compile MODEL with this computer's gcc and compare every layer with the NumPy reference.

    verify also derives multipliers, bounds and tables a second time, tests the functions of the header, and checks the
    text of the C for heap, recursion, mutable data and unbounded loops. The board's own compiler, if installed,
    compiles the C with the flags of the core. The C runs under the address and undefined-behaviour sanitizers, on
    random inputs over the full range and on extreme inputs. Integer tensors must be equal. Float tensors must agree
    within 1e-5 of the largest magnitude of their sums.

    Other programs that read the file check that mcugen understood it: the onnx package's reference evaluator for ONNX,
    and the runtime to reproduce, if installed (`pip install tflite-micro ai-edge-litert onnxruntime`). Each tensor that
    they give is compared, and tensors left out are named. --runtime (after MODEL) makes the runtime a must. --golden
    also compares recorded outputs.

    \b
      mcugen verify model.tflite --board cortex-m4 --golden recorded.npz
    """
    from mcugen import options as names
    from mcugen.machines.toolchain import opencl, runtimes
    from mcugen.system import files
    from mcugen.verify import check_report, checks
    from mcugen.verify.witnesses import SAME, Ask

    model = chained(models, values)
    opencl.environment(device)
    files.require_there(golden, trace)
    require_build(into, options_of(values))
    if runtime not in (None, SAME):
        runtimes.require(runtime)
    with progress("verifying", quiet=as_json) as update:
        ask = Ask(names.named(model)[1], runtime or "", values["signature"])
        artifact = built(model, values)
        noted = opened(into, artifact)
        result = checks.verify(artifact, count, golden, trace, update, ask)
        noted.note("verified", check_report.verified_facts(result))
    emit(check_report.verify_dict(result), check_report.verify_parts(result, whole=is_set(WIDE)), as_json=as_json)
    return 0 if result.agrees else 1


@cli.command()
@models_argument
@click.option("--cases", "count", type=click.IntRange(1), default=2, show_default=True, help="Number of random inputs.")
@click.option(
    "--golden",
    type=click.Path(path_type=Path),
    help="An .npz with recorded inputs and outputs of the runtime; see verify.",
)
@click.option(
    "-O",
    "optimize_level",
    type=click.Choice(["s", "1", "2", "3"]),
    default="2",
    show_default=True,
    help="Optimisation level of the cross compiler.",
)
@into_option
@model_options
@json_option
def simulate(
    models: tuple[Path, ...],
    count: int,
    golden: Path | None,
    optimize_level: str,
    into: Path | None,
    as_json: bool,
    **values: Any,
) -> int:
    """Run MODEL's firmware on an emulated core. Counts its instructions per layer, and estimates its cycles.

    The image has the board's memory sizes and its own start-up code. Outputs are compared with the NumPy reference. A
    second run with different initial memory must give the same bytes. Needs the cross compiler and QEMU.

    \b
      mcugen simulate model.tflite --board nucleo-l4r5zi
    """
    from mcugen.boards import target
    from mcugen.system import files
    from mcugen.verify import check_report, checks, emulated

    model = chained(models, values)
    options = options_of(values)
    emulated.require_machine(target.load(options.board_name))
    files.require_there(golden)
    require_build(into, options)
    with progress("simulating", quiet=as_json) as update:
        update(str(values["board"]))
        artifact, level = built(model, values), f"-O{optimize_level}"
        noted = opened(into, artifact)
        result = checks.simulate(artifact, count, golden, level, update)
        noted.note("simulated", check_report.simulated_facts(result, level))
    emit(check_report.simulate_dict(result), check_report.simulate_parts(result), as_json=as_json)
    return 0 if result.agrees and result.repeatable else 1


@cli.command()
@models_argument
@click.option(
    "--ir",
    type=click.Choice(["imported", "passes", "schedule", "plan"]),
    help="Only dump the intermediate representation after a stage.",
)
@click.option("--removed", is_flag=True, help="List the nodes removed because they cannot change the outputs, and why.")
@click.option(
    "--memory",
    type=click.Path(path_type=Path),
    callback=picture_path,
    help="Also write the memory map as a picture, FILE.svg.",
)
@model_options
@json_option
def inspect(
    models: tuple[Path, ...], ir: str | None, removed: bool, memory: Path | None, as_json: bool, **values: Any
) -> None:
    """Show what is in MODEL: operators, shapes, quantization, work, weights, and the bytes live at each step.

    --memory draws the arena over time: which tensor lies where and for how long, and where most bytes are live.

    \b
      mcugen inspect model.tflite --removed
    """
    from mcugen import pipeline
    from mcugen.builds import inspection
    from mcugen.report.pages import memory_svg

    model = chained(models, values)
    artifact = built(model, values) if memory is not None else pipeline.inspect(model, options_of(values))
    if memory is not None:
        write(memory, artifact.files[memory_svg.FILE])
    if ir:
        text = inspection.dump(artifact, ir)
        emit({"stage": ir, "text": text}, text, as_json=as_json)
        return
    facts = inspection.facts_of(artifact)
    parts = inspection.removed_parts(facts) if removed else inspection.as_parts(facts)
    emit(facts, parts, as_json=as_json)


@cli.command()
@model_argument
@click.option(
    "--plot",
    type=click.Path(path_type=Path),
    callback=picture_path,
    help="Also plot the schedules into a picture, FILE.svg.",
)
@into_option
@model_options
@json_option
def pareto(model: Path, plot: Path | None, into: Path | None, as_json: bool, **values: Any) -> int:
    """Show what saving RAM costs in time: each --optimize goal, and further schedules of MODEL.

    Each schedule runs on the board's emulated core, where its instructions are counted and its outputs compared with
    the NumPy reference. Cycles are estimated; milliseconds too, if the board's clock is known. For a board without an
    emulated core, kernel calls are counted instead.

    \b
      mcugen pareto model.tflite --board cortex-m7 --plot curve.svg
    """
    from mcugen.builds import pareto as front

    require_build(into, options_of(values))
    noted = opened(into, built(model, values), any_schedule=True) if into else None
    with progress("comparing", quiet=as_json) as update:
        result = front.front(model, options_of(values), update)
    if noted is not None:
        noted.note("pareto", front.as_facts(result))
    if plot is not None:
        write(plot, front.plot(result))
    emit(front.as_dict(result), front.as_parts(result), as_json=as_json)
    return 0 if result.agrees else 1


@cli.command()
@click.argument("name", default="")
@json_option
@click.option("--markdown", is_flag=True, help="Print docs/operators.md.")
def ops(name: str, as_json: bool, markdown: bool) -> None:
    """List the supported operators, their kernels, and what each kernel accepts; with NAME, only that operator.

    NAME is mcugen's name or a format's. If no operator has this name, operators whose names contain it are listed.

    \b
      mcugen ops --json
      mcugen ops Conv2D
      mcugen ops CONV_2D
    """
    from mcugen.report import support_tables

    rows = support_tables.operators(name)
    if not rows:
        raise UsageError(f"no operator's name contains {name!r}", hint="`mcugen ops` lists all of them")
    text = support_tables.operators_markdown(rows) if markdown else support_tables.operators_parts(rows)
    emit({"operators": rows}, text, as_json=as_json)


def _add_commands() -> None:
    """Add the commands in the other modules of this package."""
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith("_"):
            cli.add_command(importlib.import_module(f"{__name__}.{module.name}").COMMAND)


_add_commands()
