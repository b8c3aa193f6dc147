"""What commands share: the options of a build, progress, files and output."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mcugen.errors import UsageError
from mcugen.options import Options

if TYPE_CHECKING:
    from mcugen.pipeline import Artifact

F = TypeVar("F", bound=Callable[..., Any])
_PROGRESS_AFTER_S = 1.0


def build_options(function: F) -> F:
    """The options of every command that builds, made from the fields of Options."""
    for item in reversed(dataclasses.fields(Options)):
        flag = f"--{item.name.replace('_', '-')}"
        extra = item.metadata
        if isinstance(item.default, bool):
            option = click.option(flag, item.name, is_flag=True, default=False, help=extra["help"])
        elif "choices" in extra:
            kind = click.Choice(extra["choices"])
            option = click.option(
                flag, item.name, type=kind, default=item.default or None, show_default=True, help=extra["help"]
            )
        else:
            shown, several = bool(item.default), isinstance(item.default, tuple)
            option = click.option(
                flag,
                item.name,
                default=item.default,
                multiple=several,
                show_default=shown,
                metavar=extra["metavar"],
                help=extra["help"],
            )
        function = option(function)
    return function


json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object to standard output, nothing else."
)
model_argument = click.argument("model", type=click.Path(path_type=Path))
samples_option = click.option("--samples", "limit", type=int, help="Use only the first so many samples.")
preprocess_option = click.option(
    "--preprocess", default="", metavar="STEPS", help="How images or sounds become inputs; see docs/samples.md."
)


def options_of(values: dict[str, Any]) -> Options:
    """The options given; of a choice without a default that was not made, the field's."""
    given = {item.name: values[item.name] for item in dataclasses.fields(Options)}
    return Options(**{name: value for name, value in given.items() if value is not None})


def built(model: Path, values: dict[str, Any]) -> Artifact:
    from mcugen import pipeline

    return pipeline.build(model, options_of(values))


@contextmanager
def progress(title: str, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Show progress in a line of the terminal once the work takes longer than a second; silent elsewhere."""
    started, shown = time.monotonic(), 0

    def tell(text: str) -> None:
        nonlocal shown
        if quiet or not sys.stderr.isatty() or time.monotonic() - started < _PROGRESS_AFTER_S:
            return
        line = f"{title}: {text} ({time.monotonic() - started:.0f} s)"
        sys.stderr.write("\r" + line.ljust(shown))
        sys.stderr.flush()
        shown = len(line)

    try:
        yield tell
    finally:
        if shown:
            sys.stderr.write("\r" + " " * shown + "\r")


def picture_path(context: click.Context, parameter: click.Parameter, path: Path | None) -> Path | None:
    """The path of a picture. Raises UsageError unless it ends in .svg."""
    if path is not None and path.suffix.lower() != ".svg":
        message = f"the picture is SVG, and {path.name!r} does not end in .svg"
        raise UsageError(message, where=f"--{parameter.name}", hint=f"name it {path.with_suffix('.svg').name}")
    return path


def write(path: Path, content: bytes) -> None:
    """Write a file that the user named, whole or not at all. Raises UsageError if that fails."""
    try:
        if path.exists() and not path.is_file():  # A device or a pipe has no name to take over.
            path.write_bytes(content)
        else:
            _replace(path, content)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"cannot write {str(path)!r}: {reason}", hint="check the path and its permissions") from error


def _replace(path: Path, content: bytes) -> None:
    """Write beside the file, and then give that its name; where it is a link, to what it points at."""
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
    """Raise UsageError, before any work, where files cannot be written as the user named them.

    outputs: by flag; inputs: files that must stay as they are
    """
    taken = {path.resolve(): "an input" for path in inputs if path is not None}
    for flag, path in outputs.items():
        if path is None:
            continue
        if not path.resolve().parent.is_dir():
            raise UsageError(f"there is no folder {str(path.parent)!r}", where=flag, hint="make it first")
        if path.is_dir():
            raise UsageError(f"{str(path)!r} is a folder", where=flag, hint="name a file in it")
        if path.resolve() in taken:
            what = taken[path.resolve()]
            raise UsageError(f"{str(path)!r} is {what} as well", where=flag, hint="give it another name")
        taken[path.resolve()] = f"the file of {flag}"


def emit(value: Any, text: str, *, as_json: bool) -> None:
    click.echo(json.dumps(value, indent=2) if as_json else text.rstrip("\n"))
