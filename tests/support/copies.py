# SPDX-License-Identifier: Apache-2.0
"""Copies of kernels for the sizes of a layer, compiled."""

from __future__ import annotations

from pathlib import Path

from mcugen.emit import bundle
from mcugen.ir.call import Call
from mcugen.ir.graph import Node
from mcugen.ir.kernel import Kernel
from mcugen.machines.toolchain.elf import read_elf
from mcugen.machines.toolchain.process import run_checked
from mcugen.solve.schedule import Choice


def code_of_copy(kernel: Kernel, call: Call, folder: Path) -> int:
    """Bytes of code of the copy of a kernel that a call needs, on Cortex-M4."""
    runtime, out = bundle.of([]), folder / "copy.o"
    for path, content in runtime.files([Choice(Node("", call.op, (), (), ""), call, kernel, "")]).items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_bytes(content)
    command = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-O2", f"-I{folder}"]
    run_checked([*command, "-c", folder / "kernels" / runtime.source(kernel, call), "-o", out])
    return read_elf(out).section_bytes(lambda name: name.startswith((".text", ".rodata")))
