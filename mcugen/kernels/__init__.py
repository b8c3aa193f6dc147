"""Families of kernels, and the kernels that may run each operator.

A family is a package with a `FAMILY` (`mcugen.ir.kernel.Family`): a subpackage of this package, or a module that an
installed distribution names in the entry point group `mcugen.kernels`. No family depends on another.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import mcugen.ops
from mcugen.errors import UsageError
from mcugen.ir.kernel import Family, Kernel
from mcugen.ir.op import Op
from mcugen.kernels import halves
from mcugen.system import plugins

GROUP = "mcugen.kernels"


def of(op: Op | type[Op]) -> tuple[Kernel, ...]:
    """The kernels that may run an operator, in order of preference: family kernels by rank, then portable kernels."""
    kind = op if isinstance(op, type) else type(op)
    return (*(kernel for family in families().values() for kernel in family.serves.get(kind, ())), *kind.kernels)


def on_device(kind: type[Op]) -> tuple[Kernel, ...]:
    """The kernels for OpenCL devices that may run an operator, in order of preference. Each call returns the same
    objects.
    """
    key = (kind.__module__, kind.__qualname__)
    if key not in _ON_DEVICE:
        found: list[Kernel] = []
        for family in device_families().values():
            found += [*family.serves.get(kind, ()), *(family.derives(kind) if family.derives else ())]
        _ON_DEVICE[key] = tuple(each for kernel in found for each in halves.both(kernel))
    return _ON_DEVICE[key]


_ON_DEVICE: dict[tuple[str, str], tuple[Kernel, ...]] = {}


def families() -> Mapping[str, Family]:
    """Name -> family for cores, by rank."""
    return {name: family for name, family in _all_families().items() if not family.device}


def device_families() -> Mapping[str, Family]:
    """Name -> family for OpenCL devices, by rank."""
    return {name: family for name, family in _all_families().items() if family.device}


@functools.cache
def _all_families() -> Mapping[str, Family]:
    """Name -> family, by rank. Raises UsageError for an entry point that is no family, or has the name of another
    family.
    """
    found: dict[str, Family] = {}
    for name, family in (*_own(), *_installed()):
        if found.setdefault(name, family) is not family:
            raise UsageError(
                f"two kernel families are named {name!r}",
                hint=f"rename one of them: its entry point in the group {GROUP}",
            )
    return dict(sorted(found.items(), key=lambda item: (item[1].rank, item[0])))


def features() -> frozenset[str]:
    """The features of cores that any family uses."""
    return frozenset(feature for family in families().values() for feature in family.needs)


def device_features() -> frozenset[str]:
    """The features of OpenCL devices that any family uses."""
    return frozenset(feature for family in device_families().values() for feature in family.needs)


def places(ops: Iterable[type[Op]]) -> list[tuple[Path, tuple[Kernel, ...]]]:
    """Pairs (folder, kernels with files in it): the portable kernels of these operators, then each family's kernels."""
    portable = tuple(kernel for op in ops for kernel in op.kernels)
    return [(Path(mcugen.ops.__path__[0]), portable), *((f.folder, f.kernels) for f in families().values())]


def _own() -> Iterator[tuple[str, Family]]:
    for module in pkgutil.iter_modules(__path__):
        if module.ispkg:
            yield module.name, _checked(importlib.import_module(f"{__name__}.{module.name}"))


def _installed() -> Iterator[tuple[str, Family]]:
    for name, module in plugins.working(GROUP):
        yield name, _with_files(_checked(module))


def _checked(module: ModuleType) -> Family:
    family = getattr(module, "FAMILY", None)
    if not isinstance(family, Family):
        raise UsageError(
            f"module {module.__name__} is an entry point for kernels, but its FAMILY is no mcugen.ext.Family",
            hint="define FAMILY = mcugen.ext.Family(...) in it",
        )
    for kernel in family.kernels:
        if not kernel.needs <= family.needs:
            asked = ", ".join(sorted(kernel.needs - family.needs))
            raise UsageError(
                f"kernel {kernel.symbol} of {module.__name__} needs {asked}, which FAMILY.needs lacks",
                hint=f"add {asked} to FAMILY.needs",
            )
    return replace(family, folder=Path(str(module.__file__)).parent)


def _with_files(family: Family) -> Family:
    """The family of a plugin, with the C files of its folder added to the text of each kernel."""
    files = {path.name: path.read_text(encoding="utf-8") for path in sorted(family.folder.glob("*.[ch]"))}
    serves = {
        op: tuple(replace(k, text=replace(k.text, files=files)) for k in kernels)
        for op, kernels in family.serves.items()
    }
    return replace(family, serves=serves)
