"""Front ends: bytes of a model file to a Graph. One module per format, found by its file suffix."""

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
    suffix = path.suffix.lower().removeprefix(".")
    known = sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))
    if suffix not in known:
        raise UsageError(
            f"{path.name!r} is not a model file that mcugen reads",
            hint="supported: " + ", ".join(f".{name}" for name in known),
        )
    data = files.read(path)
    module = importlib.import_module(f"{__name__}.{suffix}")
    chosen = {"signature": signature} if signature else {}
    if chosen and "signature" not in inspect.signature(module.load).parameters:
        raise UsageError(f".{suffix} models have no signatures", where="--signature", hint="leave the option out")
    digest = hashlib.sha256(data).hexdigest()
    graph: Graph = module.load(data, registry, path=path, sha256=digest, shapes=shapes, **chosen)
    return verify(graph, f"{suffix} front end")


def layout(name: str) -> str:
    """The order of image axes that the operators of that format have: "nchw" unless its module states `LAYOUT`."""
    found: str = getattr(importlib.import_module(f"{__name__}.{name}"), "LAYOUT", "nchw")
    return found


def references(name: str) -> tuple[str, ...]:
    """The runtimes whose meaning a model of that format can have, the default first."""
    found: tuple[str, ...] = importlib.import_module(f"{__name__}.{name}").REFERENCES
    return found
