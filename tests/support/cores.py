# SPDX-License-Identifier: Apache-2.0
"""The cores that tests run on, from the boards that there are, and which cases each of them runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from mcugen import target
from mcugen.kernel import Kernel
from tests.support.cases import Takes

EVERY = 10
"""This machine, and the core that runs all kernels, run each of them on one of so many of its examples."""


def _has_its_own(name: str) -> bool:
    """A bare core with an emulated machine, whose compiler is not one that may build for another core instead."""
    core = target.load(name)
    return core.is_core and bool(core.emulators) and not core.toolchain.fallback_flags


CORES = tuple(name for name in target.names() if _has_its_own(name))


@dataclass(frozen=True)
class Portion:
    """The cases that a core runs: of each kernel one in `every` examples, the first among them.

    operators: those of which it runs all kernels; None for all. Of the others it runs kernels that need `features`.
    """

    every: int = 1
    operators: frozenset[str] | None = None
    features: frozenset[str] = frozenset()

    def takes(self, operator: str) -> Takes:
        """Which cases of an operator to make; to be asked once for each example of each kernel."""
        whole = self.operators is None or operator in self.operators
        seen: Counter[tuple[Kernel, str]] = Counter()

        def taken(kernel: Kernel, reference: str) -> bool:
            before = seen[kernel, reference]
            seen[kernel, reference] += 1
            return (whole or bool(kernel.needs & self.features)) and before % self.every == 0

        return taken


def portion(core: str, operators: Sequence[str]) -> Portion:
    """What a core runs of these operators, so that all cores together run every kernel.

    The first core without any features runs all kernels that it can; the others share the operators among them, and
    the first one with a feature runs the kernels that need it. All of them run on this machine too.
    """
    poorest = next(name for name in CORES if not target.load(name).features)
    if core == poorest:
        return Portion(EVERY)
    others = [name for name in CORES if name != poorest]
    place = others.index(core)
    known = {feature for name in others[:place] for feature in target.load(name).features}
    share = frozenset(list(operators)[place :: len(others)])
    return Portion(EVERY, share, target.load(core).features - known)
