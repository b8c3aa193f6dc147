"""What operators append to: the values and operators of the one subgraph of a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from mcugen.errors import UnsupportedError
from mcugen.types import NUMPY_DTYPES, QuantParams, TensorType
from mcugen.writers.tflite._file import Model, Operator, Value

_NAMES = {dtype: name for name, dtype in NUMPY_DTYPES.items()}


class Network:
    """A `mcugen.writes.Sink`. Values are named by their number until `model` gives them the names of the graph."""

    def __init__(self) -> None:
        self._types: list[TensorType] = []
        self._data: list[np.ndarray | None] = []
        self._labels: dict[int, str] = {}
        self._taken: set[str] = set()
        self._operators: list[Operator] = []
        self._known: dict[tuple[TensorType, bytes], str] = {}

    def type(self, name: str) -> TensorType:
        return self._types[int(name)]

    def data(self, name: str) -> np.ndarray | None:
        return self._data[int(name)]

    def value(self, t: TensorType) -> str:
        """A new value that is computed at run time, or an input."""
        return self._add(t, None)

    def stand_in(self, t: TensorType) -> str:
        return self.value(t)

    def constant_of(self, t: TensorType, data: np.ndarray) -> str:
        """A new constant of that type."""
        return self._add(t, data)

    def constant(self, data: np.ndarray, quant: QuantParams | None = None) -> str:
        """A constant that an operator needs; equal ones are one."""
        data = np.asarray(data)
        dtype = _NAMES.get(data.dtype)
        if dtype is None:
            raise UnsupportedError(f"a constant of {data.dtype} cannot be written as .tflite")
        t = TensorType(data.shape, dtype, quant)
        key = t, data.tobytes()
        if key not in self._known:
            self._known[key] = self._add(t, data)
        return self._known[key]

    def operator(
        self,
        name: str,
        inputs: Sequence[str | None],
        outputs: Sequence[TensorType],
        attributes: Mapping[str, Any] = MappingProxyType({}),
        version: int = 1,
    ) -> Sequence[str]:
        results = [self.value(t) for t in outputs]
        operands = tuple(-1 if operand is None else int(operand) for operand in inputs)
        made = tuple(int(result) for result in results)
        self._operators.append(Operator(name, version, operands, made, dict(attributes)))
        return results

    def label(self, name: str, wanted: str) -> None:
        """Name a value as the graph does, if it has no name yet; names are unique."""
        if int(name) in self._labels:
            return
        label, k = wanted, 1
        while label in self._taken:
            label, k = f"{wanted}_{k}", k + 1
        self._taken.add(label)
        self._labels[int(name)] = label

    def model(self, inputs: Sequence[str], outputs: Sequence[str]) -> Model:
        """The finished network, without constants that nothing reads."""
        for k in range(len(self._types)):
            self.label(str(k), f"v{k}")
        ends = [int(name) for name in (*inputs, *outputs)]
        used = {*ends, *(k for op in self._operators for k in (*op.inputs, *op.outputs))}
        kept = [k for k in range(len(self._types)) if k in used]
        place = {k: at for at, k in enumerate(kept)} | {-1: -1}
        return Model(
            tuple(Value(self._labels[k], self._types[k], self._data[k]) for k in kept),
            tuple(op.moved(place) for op in self._operators),
            tuple(place[int(name)] for name in inputs),
            tuple(place[int(name)] for name in outputs),
        )

    def _add(self, t: TensorType, data: np.ndarray | None) -> str:
        self._types.append(t)
        self._data.append(data)
        return str(len(self._types) - 1)
