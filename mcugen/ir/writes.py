"""Writes: rules for writing an operator into a model file, the counterpart of its imports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.types import QuantParams, TensorType


class Sink(Protocol):
    """The network that is written. A Write appends operators of the format and constants. Values are referred to by
    name.
    """

    def type(self, name: str) -> TensorType:
        """The type of a value, as it is written."""

    def data(self, name: str) -> np.ndarray | None:
        """The data of a value that is constant, else None."""

    def constant(self, data: np.ndarray, quant: QuantParams | None = None) -> str:
        """A new constant."""

    def constant_of(self, t: TensorType, data: np.ndarray) -> str:
        """A constant of type t, whose elements may have less than a byte."""

    def operator(
        self,
        name: str,
        inputs: Sequence[str | None],
        outputs: Sequence[TensorType],
        attributes: Mapping[str, Any] = ...,
        version: int = ...,
    ) -> Sequence[str]:
        """Append an operator of the format and return its results. Attributes have the names that imports use."""


@dataclass(frozen=True)
class Write:
    """The rule for writing an operator as operators of `format`.

    write: appends the operators for a call whose operands are the values `inputs` (None: absent), and returns the
    results. It raises UnsupportedError if the format cannot express the call.
    """

    format: str
    write: Callable[[Call, Sink, Sequence[str | None]], Sequence[str]]
