"""`mcugen bench`: a model's time on this computer, as C or step by step on an OpenCL device."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from mcugen.cli._common import build_options, built, built_here, emit, json_option, model_argument, options_of
from mcugen.cli._console import progress
from mcugen.errors import UsageError


@click.command("bench")
@model_argument
@click.option("--runs", type=click.IntRange(1, 20000), default=50, show_default=True, help="Runs that are timed.")
@click.option("--device", default="", metavar="NAME", help="Part of the device's name, or PLATFORM:DEVICE.")
@click.option("--c-runs", type=click.IntRange(0, 20000), default=0, metavar="N", help="Also time N runs as C.")
@build_options
@json_option
def COMMAND(model: Path, runs: int, device: str, c_runs: int, as_json: bool, **values: Any) -> None:
    """Time MODEL on this computer, as the C for its processor, with --threads on several threads.

    With --backend opencl: on the computer's OpenCL device, whole runs, and each step with its share of the roofline.
    The sum of the steps is the time of a run whose inputs are on the device already. A step is timed in a series of
    launches. Steps far shorter than the overhead of a launch therefore all show about the same time: fuse these. With
    --c-runs, the time of the same model as C on one core of this computer is shown beside them.
    """
    from mcugen.machines.toolchain import opencl
    from mcugen.opencl_bench import c_bench, device_bench

    with progress("timing", quiet=as_json), tempfile.TemporaryDirectory(prefix="mcugen-") as folder:
        artifact = built(model, values) if values["backend"] == "opencl" else built_here(model, values)
        if artifact.view.device is None:
            _refuse_devices({"--device": bool(device), "--c-runs": bool(c_runs)})
            facts = c_bench.facts(artifact, Path(folder), runs)
            text = c_bench.as_parts(facts)
        else:
            opencl.environment(device)
            facts = device_bench.bench(artifact, runs).facts
            if c_runs:
                facts["c"] = c_bench.times(model, options_of(values), Path(folder), c_runs)
            text = device_bench.as_parts(facts)
    emit(facts, text, as_json=as_json)


def _refuse_devices(given: Mapping[str, bool]) -> None:
    """Raise UsageError for flags that only an OpenCL device has."""
    for flag in (flag for flag, is_given in given.items() if is_given):
        raise UsageError(f"{flag} is for --backend opencl", hint="add --backend opencl, or leave it out")
