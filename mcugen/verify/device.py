"""The verifying program of a model on an OpenCL device. It runs step by step and reads each tensor back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mcugen.emit import sources_of
from mcugen.emit.environment import render
from mcugen.ir.types import row_count
from mcugen.machines.toolchain import host_gcc
from mcugen.pipeline import Artifact

FLAGS = ("-O1", "-g1", "-fsanitize=undefined", "-fno-sanitize-recover=all")
"""Compiler flags. The address sanitizer is left out, since OpenCL drivers do not run with it in one process."""


@dataclass(frozen=True)
class Computed:
    """The place of a step's output in the arena. run, pitch: bytes of a row, and bytes from one row to the next."""

    step: int
    output: int
    start: int
    nbytes: int
    rows: int
    run: int
    pitch: int
    extent: int


def build_program(artifact: Artifact, folder: Path) -> Path:
    """The program, in a folder with the emitted files. Raises ToolError if it does not compile."""
    places = computed(artifact)
    largest = max((place.extent for step in places for place in step), default=1)
    text = render("opencl/verify_main.c.j2", m=artifact.view, places=places, largest=largest)
    (folder / "verify_main.c").write_bytes(text)
    file = folder / f"{artifact.name}_weights.bin"
    sources = [folder / path for path in sources_of(artifact.emitted)]
    define = f'-D{artifact.name.upper()}_WEIGHTS_FILE="{file}"'
    flags = [define, *FLAGS, *host_gcc.STRICT_WARNINGS]
    return host_gcc.compile_program(
        [*sources, folder / "verify_main.c"], folder / "verify", [folder], flags, libraries=("-lOpenCL",), timeout_s=600
    )


def computed(artifact: Artifact) -> list[list[Computed]]:
    """The outputs of each step."""
    found: list[list[Computed]] = []
    for step in artifact.schedule.steps:
        tensors: list[Computed] = []
        for k, name in enumerate(step.choice.node.outputs):
            t, at = artifact.graph.type(name), artifact.schedule.places[name]
            start = artifact.plan.offset[at.buffer] + at.start
            run = t.shape[-1] * t.np_dtype.itemsize if at.pitch else t.nbytes
            extent = at.extent(t)
            tensors.append(Computed(step.index, k, start, t.nbytes, row_count(t.shape), run, at.pitch or run, extent))
        found.append(tensors)
    return found
