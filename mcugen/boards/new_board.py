"""Writes a board file of the user's own: a copy of a shipped board or core with the user's figures."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mcugen.boards import target
from mcugen.boards.machine import MemoryRegion
from mcugen.boards.target import BOARD_FILE, Target
from mcugen.errors import UsageError
from mcugen.options import bytes_of, hertz_of
from mcugen.system import tabular

_GIVEN = re.compile(r"(?:([a-z][a-z0-9_]*)=)?([^@=]+)(?:@(0[xX][0-9a-fA-F]+|\d+))?")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_FORM = "as [NAME=]SIZE[@ADDRESS], e.g. `512K@0x08000000` or `dtcm=64K@0x20000000`"
USES = {"flash": ("code", "weights"), "ram": ("model", "stack")}


@dataclass(frozen=True)
class Wish:
    """The user's description of a board. Empty fields are copied from `like`, a shipped board or core.

    flash, ram: memories as [NAME=]SIZE[@ADDRESS]; the first flash is for code, the first RAM for the stack. source:
    document that states the figures.
    """

    like: str
    title: str = ""
    clock: str = ""
    flash: tuple[str, ...] = ()
    ram: tuple[str, ...] = ()
    source: str = "given by the user"


def write(folder: Path, wish: Wish) -> Target:
    """Write folder/board.toml and read it back. Nothing is overwritten. Raises UsageError, and then leaves no file."""
    if not _NAME.fullmatch(folder.name):
        raise UsageError(f"{folder.name!r} cannot name a board", hint="use letters, digits and -")
    if folder.name.lower() in target.names():
        raise UsageError(f"{folder.name} is a board that ships with mcugen", hint="choose another name")
    if folder.exists():
        raise UsageError(f"{str(folder)!r} exists already", hint="choose another name, or edit its board.toml")
    content = _text(wish, folder.name)
    try:
        folder.mkdir(parents=True)
        (folder / BOARD_FILE).write_text(content, encoding="utf-8")
        return target.load(str(folder))
    except OSError as error:
        raise UsageError(f"cannot write {str(folder)!r}: {error.strerror}", hint="check the path") from error
    except UsageError:
        shutil.rmtree(folder)
        raise


def _text(wish: Wish, name: str) -> str:
    """The text of board.toml for a board of that name. Raises UsageError for values that are invalid or missing."""
    like = target.load(wish.like)
    core = like if like.is_core else target.load(like.core)
    if core.is_host or core.device is not None:
        raise UsageError(
            f"{wish.like} is not a microcontroller", where="--like", hint="choose one that `mcugen boards` lists"
        )
    lacks = sorted(core.features - like.features)
    lines = [
        f"title = {json.dumps(wish.title or name, ensure_ascii=False)}",
        f"core = {json.dumps(core.name)}",
        *([f"lacks = {json.dumps(lacks)}"] if lacks else []),
        *_clock(like, wish),
    ]
    for region in (*_regions(like, wish, "flash"), *_regions(like, wish, "ram")):
        lines += ["", *_region(region)]
    return "\n".join(lines) + "\n"


def _clock(like: Target, wish: Wish) -> list[str]:
    if wish.clock:
        return [f"clock_hz = {hertz_of(wish.clock)}", f"clock_source = {json.dumps(wish.source, ensure_ascii=False)}"]
    return [f"clock_hz = {like.clock_hz}", f'clock_source = "as {like.name}"'] if like.clock_hz else []


def _regions(like: Target, wish: Wish, kind: str) -> Sequence[MemoryRegion]:
    """The memories of a kind: those that the user gives, otherwise those of `like`."""
    known = [region for region in like.regions if region.kind == kind]
    given = wish.flash if kind == "flash" else wish.ram
    if not given and not known:
        raise UsageError(f"{like.name} describes no {kind}", where=f"--{kind}", hint=f"give --{kind} {_FORM}")
    if not given:
        return known
    return [_given(one, kind, known[0] if known and k == 0 else None, wish.source) for k, one in enumerate(given)]


def _given(one: str, kind: str, before: MemoryRegion | None, source: str) -> MemoryRegion:
    """A memory as the user wrote it. Missing parts are copied from `before`."""
    found = _GIVEN.fullmatch(one)
    if found is None:
        raise UsageError(f"{one!r} is not a memory", where=f"--{kind}", hint=f"write it {_FORM}")
    name, size, address = found.groups()
    if before is None and address is None:
        raise UsageError(f"{one!r} has no address", where=f"--{kind}", hint=f"write it {_FORM}")
    nbytes = bytes_of(size, f"--{kind}")
    if before is None:
        usual = "flash" if kind == "flash" else "sram"
        uses = frozenset(USES[kind])
        return MemoryRegion(name or usual, kind, int(address, 0), nbytes, None, uses, source)
    place = before.address if address is None else int(address, 0)
    return replace(before, name=name or before.name, address=place, size_bytes=nbytes, source=source)


def _region(region: MemoryRegion) -> list[str]:
    """The text of a [[region]]. Keys with default values are left out."""
    lines = [
        "[[region]]",
        f"name = {json.dumps(region.name)}",
        f"kind = {json.dumps(region.kind)}",
        f"address = 0x{region.address:08x}",
        f"size_bytes = {region.size_bytes}",
    ]
    for key in ("wait_states", "line_bytes", "bytes_per_cycle", "code_cache_bytes", "data_cache_bytes"):
        lines += [f"{key} = {getattr(region, key)}"] if getattr(region, key) else []
    lines += [f"{key} = true" for key in ("prefetch", "external") if getattr(region, key)]
    holds = json.dumps([use for uses in USES.values() for use in uses if use in region.holds])
    return [*lines, f"holds = {holds}", f"source = {json.dumps(region.source, ensure_ascii=False)}"]


def as_parts(board: Target, folder: Path, shipped: Path) -> tabular.Parts:
    """The result as text: the file, how to build for and check the board, and where its name alone is found."""
    clock = f" at {board.clock_hz / 1e6:g} MHz" if board.clock_hz else ""
    check = [f"  check  mcugen simulate MODEL --board {folder}"] if board.emulators else []
    return [
        f"{folder / BOARD_FILE}: {board.core}{clock}, {board.flash_bytes or 0:,} bytes of flash, "
        f"{board.ram_bytes or 0:,} of RAM for a model",
        f"  build  mcugen build MODEL --board {folder} -o out/",
        *check,
        f"  find   by this path; by its absolute path from anywhere; by name once it lies in {shipped}",
        "  edit   every key is explained in boards/_template/board.toml: wait states, caches, more memories",
    ]
