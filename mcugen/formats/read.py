"""Reads a model file: its bytes become a Graph. The format is found by the content and the name of the file.

A folder beside this module with a module `read` is a format that mcugen reads. That module may have a function
`recognises(data)`, which recognises files of the format by content, so that their names do not matter. If formats share
a suffix, each has such a function and `UNLIKE`: two texts for the error about a file that none of them recognises. The
first is the format's name and the key that such a file lacks, the second a hint.

Models have the folder's name as suffix, or the suffixes listed in the folder's file suffixes.txt; `*/graph.nnef` there
means folders with a file of that name. A format's module is loaded when it is first needed.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType, ModuleType

import numpy as np

from mcugen.errors import CorruptModelError, ModelError, UsageError
from mcugen.formats import _embedded, _foreign
from mcugen.formats.registry import Registry
from mcugen.ir.graph import Graph, verify
from mcugen.ir.types import Shape
from mcugen.system import files

_FOLDER = Path(__file__).parent


def load(
    path: Path, registry: Registry, shapes: Mapping[str, Shape] = MappingProxyType({}), signature: str = ""
) -> Graph:
    """Read a model file. shapes: input name -> static shape, for inputs that the file leaves open.

    signature: which of several networks of the file to read, by default the first.

    Raises UsageError, CorruptModelError, UnsupportedError, ShapeError, QuantizationError."""
    name, data, note = _folder(path) if path.is_dir() else _recognised(path, files.read(path))
    module = _module(name)
    chosen = {"signature": signature} if signature else {}
    if chosen and "signature" not in inspect.signature(module.load).parameters:
        raise UsageError(f".{name} models have no signatures", where="--signature", hint="leave the option out")
    digest = hashlib.sha256(data).hexdigest()
    try:
        with np.errstate(all="ignore"):  # float constants, and results computed from them, may be infinite
            graph: Graph = module.load(data, registry, path=path, sha256=digest, shapes=shapes, **chosen)
    except ModelError as error:
        error.where = error.where or path.name
        raise
    graph = replace(graph, file=data, notes=(*graph.notes, *([note] if note else ())))
    return verify(graph, f"{name} front end")


def format_of(path: Path) -> str:
    """The name of the format of a file or folder. Raises UsageError and CorruptModelError as `load` does."""
    return (_folder(path) if path.is_dir() else _recognised(path, files.read(path)))[0]


def content(path: Path) -> bytes:
    """The bytes of the model in a file or folder. Raises UsageError and CorruptModelError as `load` does."""
    return _recognised(path, files.read(path))[1]


def arrays(text: bytes) -> Iterator[tuple[str, bytes]]:
    """All arrays of bytes in C source, with their names, whether or not they hold models."""
    return _embedded.arrays(text)


def models_in(folder: Path) -> dict[Path, str]:
    """The models in a folder and below, in the order of their paths, with the names of their formats.

    A model has the suffix of a format. If this suffix is not the format's name, such as .json, its content is checked.
    """
    models: dict[Path, str] = {}
    for path in sorted(folder.rglob("*")):
        name = _of_folder(path) if path.is_dir() else _of_suffix(path)
        is_part = any(parent in models for parent in path.parents)
        if name and not is_part and (path.is_dir() or _is_own(name, path)):
            models[path] = name
    return models


def _is_own(name: str, path: Path) -> bool:
    """Whether a file with a suffix of a format is a model of it; if the suffix is shared, the content decides."""
    return path.suffix.lower() == f".{name}" or _recognises(name) is None or _knows(name, path.read_bytes())


def _folder(path: Path) -> tuple[str, bytes, str]:
    """(format, empty bytes, empty note) of a folder. Raises UsageError if no format has such folders."""
    name = _of_folder(path)
    if name:
        return name, b"", ""
    kind = _foreign.of(path, b"", by_suffix=True)
    raise _unknown(path) if kind is None else kind.refusal(path)


def _recognised(path: Path, data: bytes) -> tuple[str, bytes, str]:
    """The format of a file, the bytes of the model, and a note if content and file name differ.

    The content decides; the name only if no format recognises the content. Raises UsageError if no format reads the
    file, and CorruptModelError if it is empty.
    """
    if not data:
        raise CorruptModelError("the file is empty", where=path.name, hint="copy or download it again")
    named = _of_suffix(path)
    if named is not None and _knows(named, data):
        return named, data, ""
    others = [name for name in _names() if name != named]
    for name in others:
        if _knows(name, data):
            return name, data, f"{path.name} is a .{name} file"
    inside = _models_inside(data)
    if len(inside) > 1:
        listed = ", ".join(f"{array} ({len(values):,} bytes)" for _, array, values in inside)
        hint = "copy the array of the one that you want into a file of its own"
        raise UsageError(f"the file holds {len(inside)} models: {listed}", where=path.name, hint=hint)
    for name, _, values in inside:
        return name, values, f"{path.name} holds a .{name} file of {len(values):,} bytes as an array"
    kind = _foreign.of(path, data, by_suffix=named is None)
    if kind is not None:
        raise kind.refusal(path)
    if named is None:
        raise _unknown(path)
    if len(sharing := _sharing(path)) > 1:
        raise _unlike(path, sharing)
    return named, data, ""


def _of_folder(path: Path) -> str | None:
    """The format of a folder, found by the file that it must contain, or None."""
    kinds = ((name, suffix) for name in _names() for suffix in _suffixes(name) if suffix.startswith("*/"))
    return next((name for name, suffix in kinds if (path / suffix[2:]).is_file()), None)


def _of_suffix(path: Path) -> str | None:
    """The format whose suffix a file has, or None."""
    return next(iter(_sharing(path)), None)


def _sharing(path: Path) -> list[str]:
    """The formats whose suffix a file has."""
    lower = path.name.lower()
    return [name for name in _names() if any(lower.endswith(f".{s}") for s in _suffixes(name))]


def _models_inside(data: bytes) -> list[tuple[str, str, bytes]]:
    """The different models in C source as byte arrays: (format, name of the array, bytes)."""
    found: dict[bytes, tuple[str, str, bytes]] = {}
    for array, values in _embedded.arrays(data):
        for name in _names():
            if _knows(name, values):
                found.setdefault(values, (name, array, values))
                break
    return [*found.values()]


def _knows(name: str, data: bytes) -> bool:
    """Whether a format has a recogniser for its files, and it accepts this one."""
    recognises = _recognises(name)
    return recognises is not None and bool(recognises(data))


def _recognises(name: str) -> Callable[[bytes], bool] | None:
    recognises: Callable[[bytes], bool] | None = getattr(_module(name), "recognises", None)
    return recognises


def _unknown(path: Path) -> UsageError:
    known = sorted((suffix for name in _names() for suffix in _suffixes(name)), key=_folders_last)
    kinds = ", ".join(f".{s}" if s[0] != "*" else f"a folder with {s[2:]}" for s in known)
    return UsageError(f"{path.name!r} is not a model file that mcugen reads", hint=f"supported: {kinds}")


def _unlike(path: Path, names: Sequence[str]) -> UsageError:
    """The error for a file whose suffix these formats share, and whose content none of them recognises."""
    kinds, hints = zip(*(_module(name).UNLIKE for name in names), strict=True)
    return UsageError(
        f"this {path.suffix.lower()} file is neither {' nor '.join(kinds)}",
        where=path.name,
        hint=f"{' or '.join(hints)}; networks are .tflite, .onnx and .nnef files",
    )


def _folders_last(suffix: str) -> tuple[bool, str]:
    return suffix.startswith("*"), suffix


def _names() -> list[str]:
    return sorted(path.parent.name for path in _FOLDER.glob("*/read.py"))


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"mcugen.formats.{name}.read")


def suffix(name: str) -> str:
    """The usual suffix of a format's files."""
    return _suffixes(name)[0]


def _suffixes(name: str) -> list[str]:
    """The suffixes of a format's files: its name, or those that it lists."""
    listed = _FOLDER / name / "suffixes.txt"
    return listed.read_text(encoding="utf-8").split() if listed.is_file() else [name]


def layout(name: str) -> str:
    """The order of image axes in a format: `LAYOUT` of its module, "nchw" by default."""
    found: str = getattr(_module(name), "LAYOUT", "nchw")
    return found


def references(name: str) -> tuple[str, ...]:
    """The runtimes whose results a model of that format can reproduce, the default first."""
    found: tuple[str, ...] = _module(name).REFERENCES
    return found
