"""`mcugen devices`: the OpenCL devices of this computer."""

from __future__ import annotations

import dataclasses

import click

from mcugen.cli._common import emit, json_option


@click.command("devices")
@json_option
def COMMAND(as_json: bool) -> None:
    """List the OpenCL devices of this computer, with the names that `--device` accepts."""
    from mcugen.machines.toolchain import opencl

    found = opencl.devices()
    lines = [
        f"{d.platform}:{d.name}, driver {d.driver}: {d.compute_units} compute units at {d.clock_mhz} MHz, "
        f"{d.local_bytes:,} bytes of local memory, work-groups up to {d.max_group}, "
        f"{'memory shared with the host' if d.unified else 'memory of its own'}: {d.memory_bytes >> 20:,} MiB"
        for d in found
    ]
    emit({"devices": [dataclasses.asdict(d) for d in found]}, lines or ["no OpenCL device"], as_json=as_json)
