"""The command that makes a build again, as its files state it."""

from __future__ import annotations

from mcugen.emit.literals import comment
from mcugen.options import DEFAULT_EXPORTS, Options


def command_of(options: Options, name: str, format_name: str) -> str:
    """The command that makes these files again; file names and folders are left out."""
    parts = ["mcugen build", f"MODEL.{format_name}", f"--board {options.board_name}", f"--name {name}"]
    parts += [f"--reference {options.reference}"]
    parts += [f"--features={options.features}"] if options.features else []
    parts += [f"--optimize {options.optimize}"] if options.optimize != "balanced" else []
    parts += [f"--input-mode {options.input_mode}"] if options.input_mode != "whole" else []
    parts += [f"--ram {options.ram_bytes}"] if options.ram else []
    parts += [f"--flash {options.flash_bytes}"] if options.flash else []
    parts += [f"--region {options.region}"] if options.region else []
    parts += [f"--weights-in {options.weights_in}"] if options.weights_in else []
    parts += [f"--export {export}" for export in options.export if options.export != DEFAULT_EXPORTS]
    flags = ("require_accelerated", "no_rows", "no_simplify", "keep_input", "selftest", "amalgamate")
    parts += [f"--{flag.replace('_', '-')}" for flag in flags if getattr(options, flag)]
    return comment(" ".join(parts))
