# SPDX-License-Identifier: Apache-2.0
"""A random model with its inputs, and the kinds of such models: modules of tests/random/kinds, found by their names."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from mcugen.ir.graph import Graph
from tests.random import kinds

Sets = Sequence[Sequence[np.ndarray]]
BOARDS = ("host", "host", "cortex-m4", "cortex-m55", "cortex-m0plus")
GOALS = ("balanced", "balanced", "speed", "ram", "flash")


@dataclass(frozen=True, eq=False)
class Drawn:
    """A model file of a seed.

    label: its operators, for the reader. file: a name with the suffix of its format. sets: inputs in the order of the
    file, or none: then they are drawn from what mcugen imports. choices: options of the build.
    exact: whether floats must be equal in every bit.
    """

    label: str
    file: str
    data: bytes
    sets: Sets = ()
    choices: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    exact: bool = False


class UnjudgedError(Exception):
    """The runtime does not run the model: nothing to compare with."""


class Kind(Protocol):
    """The interface of modules in tests/random/kinds.

    draw: the model of a seed, the same at any time.
    differs: how mcugen's oracle differs from the runtime on the sets; "" where it does not. oracle: for each set the
    outputs of the graph. Raises UnjudgedError.
    LIKELY: the largest share of models that mcugen may refuse. A module may
    also list LOADS: those that it imports once they are needed.
    """

    LIKELY: float

    def draw(self, seed: int) -> Drawn: ...

    def differs(self, drawn: Drawn, graph: Graph, oracle: Sets) -> str: ...


def names() -> list[str]:
    """The kinds that there are."""
    return sorted(module.name for module in pkgutil.iter_modules(kinds.__path__) if not module.name.startswith("_"))


def kind(name: str) -> Kind:
    return importlib.import_module(f"tests.random.kinds.{name}")  # type: ignore[return-value]


def options(rng: np.random.Generator) -> dict[str, str]:
    """A board and a goal to build for: kernels of all cores have a meaning in plain C."""
    return {"board": str(rng.choice(BOARDS)), "optimize": str(rng.choice(GOALS))}
