# SPDX-License-Identifier: Apache-2.0
"""The cores that tests run on, from the boards that there are, and which cases each of them runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mcugen.boards import target
from mcugen.ir.kernel import Kernel
from mcugen.ir.op import Op
from tests.support.cases import Sample


def _has_its_own(name: str) -> bool:
    """A bare core with an emulated machine, whose compiler is not one that may build for another core instead."""
    core = target.load(name)
    return core.core == name and bool(core.emulators) and not core.toolchain.fallback_flags


CORES = tuple(name for name in target.names() if _has_its_own(name))

SAMPLED = ("cortex-m0plus", "cortex-m4", "cortex-m55", "rv32imc", "aarch64-linux")
"""The cores of the sample, one per instruction set: together they have every feature and every ISA of all cores."""


def cores(whole: bool) -> tuple[str, ...]:
    """The emulated cores that a test runs on: those of the sample, or all of them with --whole."""
    return CORES if whole else SAMPLED


@dataclass(frozen=True)
class Portion:
    """The cases that a core runs. first: as of `Sample`.

    operators: those of which it runs all kernels; None for all. Of the others it runs kernels that need `features`, and
    with `families` those of families that need none.
    """

    first: bool = False
    operators: frozenset[str] | None = None
    features: frozenset[str] = frozenset()
    families: bool = False

    def sample(self, op: type[Op]) -> Sample:
        """The sample of an operator's cases."""
        if self.operators is None or op.__name__ in self.operators:
            return Sample(self.first)

        def runs(kernel: Kernel) -> bool:
            return bool(kernel.needs & self.features) or (
                self.families and not kernel.needs and kernel not in op.kernels
            )

        return Sample(self.first, runs)


def portion(core: str, operators: Sequence[type[Op]]) -> Portion:
    """The portion of these operators for a sampled core; with the sample of this machine they run every kernel.

    The cores share every second operator among them, as this machine runs the others, and the first core with a feature
    runs all kernels that need it. The first core without any features runs those of families that need none.
    """
    place, features = SAMPLED.index(core), target.load(core).features
    known = {feature for name in SAMPLED[:place] for feature in target.load(name).features}
    share = {op.__name__ for op in operators[2 * place + 1 :: 2 * len(SAMPLED)]}
    plainest = next(name for name in SAMPLED if not target.load(name).features)
    return Portion(True, frozenset(share), features - known, families=core == plainest)
