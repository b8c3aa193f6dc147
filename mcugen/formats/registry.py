"""Finds operators: every Op class in `mcugen.ops`, in `mcugen.ops` entry points, and in modules that the user passes.

A module's `IMPORTS` are decompositions: operators of a format that expand to several of mcugen's and have no class of
their own. Shared ones are in `mcugen.formats.operators`, those of one format in the folder `operators` of that format,
which is loaded when the first operator of the format is looked up.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import pkgutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import ModuleType

import mcugen.formats.operators
import mcugen.ops
from mcugen.errors import UnsupportedError, UsageError
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.op import Op
from mcugen.system import plugins

GROUP = "mcugen.ops"


@dataclass(frozen=True)
class RegisteredImport:
    """An import and the operator class that declares it; None for a decomposition, which has no class."""

    entry: Import
    op: type[Op] | None
    module: str

    def build(self, source: Source) -> Imported:
        """The operator that a source becomes. Raises UnsupportedError if it expands to several."""
        if self.entry.build is not None:
            return self.entry.build(source)
        if self.op is None:
            raise UnsupportedError(f"{self.entry.name} expands to several operators")
        return Imported(self.op())


@dataclass(frozen=True, eq=False)
class Registry:
    """The operators of one compilation, by class and by their names in formats.

    found: the imports of all modules except those in folders of formats; missing: errors of installed packages whose
    operators could not be loaded
    """

    ops: tuple[type[Op], ...]
    found: tuple[RegisteredImport, ...]
    missing: tuple[str, ...] = ()
    _by_format: dict[str, Mapping[str, tuple[RegisteredImport, ...]]] = field(default_factory=dict)

    def find(self, format_name: str, name: str, version: int = 1) -> RegisteredImport | None:
        """The import of `name` of `format_name` in that version, or None; see `fitting` for imports with a
        condition."""
        versions = self._versions(format_name, name, version)
        return next((f for f in versions if f.entry.when is None), next(iter(versions), None))

    def ends(self, format_name: str, name: str, version: int) -> bool:
        """Whether `name` has an import for that version which does not apply to newer versions."""
        return any(f.entry.until is not None for f in self._versions(format_name, name, version))

    def fitting(self, found: RegisteredImport, source: Source, version: int = 1) -> RegisteredImport:
        """The import whose condition the source meets, else `found`. Raises UnsupportedError if `found` has an unmet
        condition, too.
        """
        for other in self._versions(found.entry.format, found.entry.name, version):
            if other.entry.when is not None and other.entry.when(source):
                return other
        if found.entry.when is not None:
            raise UnsupportedError(f"{found.entry.name} of these types is not supported")
        return found

    def _versions(self, format_name: str, name: str, version: int) -> tuple[RegisteredImport, ...]:
        known = self._imports(format_name).get(name, ())
        return tuple(f for f in known if f.entry.since <= version <= (f.entry.until or version))

    def lacking(self, format_name: str, name: str, version: int) -> str:
        """The reason why no import was found: no such operator, or not in that version."""
        known = self._imports(format_name).get(name, ())
        if not known:
            return "no such operator in mcugen"
        ranges = ", ".join(f"{f.entry.since} to {f.entry.until or 'the newest'}" for f in known)
        return f"version {version} is not supported; versions {ranges} are"

    def _imports(self, format_name: str) -> Mapping[str, tuple[RegisteredImport, ...]]:
        """Name -> imports of a format. Raises UsageError if two of them overlap."""
        if format_name not in self._by_format:
            found = (*_decompositions(_folder_of(format_name)), *self.found)
            self._by_format[format_name] = _by_name(f for f in found if f.entry.format == format_name)
        return self._by_format[format_name]

    def all_of(self, format_name: str) -> tuple[RegisteredImport, ...]:
        """Every import of a format, decompositions included."""
        return tuple(found for each in self._imports(format_name).values() for found in each)

    @property
    def hint(self) -> str:
        """The hint for a model that names an unknown operator."""
        return "; ".join(["`mcugen ops` lists the supported operators and types", *self.missing])

    def names(self, format_name: str) -> tuple[str, ...]:
        """Names of `format_name` that can be imported, sorted."""
        return tuple(sorted(self._imports(format_name)))


def load(extra: Sequence[ModuleType] = ()) -> Registry:
    """The registry of all operators and decompositions, with those of `extra` modules.

    Raises UsageError if two of them import the same version of the same operator of a format.
    """
    installed = tuple(module for _, module in plugins.working(GROUP))
    return _load((*installed, *extra), plugins.failures(GROUP))


@functools.cache
def _load(further: tuple[ModuleType, ...], missing: tuple[str, ...]) -> Registry:
    """The registry of mcugen's modules and further modules."""
    modules = (*_modules_of(mcugen.ops), *_modules_of(mcugen.formats.operators), *further)
    ops = tuple(dict.fromkeys(op for module in modules for op in _ops_of(module)))
    for op in ops:
        _check(op)
    found = [RegisteredImport(entry, op, f"{op.__module__}.{op.__name__}") for op in ops for entry in _imports_of(op)]
    found += _decompositions(modules)
    for name in dict.fromkeys(f.entry.format for f in found):
        _by_name(f for f in found if f.entry.format == name)
    return Registry(ops, tuple(found), missing)


def _decompositions(modules: Iterable[ModuleType]) -> list[RegisteredImport]:
    return [
        RegisteredImport(entry, None, module.__name__)
        for module in dict.fromkeys(modules)
        for entry in getattr(module, "IMPORTS", ())
    ]


def _folder_of(format_name: str) -> tuple[ModuleType, ...]:
    """The modules in a format's own folder `operators`."""
    name = f"mcugen.formats.{format_name}.operators"
    known = importlib.util.find_spec(f"mcugen.formats.{format_name}") and importlib.util.find_spec(name)
    return _modules_of(importlib.import_module(name)) if known else ()


def _by_name(found: Iterable[RegisteredImport]) -> Mapping[str, tuple[RegisteredImport, ...]]:
    """Name -> imports, all of one format. Raises UsageError if two import the same version."""
    known: dict[str, tuple[RegisteredImport, ...]] = {}
    for new in found:
        name = new.entry.name
        for other in known.get(name, ()):
            if new.entry.meets(other.entry):
                raise UsageError(
                    f"{new.module} and {other.module} both import {new.entry.format} {name}",
                    hint="remove one of the two modules, or state versions that do not overlap",
                )
        known[name] = (*known.get(name, ()), new)
    return known


@functools.cache
def _modules_of(package: ModuleType) -> tuple[ModuleType, ...]:
    """The modules of a package, without private modules and subfolders."""
    found = pkgutil.iter_modules(package.__path__)
    names = sorted(m.name for m in found if not (m.ispkg or m.name.startswith("_")))
    return tuple(importlib.import_module(f"{package.__name__}.{name}") for name in names)


def own() -> tuple[type[Op], ...]:
    """Every operator class of mcugen, also those that only passes create."""
    return tuple(op for module in _modules_of(mcugen.ops) for op in _classes_of(module))


def _ops_of(module: ModuleType) -> Iterable[type[Op]]:
    return (op for op in _classes_of(module) if op.imports)


def _classes_of(module: ModuleType) -> Iterable[type[Op]]:
    own = (value for _, value in sorted(vars(module).items()) if inspect.isclass(value))
    return (value for value in own if value.__module__ == module.__name__ and issubclass(value, Op))


def _imports_of(op: type[Op]) -> Iterable[Import]:
    """The imports that an operator declares. Raises UsageError for an entry that is not an Import."""
    for entry in op.imports:
        if not isinstance(entry, Import):
            raise UsageError(
                f"{op.__module__}.{op.__name__}.imports has {entry!r}, which is no Import",
                hint="write it as mcugen.ext.Import(format, name)",
            )
        yield entry


def _has_fields(op: type[Op]) -> bool:
    """Whether all annotated attributes of a class are dataclass fields. True for a class without annotations."""
    known = {f.name for f in fields(op)}
    stated = vars(op).get("__annotations__", {})
    return all(name in known or "ClassVar" in str(kind) for name, kind in stated.items())


def _check(op: type[Op]) -> None:
    """Raise UsageError for an operator without the decorator, a source, a kernel or examples."""
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
        raise UsageError(f"operator {op.__module__}.{op.__name__} lacks {', '.join(lacks)}", hint="see mcugen/ir/op.py")
