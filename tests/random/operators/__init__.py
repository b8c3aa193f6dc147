# SPDX-License-Identifier: Apache-2.0
"""The operators of random ONNX graphs: a function for each that appends it to a sketch, in modules that are found."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from tests.random.sketch import Sketch

Draw = Callable[[Sketch], object]


@dataclass(frozen=True)
class Drawer:
    """A function that appends an operator, and the opsets in which there is one."""

    draw: Draw
    since: int
    until: int


_KNOWN: dict[str, Drawer] = {}


def draws(*names: str, since: int = 7, until: int = 99) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """Marks a function of a sketch, and of the operator's name where there are several."""

    def note(function: Callable[..., object]) -> Callable[..., object]:
        for name in names:
            draw = function if len(names) == 1 else _named(function, name)
            _KNOWN[name] = Drawer(draw, since, until)
        return function

    return note


def _named(function: Callable[..., object], name: str) -> Draw:
    return lambda sketch: function(sketch, name)


@cache
def known() -> dict[str, Drawer]:
    """The functions of all operators, by the names that mcugen's table has."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return dict(sorted(_KNOWN.items()))
