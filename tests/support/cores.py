# SPDX-License-Identifier: Apache-2.0
"""The cores that tests run on, from the boards that there are."""

from __future__ import annotations

from mcugen import target


def _has_its_own(name: str) -> bool:
    """A bare core with an emulated machine, whose compiler is not one that may build for another core instead."""
    core = target.load(name)
    return core.is_core and bool(core.emulators) and not core.toolchain.fallback_flags


CORES = tuple(name for name in target.names() if _has_its_own(name))
