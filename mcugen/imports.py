"""How an operator of a model format becomes one of mcugen's: what the format says, and what it is built into."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mcugen.errors import CorruptModelError
from mcugen.op import Op
from mcugen.types import TensorType


@dataclass(frozen=True)
class Source:
    """An operator as a format describes it: neutral names, for an Import's build function.

    attributes: see Attributes; inputs, constants, outputs: types and data as declared in the file.
    """

    name: str
    attributes: Attributes
    inputs: tuple[TensorType | None, ...]
    constants: tuple[np.ndarray | None, ...]
    outputs: tuple[TensorType, ...]

    def constant(self, k: int) -> np.ndarray | None:
        return self.constants[k] if k < len(self.constants) else None

    def ints(self, k: int) -> tuple[int, ...] | None:
        """Operand k as integers if it is constant, None if it is missing or computed at run time."""
        data = self.constant(k)
        return None if data is None else tuple(int(v) for v in data.reshape(-1))


class Attributes:
    """The attributes of an imported operator. Remembers which were read: an unread one that matters is an error."""

    def __init__(self, values: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
        self._values = dict(values)
        self._defaults = dict(defaults)
        self._read: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        """The value of an attribute. Raises CorruptModelError where the file carries options of another operator."""
        if name not in self._values and name not in self._defaults:
            raise CorruptModelError(f"carries no attribute {name}", hint="the file is damaged")
        self._read.add(name)
        return self._values.get(name, self._defaults.get(name))

    def unread(self) -> dict[str, Any]:
        """Attributes that differ from the schema's default and that nobody looked at."""
        return {
            name: value
            for name, value in self._values.items()
            if name not in self._read and name in self._defaults and value != self._defaults[name]
        }


@dataclass(frozen=True)
class Imported:
    """What an Import builds: the operator, which of the source's inputs it reads (None: all of them), and whether
    TensorFlow Lite Micro refuses these attributes, whatever the types.
    """

    op: Op
    inputs: tuple[int, ...] | None = None
    tflm_refuses: bool = False


@dataclass(frozen=True)
class Import:
    """`name` of `format` becomes this operator; `build` translates the attributes (None: there are none)."""

    format: str
    name: str
    build: Callable[[Source], Imported] | None = None
    since: int = 1
