"""Runs the rules for emitted C: no heap, no recursion, no mutable data at file scope, loops that end."""

from __future__ import annotations

import re
from pathlib import Path

from mcugen.emit import libraries_of, opencl, sources_of
from mcugen.emit.check_c import CHECK_FLAGS, FLOAT_HEADERS, INTEGER_HEADERS, check_files
from mcugen.emit.stub_headers import stubs
from mcugen.machines.toolchain.process import run_checked
from mcugen.pipeline import Artifact

_NUMBERS = re.compile(r"\{[-+\w.,\s()]{400,}\}")


def violations(artifact: Artifact, folder: Path) -> list[str]:
    """Violations of the rules in the C of a build in `folder`. Long tables of numbers are not parsed."""
    sources = sources_of(artifact.emitted)
    if artifact.view.device is not None:  # host code for OpenCL may wait and keep handles: check only its kernels
        sources = [path for path in sources if path.startswith("kernels/") and not opencl.is_host(path)]
    texts = {path: _NUMBERS.sub("{0}", _preprocessed(folder / path, folder)) for path in sources}
    own = {Path(path).name for path in artifact.files if path.endswith(".h")}
    headers = FLOAT_HEADERS if libraries_of(artifact.files) or _has_floats(artifact) else INTEGER_HEADERS
    return [str(v) for v in check_files(texts, allowed_headers=headers | own)]


def _has_floats(artifact: Artifact) -> bool:
    graph = artifact.graph
    return any(graph.type(name).is_float for name in graph.tensors)


def _preprocessed(path: Path, folder: Path) -> str:
    return run_checked(["gcc", *CHECK_FLAGS, "-I", stubs(), "-I", folder, path]).stdout.decode()
