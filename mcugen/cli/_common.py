"""Parts that commands share: the options of a build, progress, files and output."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from mcugen.cli._console import QUIET, is_set, show
from mcugen.errors import UsageError
from mcugen.options import SAMPLES, Options
from mcugen.system.tabular import Parts

if TYPE_CHECKING:
    from mcugen.pipeline import Artifact

F = TypeVar("F", bound=Callable[..., Any])


def build_options(function: F) -> F:
    """Adds the options of a command that writes a build. They are made from the fields of Options."""
    return _with_options(function, dataclasses.fields(Options))


def model_options(function: F) -> F:
    """Adds the options of a command that builds without keeping files: all but options for output files."""
    return _with_options(function, [item for item in dataclasses.fields(Options) if not item.metadata.get("building")])


def verify_options(function: F) -> F:
    """Adds the options of a command that builds for any target, keeps no files, and runs what it built."""
    chosen = [item for item in dataclasses.fields(Options) if not item.metadata.get("building") or is_target(item)]
    named = click.option("--device", default="", metavar="NAME", help="OpenCL: part of its name, or PLATFORM:DEVICE.")
    return named(_with_options(function, chosen))


def is_target(item: dataclasses.Field[Any]) -> bool:
    """Whether an option describes the target of a build."""
    return item.metadata.get("group") == "Target"


def _with_options(function: F, items: Sequence[dataclasses.Field[Any]]) -> F:
    for item in reversed([item for item in items if "several_models" not in item.metadata]):
        function = _option(item)(function)
    return function


def _option(item: dataclasses.Field[Any]) -> Callable[[F], F]:
    flag, extra = f"--{item.name.replace('_', '-')}", item.metadata
    kind: dict[str, Any] = {"cls": GroupedOption, "group": extra.get("group", "Options"), "help": extra["help"]}
    if isinstance(item.default, bool) or "several_models" in extra:
        kind |= {"is_flag": True, "default": False}
    elif "choices" in extra:
        kind |= {"type": click.Choice(extra["choices"]), "default": item.default or None, "show_default": True}
    else:
        several = isinstance(item.default, tuple)
        kind |= {"default": item.default, "multiple": several, "show_default": bool(item.default)}
        kind |= {"metavar": extra["metavar"], "shell_complete": _COMPLETED.get(item.name)}
    return click.option(flag, item.name, **kind)


class GroupedOption(click.Option):
    """An option with a heading under which the help lists it."""

    def __init__(self, *arguments: Any, group: str = "", **values: Any) -> None:
        super().__init__(*arguments, **values)
        self.group = group


class GroupedCommand(click.Command):
    """A command whose help lists its own options first, then the options of a build in groups, its target first."""

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options: the command's own, then each group."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(context):
            record = parameter.get_help_record(context) if isinstance(parameter, click.Option) else None
            if record is not None:
                groups.setdefault(getattr(parameter, "group", "Options"), []).append(record)
        for name in sorted(groups, key=lambda name: (name != "Options", name != "Target")):
            with formatter.section(name):
                formatter.write_dl(groups[name])


def board_names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Names of boards, for shell completion."""
    from mcugen.boards import target

    return [name for name in target.names() if name.startswith(incomplete)]


def _export_names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Names of exports, and `none`, for shell completion."""
    from mcugen.report import exports

    return [name for name in (*exports.names(), "none") if name.startswith(incomplete)]


def _feature_lists(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Completions of a list of features to switch off: `-dsp,-m` gives `-dsp,-mve` and `-dsp,-mve_float`.

    The features are those of the board given, or of all cores.
    """
    from mcugen import kernels
    from mcugen.boards import target

    *given, last = incomplete.split(",")
    board = context.params.get("board") or ""
    names = target.load(board).features if board in target.names() else kernels.features()
    more = [f"-{name}" for name in sorted(names) if f"-{name}".startswith(last) and f"-{name}" not in given]
    return [",".join([*given, name]) for name in more]


_COMPLETED: dict[str, Callable[[click.Context, click.Parameter, str], list[str]]] = {
    "board": board_names,
    "export": _export_names,
    "features": _feature_lists,
}
"""Option -> function for shell completion."""


def _noted(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    context.meta[f"mcugen.{parameter.name}"] = value


def json_option(function: F) -> F:
    """Adds the options that every command has for its output."""
    for option in (
        click.option("--wide", is_flag=True, expose_value=False, callback=_noted, help="Print tables at full width."),
        click.option(
            "-q",
            "--quiet",
            is_flag=True,
            expose_value=False,
            callback=_noted,
            help="Print nothing but errors and --json.",
        ),
        click.option("--json", "as_json", is_flag=True, help="Print only one JSON object to standard output."),
    ):
        function = option(function)
    return function


model_argument = click.argument("model", type=click.Path(path_type=Path))


def models_argument(function: F) -> F:
    """Adds the argument for one or more models, and the flag --chain, which makes one model of several."""
    item = next(item for item in dataclasses.fields(Options) if "several_models" in item.metadata)
    argument = click.argument("models", metavar="MODEL...", nargs=-1, required=True, type=click.Path(path_type=Path))
    return argument(_option(item)(function))


def chained(models: Sequence[Path], values: dict[str, Any]) -> Path:
    """The first of the models that a command was given. With --chain, the others become the value of this option.

    Raises UsageError for several models without --chain, and for --chain with one model.
    """
    wanted = values.pop("chain")
    if wanted and len(models) < 2:
        raise UsageError("--chain needs two models or more", hint="give them in the order in which data flow")
    if len(models) > 1 and not wanted:
        raise UsageError(
            f"{len(models)} models were given for one build",
            hint="give one, or make one of them with --chain; `mcugen build` also has --share-arena",
        )
    values["chain"] = tuple(map(str, models[1:]))
    return models[0]


def words_of_host(values: dict[str, Any]) -> str:
    """The words of --preprocess that the host applies to samples, taken out of a build's options.

    With --raw, the C applies them, and the host none. The C applies the words of a stream of samples and front ends by
    name, too; the host applies the words of a stream that change files (`samples.signals`).
    """
    from mcugen.samples import microfrontend

    if microfrontend.is_name(values["preprocess"]):
        return ""
    if values["input_mode"] == SAMPLES:
        return str(values["preprocess"])
    return "" if values["raw"] else values.pop("preprocess")


samples_option = click.option("--samples", "limit", type=int, help="Use only this many samples, from the first.")
task_option = click.option(
    "--task",
    type=click.Choice(["detection"]),
    help="detection: outputs are boxes, compared with the true boxes of the samples; see docs/run.md.",
)
preprocess_option = click.option(
    "--preprocess", default="", metavar="STEPS", help="How images or sounds become inputs; see docs/samples.md."
)


def options_of(values: dict[str, Any]) -> Options:
    """The Options given. An unset choice without a default gets the field's default."""
    given = {item.name: values.get(item.name) for item in dataclasses.fields(Options)}
    return Options(**{name: value for name, value in given.items() if value is not None})


def built(model: Path, values: dict[str, Any]) -> Artifact:
    from mcugen import pipeline

    return pipeline.build(model, options_of(values))


def built_here(model: Path, values: dict[str, Any]) -> Artifact:
    """The artifact of a command that runs it: for this computer's processor unless the command line names a board."""
    from mcugen.machines.native import processor

    named = click.get_current_context().get_parameter_source("board") is not ParameterSource.DEFAULT
    return built(model, values if named else {**values, "board": processor.board()})


def picture_path(context: click.Context, parameter: click.Parameter, path: Path | None) -> Path | None:
    """The path of a picture. Raises UsageError unless it ends in .svg."""
    if path is not None and path.suffix.lower() != ".svg":
        message = f"the picture is SVG, but {path.name!r} does not end in .svg"
        raise UsageError(message, where=f"--{parameter.name}", hint=f"name it {path.with_suffix('.svg').name}")
    return path


def write(path: Path, content: bytes) -> None:
    """Write a file that the user named: completely, or not at all. Raises UsageError if that fails."""
    try:
        if path.exists() and not path.is_file():  # A device or a pipe cannot be replaced by a rename.
            path.write_bytes(content)
        else:
            _replace(path, content)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"cannot write {str(path)!r}: {reason}", hint="check the path and its permissions") from error


def _replace(path: Path, content: bytes) -> None:
    """Write a temporary file in the same folder and rename it. For a link, the link's target is replaced."""
    path = path.resolve()
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        part.write_bytes(content)
        if path.exists():
            part.chmod(path.stat().st_mode)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def require_places(outputs: Mapping[str, Path | None], inputs: Sequence[Path | None]) -> None:
    """Raise UsageError, before any work, if files cannot be written under the names that the user gave.

    outputs: flag -> file. inputs: files that must not be overwritten.
    """
    taken = {path.resolve(): "an input" for path in inputs if path is not None}
    for flag, path in outputs.items():
        if path is None:
            continue
        if not path.resolve().parent.is_dir():
            raise UsageError(f"there is no folder {str(path.parent)!r}", where=flag, hint="create it first")
        if path.is_dir():
            raise UsageError(f"{str(path)!r} is a folder", where=flag, hint="name a file in it")
        if path.resolve() in taken:
            what = taken[path.resolve()]
            raise UsageError(f"{str(path)!r} is {what} as well", where=flag, hint="give it another name")
        taken[path.resolve()] = f"the file of {flag}"


def emit(value: Any, text: str | Parts, *, as_json: bool) -> None:
    """Print a result: as JSON, or as text with lines and tables fitted to the terminal."""
    if as_json:
        click.echo(json.dumps(value, indent=2))
    elif not is_set(QUIET):
        if isinstance(text, str):
            click.echo(text.rstrip("\n"))
        else:
            show(text)
