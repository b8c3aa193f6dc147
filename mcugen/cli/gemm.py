"""`mcugen gemm`: the kernels for products of matrices by themselves, on an OpenCL device."""

from __future__ import annotations

from typing import Any

import click

from mcugen.cli._common import board_names, emit, json_option
from mcugen.cli._console import progress


@click.command("gemm")
@click.option(
    "--size",
    "sizes",
    multiple=True,
    default=("1024x1024x1024", "4096x1024"),
    show_default=True,
    metavar="MxNxK",
    help="Rows, columns and taps; or taps and outputs of a matrix that meets one vector. May be given again.",
)
@click.option(
    "--board",
    default="opencl-generic",
    show_default=True,
    shell_complete=board_names,
    help="The device's profile, with its table of tiles.",
)
@click.option("--device", default="", metavar="NAME", help="Part of the device's name, or PLATFORM:DEVICE.")
@click.option("--tune", is_flag=True, help="Measure first what the table beside the board's file has not.")
@json_option
def COMMAND(sizes: tuple[str, ...], board: str, device: str, tune: bool, as_json: bool) -> int:
    """Time products of matrices on this machine's OpenCL device, each checked against NumPy in float64.

    The kernels and tiles are those that a model for the board has. NN, NT, TN and TT say which of the two matrices is
    stored transposed. Of a vector: `dense` has known weights, packed as a fully connected layer has them; xA and xA'
    a matrix that is computed.
    """
    from mcugen.boards import target
    from mcugen.machines.toolchain import opencl
    from mcugen.opencl_bench import matrix_products
    from mcugen.solve import device_kernels

    opencl.environment(device)
    found = target.load(board)
    with progress("timing", quiet=as_json) as update:
        facts: dict[str, Any] = matrix_products.bench(
            matrix_products.sizes_of(sizes), found, update, found.folder / device_kernels.TABLE if tune else None
        )
    emit(facts, matrix_products.as_parts(facts), as_json=as_json)
    return 0 if all(row["right"] for row in facts["products"]) else 1
