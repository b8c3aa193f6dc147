"""Front ends: bytes of a model file to a Graph. One module per format, found by the suffix of the file.

A format that is a package may have a file suffixes.txt with the suffixes of its models, where these are others than its
name; `*/graph.nnef` stands for folders with a file of that name. No format is loaded before one of its files is read.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import pkgutil
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from mcugen import files
from mcugen.errors import UsageError
from mcugen.graph import Graph, verify
from mcugen.registry import Registry
from mcugen.types import Shape


def load(
    path: Path, registry: Registry, shapes: Mapping[str, Shape] = MappingProxyType({}), signature: str = ""
) -> Graph:
    """Read a model file. shapes: static shapes of inputs, by name, where the file leaves them open.

    signature: which of several networks of the file to read, by default the first.

    Raises UsageError, CorruptModelError, UnsupportedError, ShapeError, QuantizationError."""
    name = _format_of(path)
    data = b"" if path.is_dir() else files.read(path)
    module = importlib.import_module(f"{__name__}.{name}")
    chosen = {"signature": signature} if signature else {}
    if chosen and "signature" not in inspect.signature(module.load).parameters:
        raise UsageError(f".{name} models have no signatures", where="--signature", hint="leave the option out")
    digest = hashlib.sha256(data).hexdigest()
    graph: Graph = module.load(data, registry, path=path, sha256=digest, shapes=shapes, **chosen)
    return verify(graph, f"{name} front end")


def _format_of(path: Path) -> str:
    """The module for a model file, or a folder. Raises UsageError where there is none."""
    known = {suffix: name for name in _names() for suffix in _suffixes(name)}
    if path.is_dir():
        for suffix, name in known.items():
            if suffix.startswith("*/") and (path / suffix[2:]).is_file():
                return name
    else:
        lower = path.name.lower()
        for suffix, name in known.items():
            if lower.endswith(f".{suffix}"):
                return name
    kinds = ", ".join(f".{s}" if s[0] != "*" else f"a folder with {s[2:]}" for s in sorted(known, key=_folders_last))
    raise UsageError(f"{path.name!r} is not a model file that mcugen reads", hint=f"supported: {kinds}")


def _folders_last(suffix: str) -> tuple[bool, str]:
    return suffix.startswith("*"), suffix


def _names() -> list[str]:
    return sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))


def _suffixes(name: str) -> list[str]:
    """The suffixes of a format's files: its name, or those that it lists."""
    listed = Path(__path__[0]) / name / "suffixes.txt"
    return listed.read_text(encoding="utf-8").split() if listed.is_file() else [name]


def layout(name: str) -> str:
    """The order of image axes that the operators of that format have: "nchw" unless its module states `LAYOUT`."""
    found: str = getattr(importlib.import_module(f"{__name__}.{name}"), "LAYOUT", "nchw")
    return found


def references(name: str) -> tuple[str, ...]:
    """The runtimes whose meaning a model of that format can have, the default first."""
    found: tuple[str, ...] = importlib.import_module(f"{__name__}.{name}").REFERENCES
    return found
