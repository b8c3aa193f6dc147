# SPDX-License-Identifier: Apache-2.0
"""The cores that tests run on, from the boards that there are, and which cases each of them runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mcugen import kernels
from mcugen.boards import target
from mcugen.ir.op import Op
from tests.support.cases import Sample

EVERY = 40
"""The `Sample.every` of what this machine and the cores run."""


def _has_its_own(name: str) -> bool:
    """A bare core with an emulated machine, whose compiler is not one that may build for another core instead."""
    core = target.load(name)
    return core.is_core and bool(core.emulators) and not core.toolchain.fallback_flags


CORES = tuple(name for name in target.names() if _has_its_own(name))

SAMPLED = ("cortex-m0plus", "cortex-m4", "cortex-m55", "rv32imc")
"""The cores of the sample, one per instruction set: together they have every feature and every ISA of all cores."""


def cores(whole: bool) -> tuple[str, ...]:
    """The emulated cores that a test runs on: those of the sample, or all of them with --whole."""
    return CORES if whole else SAMPLED


@dataclass(frozen=True)
class Portion:
    """The cases that a core runs. every: as of `Sample`.

    operators: those of which it runs all kernels; None for all. Of the others it runs kernels that need `features`.
    """

    every: int = 1
    operators: frozenset[str] | None = None
    features: frozenset[str] = frozenset()

    def sample(self, operator: str) -> Sample:
        """The sample of an operator's cases."""
        if self.operators is None or operator in self.operators:
            return Sample(self.every)
        return Sample(self.every, lambda kernel: bool(kernel.needs & self.features))


def portion(core: str, operators: Sequence[type[Op]]) -> Portion:
    """The portion of these operators for a sampled core; the sampled cores together run every kernel.

    The cores share the operators among them, and the first one with a feature runs all kernels that need it. The first
    core without any features runs all operators that have such kernels: some of the others are for cores like it.
    All of them run on this machine too.
    """
    place, features = SAMPLED.index(core), target.load(core).features
    known = {feature for name in SAMPLED[:place] for feature in target.load(name).features}
    share = {op.__name__ for op in operators[place :: len(SAMPLED)]}
    if core == next(name for name in SAMPLED if not target.load(name).features):
        share |= {op.__name__ for op in operators if any(kernel.needs for kernel in kernels.of(op))}
    return Portion(EVERY, frozenset(share), features - known)
