"""The command that repeats a build, as emitted files state it; and the options of such a command."""

from __future__ import annotations

import shlex
from dataclasses import fields
from typing import Any

from mcugen.emit.literals import comment
from mcugen.formats import read
from mcugen.options import DEFAULT_EXPORTS, Options

_LONGEST = 2000
_AS_GIVEN = (
    *("precision", "input_shape", "signature", "input_layout", "output_layout", "quantize", "clock"),
    *("preprocess", "raw", "decide", "hop", "stride", "rate", "queue"),
    *("kernels_dir", "symbol", "length_symbol", "header_prefix"),
)


def command_of(options: Options, name: str, format_name: str) -> str:
    """The command that writes these files again, without file names and folders."""
    board = shlex.quote(options.board_name)
    models = [f"MODEL.{read.suffix(format_name)}"] * (1 + len(options.chain))
    parts = ["mcugen build", *models, *(["--chain"] if options.chain else []), f"--board {board}", f"--name {name}"]
    parts += [f"--reference {options.reference}"]
    parts += [f"--features={options.features}"] if options.features else []
    parts += [f"--optimize {options.optimize}"] if options.optimize != "balanced" else []
    parts += [f"--input-mode {options.input_mode}"] if options.input_mode != "whole" else []
    parts += [f"--ram {options.ram_bytes}"] if options.ram else []
    parts += [f"--flash {options.flash_bytes}"] if options.flash else []
    parts += [f"--region {options.region}"] if options.region else []
    parts += [f"--backend {options.backend}"] if options.backend not in ("", "c") else []
    parts += [f"--weights-in {options.weights_in}"] if options.weights_in else []
    parts += [f"--export {export}" for export in options.export if options.export != DEFAULT_EXPORTS]
    for option in _AS_GIVEN:
        value = getattr(options, option)
        each = value if isinstance(value, tuple) else (value,) if value else ()
        parts += [f"--{option.replace('_', '-')} {shlex.quote(one)}" for one in each]
    flags = [item.name for item in fields(Options) if item.default is False and item.name != "no_report"]
    parts += [f"--{flag.replace('_', '-')}" for flag in flags if getattr(options, flag)]
    return comment(" ".join(parts), _LONGEST)


def options_of(command: str) -> Options:
    """Options in the output of command_of. Raises ValueError for any other text."""
    known = {f"--{item.name.replace('_', '-')}": item for item in fields(Options)}
    given: dict[str, Any] = {}
    words = [p for word in shlex.split(command)[3:] for p in (word.split("=", 1) if word[:2] == "--" else [word])]
    while words and words[0][:2] != "--":
        given["chain"] = (*given.get("chain", ()), words.pop(0))
    while words:
        flag = words.pop(0)
        if flag not in known:
            raise ValueError(f"the command has an unknown option {flag!r}")
        item = known[flag]
        if item.name == "chain":
            continue
        if isinstance(item.default, bool):
            given[item.name] = True
        else:
            value = words.pop(0)
            given[item.name] = (*given.get(item.name, ()), value) if isinstance(item.default, tuple) else value
    return Options(**given)
