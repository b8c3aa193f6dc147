"""Imports: an operator as a model format describes it, and the operators that it becomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from mcugen.errors import CorruptModelError, UnsupportedError, UsageError
from mcugen.ir.op import Op
from mcugen.ir.types import QuantParams, TensorType

Quants = tuple[QuantParams | None, ...]
"""The quantization of each result of an operator; None for a result that has none."""


def cleared(t: TensorType) -> np.ndarray:
    """The initial value of a variable: zero. Source: TensorFlow Lite Micro, MicroGraph::ResetVariableTensors."""
    return np.full(t.shape, 0 if t.quant is None else t.zero_point, t.np_dtype)


@dataclass(frozen=True)
class Source:
    """An operator of a model file, in terms that all formats share.

    attributes: see `Attributes`. inputs, constants, outputs: types and data as declared in the file. results: number of
    results, if the file declares no types for them. halves: whether some of these tensors are float16 in the file; they
    are float32 here. inner: the quantization of intermediate values, if the file states it.
    """

    name: str
    attributes: Attributes
    inputs: tuple[TensorType | None, ...]
    constants: tuple[np.ndarray | None, ...]
    outputs: tuple[TensorType, ...]
    results: int = 1
    halves: bool = False
    inner: Quants = ()

    def constant(self, k: int) -> np.ndarray | None:
        return self.constants[k] if k < len(self.constants) else None

    def ints(self, k: int) -> tuple[int, ...] | None:
        """Operand k as integers if it is constant, None if it is missing or computed at run time."""
        data = self.constant(k)
        return None if data is None else tuple(int(v) for v in data.reshape(-1))


class Attributes:
    """The attributes of an imported operator. It records which were read, since an unread attribute may be an error."""

    def __init__(self, values: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
        self._values = dict(values)
        self._defaults = dict(defaults)
        self._read: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        """The value of an attribute. Raises CorruptModelError if the file does not have it and there is no default."""
        if name not in self._values and name not in self._defaults:
            raise CorruptModelError(f"the attribute {name} is missing", hint="the file is damaged: export it again")
        self._read.add(name)
        return self._values.get(name, self._defaults.get(name))

    def get(self, name: str, default: Any = None) -> Any:
        """The value of an attribute that the file may leave out and that no schema describes."""
        self._read.add(name)
        found = self._values.get(name, self._defaults.get(name))
        return default if found is None else found

    def ignore(self, *names: str) -> None:
        """Mark attributes as read that have no effect here, or only repeat other fields."""
        self._read.update(names)

    def unread(self) -> dict[str, Any]:
        """Attributes that were not read and differ from the default of the format's schema."""
        return {
            name: value
            for name, value in self._values.items()
            if name not in self._read and value != self._defaults.get(name)
        }

    def require_read(self) -> None:
        """Raise UnsupportedError if there are unread attributes."""
        unread = self.unread()
        if unread:
            listed = ", ".join(f"{key}={value}" for key, value in sorted(unread.items()))
            raise UnsupportedError(f"attribute {listed} is not supported")


@dataclass(frozen=True)
class Imported:
    """The result of an Import's `build` function.

    inputs: indices of the source's inputs that the operator reads; None: all. refused_by: runtime ("tflm", "litert") ->
    why it refuses operators with these attributes, whatever their types.
    """

    op: Op
    inputs: tuple[int, ...] | None = None
    refused_by: Mapping[str, str] = field(default_factory=dict)


class Expansion(Protocol):
    """The small graph that one operator of a format becomes. An Import's `expand` function appends nodes to it.

    Values are referred to by name. inputs: the operator's operands, None if an operand is absent or a variable.
    variables: the name of each operand that is a variable, else None. A variable keeps its value from run to run.
    Operators access a variable in the order of the file, and read the value written last.
    """

    @property
    def inputs(self) -> Sequence[str | None]: ...

    @property
    def variables(self) -> Sequence[str | None]: ...

    def type(self, name: str) -> TensorType:
        """The type of a value."""

    def data(self, name: str) -> np.ndarray | None:
        """The data of a value that is constant, else None."""

    def constant(self, data: np.ndarray, quant: QuantParams | None = None) -> str:
        """A new constant. Raises UnsupportedError for element types that mcugen does not have."""

    def packed(self, data: np.ndarray, dtype: str) -> str:
        """A new constant of integers of a few bits, which are stored as that element type."""

    def text(self, name: str, texts: Sequence[str]) -> str:
        """A value whose integers are indices of `texts`, which is how text tensors are represented."""

    def texts(self, name: str) -> tuple[str, ...]:
        """The texts that a value's integers are indices of; empty for numbers."""

    def node(self, op: Op, *inputs: str | None, quant: QuantParams | None = None) -> str:
        """Append an operator and return its first result. quant: the quantization of its results."""

    def nodes(self, op: Op, *inputs: str | None, quant: QuantParams | Quants | None = None) -> Sequence[str]:
        """Append an operator and return its results. quant: the quantization of all results, or one per result."""

    def own(self, name: str) -> str:
        """The name of a variable that only this operator uses."""

    def read(self, variable: str, initial: np.ndarray, quant: QuantParams | None = None) -> str:
        """The value of a variable that is `initial` in the first run, with the quantization `quant`."""

    def slot(self, variable: str, t: TensorType) -> str:
        """The value of a variable that earlier operators may have read, written or initialized.

        t: the variable's type if this is its first use; its initial value is then zero.
        """

    def has_value(self, variable: str) -> bool:
        """Whether an operator has read or written a variable, or a subgraph has given it a first value."""

    def initialize(self, graph: int) -> None:
        """Take the initial values of variables from a subgraph of the file, which writes constants to them."""

    def call(self, graph: int, operands: Sequence[str]) -> Sequence[str]:
        """Append the nodes of a subgraph of the file and return its results. operands: values or variables."""

    def write(self, variable: str, value: str) -> None:
        """Give a variable, which was read before, its next value, of the same type."""

    def refuse(self, runtime: str, why: str) -> None:
        """Note that a runtime, "tflm" or "litert", has no kernel for the operator."""


@dataclass(frozen=True)
class Import:
    """The import of the operator `name` of `format`, in its versions `since` to `until` (None: the newest).

    build: makes one operator from the attributes. expand: appends several operators, and returns the name of the result
    for each of the source's outputs. At most one of the two is given. when: whether it accepts a source; an import
    without `when` takes the sources that no other import of the operator accepts. halves: if `expand` is given, whether
    LiteRT computes the operator on float16, which is float32 here.
    """

    format: str
    name: str
    build: Callable[[Source], Imported] | None = None
    since: int = 1
    until: int | None = None
    expand: Callable[[Source, Expansion], Sequence[str]] | None = None
    when: Callable[[Source], bool] | None = None
    halves: bool = False

    def __post_init__(self) -> None:
        if self.build and self.expand:
            raise UsageError(f"the import of {self.format} {self.name} both builds one operator and expands to several")
        if self.until is not None and self.until < self.since:
            raise UsageError(
                f"the import of {self.format} {self.name} ends at version {self.until}, before {self.since}"
            )

    def meets(self, other: Import) -> bool:
        """Whether both imports accept some version of the same operator, whatever the source is."""
        same = (self.format, self.name, self.when) == (other.format, other.name, other.when)
        return same and self.since <= (other.until or self.since) and other.since <= (self.until or other.since)
