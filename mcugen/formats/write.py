"""Writes a model file: a Graph becomes its bytes. A folder beside this module with a package `write` is a format."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

from mcugen.errors import UsageError
from mcugen.ir.graph import Graph


def formats() -> tuple[str, ...]:
    """The formats that can be written, sorted."""
    return tuple(sorted(path.parent.name for path in Path(__file__).parent.glob("*/write")))


def load(format_name: str) -> ModuleType:
    """The writer of a format: a package with `write(graph, halves) -> bytes`. Raises UsageError if there is none."""
    if format_name not in formats():
        raise UsageError(
            f"mcugen does not write {format_name!r} files", hint=f"it writes: {', '.join(formats()) or 'nothing'}"
        )
    return importlib.import_module(f"mcugen.formats.{format_name}.write")


def write(graph: Graph, format_name: str, *, halves: bool = False) -> bytes:
    """The graph as a model file. halves: store float weights as float16 if float16 represents them exactly.

    Raises UsageError, and one UnsupportedError for all nodes that the format has no operator for.
    """
    data: bytes = load(format_name).write(graph, halves)
    return data
