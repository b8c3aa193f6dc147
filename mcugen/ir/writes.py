"""Writes: how an operator is written into a model file, the counterpart of its imports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.types import QuantParams, TensorType


class Sink(Protocol):
    """The network that is written: a Write appends operators of the format and constants. Values are known by name."""

    def type(self, name: str) -> TensorType:
        """The type of a value, as it is written."""

    def data(self, name: str) -> np.ndarray | None:
        """The data of a value that is constant, else None."""

    def constant(self, data: np.ndarray, quant: QuantParams | None = None) -> str:
        """A new constant."""

    def operator(
        self,
        name: str,
        inputs: Sequence[str | None],
        outputs: Sequence[TensorType],
        attributes: Mapping[str, Any] = ...,
        version: int = ...,
    ) -> Sequence[str]:
        """The results of an operator of the format, appended; attributes have the names that imports see."""


@dataclass(frozen=True)
class Write:
    """The rule for writing an operator as operators of `format`.

    write: appends them for a call whose operands are the values `inputs` (None: absent), and returns the results. It
    raises UnsupportedError for what the format cannot say.
    """

    format: str
    write: Callable[[Call, Sink, Sequence[str | None]], Sequence[str]]
