"""The values and operators of the main subgraph of a file under construction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from mcugen.errors import UnsupportedError
from mcugen.formats._nodes import constant_type
from mcugen.formats.tflite.write._flatbuffer import Subgraph, TfliteOperator, Value
from mcugen.ir.call import Call
from mcugen.ir.imports import cleared
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops import _tflite
from mcugen.ops._tflite import Pending


class TfliteSink:
    """A `mcugen.ops._tflite.TfliteTarget`. Values are named by number until `subgraph` names them as the graph does.

    kept: state -> (its value in the next run, whether it is a variable tensor), for states kept by an operator itself
    _shaped: result of a RESHAPE -> its operand
    _own_shapes: results of RESHAPEs that this writer added, without a node in the graph
    _spare: results that may be unread because a later operator reads the operand instead
    _steps: results of all steps -> (state whose next value is the last step, axis of the steps)
    """

    def __init__(self) -> None:
        self.kept: dict[str, tuple[str, bool]] = {}
        self._types: list[TensorType] = []
        self._data: list[np.ndarray | None] = []
        self._labels: dict[int, str] = {}
        self._taken: set[str] = set()
        self._operators: list[TfliteOperator] = []
        self._known: dict[tuple[TensorType, bytes], str] = {}
        self._pending: dict[str, Pending] = {}
        self._initial: dict[str, np.ndarray] = {}
        self._shaped: dict[str, str] = {}
        self._own_shapes: set[str] = set()
        self._keepers: Counter[str] = Counter()
        self._spare: set[str] = set()
        self._steps: dict[str, tuple[str, int]] = {}

    def type(self, name: str) -> TensorType:
        return self._types[int(name)]

    def data(self, name: str) -> np.ndarray | None:
        return self._data[int(name)]

    def value(self, t: TensorType) -> str:
        """A new value that is computed at run time, or an input."""
        return self._add(t, None)

    def stand_in(self, t: TensorType) -> str:
        return self.value(t)

    def state(self, t: TensorType, initial: np.ndarray) -> str:
        """The value of a state at the beginning of a run."""
        name = self.value(t)
        self._initial[name] = initial
        return name

    def constant_of(self, t: TensorType, data: np.ndarray) -> str:
        """A new constant of that type."""
        return self._add(t, data)

    def constant(self, data: np.ndarray, quant: QuantParams | None = None) -> str:
        """A constant operand; equal constants are stored once."""
        data = np.asarray(data)
        t = constant_type(data, quant, "tflite")
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
        self.append(name, inputs, results, attributes, version)
        return results

    def append(
        self,
        name: str,
        inputs: Sequence[str | None],
        results: Sequence[str],
        attributes: Mapping[str, Any] = MappingProxyType({}),
        version: int = 1,
    ) -> None:
        """Append an operator whose results are these values."""
        for operand in inputs:
            self._require_computed(operand)
        operands = tuple(-1 if operand is None else int(operand) for operand in inputs)
        made = tuple(int(result) for result in results)
        self._operators.append(TfliteOperator(name, version, operands, made, dict(attributes)))
        if name == "RESHAPE" and inputs[0] is not None:
            self._shaped[results[0]] = inputs[0]

    def pending(self, call: Call, inputs: Sequence[str | None]) -> Sequence[str]:
        results = [self.value(t) for t in call.outputs]
        self._pending.update(dict.fromkeys(results, Pending(call, tuple(inputs))))
        return results

    def source(self, name: str | None) -> Pending | None:
        return None if name is None else self._pending.get(name)

    def reshaped(self, x: str, t: TensorType) -> str:
        made = _tflite.reshape(self, x, t)[0]
        self._own_shapes.add(made)
        return made

    def unshaped(self, x: str, *, made_here: bool = False) -> str:
        if x not in self._shaped or (made_here and x not in self._own_shapes):
            return x
        self._spare.add(x)
        return self._shaped[x]

    def made_by(self, name: str, operator: str) -> Sequence[str | None] | None:
        found = self._maker(name)
        if found is None or found.name != operator:
            return None
        self._spare.add(name)
        return [None if k < 0 else str(k) for k in found.inputs]

    def _maker(self, name: str) -> TfliteOperator | None:
        return next((op for op in reversed(self._operators) if int(name) in op.outputs), None)

    def keep_last(self, before: str, steps: str, axis: int) -> None:
        self.keep(before, before, as_variable=True)
        self._steps[steps] = before, axis

    def state_at(self, name: str) -> str:
        shaped = self.made_by(name, "RESHAPE")
        inner = name if shaped is None else str(shaped[0])
        part = self.made_by(inner, "SLICE")
        steps = inner if part is None else str(part[0])
        if steps not in self._steps:
            return name
        before, axis = self._steps[steps]
        last = self.type(steps).shape[axis] - 1
        if part is None:
            return before if last == 0 else name
        begin = self.data(str(part[1]))
        wanted = [last if k == axis else 0 for k in range(len(self.type(steps).shape))]
        return before if begin is not None and begin.tolist() == wanted else name

    def state_intermediates(self, types: Sequence[TensorType]) -> None:
        inner = tuple(int(self.value(t)) for t in types)
        self._operators[-1] = replace(self._operators[-1], inner=inner)

    def can_keep(self, before: str) -> bool:
        initial = self._initial.get(before)
        if initial is None or self.kept.get(before, (before, True)) != (before, True):
            return False
        return np.array_equal(initial, cleared(self.type(before)))

    def keep(self, before: str, after: str, *, as_variable: bool = False) -> None:
        initial = self._initial.get(before)
        again = before in self.kept and not (as_variable and self.kept[before] == (after, True))
        if initial is None or again:
            raise UnsupportedError("the operator's state is also kept by another operator, or is no state of the graph")
        self._keepers[before] += 1
        if not np.array_equal(initial, cleared(self.type(before))):
            raise UnsupportedError("the operator's state must begin as zero: .tflite stores no other value")
        self.kept[before] = after, as_variable

    def label(self, name: str, wanted: str) -> None:
        """Give a value a name like `wanted`, unless it has one. Names are unique."""
        if int(name) in self._labels:
            return
        label, k = wanted, 1
        while label in self._taken:
            label, k = f"{wanted}_{k}", k + 1
        self._taken.add(label)
        self._labels[int(name)] = label

    def subgraph(self, name: str, inputs: Sequence[str] = (), outputs: Sequence[str] = ()) -> Subgraph:
        """The finished network, without constants that nothing reads."""
        for k in range(len(self._types)):
            self.label(str(k), f"v{k}")
        for output in outputs:
            self._require_computed(output)
        self._require_own_states(outputs)
        self._drop_spare(outputs)
        ends = [int(end) for end in (*inputs, *outputs)]
        used = {*ends, *(k for op in self._operators for k in (*op.inputs, *op.outputs, *op.inner))}
        kept = [k for k in range(len(self._types)) if k in used]
        place = {k: at for at, k in enumerate(kept)} | {-1: -1}
        return Subgraph(
            name,
            tuple(Value(self._labels[k], self._types[k], self._data[k], str(k) in self.kept) for k in kept),
            tuple(op.moved(place) for op in self._operators),
            tuple(place[int(end)] for end in inputs),
            tuple(place[int(end)] for end in outputs),
        )

    def first(self, count: int) -> None:
        """Move the last `count` operators to the front."""
        self._operators[:] = [*self._operators[-count:], *self._operators[:-count]] if count else self._operators

    def _drop_spare(self, outputs: Sequence[str]) -> None:
        """Drop operators in `_spare` whose results nothing reads."""
        while True:
            read = {k for op in self._operators for k in op.inputs} | {int(name) for name in outputs}
            spare = {int(name) for name in self._spare} - read
            kept = [op for op in self._operators if not spare.intersection(op.outputs)]
            if len(kept) == len(self._operators):
                return
            self._operators[:] = kept

    def _require_computed(self, name: str | None) -> None:
        waiting = self.source(name)
        if waiting is not None:
            raise UnsupportedError(
                f"it reads a result of {waiting.call.op}, which .tflite has only as a part of other operators"
            )

    def _require_own_states(self, outputs: Sequence[str]) -> None:
        """Raise UnsupportedError if a state is read outside the operator that keeps it."""
        for name, (_, as_variable) in self.kept.items():
            readers = sum(int(name) in op.inputs for op in self._operators) + (name in outputs)
            if readers > as_variable * self._keepers[name]:
                raise UnsupportedError(
                    f"state {self._labels[int(name)]!r} is read outside its operator, which .tflite cannot express",
                    hint="give its reader a state of its own",
                )

    def _add(self, t: TensorType, data: np.ndarray | None) -> str:
        self._types.append(t)
        self._data.append(data)
        return str(len(self._types) - 1)
