"""Locations of the shipped data folders: beside the package in a checkout, inside it in a wheel."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def _folder(name: str) -> Path:
    installed = _PACKAGE / "_data" / name
    return installed if installed.is_dir() else _PACKAGE.parent / name


def templates() -> Path:
    """The jinja2 templates."""
    return _folder("templates")


def c_runtime() -> Path:
    """The C kernels and their headers: mcugen/ with what all may include, and a folder for each family."""
    return _folder("c_runtime")


@functools.cache
def c_files() -> Mapping[str, Path]:
    """Name -> file of every C source and header of the runtime; names are unique over its folders."""
    return {path.name: path for path in sorted(c_runtime().rglob("*.[ch]"))}


@functools.cache
def cl_files() -> Mapping[str, Path]:
    """Name -> file of every OpenCL kernel of the runtime; names are unique over its folders."""
    return {path.name: path for path in sorted(c_runtime().rglob("*.cl"))}


def boards() -> Path:
    """One folder per board, and _common with start-up code and link scripts."""
    return _folder("boards")
