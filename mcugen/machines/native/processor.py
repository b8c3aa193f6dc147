"""The processor of this computer, and the board whose C suits it best."""

from __future__ import annotations

import functools
import platform
import re
from collections.abc import Collection, Iterable
from pathlib import Path

from mcugen.solve.schedule import Schedule

PORTABLE = "host"
"""The board for any computer."""

_CPUINFO = Path("/proc/cpuinfo")
_BOARDS = {"x86_64": "x86-64", "aarch64": "aarch64-linux"}
_SETS = {
    "x86_64": (("avx512_vnni", "AVX512-VNNI"), ("avx_vnni", "AVX-VNNI"), ("avx2", "AVX2")),
    "aarch64": (("asimddp", "NEON with dot products"), ("asimd", "NEON")),
}
"""Flags in /proc/cpuinfo of the vector instructions that kernels of these machines' boards use, best first, with
names.
"""
_FLOAT_SETS = (({"avx512f"}, "AVX-512"), ({"avx2", "fma"}, "FMA"), ({"asimd"}, "NEON"))
"""Flags that kernels on floats need, all of them, best first, with names."""


@functools.cache
def board() -> str:
    """The board to build for if a model runs on this computer: that of its machine if its kernels gain by that."""
    return _BOARDS[platform.machine()] if _best() else PORTABLE


def instructions_of(needs: Iterable[Collection[str]]) -> str:
    """The vector instructions that kernels use here, such as `AVX2`. needs: the features that each of them needs."""
    used = set[str]().union(*needs)
    best, least = _best(), _SETS.get(platform.machine(), (("", ""),))[-1][1]
    every = least if best else ""
    possible = {"vnni": best, "avx2": every, "dotprod": best, "neon": every}
    found = (next((possible[name] for name in possible if name in used), ""), _floats() if "fma" in used else "")
    return " and ".join(dict.fromkeys(name for name in found if name)) or "portable C"


def in_words(schedule: Schedule) -> str:
    """How the C of a schedule runs here, such as `AVX2, 2 threads`."""
    used, threads = instructions_of(step.choice.kernel.needs for step in schedule.steps), schedule.bands
    return f"{used}, {threads} thread{'s' if threads > 1 else ''}"


def name() -> str:
    """The processor's name, as the system states it."""
    found = re.search(r"^(?:model name|Model)\s*: (.*)$", _text(), re.MULTILINE)
    return found[1] if found else platform.processor() or platform.machine()


def _text() -> str:
    return _CPUINFO.read_text(encoding="utf-8", errors="replace") if _CPUINFO.is_file() else ""


@functools.cache
def _best() -> str:
    """The best vector instructions of this processor that kernels use, "" if there are none, or none are known."""
    flags = _flags()
    return next((name for flag, name in _SETS.get(platform.machine(), ()) if flag in flags), "")


@functools.cache
def _floats() -> str:
    """The best vector instructions of this processor that kernels on floats use, "" if there are none."""
    flags = _flags()
    return next((name for needed, name in _FLOAT_SETS if needed <= flags), "")


def _flags() -> set[str]:
    """The flags of a processor that has a board."""
    return set(_text().split()) if platform.machine() in _BOARDS else set[str]()
