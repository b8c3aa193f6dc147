"""Runs a firmware image on an emulated core. Gives its output, exit code, stack depth and instruction counts."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from mcugen.boards import isa
from mcugen.boards.machine import Emulator, UserMode
from mcugen.boards.target import Target
from mcugen.errors import ToolError
from mcugen.machines.toolchain import count as counter
from mcugen.machines.toolchain.cross import Image
from mcugen.machines.toolchain.link import place
from mcugen.machines.toolchain.process import Completed, run

STATUS_FILE = "mcugen_status.txt"
_PLUGIN_HINT = "install a QEMU with TCG plugins of API version 1, such as Debian 12's; counting needs it"


@dataclass(frozen=True)
class SimulatedRun:
    """Results of firmware on an emulated core.

    exit_code: status that its main returned. output: bytes that it printed. counts: per inference; empty if not
    counted. stack_bytes: deepest stack, see sim_stack_mark.
    """

    exit_code: int
    output: bytes
    counts: list[counter.Counts]
    stack_bytes: int


def run_image(
    image: Image, target: Target, *, cwd: Path, timeout_s: float = 60.0, count: bool = True, reads: bool = True
) -> SimulatedRun:
    """Run an image in the folder `cwd`, which contains its input files and receives its output files.

    count: whether to count instructions. reads: whether to also count reads of slow memories that the board's file
    describes. Raises ToolError if the firmware faults, overflows its stack, aborts, or runs longer than `timeout_s`.
    """
    status = cwd / STATUS_FILE
    status.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix="mcugen-") as scratch:
        counting = plugin_options(image, target, Path(scratch), reads=reads) if count else []
        command = _command(image.emulator, target, counting, image.elf.resolve())
        done = run(command, cwd=cwd, timeout_s=timeout_s, package=image.emulator.package)
        exit_code, stack_bytes = _status(status, f"{target.name} on {image.emulator.machine}", done)
        counts = counter.read_counts(Path(scratch) / "counts.txt") if count else []
    return SimulatedRun(exit_code, done.stderr + done.stdout, counts, stack_bytes)


def _command(emulator: Emulator | UserMode, target: Target, counting: list[str], elf: Path) -> list[str]:
    if isinstance(emulator, UserMode):
        return [emulator.system, "-L", emulator.root, "-cpu", emulator.cpu, *counting, str(elf)]
    cpu = ["-cpu", emulator.cpu] if emulator.cpu else []
    quiet = ["-display", "none", "-serial", "none", "-monitor", "none", "-no-reboot"]
    hosting = ["-semihosting-config", "enable=on,target=native", "-kernel", str(elf)]
    flags = [*quiet, *isa.load(target.isa).machine_flags, *hosting, *counting]
    return [emulator.system, "-machine", emulator.machine, *cpu, *flags]


def plugin_options(image: Image, target: Target, scratch: Path, *, reads: bool = True) -> list[str]:
    """QEMU options that count instructions. The counts go to `scratch`/counts.txt when the emulator ends."""
    counter.write_marks(counter.read_marks(image.elf), scratch / "marks.txt")
    values = (("marks", scratch / "marks.txt"), ("counts", scratch / "counts.txt"))
    options = "".join(f",{key}={_option(path)}" for key, path in values)
    options += _memory_options(image.emulator, target) if reads and isinstance(image.emulator, Emulator) else ""
    return ["-plugin", f"file={_option(counter.plugin())}{options}"]


def _memory_options(emulator: Emulator, target: Target) -> str:
    """Plugin options that follow reads of slow memories, the code's memory first; "" if there are no slow memories."""
    if not any(region.has_waits for region in target.regions):
        return ""
    regions = (*target.flash_regions(), *target.ram_regions())  # in the order of their addresses, as `place` lists them
    found = []
    for placed, region in zip(place(target, emulator), regions, strict=True):
        if region.has_waits:
            span = f"{placed.address}:{placed.address + placed.size_bytes}:{region.line_bytes}"
            caches = f"{region.code_cache_bytes}:{region.data_cache_bytes}"
            waits = f"{region.wait_states or 0}:{region.line_cycles}"
            found.append(f"{span}:{caches}:{waits}:{int(region.prefetch)}:{int(region.kind == 'ram')}")
        elif not found:
            found.append(f"0:0:{2**40}:0:0:0:1:0:0")  # the code's memory is not slow: count no lines for it
    return "".join(f",memory={option}" for option in found)


def _option(path: Path) -> str:
    """A path as a value of a QEMU option. Commas are doubled."""
    return str(path).replace(",", ",,")


def _status(path: Path, where: str, done: Completed) -> tuple[int, int]:
    """(exit code, stack bytes) that the firmware wrote at its end. Raises ToolError if it failed before."""
    if not path.exists():
        hint = _PLUGIN_HINT if "plugin" in done.text else ""
        raise ToolError("the firmware did not reach its end", where=where, hint=hint, output=done.text)
    values = dict(line.split() for line in path.read_text(encoding="ascii").splitlines())
    path.unlink()
    if done.returncode != int(values["exit_code"]):
        raise ToolError(f"the emulator ended with status {done.returncode}", where=where, output=done.text)
    return int(values["exit_code"]), int(values["stack_bytes"])
