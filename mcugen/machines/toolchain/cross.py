"""Images for an emulated core: compiled with the board's cross compiler; firmware is linked for the board's memory
sizes, a program of Linux as the compiler links it.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from mcugen.boards import isa
from mcugen.boards.machine import Emulator, UserMode
from mcugen.boards.target import Target
from mcugen.errors import MemoryBudgetError, ToolError, UsageError
from mcugen.machines.toolchain.elf import Elf, read_elf
from mcugen.machines.toolchain.link import clip_note, memory_script, place
from mcugen.machines.toolchain.objects import Compiler
from mcugen.machines.toolchain.process import Completed, run
from mcugen.system import resources

_OVERFLOW = re.compile(r"region `(\w+)' overflowed by (\d+) bytes?")
_COMMON_FLAGS = ("-std=c99", "-ffp-contract=off", "-ffunction-sections", "-fdata-sections", "-fstack-usage")
_LEAST_STACK_BYTES = 4096


@dataclass(frozen=True)
class Image:
    """A linked firmware image, or program of Linux, and its measured sizes in bytes.

    text_bytes: code and vector table. rodata_bytes: constants, in whichever memory, and unwind tables. bss_bytes:
    zeroed RAM and variables placed in regions, without the stack. symbols: name -> (address, size). stack_usage:
    function -> bytes of its own stack frame. note: a remark on where the image runs, or "".
    """

    elf: Path
    emulator: Emulator | UserMode
    text_bytes: int
    rodata_bytes: int
    data_bytes: int
    bss_bytes: int
    symbols: dict[str, tuple[int, int]]
    stack_usage: dict[str, int]
    note: str

    @property
    def flash_bytes(self) -> int:
        """Bytes of the image in flash."""
        return self.text_bytes + self.rodata_bytes + self.data_bytes


def build_image(
    target: Target,
    sources: Sequence[Path],
    include: Sequence[Path],
    out_dir: Path,
    *,
    optimize: str = "-O2",
    flags: Sequence[str] = (),
    defines: Sequence[str] = (),
    stack_bytes: int = _LEAST_STACK_BYTES,
    simulated: bool = True,
    constants: Collection[str] = (),
) -> Image:
    """Compile C sources and the board's start-up code, and link `out_dir`/firmware.elf. Linux has start-up code itself.

    flags, defines: for every source given, e.g. `-Wextra` and `NAME=1`. stack_bytes: least stack to keep free.
    constants: further regions of the board that have sections `.mcugen.<region>` of constants. simulated: with
    semihosting, stack painting and marks for the counter (boards/_common/README.md). If false: only the bare start-up
    code, for size reports; main must not return. The target's emulated machines are tried in order; the first with
    enough memory is used. Raises MemoryBudgetError (which memory is too small, by how much), ToolError (with the
    compiler's messages), and UsageError for a target without an emulated machine.
    """
    if not target.emulators:
        raise UsageError(f"{target.name} has no emulated machine", hint="choose a board or a core such as cortex-m4")
    out_dir.mkdir(parents=True, exist_ok=True)
    core_flags, note = flags_of(target)
    core_flags.append(optimize)
    source_flags = [*flags, *(f"-D{d}" for d in defines)]
    core_flags += ["-DBOARD_COPIES"] if _copied(target, constants) else []
    objects = _compile(target, sources, include, out_dir, core_flags, source_flags, simulated)
    emulator = _link(target, objects, out_dir, core_flags, stack_bytes, constants, simulated)
    clipped = clip_note(target, emulator) if isinstance(emulator, Emulator) else ""
    notes = (note, emulator.note, clipped)
    return _image(out_dir / "firmware.elf", target, emulator, _stack_usage(objects), "; ".join(n for n in notes if n))


def _copied(target: Target, constants: Collection[str]) -> bool:
    further = target.ram_regions()[0 if target.is_core else 1 :]
    return any(r.name in constants for r in further)


def flags_of(target: Target) -> tuple[list[str], str]:
    """The compiler flags of the core, and a note. If this compiler does not know the core, substitute flags with a
    note.
    """
    chain = target.toolchain
    if chain.fallback_flags and not _knows(chain.cc, chain.flags, chain.package):
        return list(chain.fallback_flags), chain.fallback_note
    return list(chain.flags), ""


@functools.cache
def _knows(cc: str, flags: tuple[str, ...], package: str) -> bool:
    return run([cc, *flags, "-x", "c", "-E", "-", "-o", os.devnull], package=package).returncode == 0


def _compile(
    target: Target,
    sources: Sequence[Path],
    include: Sequence[Path],
    out_dir: Path,
    core_flags: Sequence[str],
    source_flags: Sequence[str],
    simulated: bool,
) -> list[Path]:
    common = resources.boards() / "_common"
    chain = target.toolchain
    base = [*core_flags, *_COMMON_FLAGS]
    if simulated:
        base += ["-DMCUGEN_SIMULATED"]
        source_flags = [*source_flags, "-include", str(common / "sim_step.h")]
    support = "semihost.c" if chain.sections else "linux.c"
    own = [*chain.startup, *([common / support] if simulated else [])]
    jobs = [(s, [*base, *source_flags]) for s in sources] + [(s, base) for s in own]
    compiler = Compiler(chain.cc, include[0] if include else out_dir, chain.package)
    return compiler.compile(jobs, [*include, common], out_dir, 300)


def _link(
    target: Target,
    objects: Sequence[Path],
    out_dir: Path,
    core_flags: Sequence[str],
    stack_bytes: int,
    constants: Collection[str],
    simulated: bool,
) -> Emulator | UserMode:
    """Link for the first emulated machine that is large enough. If none is, the error for the last machine is
    raised.
    """
    for emulator in target.emulators:
        if isinstance(emulator, UserMode):
            done = _link_program(target, objects, out_dir, core_flags, simulated)
        else:
            done = _link_for(target, emulator, objects, out_dir, core_flags, stack_bytes, constants)
        if done.returncode == 0:
            return emulator
        over = _OVERFLOW.findall(done.text)
        if isinstance(emulator, UserMode) or not over:
            raise ToolError("the link failed", where=target.toolchain.cc, output=done.text)
        failure = _over_budget(target, emulator, over, stack_bytes)
    raise failure


def _link_program(
    target: Target, objects: Sequence[Path], out_dir: Path, core_flags: Sequence[str], simulated: bool
) -> Completed:
    """Link a program of Linux. Marks need addresses that are known when it is linked, below 4 GiB, and a section that
    nothing refers to. Functions of libraries are found before it starts, so that no step counts the search.
    """
    chain = target.toolchain
    link = ["-no-pie", "-Wl,-z,now", "-Wl,--wrap=main" if simulated else "-Wl,--gc-sections"]
    argv: list[str | Path] = [chain.cc, *core_flags, *link, *objects, *chain.link_flags, "-o", out_dir / "firmware.elf"]
    return run(argv, timeout_s=300, package=chain.package)


def _link_for(
    target: Target,
    emulator: Emulator,
    objects: Sequence[Path],
    out_dir: Path,
    core_flags: Sequence[str],
    stack_bytes: int,
    constants: Collection[str],
) -> Completed:
    chain = target.toolchain
    sections = chain.sections.read_text(encoding="utf-8") if chain.sections else ""
    script = out_dir / "firmware.ld"
    text = memory_script(target, emulator, stack_bytes=stack_bytes, sections=sections, constants=constants)
    script.write_text(text, encoding="utf-8")
    link = [*chain.link_flags, "-Wl,--gc-sections", "-T", str(script)]
    argv: list[str | Path] = [chain.cc, *core_flags, *objects, *link, "-lm", "-o", out_dir / "firmware.elf"]
    return run(argv, timeout_s=300, package=chain.package)


def _over_budget(
    target: Target, emulator: Emulator, over: Sequence[tuple[str, str]], stack_bytes: int
) -> MemoryBudgetError:
    placed = {p.name: p for p in place(target, emulator)}
    parts = []
    for name, excess in dict(over).items():
        owner = emulator.machine if target.is_core or placed[name].clipped_bytes else target.name
        parts.append(f"{name} of {owner} ({placed[name].size_bytes:,} bytes) is exceeded by {int(excess):,} bytes")
    return MemoryBudgetError(
        "; ".join(parts),
        where=target.name,
        hint=f"RAM must hold the model object, other variables and at least {stack_bytes:,} bytes of stack; "
        "FLASH must hold code and weights; choose a board with more memory, or a smaller model",
    )


def _stack_usage(objects: Sequence[Path]) -> dict[str, int]:
    """Function -> bytes of its stack frame, from gcc's .su files: `file:line:column:function<TAB>bytes<TAB>kind`."""
    usage: dict[str, int] = {}
    for su in (o.with_suffix(".su") for o in objects):
        for line in su.read_text(encoding="utf-8").splitlines() if su.exists() else ():
            place_, size, _ = line.split("\t")
            name = place_.rsplit(":", 1)[1]
            usage[name] = max(int(size), usage.get(name, 0))
    return usage


def _image(path: Path, target: Target, emulator: Emulator | UserMode, stack_usage: dict[str, int], note: str) -> Image:
    elf: Elf = read_elf(path)
    constants = (".mcugen.", *isa.load(target.isa).unwind)
    return Image(
        elf=path,
        emulator=emulator,
        text_bytes=elf.section_bytes(lambda n: n in {".vectors", ".text"}),
        rodata_bytes=elf.section_bytes(lambda n: n in {".rodata", ".board_copies"} or n.startswith(constants)),
        data_bytes=elf.section_bytes(lambda n: n in {".data", ".tdata"}),
        bss_bytes=elf.section_bytes(lambda n: n == ".bss" or n.startswith(".ram.")),
        symbols=elf.symbols,
        stack_usage=stack_usage,
        note=note,
    )
