"""Headers of the C library as emitted C may use it: they declare only what it may call."""

from __future__ import annotations

from pathlib import Path


def stubs() -> Path:
    """The folder of the stub headers, for -I."""
    return Path(__file__).resolve().parent / "stubs"
