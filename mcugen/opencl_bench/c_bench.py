"""Times of a model as C on this machine, alone or for comparison with an OpenCL device."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mcugen import pipeline
from mcugen.emit import EXAMPLE, sources_of
from mcugen.emit.environment import render
from mcugen.machines.native import processor
from mcugen.machines.toolchain import host_gcc
from mcugen.machines.toolchain.process import run_checked
from mcugen.opencl_bench import device_bench
from mcugen.options import Options
from mcugen.pipeline import Artifact
from mcugen.system import tabular

FLAGS = ("-std=c11", "-O2", "-ffp-contract=off")
"""Compiler flags that the emitted C requires."""
PROGRAM, INPUT = "c_program", "c_input.bin"


def options_of(options: Options) -> Options:
    """The options of a device's build, changed to build the same model as C, with its constants in a file."""
    in_c = dataclasses.replace(options, backend="c", board="host", precision="", require_accelerated=False)
    return dataclasses.replace(in_c, weights_blob=True)


def write(artifact: Artifact, folder: Path, inputs: Sequence[np.ndarray] | None = None) -> None:
    """Write and compile, in a folder, the program that times a build in C. inputs: random ones if None."""
    files = {path: text for path, text in artifact.emitted.items() if path != EXAMPLE and not path.endswith("_blob.c")}
    files["bench_c.c"] = render("opencl/bench_c.c.j2", m=artifact.view)
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    (folder / INPUT).write_bytes(device_bench.bytes_of(artifact, inputs))
    sources = [folder / path for path in sources_of(files)]
    threads = ("-pthread",) if artifact.view.bands > 1 else ()
    host_gcc.compile_program(sources, folder / PROGRAM, [folder], (*FLAGS, *threads), timeout_s=600)


def run(folder: Path, runs: int) -> dict[str, float]:
    """Seconds per run of a compiled program: least, p50, p99 and mean, and the number of runs as "count"."""
    command: list[str | Path] = [folder / PROGRAM, str(runs), folder / INPUT, *folder.glob("*.blob")]
    found: dict[str, Any] = json.loads(run_checked(command, timeout_s=600.0).stdout)
    return {**found["c"], "count": found["count"]}


def facts(artifact: Artifact, folder: Path, runs: int) -> dict[str, Any]:
    """The times of a build in C on this computer, compiled in a folder, on random inputs, and how it ran."""
    write(artifact, folder)
    found: dict[str, Any] = {"name": artifact.name, "board": artifact.target.name, "processor": processor.name()}
    return {**found, "ran_as": processor.in_words(artifact.schedule), "c": run(folder, runs)}


def as_parts(facts: dict[str, Any]) -> tabular.Parts:
    """The facts of a build in C as text."""
    c = facts["c"]
    return [
        f"{facts['name']}: {1e3 * c['p50']:.4g} ms a run, {facts['ran_as']}, on {facts['processor']}",
        f"  least {1e3 * c['least']:.4g} ms, p99 {1e3 * c['p99']:.4g}, mean {1e3 * c['mean']:.4g} of {c['count']} runs",
    ]


def times(path: Path, options: Options, folder: Path, runs: int) -> dict[str, float]:
    """The times of a model as C, built in a folder, on the random inputs of `device_bench`."""
    write(pipeline.build(path, options_of(options)), folder)
    return run(folder, runs)
