"""Finds operators: every Op class in `mcugen.ops`, in `mcugen.ops` entry points, and in modules the user gives."""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, is_dataclass
from importlib.metadata import entry_points
from types import ModuleType

import mcugen.ops
from mcugen.errors import UsageError
from mcugen.imports import Import
from mcugen.op import Op


@dataclass(frozen=True)
class Registry:
    """The operators of one compilation, by class and by the names formats give them."""

    ops: tuple[type[Op], ...]
    by_import: dict[tuple[str, str], tuple[type[Op], Import]]

    def find(self, format_name: str, name: str) -> tuple[type[Op], Import] | None:
        """The operator that `name` of `format_name` becomes, or None."""
        return self.by_import.get((format_name, name))

    def names(self, format_name: str) -> tuple[str, ...]:
        """Names of `format_name` that can be imported, sorted."""
        return tuple(sorted(name for fmt, name in self.by_import if fmt == format_name))


def load(extra: Sequence[ModuleType] = ()) -> Registry:
    """The registry of all operators, with those of `extra` modules; later definitions do not replace earlier ones."""
    modules = (*_own_modules(), *_installed_modules(), *extra)
    ops = tuple(dict.fromkeys(op for module in modules for op in _ops_of(module)))
    by_import: dict[tuple[str, str], tuple[type[Op], Import]] = {}
    for op in ops:
        _check(op)
        for entry in op.imports:
            other = by_import.setdefault((entry.format, entry.name), (op, entry))
            if other[0] is not op:
                raise UsageError(
                    f"{op.__module__}.{op.__name__} and {other[0].__module__}.{other[0].__name__} "
                    f"both import {entry.format} {entry.name}",
                    hint="remove one of the two operator modules",
                )
    return Registry(ops, by_import)


@functools.cache
def _own_modules() -> tuple[ModuleType, ...]:
    names = sorted(m.name for m in pkgutil.iter_modules(mcugen.ops.__path__) if not m.name.startswith("_"))
    return tuple(importlib.import_module(f"mcugen.ops.{name}") for name in names)


@functools.cache
def _installed_modules() -> tuple[ModuleType, ...]:
    found = sorted(entry_points(group="mcugen.ops"), key=lambda entry: entry.name)
    return tuple(entry.load() for entry in found)


def _ops_of(module: ModuleType) -> Iterable[type[Op]]:
    for _, value in sorted(vars(module).items()):
        if inspect.isclass(value) and issubclass(value, Op) and value.__module__ == module.__name__ and value.imports:
            yield value


def _check(op: type[Op]) -> None:
    """Refuse an operator that lacks what every operator must have."""
    lacks = [
        what
        for what, there in (
            ("@dataclass(frozen=True)", is_dataclass(op)),
            ("a docstring with 'Source:'", "Source:" in (op.__doc__ or "")),
            ("a kernel", bool(op.kernels)),
            ("examples()", any("examples" in vars(base) for base in op.__mro__ if base is not Op)),
        )
        if not there
    ]
    if lacks:
        raise UsageError(f"operator {op.__module__}.{op.__name__} lacks {', '.join(lacks)}", hint="see mcugen/op.py")
