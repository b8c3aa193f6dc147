"""Boards: core, features, clock, memory regions, toolchain and emulated machine, read from board.toml files.

Each folder `boards/<name>/` with a `board.toml` is a board; no list exists. A file with a `[cpu]` table describes a
bare core. A file with `core = "<bare core>"` describes a real board, which inherits cpu, toolchain and emulator from
the core.
"""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from mcugen import kernels
from mcugen.boards import isa
from mcugen.boards.machine import (
    UNCHECKED,
    Device,
    Emulator,
    Energy,
    Estimation,
    MemoryRegion,
    Span,
    Toolchain,
    UserMode,
    energy_of,
    estimation_of,
    region_of,
)
from mcugen.errors import UsageError
from mcugen.system import resources, toml_file
from mcugen.system.toml_file import TomlTable

BOARD_FILE = "board.toml"


@dataclass(frozen=True)
class Target:
    """The target of a build: a bare core or a computer with Linux (no memory budget), or a board with memory regions.

    isa: its instruction set (`mcugen.boards.isa`); "" if images are not read. emulators: tried in order; the first with
    enough memory is used. device: the OpenCL device that runs kernels; None for kernels in C. folder: location of the
    board's files. constants_in_ram: whether start-up code copies constants to RAM, because pointers cannot address the
    flash. estimation: how cycle estimates were checked; inherited from the core unless the board states it.
    energy: per cycle of the core; None if no document states it.
    """

    name: str
    title: str
    core: str
    isa: str
    features: frozenset[str]
    clock_hz: int | None
    regions: tuple[MemoryRegion, ...]
    toolchain: Toolchain
    emulators: tuple[Emulator | UserMode, ...]
    is_core: bool
    device: Device | None = None
    folder: Path = Path()
    constants_in_ram: bool = False
    estimation: Estimation = UNCHECKED
    energy: Energy | None = None

    @property
    def emulator(self) -> Emulator | UserMode | None:
        """The preferred emulated machine, or None."""
        return self.emulators[0] if self.emulators else None

    @property
    def is_host(self) -> bool:
        """Whether programs for this target run on the computer that builds them: its compiler has no prefix."""
        return not self.toolchain.prefix and self.device is None

    @property
    def runs_linux(self) -> bool:
        """Whether programs for this target, another computer, run under Linux, which has memory for them."""
        return any(isinstance(emulator, UserMode) for emulator in self.emulators)

    def ram_regions(self) -> tuple[MemoryRegion, ...]:
        """The RAM regions. The region for the model object is first."""
        return tuple(r for r in self.regions if r.kind == "ram")

    def flash_regions(self) -> tuple[MemoryRegion, ...]:
        """The flash regions. The region for code is first."""
        return tuple(r for r in self.regions if r.kind == "flash")

    @property
    def ram_bytes(self) -> int | None:
        """Size of the largest region that may hold the model object, which is contiguous; None for a bare core."""
        return max((r.size_bytes for r in self.ram_regions() if "model" in r.holds and not r.external), default=None)

    @property
    def loop_bytes(self) -> int | None:
        """Size of the flash's code cache in bytes; None if reads do not wait, or if there is no cache."""
        flash = next(iter(self.flash_regions()), None)
        return (flash.code_cache_bytes or None) if flash is not None and flash.has_waits else None

    @property
    def total_ram_bytes(self) -> int | None:
        """Sum of all RAM regions of the chip; None for a bare core."""
        return sum(r.size_bytes for r in self.ram_regions() if not r.external) if self.regions else None

    @property
    def flash_bytes(self) -> int | None:
        """Sum of the flash regions for weights, without external ones; None for a bare core."""
        sizes = [r.size_bytes for r in self.flash_regions() if "weights" in r.holds and not r.external]
        return sum(sizes) if sizes else None


_SHORTEST_CHIP = 4
_SHORTEST_BEGINNING = 6
"""Fewest letters and digits of a chip's whole name, and of a prefix of it: `esp32` must not match ESP32-C3."""
_MAKER = r"^(at(?=sam)|m?imx(?=rt))"
"""Prefixes of orderable part numbers that board files leave out: ATSAMD21, MIMXRT1062."""


@functools.cache
def names() -> tuple[str, ...]:
    """All boards and bare cores that ship with mcugen, sorted. Folders that begin with `_` hold shared files."""
    folders = (p.parent.name for p in resources.boards().glob(f"*/{BOARD_FILE}"))
    return tuple(sorted(n for n in folders if not n.startswith("_")))


def load(name: str, features: Iterable[str] = ()) -> Target:
    """Read a board by name, by its chip's name, or by the path of a board.toml or its folder.

    features: "-dsp" switches off a feature and all features that need it; "dsp" or "+dsp" confirms that it is on.
    Kernels do not use a feature that is off, nor does the compiler if it has a flag for that. Raises UsageError for an
    unknown board or feature, and for a wrong board.toml, with file, key and value.
    """
    folder = _folder(name)
    return _switch(_target(folder), tuple(features))


def text(name: str) -> str:
    """The text of a board's board.toml. Raises UsageError for an unknown board."""
    return (_folder(name) / BOARD_FILE).read_text(encoding="utf-8")


Named = Sequence[tuple[str, int | None]]
"""Regions that the user names, with the usable bytes of each; None for all."""


def with_regions(target: Target, model: Named, weights: Named = ()) -> Target:
    """A bare core with the user's RAM regions; or a board with its own regions, external ones only if named.

    model, weights: regions for tensors, and for constants. On a bare core, a region named for both gets the sum of the
    sizes.
    """
    if not target.is_core:
        kept = [_asked_for(r, dict(model), dict(weights)) if r.external else r for r in target.regions]
        return replace(target, regions=tuple(r for r in kept if not r.external))
    names = dict.fromkeys(name for name, _ in (*model, *weights))
    return replace(target, regions=tuple(_made(name, dict(model), dict(weights)) for name in names))


def _asked_for(region: MemoryRegion, model: dict[str, int | None], weights: dict[str, int | None]) -> MemoryRegion:
    """An external region, usable for what it was named for; unchanged if it was not named."""
    if region.name in model:
        return replace(region, external=False)
    return replace(region, external=False, holds=frozenset({"weights"})) if region.name in weights else region


def _made(name: str, model: dict[str, int | None], weights: dict[str, int | None]) -> MemoryRegion:
    holds = frozenset(use for use, named in (("model", model), ("weights", weights)) if name in named)
    size = (model.get(name) or 0) + (weights.get(name) or 0)
    return MemoryRegion(name, "ram", 0, size, None, holds, "given by the user")


def _folder(name: str) -> Path:
    if name.lower() in names():
        return resources.boards() / name.lower()
    outside = Path(name).parent if Path(name).name == BOARD_FILE else Path(name)
    if (outside / BOARD_FILE).is_file():
        return outside.resolve()
    found = _with_chip(name)
    if len(found) == 1:
        return resources.boards() / found[0]
    near = found or _nearest(name)
    meant = f"did you mean {' or '.join(near[:3])}? " if near else ""
    raise UsageError(
        f"no board named {name!r}",
        where="--board",
        hint=f"{advice(name) or meant}`mcugen boards TEXT` lists boards whose name, core or chip contains TEXT; "
        "you can also give the path of a board.toml",
    )


def _nearest(name: str) -> list[str]:
    """Boards with a word in their name that begins with this name, then boards with a similar name."""
    if not name:
        return []
    words = [known for known in names() if f"-{name.lower()}" in f"-{known}"]
    return [*dict.fromkeys([*words, *difflib.get_close_matches(name.lower(), names(), n=3, cutoff=0.6)])]


def advice(name: str) -> str:
    """Advice on a popular board that has no board file (boards/_absent.toml), otherwise ""."""
    file = resources.boards() / "_absent.toml"
    plain = re.sub(r"[^a-z0-9]", "", name.lower())
    for entry in toml_file.read(file, "an entry has names and words").tables("absent"):
        if plain and plain.startswith(entry.strings("names")):
            return entry.string("words") + " "
    return ""


def _with_chip(name: str) -> list[str]:
    """Boards whose title names a chip, given the chip's name or its beginning, e.g. `stm32h743` or `nRF52840`."""
    chip = re.sub(_MAKER, "", name.lower())
    if len(chip) < _SHORTEST_CHIP or not re.fullmatch(r"[a-z]+\d+[a-z0-9]*", chip):
        return []
    titles = {board: _read(resources.boards() / board).string("title").lower() for board in names()}
    words = {board: re.sub(r"[^a-z0-9 ]", "", re.sub(r"[(),]", " ", title)).split() for board, title in titles.items()}
    return [board for board, named in words.items() if any(_is_chip(chip, word) for word in named)]


def _is_chip(chip: str, word: str) -> bool:
    """Whether a word of a title is the name of the chip. `chip` may be a prefix of it, or may add a package
    code to it.
    """
    begins = len(chip) >= _SHORTEST_BEGINNING and word.startswith(chip)
    return word == chip or begins or (len(word) > _SHORTEST_BEGINNING and chip.startswith(word))


def _read(folder: Path) -> TomlTable:
    return toml_file.read(folder / BOARD_FILE, "boards/_template/board.toml explains every key")


def _switch(target: Target, features: tuple[str, ...]) -> Target:
    off = {f[1:] for f in features if f.startswith("-")}
    on = {f.removeprefix("+") for f in features if not f.startswith("-")}
    for name in sorted((off | on) - target.features):
        has = ", ".join(sorted(target.features)) or "none"
        raise UsageError(
            f"{target.core} has no feature {name!r}", where="--features", hint=f"features of {target.name}: {has}"
        )
    if off:
        needs = isa.load(target.isa).feature_needs if target.isa else {}
        off |= {f for f in target.features if off & needs.get(f, frozenset())}
    chain = target.toolchain
    extra = tuple(f for name, flags in chain.without if name in off for f in flags)
    return replace(
        target,
        features=target.features - off,
        toolchain=replace(
            chain, flags=_override(chain.flags, extra), fallback_flags=_override(chain.fallback_flags, extra)
        ),
    )


def _override(flags: tuple[str, ...], extra: tuple[str, ...]) -> tuple[str, ...]:
    """The flags, with `-key=value` from `extra` replacing `-key=...`. With both, gcc would find no libraries."""
    values = {f.partition("=")[0]: f for f in extra}
    return tuple(values.get(f.partition("=")[0], f) for f in flags)


def _target(folder: Path) -> Target:
    board = _read(folder)
    target = _real_board(folder, board) if board.has("core") else _bare_core(folder, board)
    board.refuse_unread()
    return target


def _bare_core(folder: Path, board: TomlTable) -> Target:
    cpu, toolchain = board.table("cpu"), _toolchain(folder, board.table("toolchain"))
    switched = frozenset(feature for feature, _ in toolchain.without)
    device = _device(board.table("device")) if board.has("device") else None
    allowed = kernels.device_features() if device else kernels.features()
    features = cpu.strings("features", allowed=allowed | switched)
    instruction_set = cpu.choice("isa", frozenset(isa.names())) if cpu.has("isa") or board.has("emulator") else ""
    for feature in sorted(switched - set(features)):
        raise board.error(
            "toolchain.without", feature, f"one of the features of the core: {', '.join(features) or 'none'}"
        )
    constants_in_ram = cpu.has("constants_in_ram") and cpu.boolean("constants_in_ram")
    cpu.refuse_unread()
    return Target(
        name=folder.name,
        title=board.string("title"),
        core=folder.name,
        isa=instruction_set,
        features=frozenset(features),
        clock_hz=None,
        regions=(),
        toolchain=toolchain,
        emulators=_emulators(board),
        is_core=True,
        device=device,
        folder=folder,
        constants_in_ram=constants_in_ram,
        estimation=_estimation(board, UNCHECKED),
    )


def _device(table: TomlTable) -> Device:
    device = Device(
        compute_units=table.integer("compute_units", low=1, high=4096),
        flops=1e9 * table.integer("gflops", low=1, high=10**7),
        bandwidth=1e9 * table.integer("gbytes_per_s", low=1, high=10**5),
        local_bytes=table.integer("local_bytes", low=0, high=2**20),
        max_group=table.integer("max_group", low=1, high=4096),
        launch_s=1e-6 * table.integer("launch_us", low=1, high=10**5),
        unified=table.boolean("unified"),
        measured=table.boolean("measured"),
        source=table.string("source"),
        vendor=table.string("vendor") if table.has("vendor") else "",
        images=table.has("images") and table.boolean("images"),
        half=table.has("half") and table.boolean("half"),
    )
    table.refuse_unread()
    return device


def _real_board(folder: Path, board: TomlTable) -> Target:
    core_name = board.string("core")
    if core_name not in names() or _read(resources.boards() / core_name).has("core"):
        raise board.error("core", core_name, "the name of a bare core, such as cortex-m4")
    core = _target(resources.boards() / core_name)
    if board.has("lacks"):
        core = _switch(core, tuple(f"-{f}" for f in board.strings("lacks", allowed=core.features)))
    regions = () if core.runs_linux else _regions(board)
    return Target(
        name=folder.name,
        title=board.string("title"),
        core=core_name,
        isa=core.isa,
        features=core.features,
        clock_hz=_clock(board),
        regions=regions,
        toolchain=_toolchain(folder, board.table("toolchain")) if board.has("toolchain") else core.toolchain,
        emulators=_emulators(board) if board.has("emulator") else core.emulators,
        is_core=not regions,
        constants_in_ram=core.constants_in_ram,
        estimation=_estimation(board, core.estimation),
        energy=energy_of(board.table("energy")) if board.has("energy") else None,
    )


def _estimation(board: TomlTable, usual: Estimation) -> Estimation:
    return estimation_of(board.table("estimate")) if board.has("estimate") else usual


def _clock(board: TomlTable) -> int | None:
    if not board.has("clock_hz"):
        return None
    board.string("clock_source")
    return board.integer("clock_hz", low=1)


def _regions(board: TomlTable) -> tuple[MemoryRegion, ...]:
    regions = tuple(region_of(t, has_clock=board.has("clock_hz")) for t in board.tables("region"))
    _check_regions(board, regions)
    return regions


def _check_regions(board: TomlTable, regions: tuple[MemoryRegion, ...]) -> None:
    for kind, use in (("flash", "code"), ("ram", "model")):
        if not any(r.kind == kind and use in r.holds for r in regions):
            raise board.error("region", f"{len(regions)} regions", f"a {kind} region that holds {use}")
    if len({r.name for r in regions}) != len(regions):
        raise board.error("region.name", ", ".join(r.name for r in regions), "a different name for each region")
    ordered = sorted(regions, key=lambda r: r.address)
    for a, b in pairwise(ordered):
        if a.address + a.size_bytes > b.address:
            raise board.error("region.address", f"{b.name} at {b.address:#x}", f"an address past the end of {a.name}")


def _toolchain(folder: Path, table: TomlTable) -> Toolchain:
    fallback = table.table("fallback") if table.has("fallback") else None
    toolchain = Toolchain(
        prefix=table.string("prefix", empty=True),
        package=table.string("package"),
        flags=table.strings("flags"),
        link_flags=table.strings("link_flags"),
        fallback_flags=fallback.strings("flags") if fallback else (),
        fallback_note=fallback.string("note") if fallback else "",
        without=_without(table),
        startup=tuple(_shared(folder, table, "startup", n) for n in table.strings("startup")),
        sections=_shared(folder, table, "sections", table.string("sections")) if table.has("sections") else None,
        objdump_flags=table.strings("objdump_flags") if table.has("objdump_flags") else (),
    )
    if fallback:
        fallback.refuse_unread()
    table.refuse_unread()
    return toolchain


def _without(table: TomlTable) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not table.has("without"):
        return ()
    flags = table.table("without")
    return tuple((key, flags.strings(key)) for key in flags.names())


def _shared(folder: Path, table: TomlTable, key: str, name: str) -> Path:
    """A file of the board's own folder, or else of boards/_common."""
    for path in (folder / name, resources.boards() / "_common" / name):
        if path.is_file():
            return path
    raise table.error(key, name, "a file in the board's folder or in boards/_common")


def _emulators(board: TomlTable) -> tuple[Emulator | UserMode, ...]:
    return tuple(_emulator(t) for t in board.tables("emulator")) if board.has("emulator") else ()


def _emulator(table: TomlTable) -> Emulator | UserMode:
    emulator = _user_mode(table) if table.has("root") else _machine(table)
    table.refuse_unread()
    return emulator


def _user_mode(table: TomlTable) -> UserMode:
    return UserMode(
        system=table.string("system"),
        package=table.string("package"),
        cpu=table.string("cpu"),
        root=table.string("root"),
        note=table.string("note") if table.has("note") else "",
    )


def _machine(table: TomlTable) -> Emulator:
    return Emulator(
        system=table.string("system"),
        package=table.string("package"),
        machine=table.string("machine"),
        cpu=table.string("cpu") if table.has("cpu") else None,
        vectors=_span(table.table("vectors")) if table.has("vectors") else None,
        code=_span(table.table("code")),
        ram=_span(table.table("ram")),
        note=table.string("note") if table.has("note") else "",
    )


def _span(table: TomlTable) -> Span:
    span = Span(table.integer("address", low=0), table.integer("size_bytes", low=1, high=2**32))
    table.refuse_unread()
    return span
