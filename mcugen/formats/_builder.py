"""Builds a graph operator by operator, for formats that declare no types of intermediate values.

Types are inferred from operands, and results that do not depend on inputs are folded. Unsupported features are
collected, so that one error lists all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from mcugen.errors import CorruptModelError, InternalError, McugenError, UnsupportedError
from mcugen.formats._operands import check_operands, constant_results, kept_quantization
from mcugen.formats.registry import RegisteredImport, Registry
from mcugen.ir.call import Call
from mcugen.ir.graph import Node, State, Tensor
from mcugen.ir.imports import Attributes, Quants, Source, cleared
from mcugen.ir.op import Op
from mcugen.ir.types import DTYPE_NAMES, QuantParams, TensorType

_DEFECTS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
MAX_RANK = 6
MAX_TENSOR_BYTES = 1 << 29
_NIBBLES = {"int4": "s4", "uint4": "u8"}
"""Element types of 4 bits, which NumPy itself does not have."""


@dataclass
class Variable:
    """A value kept from run to run.

    before: the tensor that has it at the start of a run; value: the tensor that has it after the operators so far
    initial: the value before the first run; is_stated: whether the file states `initial`
    """

    before: str
    value: str
    initial: np.ndarray
    is_stated: bool = True

    @property
    def is_changed(self) -> bool:
        """Whether an operator imported so far assigns the variable."""
        return self.value != self.before


@dataclass
class Builder:
    """A graph under construction.

    reference: runtime whose arithmetic computes folded results; prefix: start of all names of tensors and nodes
    values: name of a value in the file -> tensor; absent: names of values that mcugen does not compute
    variables: values kept from run to run; fixed: variables that no run changes, which are imported as constants
    initials: variable -> first value and quantization, from a subgraph of the file; initializing: whether this subgraph
    is being imported
    refusals: (runtime, reason) for operators that a runtime has no kernel for
    inline: function that appends a subgraph of the file and returns its results; None if the format has no subgraphs
    texts: tensor -> the strings that its integers are indices into; made: number of tensors so far, used in names
    known: tensor -> data, for constant results whose nodes are not folded yet (`Dequantize.deferred`)
    declared: types that the file declares for values
    """

    registry: Registry
    format: str
    reference: str
    tensors: dict[str, Tensor] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)
    unsupported: list[str] = field(default_factory=list)
    absent: set[str] = field(default_factory=set)
    variables: dict[str, Variable] = field(default_factory=dict)
    refusals: list[tuple[str, str]] = field(default_factory=list)
    texts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    known: dict[str, np.ndarray] = field(default_factory=dict)
    declared: dict[str, TensorType] = field(default_factory=dict)
    prefix: str = ""
    initials: dict[str, tuple[np.ndarray, QuantParams | None]] = field(default_factory=dict)
    initializing: bool = False
    fixed: frozenset[str] = frozenset()
    inline: Callable[[int, Sequence[str]], Sequence[str]] | None = None
    made: int = 0

    def tensor(self, t: TensorType, data: np.ndarray | None = None, label: str = "") -> str:
        """Add a tensor; returns its name. Raises UnsupportedError if its rank or size is over the limit."""
        if len(t.shape) > MAX_RANK and data is None:
            raise UnsupportedError(f"a tensor of rank {len(t.shape)}, more than {MAX_RANK}, is not supported")
        if t.nbytes > MAX_TENSOR_BYTES:
            raise UnsupportedError(f"a tensor {t} is larger than {MAX_TENSOR_BYTES} bytes")
        name = f"{self.prefix}t{self.made}"
        self.made += 1
        self.tensors[name] = Tensor(name, t, data, label)
        return name

    def data(self, name: str) -> np.ndarray | None:
        """The data of a tensor that is constant, else None."""
        stored = self.tensors[name].data
        return self.known.get(name) if stored is None else stored

    def constant(self, data: np.ndarray, quant: QuantParams | None = None, label: str = "") -> str:
        """Add a constant; returns its name.

        float16 and float64 become float32, which is precise enough for networks, and uint16 becomes int32.
        """
        if data.dtype in (np.float16, np.float64):
            data = data.astype(np.float32)
        if data.dtype == np.uint16:
            data = data.astype(np.int32)
        if data.dtype.kind in "OSU":
            return self._text(data, label)
        if data.dtype.name in _NIBBLES:
            t = TensorType(data.shape, _NIBBLES[data.dtype.name], quant)
            return self.tensor(t, np.array(data, t.np_dtype, order="C"), label)
        dtype = DTYPE_NAMES.get(data.dtype)
        if dtype is None:
            raise UnsupportedError(f"a constant of {data.dtype} is not supported")
        return self.tensor(TensorType(data.shape, dtype, quant), np.array(data, order="C"), label)

    def _text(self, data: np.ndarray, label: str) -> str:
        """Add a constant of strings, stored as indices into the list of different strings; returns its name."""
        found = [t.decode("utf-8", "replace") if isinstance(t, bytes) else str(t) for t in data.reshape(-1).tolist()]
        known = tuple(dict.fromkeys(found))
        index = np.array([known.index(t) for t in found], np.int64).reshape(data.shape)
        name = self.tensor(TensorType(data.shape, "s64"), index, label)
        self.texts[name] = known
        return name

    def read(self, variable: str, initial: np.ndarray, quant: QuantParams | None, label: str) -> str:
        """The value of a variable. Raises CorruptModelError if operators do not agree on its type or first value."""
        known = self.variables.get(variable)
        if known is None:
            known = self._new_variable(initial, quant, label)
            self.variables[variable] = known
        stated = (initial.shape, initial.dtype, quant)
        of_known = (known.initial.shape, known.initial.dtype, self.tensors[known.before].type.quant)
        if stated != of_known or not np.array_equal(initial, known.initial, equal_nan=initial.dtype.kind == "f"):
            raise CorruptModelError(f"variable {variable!r} is used with different types or initial values")
        return known.value

    def _new_variable(self, initial: np.ndarray, quant: QuantParams | None, label: str) -> Variable:
        dtype = DTYPE_NAMES.get(initial.dtype)
        if dtype is None:
            raise UnsupportedError(f"a variable of {initial.dtype} is not supported")
        before = self.tensor(TensorType(initial.shape, dtype, quant), label=label)
        return Variable(before, before, initial)

    def slot(self, variable: str, t: TensorType, label: str) -> str:
        """The current value of a variable that an operator names.

        If no operator used the variable before, this is its first value: from the subgraph that sets first values, or
        zeros of type `t`.
        """
        initial, quant = self.initials.get(variable, (cleared(t), t.quant))
        if self.initializing or variable in self.fixed:
            return self.constant(initial, quant, label)
        if variable not in self.variables:
            self.read(variable, initial, quant, label)
            self.variables[variable].is_stated = variable in self.initials
        return self.variables[variable].value

    def initialize(self, graph: int) -> None:
        """Take the first values of variables from a subgraph. Raises UnsupportedError if it does more than assign."""
        nodes, used_ones = len(self.nodes), set(self.variables)
        self.initializing = True
        try:
            self.call(graph, ())
        finally:
            self.initializing = False
        if len(self.nodes) > nodes:
            raise UnsupportedError(f"subgraph {graph} computes more than constants before the first run")
        late = sorted(used_ones & set(self.initials))
        if late:
            raise UnsupportedError(
                f"subgraph {graph} sets the first value of {late[0]!r}, but earlier operators use it"
            )

    def call(self, graph: int, operands: Sequence[str]) -> Sequence[str]:
        """Append the nodes of a subgraph of the file; returns its results."""
        if self.inline is None:
            raise UnsupportedError(f"subgraphs of {self.format} models are not supported")
        return self.inline(graph, operands)

    def write(self, variable: str, value: str) -> None:
        """Assign a variable. Raises CorruptModelError if the value has another type."""
        if self.initializing:
            data = self.tensors[value].data
            if data is None:
                raise UnsupportedError(f"the first value of {variable!r} is not constant")
            self.initials[variable] = data, self.tensors[value].type.quant
            return
        known = self.variables.get(variable)
        if known is None:
            raise InternalError(f"variable {variable!r} is written before its initial value is stated by reading it")
        wanted, given = self.tensors[known.before].type, self.tensors[value].type
        if wanted != given:
            raise CorruptModelError(f"variable {variable!r} of type {wanted} is given a value of type {given}")
        known.value = value

    def rename(self, name: str, new: str, first: int) -> bool:
        """Rename a result of the nodes from index `first` on. Returns False if none of them has it."""
        added = self.nodes[first:]
        if not any(name in node.outputs for node in added):
            return False
        names: dict[str | None, str] = {name: new}
        self.nodes[first:] = [
            replace(
                node,
                inputs=tuple(names.get(n, n) for n in node.inputs),
                outputs=tuple(names.get(n, n) for n in node.outputs),
            )
            for node in added
        ]
        self.tensors[new] = replace(self.tensors.pop(name), name=new)
        for variable in self.variables.values():
            variable.value = names.get(variable.value, variable.value)
        return True

    def states(self, outputs: Sequence[str]) -> tuple[State, ...]:
        """States for the variables that operators assign and read. Variables that are only read become constants.

        outputs: tensors of the model's outputs, which also count as read. Raises UnsupportedError for a variable that
        never gets a value.
        """
        for name, known in self.variables.items():
            if not known.is_changed and not known.is_stated:
                raise UnsupportedError(
                    f"{name!r} is read, but nothing in the file assigns it",
                    hint="the weights are not in the file: convert the model itself, such as by from_keras_model, or"
                    " from_concrete_functions without a second argument",
                )
            if not known.is_changed:
                self.tensors[known.before] = replace(self.tensors[known.before], data=known.initial)
        read = {*outputs, *(name for node in self.nodes for name in node.inputs)}
        read |= {known.value for known in self.variables.values()}
        changed = (k for k in self.variables.values() if k.is_changed and k.before in read)
        return tuple(State(known.before, known.value, known.initial) for known in changed)

    def operator(
        self, name: str, version: int, attributes: Attributes, inputs: Sequence[str], outputs: Sequence[str], where: str
    ) -> None:
        """Append an operator of the file; "" denotes an operand or result that is absent.

        Unsupported features are collected; errors in the file are raised with the operator's place.
        """
        with importing(where, self.unsupported):
            self._operator(name, version, attributes, inputs, outputs, where)

    def _operator(
        self, name: str, version: int, attributes: Attributes, inputs: Sequence[str], outputs: Sequence[str], where: str
    ) -> None:
        found = self.registry.find(self.format, name, version)
        if found is None:
            raise UnsupportedError(self.registry.lacking(self.format, name, version))
        missing = [value for value in inputs if value and value not in self.values]
        if set(missing) & self.absent:
            raise UnsupportedError(f"the operator reads {missing[0]!r}, which mcugen does not compute")
        if missing:
            if self.unsupported:
                return  # an operand is the result of an unsupported operator
            raise CorruptModelError(f"the operator reads {missing[0]!r} before anything writes it")
        operands = [self.values[value] if value else None for value in inputs]
        while operands and operands[-1] is None:
            operands.pop()
        expansion = Expander(self, operands, where, next((value for value in outputs if value), ""))
        declared = tuple(self.declared[value] for value in outputs if value in self.declared)
        named = sum(bool(value) for value in outputs)
        source = self._source(name, attributes, operands, declared, named)
        results = expansion.run(self.registry.fitting(found, source, version), source)
        attributes.require_read()
        self.absent.update(value for value in outputs[len(results) :] if value)
        for value, tensor in zip(outputs, results, strict=False):
            if value:
                self.values[value] = tensor

    def _source(
        self,
        name: str,
        attributes: Attributes,
        operands: Sequence[str | None],
        declared: tuple[TensorType, ...],
        results: int,
    ) -> Source:
        tensors = [None if operand is None else self.tensors[operand] for operand in operands]
        return Source(
            name,
            attributes,
            tuple(t.type if t else None for t in tensors),
            tuple(None if name is None else self.data(name) for name in operands),
            declared,
            results,
        )


@dataclass
class Expander:
    """Appends the nodes that one operator of a file becomes; implements `mcugen.ir.imports.Expansion`.

    where: the operator's place, for errors; label: the model's name for its first result; reasons: runtime -> why it
    does not compute the operator
    """

    builder: Builder
    inputs: Sequence[str | None]
    where: str
    label: str
    variables: Sequence[str | None] = ()
    reasons: dict[str, str] = field(default_factory=dict)

    def run(self, found: RegisteredImport, source: Source) -> Sequence[str]:
        """Append the operators that the source becomes; return the names of its results."""
        if found.entry.expand is not None:
            return found.entry.expand(source, self)
        imported = found.build(source)
        chosen = imported.inputs if imported.inputs is not None else range(len(self.inputs))
        if any(k >= len(self.inputs) for k in chosen):
            raise CorruptModelError(f"the operator has {len(self.inputs)} operands, needs {max(chosen) + 1}")
        return self.nodes(imported.op, *(self.inputs[k] for k in chosen))

    def type(self, name: str) -> TensorType:
        return self._tensor(name).type

    def data(self, name: str) -> np.ndarray | None:
        stored = self._tensor(name).data
        return self.builder.known.get(name) if stored is None else stored

    def _tensor(self, name: str) -> Tensor:
        if name not in self.builder.tensors:
            raise CorruptModelError(f"operand {name!r} has no value")
        return self.builder.tensors[name]

    def own(self, name: str) -> str:
        return f"{self.where} {name}"

    def read(self, variable: str, initial: np.ndarray, quant: QuantParams | None = None) -> str:
        return self.builder.read(variable, np.array(initial, order="C"), quant, self.label)

    def slot(self, variable: str, t: TensorType) -> str:
        return self.builder.slot(variable, t, self.label)

    def has_value(self, variable: str) -> bool:
        return variable in self.builder.variables or variable in self.builder.initials

    def write(self, variable: str, value: str) -> None:
        self.builder.write(variable, value)

    def initialize(self, graph: int) -> None:
        self.builder.initialize(graph)

    def call(self, graph: int, operands: Sequence[str]) -> Sequence[str]:
        return self.builder.call(graph, operands)

    def refuse(self, runtime: str, why: str) -> None:
        self.reasons.setdefault(runtime, why)
        self.builder.refusals.append((runtime, f"{self.where}: {why}"))

    def constant(self, data: np.ndarray, quant: QuantParams | None = None) -> str:
        return self.builder.constant(data, quant, self.label)

    def packed(self, data: np.ndarray, dtype: str) -> str:
        return self.builder.tensor(TensorType(data.shape, dtype), np.array(data, order="C"), self.label)

    def text(self, name: str, texts: Sequence[str]) -> str:
        self.builder.texts[name] = tuple(texts)
        return name

    def texts(self, name: str) -> tuple[str, ...]:
        return self.builder.texts.get(name, ())

    def node(self, op: Op, *inputs: str | None, quant: QuantParams | None = None) -> str:
        return self.nodes(op, *inputs, quant=quant)[0]

    def nodes(self, op: Op, *inputs: str | None, quant: QuantParams | Quants | None = None) -> Sequence[str]:
        types = tuple(None if name is None else self.type(name) for name in inputs)
        check_operands(type(op), types)
        made = op.infer(*types)
        if quant is None and not made[0].is_float:
            quant = kept_quantization(op, types, made)
        quants = quant if isinstance(quant, tuple) else (quant,) * len(made)
        results = tuple(TensorType(t.shape, t.dtype, q) for t, q in zip(made, quants, strict=True))
        data = tuple(None if name is None else self.builder.tensors[name].data for name in inputs)
        call = Call(op, types, results, data, self.builder.reference)
        folded = op.fold(call) or (None,) * len(results)
        if folded[0] is None and any(t is not None and t.size == 0 for t in types):
            raise UnsupportedError("an operand without elements is not supported")
        names = [self.builder.tensor(t, value, self.label) for t, value in zip(results, folded, strict=True)]
        if op.only_moves and inputs and inputs[0] in self.builder.texts:
            self.builder.texts |= dict.fromkeys(names, self.builder.texts[inputs[0]])
        if folded[0] is None:
            node = f"{self.builder.prefix}n{len(self.builder.nodes)}"
            self.builder.nodes.append(Node(node, op, tuple(inputs), tuple(names), self.where))
            known = tuple(None if name is None else self.data(name) for name in inputs)
            self.builder.known.update(zip(names, constant_results(replace(call, constants=known)), strict=False))
        return names


@contextmanager
def importing(where: str, unsupported: list[str]) -> Iterator[None]:
    """Collect the unsupported features of the operator at `where`; raise errors in the file with that place.

    Raises InternalError if the import itself has a defect.
    """
    try:
        yield
    except UnsupportedError as error:
        unsupported.append(f"{where}: {error.message}")
    except InternalError:
        raise
    except McugenError as error:
        error.where = error.where or where
        raise
    except _DEFECTS as error:
        raise InternalError(f"the import failed ({type(error).__name__}: {error})", where=where) from error


def used(tensors: dict[str, Tensor], nodes: Sequence[Node], ends: Sequence[str]) -> dict[str, Tensor]:
    """The tensors that nodes or the interface refer to."""
    names = {name for node in nodes for name in (*node.inputs, *node.outputs)} | set(ends)
    return {name: tensor for name, tensor in tensors.items() if name in names}
