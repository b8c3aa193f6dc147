"""The flags of the processor that runs the tests."""

from __future__ import annotations

import platform
from pathlib import Path


def has(flags: str) -> bool:
    """Whether this is an x86-64 processor with all these flags, separated by spaces."""
    cpu = Path("/proc/cpuinfo")
    if platform.machine() != "x86_64" or not cpu.exists():
        return not flags
    return set(flags.split()) <= set(cpu.read_text().split())
