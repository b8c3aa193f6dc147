"""Packs the constants of a retrained model as a block for firmware in the field."""

from __future__ import annotations

import difflib
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from mcugen import pipeline
from mcugen.emit import blob
from mcugen.emit.command import options_of
from mcugen.errors import UsageError
from mcugen.formats import read
from mcugen.options import Options
from mcugen.pipeline import Artifact
from mcugen.system import files
from mcugen.system.output_folder import REPORT

_SHOWN = 4
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def pack(model: Path, folder: Path, version: int) -> bytes:
    """The block of `model`, for the code in the folder of a build with --weights-blob.

    The model is built with the options of that build. Raises UsageError if the folder holds no such build, or if the
    code would differ, with the first different lines. The firmware then needs new code.
    """
    built = _like(model, folder)
    file = folder / f"{built.name}.blob"
    old = blob.header_of(files.read(file), str(file))
    made = built.emitted[f"{built.name}.blob"]
    if blob.header_of(made, model.name).layout != old.layout:
        raise UsageError(
            f"{model.name} needs other code than {str(folder)!r} has; a block of weights cannot change code:\n"
            + "\n".join(_differences(built, folder)),
            hint=f"update the firmware, or keep the shapes and options of that build{_same_ranges(built)}",
        )
    return blob.renumbered(made, version)


def files_of(folder: Path) -> list[Path]:
    """The files of the build in a folder, as its report lists them."""
    return [folder / name for name in _facts(folder)["files"]]


def _facts(folder: Path) -> dict[str, Any]:
    """Names of the files of a build of one model, and its options."""
    try:
        facts: dict[str, Any] = json.loads(files.read(folder / REPORT))
        return {"files": [str(name) for name in facts["files"]], "options": options_of(facts["command"])}
    except (ValueError, LookupError, TypeError) as error:
        hint = "give the folder of a build of one model, by this version of mcugen"
        raise UsageError(f"cannot be read: {error}", where=str(folder / REPORT), hint=hint) from error


def _like(model: Path, folder: Path) -> Artifact:
    """The model, built with the options of the folder's build."""
    options: Options = _facts(folder)["options"]
    if not options.weights_blob:
        raise UsageError("the build has no block of constants", where=str(folder), hint="build it with --weights-blob")
    _check_format(model, folder, options)
    return pipeline.build(model, replace(options, export=("none",), no_report=True))


def _check_format(model: Path, folder: Path, options: Options) -> None:
    """Raise UsageError if the model's format has different arithmetic from the model that was built."""
    known = () if options.quantize else read.references(read.format_of(model))
    if known and options.reference not in known:
        suffix = ".onnx" if options.reference in read.references("onnx") else ".tflite"
        raise UsageError(
            f"the build in {str(folder)!r} has the arithmetic of a {suffix} model",
            where=model.name,
            hint=f"convert the model, with the ranges of the old one: `mcugen quantize {model.name} --ranges-of "
            f"OLD{suffix} -o NEW{suffix}`",
        )


def _same_ranges(built: Artifact) -> str:
    """Hint on keeping the ranges of the earlier quantized model; empty for a float model."""
    if all(t.type.quant is None for t in built.imported.tensors.values()):
        return ""
    return (
        ", and the ranges of activations: quantize the retrained float model with "
        "`mcugen quantize --ranges-of`, which reuses the ranges of the old model"
    )


def _differences(built: Artifact, folder: Path) -> list[str]:
    """The first lines of code that differ between the folder and the model's new build."""
    found: list[str] = []
    for name in (f"{built.name}.h", f"{built.name}.c"):
        before, after = (
            [line for line in _COMMENT.sub("", text.decode(errors="replace")).splitlines() if "_LAYOUT_" not in line]
            for text in (files.read(folder / name), built.emitted[name])
        )
        changed = difflib.unified_diff(before, after, n=0, lineterm="")
        found += [f"  {name}: {line}" for line in changed if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    return found[:_SHOWN]
