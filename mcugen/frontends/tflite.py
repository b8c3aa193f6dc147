"""TensorFlow Lite: a .tflite file to a Graph. Knows the container, not the operators."""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from mcugen.call import Call
from mcugen.errors import (
    CorruptModelError,
    InternalError,
    McugenError,
    QuantizationError,
    ShapeError,
    UnsupportedError,
    UsageError,
)
from mcugen.frontends import _flatbuffer as fb
from mcugen.graph import Graph, Node, Tensor
from mcugen.imports import Imported, Source
from mcugen.numeric import INT_RANGE, activation_bounds
from mcugen.op import Op
from mcugen.registry import Registry
from mcugen.types import QuantParams, Shape, TensorType

REFERENCES = ("tflm", "litert")
"""The runtimes whose bits a model of this format can have, the default first."""

MAX_RANK = 6
MAX_TENSOR_BYTES = 1 << 28
MAX_OPERATORS = 2048
_DEFECTS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
_DTYPES = {
    "INT8": "s8",
    "UINT8": "u8",
    "INT16": "s16",
    "INT32": "s32",
    "INT64": "s64",
    "FLOAT16": "f16",
    "FLOAT32": "f32",
    "BOOL": "bool",
}


def load(data: bytes, registry: Registry, *, path: Path, sha256: str, shapes: Mapping[str, Shape]) -> Graph:
    """Import a model. Raises CorruptModelError, UnsupportedError (all nodes at once), ShapeError, QuantizationError."""
    raw = fb.read(data)
    if shapes:
        raise UsageError("the shapes of a .tflite model are fixed", where="--input-shape", hint="leave the option out")
    importer = _Importer(raw, registry)
    importer.run()
    return Graph(
        name=path.stem,
        tensors=importer.used_tensors(),
        nodes=tuple(importer.nodes),
        inputs=tuple(_name(i) for i in raw.inputs),
        outputs=tuple(_name(i) for i in raw.outputs),
        sha256=sha256,
        format="tflite",
        refusals={runtime: tuple(found) for runtime, found in importer.refusals.items()},
    )


def _name(index: int) -> str:
    return f"t{index}"


class _Operands(tuple[TensorType | None, ...]):
    """Operand types as a damaged file states them: asking for one that is not there is the file's error."""

    what = "operands"

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, int) and not -len(self) <= k < len(self):
            raise CorruptModelError(f"has {len(self)} {self.what}, needs {k + 1 if k >= 0 else -k}")
        return super().__getitem__(k)


class _Results(_Operands):
    what = "results"


@dataclass
class _Importer:
    """One pass over the operators in file order; computed constants are folded as they appear."""

    raw: fb.RawModel
    registry: Registry
    nodes: list[Node] = field(default_factory=list)
    tensors: dict[str, Tensor] = field(default_factory=dict)
    unsupported: list[str] = field(default_factory=list)
    refusals: dict[str, list[str]] = field(default_factory=lambda: {runtime: [] for runtime in REFERENCES})
    written: set[int] = field(default_factory=set)

    def run(self) -> None:
        self._check_container()
        for index, raw in self._referenced():
            self._add_tensor(index, raw)
        held = (i for i, t in enumerate(self.raw.tensors) if t.data is not None or t.is_variable)
        self.written = {*self.raw.inputs, *held}
        for index, operator in enumerate(self.raw.operators):
            self._add(index, operator)
        if self.unsupported:
            self._refuse()
        for index in self.raw.outputs:
            if index not in self.written:
                raise CorruptModelError(f"graph output tensor {index} is never computed")

    def _add_tensor(self, index: int, raw: fb.RawTensor) -> None:
        """Import one tensor; the nodes that touch one of an unknown type are refused by name later."""
        if raw.type in _DTYPES:
            self.tensors[_name(index)] = _tensor(index, raw)
        elif index in self.raw.inputs or index in self.raw.outputs:
            self.unsupported.append(_unknown_type(index, raw))

    def used_tensors(self) -> dict[str, Tensor]:
        """The tensors that nodes or the interface refer to, and every folded result."""
        ends = {_name(i) for i in (*self.raw.inputs, *self.raw.outputs)}
        in_nodes = {name for node in self.nodes for name in (*node.inputs, *node.outputs)}
        return {name: t for name, t in self.tensors.items() if name in ends or name in in_nodes}

    def _check_container(self) -> None:
        if not self.raw.outputs:
            raise CorruptModelError("the graph has no output")
        for what, found in (("input", self.raw.inputs), ("output", self.raw.outputs)):
            for index in found:
                self._check_index(index, f"graph {what}")
        if len(set(self.raw.inputs)) != len(self.raw.inputs):
            raise CorruptModelError("the graph names the same input twice")
        for operator in self.raw.operators:
            for index in (*operator.inputs, *operator.outputs):
                if index != -1 or index in operator.outputs:
                    self._check_index(index, operator.name)
        if len(self.raw.operators) > MAX_OPERATORS:
            raise UnsupportedError(f"the model has {len(self.raw.operators)} operators, more than {MAX_OPERATORS}")
        if self.raw.subgraphs != 1:
            self.unsupported.append(f"the file has {self.raw.subgraphs} subgraphs; only single-graph models are read")

    def _check_index(self, index: int, what: str) -> None:
        if not 0 <= index < len(self.raw.tensors):
            raise CorruptModelError(f"{what} names tensor {index} of {len(self.raw.tensors)}")

    def _referenced(self) -> list[tuple[int, fb.RawTensor]]:
        used = {*self.raw.inputs, *self.raw.outputs}
        used |= {i for operator in self.raw.operators for i in (*operator.inputs, *operator.outputs) if i >= 0}
        return [(i, self.raw.tensors[i]) for i in sorted(used)]

    def _add(self, index: int, operator: fb.RawOperator) -> None:
        """Import one operator; what is unsupported is collected, what is wrong is raised with the operator's place."""
        where = f"operator {index} {operator.name}"
        for tensor in operator.inputs:
            if tensor >= 0 and tensor not in self.written and not self.unsupported:
                raise CorruptModelError(f"reads tensor {tensor} before anything writes it", where=where)
        for tensor in operator.outputs:
            if tensor in self.written:
                raise CorruptModelError(f"writes tensor {tensor}, which already has a value", where=where)
            self.written.add(tensor)
        try:
            self._add_node(index, operator, where)
        except UnsupportedError as error:
            self.unsupported.append(f"{where}: {error.message}")
        except InternalError:
            raise
        except McugenError as error:
            raise type(error)(error.message, where=error.where or where, hint=error.hint) from error
        except _DEFECTS as error:
            raise InternalError(f"the import failed ({type(error).__name__}: {error})", where=where) from error

    def _add_node(self, index: int, operator: fb.RawOperator, where: str) -> None:
        found = self.registry.find("tflite", operator.name)
        if found is None:
            raise UnsupportedError("no such operator in mcugen")
        source = self._source(operator)
        imported = found.build(source)
        activation_bounds(getattr(imported.op, "activation", "NONE"))  # refuses what no runtime fuses
        unread = source.attributes.unread()
        if unread:
            listed = ", ".join(f"{key}={value}" for key, value in sorted(unread.items()))
            raise UnsupportedError(f"attribute {listed} is not supported")
        node = self._node(index, operator, imported, where)
        call = self._call(node)
        _check_results(node.op, call)
        self._note_refusals(imported, call, where)
        folded = node.op.fold(call)
        if folded is None:
            self.nodes.append(node)
            return
        for name, data in zip(node.outputs, folded, strict=True):
            old = self.tensors[name]
            self.tensors[name] = Tensor(name, old.type, data, old.label)

    def _note_refusals(self, imported: Imported, call: Call, where: str) -> None:
        """Keep which runtimes have no kernel for a call. Raises UnsupportedError where none has: it has no bits."""
        reasons = {r: imported.refused_by.get(r) or imported.op.refused_by(call, r) for r in REFERENCES}
        if all(reasons.values()):
            raise UnsupportedError("no runtime computes it: " + ", ".join(f"{r}: {why}" for r, why in reasons.items()))
        for runtime, why in reasons.items():
            if why:
                self.refusals[runtime].append(f"{where}: {why}")

    def _source(self, operator: fb.RawOperator) -> Source:
        for index in (*operator.inputs, *operator.outputs):
            if index >= 0:
                self._check_readable(index, self.raw.tensors[index])
        operands = [None if i < 0 else self.tensors[_name(i)] for i in operator.inputs]
        return Source(
            name=operator.name,
            attributes=operator.attributes,
            inputs=_Operands(t.type if t else None for t in operands),
            constants=tuple(t.data if t else None for t in operands),
            outputs=_Results(self.tensors[_name(i)].type for i in operator.outputs),  # type: ignore[arg-type]
        )

    def _check_readable(self, index: int, raw: fb.RawTensor) -> None:
        if raw.type not in _DTYPES:
            raise UnsupportedError(_unknown_type(index, raw))
        if raw.is_variable or raw.is_sparse:
            kind = "variable" if raw.is_variable else "sparse"
            raise UnsupportedError(f"{kind} tensor {raw.label!r} is not supported")

    def _node(self, index: int, operator: fb.RawOperator, imported: Imported, where: str) -> Node:
        names = tuple(None if i < 0 else _name(i) for i in operator.inputs)
        if imported.inputs is not None:
            if any(k >= len(names) for k in imported.inputs):
                raise CorruptModelError(f"has {len(names)} operands, needs {max(imported.inputs) + 1}")
            names = tuple(names[k] for k in imported.inputs)
        return Node(f"n{index}", imported.op, names, tuple(_name(i) for i in operator.outputs), where)

    def _call(self, node: Node) -> Call:
        used = {name: self.tensors[name] for name in (*node.inputs, *node.outputs) if name is not None}
        return Graph("", used, (), (), ()).call(node, "tflm")

    def _refuse(self) -> NoReturn:
        raise UnsupportedError(
            "the model uses what mcugen does not support:\n  " + "\n  ".join(self.unsupported),
            hint="; ".join(["`mcugen ops` lists the supported operators and types", *self.registry.missing]),
        )


def _check_results(op: Op, call: Call) -> None:
    """Compare the declared result types with those the operator infers."""
    _check_operands(type(op), call)
    inferred = op.infer(*call.inputs)
    if len(inferred) != len(call.outputs):
        raise CorruptModelError(f"has {len(call.outputs)} results, needs {len(inferred)}")
    for expected, declared in zip(inferred, call.outputs, strict=True):
        if expected.shape != declared.shape:
            raise ShapeError(
                f"the file declares the result {list(declared.shape)}, the operands make it {list(expected.shape)}",
                hint="re-export the model with static shapes",
            )
        if expected.dtype != declared.dtype:
            raise UnsupportedError(f"{_types(call)} gives {expected.dtype}, the file declares {declared.dtype}")


def _check_operands(op: type[Op], call: Call) -> None:
    """Compare the operands with the signature of the operator's `infer`: how many, and which may be absent."""
    least, most = _operand_counts(op.infer)
    if not least <= len(call.inputs) <= most:
        needs = f"{least}" if least == most else f"{least} or more" if most == sys.maxsize else f"{least} to {most}"
        raise CorruptModelError(f"has {len(call.inputs)} operands, needs {needs}")
    required = call.inputs if most == sys.maxsize else call.inputs[:least]
    if None in required:
        raise CorruptModelError(f"operand {required.index(None)} is absent but required")


@cache
def _operand_counts(infer: Callable[..., Any]) -> tuple[int, int]:
    """The least and the most operands of an operator, from the signature of its `infer`."""
    parameters = list(inspect.signature(infer).parameters.values())[1:]
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return max(len(parameters) - 1, 1), sys.maxsize
    return sum(p.default is p.empty for p in parameters), len(parameters)


def _types(call: Call) -> str:
    return ", ".join("-" if t is None else t.dtype for t in call.inputs)


def _unknown_type(index: int, raw: fb.RawTensor) -> str:
    return f"element type {raw.type} of tensor {index} {raw.label!r} is not supported"


def _tensor(index: int, raw: fb.RawTensor) -> Tensor:
    what = f"tensor {index} {raw.label!r}"
    if len(raw.shape) > MAX_RANK or any(d <= 0 for d in raw.shape):
        raise ShapeError(
            f"shape {list(raw.shape)} is not static, positive and of rank {MAX_RANK} or less",
            where=what,
            hint="re-export the model with static shapes",
        )
    dtype = _DTYPES[raw.type]
    tensor_type = TensorType(raw.shape, dtype)
    if tensor_type.nbytes > MAX_TENSOR_BYTES:
        raise ShapeError(f"shape {list(raw.shape)} is larger than {MAX_TENSOR_BYTES} bytes", where=what)
    tensor_type = TensorType(raw.shape, dtype, _quant(raw, tensor_type, what))
    data = None if raw.data is None else fb.as_array(raw.data, tensor_type.np_dtype, raw.shape, what)
    if data is not None and data.dtype.kind == "f" and not np.isfinite(data).all():
        raise CorruptModelError("a constant holds infinities or NaN", where=what)
    return Tensor(_name(index), tensor_type, data, raw.label)


def _quant(raw: fb.RawTensor, tensor_type: TensorType, what: str) -> QuantParams | None:
    """The tensor's quantization. A 32 or 64 bit integer's (a bias's) is dropped where it makes no sense."""
    if not raw.scale or tensor_type.is_float or tensor_type.dtype == "bool":
        return None
    wide = tensor_type.dtype in ("s32", "s64")
    problem = _quant_problem(raw, tensor_type)
    if problem and wide:
        return None
    if problem:
        raise QuantizationError(problem, where=what)
    zero_point = raw.zero_point or (0,)
    if len(zero_point) != len(raw.scale):
        zero_point = zero_point[:1] * len(raw.scale)
    return QuantParams(raw.scale, zero_point, raw.axis if len(raw.scale) > 1 else 0)


def _quant_problem(raw: fb.RawTensor, tensor_type: TensorType) -> str:
    if not all(math.isfinite(s) and s > 0 for s in raw.scale):
        bad = next(s for s in raw.scale if not (math.isfinite(s) and s > 0))
        return f"scale {bad} is not a positive number"
    if len(raw.zero_point) not in (0, 1, len(raw.scale)):
        return f"{len(raw.scale)} scales but {len(raw.zero_point)} zero points"
    low, high = INT_RANGE.get(tensor_type.dtype, (-(2**63), 2**63 - 1))
    outside = [z for z in raw.zero_point if not low <= z <= high]
    if outside:
        return f"zero point {outside[0]} is outside {tensor_type.dtype}"
    if len(raw.scale) > 1:
        if not 0 <= raw.axis < len(raw.shape):
            return f"quantized dimension {raw.axis} of a tensor of rank {len(raw.shape)}"
        if raw.shape[raw.axis] != len(raw.scale):
            return f"{len(raw.scale)} scales for dimension {raw.axis} of size {raw.shape[raw.axis]}"
    return ""
