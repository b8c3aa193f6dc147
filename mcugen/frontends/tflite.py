"""TensorFlow Lite: a .tflite file to a Graph. It handles the container, not the operators."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from mcugen.call import Call
from mcugen.errors import (
    CorruptModelError,
    QuantizationError,
    ShapeError,
    UnsupportedError,
    UsageError,
)
from mcugen.frontends import _flatbuffer as fb
from mcugen.frontends._builder import MAX_RANK, MAX_TENSOR_BYTES, Builder, Expander, check_operands, importing, used
from mcugen.graph import Graph, Node, State, Tensor
from mcugen.imports import Imported, Source
from mcugen.numeric import activation_bounds
from mcugen.op import Op
from mcugen.registry import Found, Registry
from mcugen.types import PACKED_BITS, QuantParams, Shape, TensorType

REFERENCES = ("tflm", "litert")
"""The runtimes whose bits a model of this format can have, the default first."""

MAX_OPERATORS = 2048
_DTYPES = {
    "INT8": "s8",
    "UINT8": "u8",
    "INT16": "s16",
    "INT32": "s32",
    "INT64": "s64",
    "FLOAT16": "f16",
    "FLOAT32": "f32",
    "BOOL": "bool",
    "INT4": "s4",
}


def load(data: bytes, registry: Registry, *, path: Path, sha256: str, shapes: Mapping[str, Shape]) -> Graph:
    """Import a model. Raises CorruptModelError, UnsupportedError (all nodes at once), ShapeError, QuantizationError."""
    raw = fb.read(data)
    if shapes:
        raise UsageError("the shapes of a .tflite model are fixed", where="--input-shape", hint="leave the option out")
    importer = _Importer(raw, registry)
    importer.run()
    states = importer.builder.states()
    return Graph(
        name=path.stem,
        tensors=importer.used_tensors(states),
        nodes=tuple(importer.nodes),
        inputs=tuple(_name(i) for i in raw.inputs if raw.tensors[i].data is None),  # none sets a constant
        outputs=tuple(importer.held(i) for i in raw.outputs),
        sha256=sha256,
        format="tflite",
        refusals={runtime: tuple(found) for runtime, found in importer.refusals.items()},
        states=states,
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
    """One pass over the operators in file order; computed constants are folded as they appear.

    values: the tensor that holds a value of the file, where it is another than the one of the same index.
    """

    raw: fb.RawModel
    registry: Registry
    nodes: list[Node] = field(default_factory=list)
    tensors: dict[str, Tensor] = field(default_factory=dict)
    unsupported: list[str] = field(default_factory=list)
    refusals: dict[str, list[str]] = field(default_factory=lambda: {runtime: [] for runtime in REFERENCES})
    written: set[int] = field(default_factory=set)
    values: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.builder = Builder(self.registry, "tflite", REFERENCES[0], self.tensors, self.nodes, prefix="x")

    def held(self, index: int) -> str:
        """The tensor that holds a value of the file."""
        return self.values.get(index, _name(index))

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
        if _is_readable(raw):
            self.tensors[_name(index)] = _tensor(index, raw)
        elif index in self.raw.inputs or index in self.raw.outputs:
            self.unsupported.append(_unknown_type(index, raw))

    def used_tensors(self, states: Sequence[State]) -> dict[str, Tensor]:
        """The tensors that nodes, the interface or states refer to, and every folded result."""
        ends = [self.held(i) for i in (*self.raw.inputs, *self.raw.outputs)]
        return used(self.tensors, self.nodes, [*ends, *(name for s in states for name in (s.before, s.after))])

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
        """Import one operator: unsupported features are collected, errors are raised with the operator's place."""
        where = f"operator {index} {operator.name}"
        for tensor in operator.inputs:
            if tensor >= 0 and tensor not in self.written and not self.unsupported:
                raise CorruptModelError(f"reads tensor {tensor} before anything writes it", where=where)
        for tensor in operator.outputs:
            if tensor in self.written:
                raise CorruptModelError(f"writes tensor {tensor}, which already has a value", where=where)
            self.written.add(tensor)
        with importing(where, self.unsupported):
            self._add_node(index, operator, where)

    def _add_node(self, index: int, operator: fb.RawOperator, where: str) -> None:
        found = self.registry.find("tflite", operator.name, operator.version)
        if found is None:
            raise UnsupportedError(self.registry.lacking("tflite", operator.name, operator.version))
        source = self._source(operator, has_variables=found.entry.expand is not None)
        found = self.registry.fitting(found, source, operator.version)
        if found.entry.expand is not None:
            self._expand(found, source, operator, where)
            return
        imported = found.build(source)
        activation_bounds(getattr(imported.op, "activation", "NONE"))  # refuses what no runtime fuses
        source.attributes.require_read()
        node = self._node(index, operator, imported, where)
        self._close(node, operator)
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

    def _close(self, node: Node, operator: fb.RawOperator) -> None:
        """Give results whose shape the file leaves open the shape that follows from the operands."""
        if any(-1 in self.raw.tensors[i].signature for i in operator.outputs):
            call = self._call(node)
            check_operands(type(node.op), call.inputs)
            for index, found in zip(operator.outputs, node.op.infer(*call.inputs), strict=False):
                self._settle(index, found.shape)

    def _settle(self, index: int, shape: Shape) -> None:
        """Give a tensor that shape, where the file leaves it open."""
        if _leaves_open(self.raw.tensors[index].signature, shape):
            old = self.tensors[_name(index)]
            what = f"tensor {index} {old.label!r}"
            self.tensors[_name(index)] = replace(old, type=_bounded(replace(old.type, shape=shape), what))

    def _expand(self, found: Found, source: Source, operator: fb.RawOperator, where: str) -> None:
        """Append the nodes that the operator becomes; their results hold its values."""
        raw = [None if i < 0 else self.raw.tensors[i] for i in operator.inputs]
        variables = [f"tensor {i}" if t and t.is_variable else None for i, t in zip(operator.inputs, raw, strict=True)]
        names = [None if i < 0 or v else self.held(i) for i, v in zip(operator.inputs, variables, strict=True)]
        label = self.raw.tensors[operator.outputs[0]].label if operator.outputs else ""
        first = len(self.nodes)
        results = Expander(self.builder, names, where, label, variables).run(found, source)
        source.attributes.require_read()
        for runtime, why in self.builder.refusals:
            self.refusals[runtime].append(why)
        self.builder.refusals.clear()
        if len(results) != len(operator.outputs):
            raise CorruptModelError(f"has {len(operator.outputs)} results, needs {len(results)}")
        own: dict[str, str] = {}
        for index, name in zip(operator.outputs, results, strict=True):
            self._hold(index, own.get(name, name))
            if self.builder.rename(name, _name(index), first):
                own[name] = self.values[index] = _name(index)

    def _hold(self, index: int, name: str) -> None:
        """Note which tensor holds a value of the file, and give it the type that the file declares."""
        self._settle(index, self.tensors[name].type.shape)
        made, declared = self.tensors[name], self.tensors[_name(index)]
        _check_result(made.type, declared.type)
        if made.type.quant not in (None, declared.type.quant):
            raise QuantizationError(f"the file declares {declared.type}, the import makes {made.type}")
        if made.type.quant is None and not made.is_constant:
            self.tensors[name] = replace(made, type=declared.type)
        self.values[index] = name

    def _note_refusals(self, imported: Imported, call: Call, where: str) -> None:
        """Keep which runtimes have no kernel for a call. Raises UnsupportedError where none has: it has no bits."""
        reasons = {r: imported.refused_by.get(r) or imported.op.refused_by(call, r) for r in REFERENCES}
        if all(reasons.values()):
            raise UnsupportedError("no runtime computes it: " + ", ".join(f"{r}: {why}" for r, why in reasons.items()))
        for runtime, why in reasons.items():
            if why:
                self.refusals[runtime].append(f"{where}: {why}")

    def _source(self, operator: fb.RawOperator, *, has_variables: bool) -> Source:
        for index in (*operator.inputs, *operator.outputs):
            if index >= 0:
                self._check_readable(index, self.raw.tensors[index], may_vary=has_variables)
        operands = [None if i < 0 else self.tensors[self.held(i)] for i in operator.inputs]
        return Source(
            name=operator.name,
            attributes=operator.attributes,
            inputs=_Operands(t.type if t else None for t in operands),
            constants=tuple(t.data if t else None for t in operands),
            outputs=_Results(self.tensors[_name(i)].type for i in operator.outputs),  # type: ignore[arg-type]
        )

    def _check_readable(self, index: int, raw: fb.RawTensor, *, may_vary: bool) -> None:
        if not _is_readable(raw):
            raise UnsupportedError(_unknown_type(index, raw))
        if (raw.is_variable and not may_vary) or raw.is_sparse:
            kind = "variable" if raw.is_variable else "sparse"
            raise UnsupportedError(f"{kind} tensor {raw.label!r} is not supported")

    def _node(self, index: int, operator: fb.RawOperator, imported: Imported, where: str) -> Node:
        names = tuple(None if i < 0 else self.held(i) for i in operator.inputs)
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
            hint=self.registry.hint,
        )


def _check_results(op: Op, call: Call) -> None:
    """Compare the declared result types with those the operator infers."""
    check_operands(type(op), call.inputs)
    inferred = op.infer(*call.inputs)
    if len(inferred) != len(call.outputs):
        raise CorruptModelError(f"has {len(call.outputs)} results, needs {len(inferred)}")
    for expected, declared in zip(inferred, call.outputs, strict=True):
        _check_result(expected, declared, _types(call))


def _check_result(made: TensorType, declared: TensorType, operands: str = "the import") -> None:
    if made.shape != declared.shape:
        raise ShapeError(
            f"the file declares the result {list(declared.shape)}, the operands make it {list(made.shape)}",
            hint="re-export the model with static shapes",
        )
    if made.dtype != declared.dtype:
        raise UnsupportedError(f"{operands} gives {made.dtype}, the file declares {declared.dtype}")


def _types(call: Call) -> str:
    return ", ".join("-" if t is None else t.dtype for t in call.inputs)


def _is_readable(raw: fb.RawTensor) -> bool:
    """Whether mcugen has the element type; those below a byte only as constants."""
    dtype = _DTYPES.get(raw.type)
    return dtype is not None and (dtype not in PACKED_BITS or raw.data is not None)


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
    tensor_type = _bounded(TensorType(raw.shape, dtype), what)
    tensor_type = TensorType(raw.shape, dtype, _quant(raw, tensor_type, what))
    data = None if raw.data is None else fb.as_array(raw.data, tensor_type, what)
    if data is not None and data.dtype.kind == "f" and not np.isfinite(data).all():
        raise CorruptModelError("a constant holds infinities or NaN", where=what)
    return Tensor(_name(index), tensor_type, data, raw.label)


def _bounded(tensor_type: TensorType, where: str) -> TensorType:
    """The type itself. Raises ShapeError where its tensor would be too large."""
    if tensor_type.nbytes > MAX_TENSOR_BYTES:
        raise ShapeError(f"shape {list(tensor_type.shape)} is larger than {MAX_TENSOR_BYTES} bytes", where=where)
    return tensor_type


def _leaves_open(signature: tuple[int, ...], shape: Shape) -> bool:
    """Whether the signature has open dimensions, and the shape is one that it describes."""
    same_rank = -1 in signature and len(signature) == len(shape)
    return same_rank and all(s in (-1, d) for s, d in zip(signature, shape, strict=True))


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
    low, high = tensor_type.limits
    outside = [z for z in raw.zero_point if not low <= z <= high]
    if outside:
        return f"zero point {outside[0]} is outside {tensor_type.dtype}"
    if len(raw.scale) > 1:
        if not 0 <= raw.axis < len(raw.shape):
            return f"quantized dimension {raw.axis} of a tensor of rank {len(raw.shape)}"
        if raw.shape[raw.axis] != len(raw.scale):
            return f"{len(raw.scale)} scales for dimension {raw.axis} of size {raw.shape[raw.axis]}"
    return ""
