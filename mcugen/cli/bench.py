"""`mcugen bench`: a model's time on an OpenCL device, step by step."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import click

from mcugen.cli._common import build_options, built, emit, json_option, model_argument, options_of
from mcugen.cli._console import progress


@click.command("bench")
@model_argument
@click.option("--runs", type=click.IntRange(1, 20000), default=50, show_default=True, help="Runs that are timed.")
@click.option("--device", default="", metavar="NAME", help="Part of the device's name, or PLATFORM:DEVICE.")
@click.option("--c-runs", type=click.IntRange(0, 20000), default=0, metavar="N", help="Also time N runs as C.")
@build_options
@json_option
def COMMAND(model: Path, runs: int, device: str, c_runs: int, as_json: bool, **values: Any) -> None:
    """Time MODEL on this computer's OpenCL device: whole runs, and each step with its share of the roofline.

    The sum of the steps is the time of a run whose inputs are on the device already. A step is timed in a series of
    launches. Steps far shorter than the overhead of a launch therefore all show about the same time: fuse these. With
    --c-runs, the time of the same model as C on one core of this computer is shown beside them.
    """
    from mcugen.machines.toolchain import opencl
    from mcugen.opencl_bench import c_bench, device_bench

    opencl.environment(device)
    with progress("timing", quiet=as_json), tempfile.TemporaryDirectory(prefix="mcugen-") as folder:
        found = device_bench.bench(built(model, values), runs)
        if c_runs:
            found.facts["c"] = c_bench.times(model, options_of(values), Path(folder), c_runs)
    emit(found.facts, device_bench.as_parts(found.facts), as_json=as_json)
