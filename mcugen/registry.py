"""Finds operators: every Op class in `mcugen.ops`, in `mcugen.ops` entry points, and in modules that the user passes.

A module's `IMPORTS` are decompositions: operators of a format that become several of mcugen's and have no class of
their own. Those of this package stand in `mcugen.decompositions`.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from types import ModuleType

import mcugen.decompositions
import mcugen.ops
from mcugen import plugins
from mcugen.errors import UnsupportedError, UsageError
from mcugen.imports import Import, Imported, Source
from mcugen.op import Op

GROUP = "mcugen.ops"


@dataclass(frozen=True)
class Found:
    """An import and the operator class that declares it; None for a decomposition, which has no class."""

    entry: Import
    op: type[Op] | None
    module: str

    def build(self, source: Source) -> Imported:
        """The operator that a source becomes. Raises UnsupportedError where it becomes several."""
        if self.entry.build is not None:
            return self.entry.build(source)
        if self.op is None:
            raise UnsupportedError(f"{self.entry.name} becomes several operators")
        return Imported(self.op())


@dataclass(frozen=True)
class Registry:
    """The operators of one compilation, by class and by the names formats give them.

    missing: why the operators of installed packages that fail at import are not among them.
    """

    ops: tuple[type[Op], ...]
    by_import: Mapping[tuple[str, str], tuple[Found, ...]]
    missing: tuple[str, ...] = ()

    def find(self, format_name: str, name: str, version: int = 1) -> Found | None:
        """The import of `name` of `format_name` in that version, or None; `fitting` knows those with a condition."""
        versions = self._versions(format_name, name, version)
        return next((f for f in versions if f.entry.when is None), next(iter(versions), None))

    def fitting(self, found: Found, source: Source, version: int = 1) -> Found:
        """The import whose condition the source meets, else `found`. Raises UnsupportedError where that has one too."""
        for other in self._versions(found.entry.format, found.entry.name, version):
            if other.entry.when is not None and other.entry.when(source):
                return other
        if found.entry.when is not None:
            raise UnsupportedError(f"{found.entry.name} of these types is not supported")
        return found

    def _versions(self, format_name: str, name: str, version: int) -> tuple[Found, ...]:
        known = self.by_import.get((format_name, name), ())
        return tuple(f for f in known if f.entry.since <= version <= (f.entry.until or version))

    def lacking(self, format_name: str, name: str, version: int) -> str:
        """Why nothing was found: no such operator, or not in that version."""
        known = self.by_import.get((format_name, name), ())
        if not known:
            return "no such operator in mcugen"
        ranges = ", ".join(f"{f.entry.since} to {f.entry.until or 'the newest'}" for f in known)
        return f"version {version} is not supported; versions {ranges} are"

    @property
    def hint(self) -> str:
        """The hint for a model that names an unknown operator."""
        return "; ".join(["`mcugen ops` lists the supported operators and types", *self.missing])

    def names(self, format_name: str) -> tuple[str, ...]:
        """Names of `format_name` that can be imported, sorted."""
        return tuple(sorted(name for fmt, name in self.by_import if fmt == format_name))


def load(extra: Sequence[ModuleType] = ()) -> Registry:
    """The registry of all operators and decompositions, with those of `extra` modules.

    Raises UsageError where two of them import the same version of the same operator of a format.
    """
    installed = (module for _, module in plugins.working(GROUP))
    modules = (*_modules_of(mcugen.ops), *_modules_of(mcugen.decompositions), *installed, *extra)
    ops = tuple(dict.fromkeys(op for module in modules for op in _ops_of(module)))
    for op in ops:
        _check(op)
    found = [Found(entry, op, f"{op.__module__}.{op.__name__}") for op in ops for entry in _imports_of(op)]
    for module in dict.fromkeys(modules):
        found += [Found(entry, None, module.__name__) for entry in getattr(module, "IMPORTS", ())]
    return Registry(ops, _by_name(found), plugins.failures(GROUP))


def _by_name(found: Iterable[Found]) -> Mapping[tuple[str, str], tuple[Found, ...]]:
    known: dict[tuple[str, str], tuple[Found, ...]] = {}
    for new in found:
        key = (new.entry.format, new.entry.name)
        for other in known.get(key, ()):
            if new.entry.meets(other.entry):
                raise UsageError(
                    f"{new.module} and {other.module} both import {key[0]} {key[1]}",
                    hint="remove one of the two modules, or state versions that do not overlap",
                )
        known[key] = (*known.get(key, ()), new)
    return known


@functools.cache
def _modules_of(package: ModuleType) -> tuple[ModuleType, ...]:
    names = sorted(m.name for m in pkgutil.iter_modules(package.__path__) if not m.name.startswith("_"))
    return tuple(importlib.import_module(f"{package.__name__}.{name}") for name in names)


def own() -> tuple[type[Op], ...]:
    """Every operator class of mcugen, also those that no format names and only passes make."""
    return tuple(op for module in _modules_of(mcugen.ops) for op in _classes_of(module))


def _ops_of(module: ModuleType) -> Iterable[type[Op]]:
    return (op for op in _classes_of(module) if op.imports)


def _classes_of(module: ModuleType) -> Iterable[type[Op]]:
    for _, value in sorted(vars(module).items()):
        if inspect.isclass(value) and issubclass(value, Op) and value.__module__ == module.__name__:
            yield value


def _imports_of(op: type[Op]) -> Iterable[Import]:
    """The imports that an operator declares. Raises UsageError for an entry that is no Import."""
    for entry in op.imports:
        if not isinstance(entry, Import):
            raise UsageError(f"{op.__module__}.{op.__name__} imports {entry!r}", hint="state a mcugen.imports.Import")
        yield entry


def _has_fields(op: type[Op]) -> bool:
    """Whether the attributes that a class annotates are fields; one without attributes needs no decorator."""
    known = {f.name for f in fields(op)}
    stated = vars(op).get("__annotations__", {})
    return all(name in known or "ClassVar" in str(kind) for name, kind in stated.items())


def _check(op: type[Op]) -> None:
    """Refuse an operator that lacks what every operator must have."""
    lacks = [
        what
        for what, there in (
            ("@dataclass(frozen=True)", _has_fields(op)),
            ("a docstring with 'Source:'", "Source:" in (op.__doc__ or "")),
            ("a kernel", bool(op.kernels)),
            ("examples()", any("examples" in vars(base) for base in op.__mro__ if base is not Op)),
        )
        if not there
    ]
    if lacks:
        raise UsageError(f"operator {op.__module__}.{op.__name__} lacks {', '.join(lacks)}", hint="see mcugen/op.py")
