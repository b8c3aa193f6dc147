"""`mcugen gemm`: times the kernels for matrix products on an OpenCL device."""

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
    help="Rows, columns and inner size; or, for a matrix times a vector, inner size and outputs. May be given again.",
)
@click.option(
    "--board",
    default="opencl-generic",
    show_default=True,
    shell_complete=board_names,
    help="The device's profile, with its table of tiles.",
)
@click.option("--device", default="", metavar="NAME", help="Part of the device's name, or PLATFORM:DEVICE.")
@click.option("--tune", is_flag=True, help="First measure sizes that the table beside the board's file lacks.")
@json_option
def COMMAND(sizes: tuple[str, ...], board: str, device: str, tune: bool, as_json: bool) -> int:
    """Time matrix products on this computer's OpenCL device. Each is checked against NumPy in float64.

    The kernels and tiles are those of a model built for the board. NN, NT, TN and TT say which of the two matrices is
    stored transposed. For products with a vector, `dense` has constant weights, packed as for a fully connected layer;
    xA and xA' have a computed matrix.
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
