"""Arduino: the code goes to the sketch's folder src, which is compiled; #includes in the sketch are changed."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from mcugen.builds.adopt.build_files import Edits, ModelCode
from mcugen.builds.adopt.patch_text import LineEdit, lines_of
from mcugen.builds.adopt.tree import SOURCES, FirmwareTree

FOLDER = "src/mcugen"
_INCLUDE = re.compile(
    rb"(\s*#\s*include\s*)[<\"]"
    rb"((?:edge-impulse-sdk/)?tensorflow/lite/(?!experimental/microfrontend)[^\">]+|\w*TensorFlowLite\w*\.h)[>\"](.*)",
    re.DOTALL,
)


def claims(tree: FirmwareTree, folder: str, sources: Sequence[str]) -> bool:
    return any(PurePosixPath(path).suffix == ".ino" and _folder(path) == folder for path in tree.paths)


def lines(tree: FirmwareTree, folder: str, sources: Sequence[str], code: ModelCode) -> Edits:
    """Edits that make the sketch include the headers of the code in place of TensorFlow Lite's."""
    edits: Edits = {}
    for path in tree.paths:
        if not path.startswith(folder) or PurePosixPath(path).suffix.lower() not in SOURCES:
            continue
        to_code = os.path.relpath(f"/{folder}{code.folder}", f"/{PurePosixPath(path).parent}")
        for k, line in enumerate(lines_of(tree.read(path))):
            if found := _INCLUDE.match(line):
                new = b'%s"%s/%s"%s' % (found[1], to_code.encode(), found[2], found[3])
                edits.setdefault(path, []).append(LineEdit(k, 1, (new,)))
    return edits


def adapted(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files with #includes by relative paths, since Arduino has no include path for them."""
    found = dict[str, bytes]()
    for path, text in files.items():
        up = b"../" * (len(PurePosixPath(path).parts) - 1)
        text = text.replace(b'#include "mcugen_tflm', b'#include "%smcugen_tflm' % up)
        found[path] = text.replace(b"<mcugen_tflm_models.h>", b'"mcugen_tflm_models.h"')
    return found


def _folder(path: str) -> str:
    parent = str(PurePosixPath(path).parent)
    return "" if parent == "." else f"{parent}/"
