"""Stub headers of the C library. They declare only what emitted C may use."""

from __future__ import annotations

from pathlib import Path


def stubs() -> Path:
    """The folder of the stub headers, for -I."""
    return Path(__file__).resolve().parent / "stubs"
