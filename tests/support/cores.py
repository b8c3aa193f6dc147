# SPDX-License-Identifier: Apache-2.0
"""The cores that tests run on, from the boards that there are."""

from __future__ import annotations

from collections.abc import Sequence

from mcugen import target


def _has_its_own(name: str) -> bool:
    """A bare core with an emulated machine, whose compiler is not one that may build for another core instead."""
    core = target.load(name)
    return core.is_core and bool(core.emulators) and not core.toolchain.fallback_flags


CORES = tuple(name for name in target.names() if _has_its_own(name))


def sampled(core: str, names: Sequence[str]) -> list[str]:
    """The operators to run on a core: all on the first of each instruction set and set of features, and on each of the
    others every third, which ones following from its place in the list. All that the first ones run is the same code;
    so is what a core runs that lacks only some of the features of another one.
    """
    kinds = [(target.load(name).isa, target.load(name).features) for name in CORES]
    isa, features = kind = kinds[CORES.index(core)]
    first = kinds.index(kind) == CORES.index(core)
    covered = bool(features) and any(other == isa and features < more for other, more in kinds)
    return list(names) if first and not covered else list(names)[CORES.index(core) % 3 :: 3]
