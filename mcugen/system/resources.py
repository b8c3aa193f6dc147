"""Locations of the data folders that mcugen ships. They lie beside the package in a checkout, inside it in a wheel."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def _folder(name: str) -> Path:
    installed = _PACKAGE / "_data" / name
    return installed if installed.is_dir() else _PACKAGE.parent / name


def templates() -> Path:
    """The folder of jinja2 templates."""
    return _folder("templates")


def c_runtime() -> Path:
    """The folder of C kernels and headers: mcugen/ with shared headers, and one folder per kernel family."""
    return _folder("c_runtime")


@functools.cache
def c_files() -> Mapping[str, Path]:
    """File name -> path of every C source and header of the runtime. Names are unique across folders."""
    return {path.name: path for path in sorted(c_runtime().rglob("*.[ch]"))}


@functools.cache
def cl_files() -> Mapping[str, Path]:
    """File name -> path of every OpenCL kernel of the runtime. Names are unique across folders."""
    return {path.name: path for path in sorted(c_runtime().rglob("*.cl"))}


def boards() -> Path:
    """The folder of boards: one folder per board, and _common with start-up code and linker scripts."""
    return _folder("boards")
