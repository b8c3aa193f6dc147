"""A program of separate launches. Tests compare its results; tuning compares its times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mcugen.emit import bundle
from mcugen.emit.environment import render
from mcugen.emit.model_parts import literal
from mcugen.emit.opencl import host_files, host_tables
from mcugen.solve.schedule import Choice

CONSTANTS = "launches.bin"


@dataclass(frozen=True)
class LaunchCase:
    """A launch in the program's table: index of its first operand, spans of its operands, and its result."""

    first: int
    operands: list[tuple[int, int]]
    out: int
    nbytes: int


def files_of(choices: Sequence[Choice], folder: str) -> dict[str, bytes]:
    """The files of the program. folder: where the program finds its constants at run time."""
    device, launches = host_tables.alone(choices)
    cases: list[LaunchCase] = []
    first = 0
    for choice, launch in zip(choices, launches, strict=True):
        sizes = [choice.call.input(k).nbytes for k in choice.kernel.pointer_operands(choice.call)]
        read = [(at, size) for at, size in zip(launch.operands, sizes, strict=True) if isinstance(at, int)]
        cases.append(LaunchCase(first, read, launch.out, choice.call.output.nbytes))
        first += len(read)
    largest = max((size for case in cases for size in (case.nbytes, *(s for _, s in case.operands))), default=1)
    titles = [literal(step.title) for step in device.steps]
    runtime = bundle.of(())
    interface = runtime.path(bundle.INTERFACE)
    text = render(
        "opencl/launches.c.j2", d=device, cases=cases, largest=max(largest, 1), titles=titles, interface=interface
    )
    define = f"#define WEIGHTS_FILE {literal(f'{folder}/{CONSTANTS}')}\n"
    return {
        "launches.c": define.encode() + text,
        CONSTANTS: device.constants,
        "launches.cl": device.source.encode(),
        interface: runtime.text(bundle.INTERFACE),
        **host_files(),
    }
