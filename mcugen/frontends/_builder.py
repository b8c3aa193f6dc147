"""Builds a graph operator by operator, for formats that declare no types of intermediate values.

Types follow from the operands, results that are known at build time are folded, and what is not supported is collected,
so that one message names all of it.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from mcugen.call import Call
from mcugen.errors import CorruptModelError, InternalError, McugenError, UnsupportedError
from mcugen.graph import Graph, Node, Tensor
from mcugen.imports import Attributes, Source
from mcugen.op import Op
from mcugen.registry import Found, Registry
from mcugen.types import NUMPY_DTYPES, QuantParams, TensorType

DEFECTS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
MAX_RANK = 6
MAX_TENSOR_BYTES = 1 << 28
_NAMES = {dtype: name for name, dtype in NUMPY_DTYPES.items()}


@dataclass
class Builder:
    """A graph in the making.

    values: the tensor that holds each value of the file. absent: results that are not computed.
    reference: the runtime whose meaning folded results have.
    """

    registry: Registry
    format: str
    reference: str
    tensors: dict[str, Tensor] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)
    unsupported: list[str] = field(default_factory=list)
    absent: set[str] = field(default_factory=set)

    def tensor(self, t: TensorType, data: np.ndarray | None = None, label: str = "") -> str:
        """The name of a new tensor. Raises ShapeError or UnsupportedError for what no tensor can be."""
        if len(t.shape) > MAX_RANK and data is None:
            raise UnsupportedError(f"a tensor of rank {len(t.shape)}, more than {MAX_RANK}, is not supported")
        if t.nbytes > MAX_TENSOR_BYTES:
            raise UnsupportedError(f"a tensor {t} is larger than {MAX_TENSOR_BYTES} bytes")
        name = f"t{len(self.tensors)}"
        self.tensors[name] = Tensor(name, t, data, label)
        return name

    def constant(self, data: np.ndarray, quant: QuantParams | None = None, label: str = "") -> str:
        """The name of a new constant; float16 and float64 become float32, which holds what networks need of them."""
        if data.dtype in (np.float16, np.float64):
            data = data.astype(np.float32)
        dtype = _NAMES.get(data.dtype)
        if dtype is None:
            raise UnsupportedError(f"a constant of {data.dtype} is not supported")
        return self.tensor(TensorType(data.shape, dtype, quant), np.array(data, order="C"), label)

    def operator(
        self, name: str, version: int, attributes: Attributes, inputs: Sequence[str], outputs: Sequence[str], where: str
    ) -> None:
        """Append an operator of the file; "" stands for an operand or result that is not there.

        What is not supported is collected, what is wrong is raised with the operator's place.
        """
        try:
            self._operator(name, version, attributes, inputs, outputs, where)
        except UnsupportedError as error:
            self.unsupported.append(f"{where}: {error.message}")
        except InternalError:
            raise
        except McugenError as error:
            raise type(error)(error.message, where=error.where or where, hint=error.hint) from error
        except DEFECTS as error:
            raise InternalError(f"the import failed ({type(error).__name__}: {error})", where=where) from error

    def _operator(
        self, name: str, version: int, attributes: Attributes, inputs: Sequence[str], outputs: Sequence[str], where: str
    ) -> None:
        found = self.registry.find(self.format, name, version)
        if found is None:
            raise UnsupportedError("no such operator in mcugen")
        missing = [value for value in inputs if value and value not in self.values]
        if set(missing) & self.absent:
            raise UnsupportedError(f"reads {missing[0]!r}, a result that mcugen does not compute")
        if missing:
            if self.unsupported:
                return  # it reads what an unsupported operator would have made
            raise CorruptModelError(f"reads {missing[0]!r} before anything writes it")
        operands = [self.values[value] if value else None for value in inputs]
        while operands and operands[-1] is None:
            operands.pop()
        expansion = Expander(self, operands, where, next((value for value in outputs if value), ""))
        results = expansion.run(found, self._source(name, attributes, operands))
        unread = attributes.unread()
        if unread:
            listed = ", ".join(f"{key}={value}" for key, value in sorted(unread.items()))
            raise UnsupportedError(f"attribute {listed} is not supported")
        self.absent.update(value for value in outputs[len(results) :] if value)
        for value, tensor in zip(outputs, results, strict=False):
            if value:
                self.values[value] = tensor

    def _source(self, name: str, attributes: Attributes, operands: Sequence[str | None]) -> Source:
        tensors = [None if operand is None else self.tensors[operand] for operand in operands]
        return Source(
            name,
            attributes,
            tuple(t.type if t else None for t in tensors),
            tuple(t.data if t else None for t in tensors),
            (),
        )


@dataclass
class Expander:
    """The nodes that one operator of a file becomes: `mcugen.imports.Expansion`. label: the model's name for it."""

    builder: Builder
    inputs: Sequence[str | None]
    where: str
    label: str

    def run(self, found: Found, source: Source) -> Sequence[str]:
        """Append what the import makes of the source; the names of its results."""
        if found.entry.expand is not None:
            return found.entry.expand(source, self)
        imported = found.build(source)
        chosen = imported.inputs if imported.inputs is not None else range(len(self.inputs))
        if any(k >= len(self.inputs) for k in chosen):
            raise CorruptModelError(f"has {len(self.inputs)} operands, needs {max(chosen) + 1}")
        return self.nodes(imported.op, *(self.inputs[k] for k in chosen))

    def type(self, name: str) -> TensorType:
        return self.builder.tensors[name].type

    def data(self, name: str) -> np.ndarray | None:
        return self.builder.tensors[name].data

    def constant(self, data: np.ndarray, quant: QuantParams | None = None) -> str:
        return self.builder.constant(data, quant, self.label)

    def node(self, op: Op, *inputs: str | None, quant: QuantParams | None = None) -> str:
        return self.nodes(op, *inputs, quant=quant)[0]

    def nodes(self, op: Op, *inputs: str | None, quant: QuantParams | None = None) -> Sequence[str]:
        types = tuple(None if name is None else self.type(name) for name in inputs)
        check_operands(type(op), types)
        results = tuple(TensorType(t.shape, t.dtype, quant) for t in op.infer(*types))
        data = tuple(None if name is None else self.data(name) for name in inputs)
        call = Call(op, types, results, data, self.builder.reference)
        folded = op.fold(call) or (None,) * len(results)
        names = [self.builder.tensor(t, value, self.label) for t, value in zip(results, folded, strict=True)]
        if folded[0] is None:
            node = Node(f"n{len(self.builder.nodes)}", op, tuple(inputs), tuple(names), self.where)
            self.builder.nodes.append(node)
        return names


def check_operands(op: type[Op], inputs: Sequence[TensorType | None]) -> None:
    """Compare the operands with the signature of the operator's `infer`: how many, and which may be absent."""
    least, most = _operand_counts(op.infer)
    if not least <= len(inputs) <= most:
        needs = f"{least}" if least == most else f"{least} or more" if most == sys.maxsize else f"{least} to {most}"
        raise CorruptModelError(f"has {len(inputs)} operands, needs {needs}")
    required = inputs if most == sys.maxsize else inputs[:least]
    if None in required:
        raise CorruptModelError(f"operand {list(required).index(None)} is absent but required")


@cache
def _operand_counts(infer: Callable[..., Any]) -> tuple[int, int]:
    """The least and the most operands of an operator, from the signature of its `infer`."""
    parameters = list(inspect.signature(infer).parameters.values())[1:]
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return max(len(parameters) - 1, 1), sys.maxsize
    return sum(p.default is p.empty for p in parameters), len(parameters)


def used(tensors: dict[str, Tensor], nodes: Sequence[Node], ends: Sequence[str]) -> dict[str, Tensor]:
    """The tensors that nodes or the interface refer to."""
    names = {name for node in nodes for name in (*node.inputs, *node.outputs)} | set(ends)
    return {name: tensor for name, tensor in tensors.items() if name in names}


__all__ = ["Builder", "Expander", "Graph", "check_operands", "used"]
