"""Where the shipped data folders are: beside the package in a checkout, inside it in a wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def _folder(name: str) -> Path:
    installed = _PACKAGE / "_data" / name
    return installed if installed.is_dir() else _PACKAGE.parent / name


def templates() -> Path:
    """The jinja2 templates."""
    return _folder("templates")


def c_runtime() -> Path:
    """The portable C kernels and their headers (include/, src/)."""
    return _folder("c_runtime")


def boards() -> Path:
    """One folder per board, and _common with start-up code and link scripts."""
    return _folder("boards")
