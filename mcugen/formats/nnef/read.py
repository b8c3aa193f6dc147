"""Reader of NNEF: a graph.nnef file, its folder, or an archive of the folder becomes a Graph.

Values keep the axes of the file (images as [N, C, H, W]); the pass `follow_orders` finds the order to store them in.
The `nnef` package, which parses the text, is loaded only when a file is read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mcugen.errors import CorruptModelError, ShapeError, UnsupportedError, UsageError
from mcugen.formats._builder import MAX_RANK, MAX_TENSOR_BYTES, Builder, used
from mcugen.formats.nnef import dat_files, model_files, quantization, syntax
from mcugen.formats.nnef.syntax import NnefOperation, Parsed, Reference
from mcugen.formats.registry import Registry
from mcugen.ir.graph import Graph
from mcugen.ir.imports import Attributes
from mcugen.ir.types import Shape, TensorType

REFERENCES = ("tflm",)
"""The runtimes whose integer arithmetic is used for models of this format: NNEF itself does not define any."""

_ENDS = ("external", "variable", "constant")


def load(data: bytes, registry: Registry, *, path: Path, sha256: str, shapes: Mapping[str, Shape]) -> Graph:
    """Import a model. data: the file's content; empty for a folder.

    Raises CorruptModelError, UnsupportedError (all operators at once), ShapeError, QuantizationError, UsageError.
    """
    if shapes:
        raise UsageError("the shapes of an NNEF model are fixed", where="--input-shape", hint="leave the option out")
    model = model_files.open_model(path, data)
    text, quant = model.text("graph.nnef"), model.text("graph.quant", optional=True)
    lowered = set(registry.names("nnef"))
    parsed = syntax.parse(text, quant, lowered)
    importer = _Importer(model, parsed, Builder(registry, "nnef", REFERENCES[0]))
    importer.run()
    if importer.builder.unsupported:
        listed = "\n  ".join(importer.builder.unsupported)
        raise UnsupportedError(f"the model uses what mcugen does not support:\n  {listed}", hint=registry.hint)
    inputs = tuple(importer.held(name, "input") for name in parsed.inputs)
    outputs = tuple(importer.held(name, "output") for name in parsed.outputs)
    builder = importer.builder
    return Graph(
        name=path.parent.name if path.name == "graph.nnef" else path.name.split(".")[0],
        tensors=used(builder.tensors, builder.nodes, (*inputs, *outputs)),
        nodes=tuple(builder.nodes),
        inputs=inputs,
        outputs=outputs,
        sha256=sha256 if data else hashlib.sha256(text.encode()).hexdigest(),
        format="nnef",
    )


class _Importer:
    """One pass over the operations in the order of the graph."""

    def __init__(self, model: model_files.ModelFiles, parsed: Parsed, builder: Builder) -> None:
        self.builder = builder
        self._model, self._parsed = model, parsed
        self._types = {name: quantization.of(name, found) for name, found in parsed.quantizations.items()}

    def run(self) -> None:
        for index, operation in enumerate(self._parsed.operations):
            where = f"operation {index} {operation.name}"
            if operation.name in _ENDS:
                self._end(operation, where)
            else:
                self._operation(operation, where)

    def held(self, name: str, what: str) -> str:
        """The tensor of an input or output. Raises CorruptModelError if no operation computes it."""
        if name not in self.builder.values:
            raise CorruptModelError(f"no operation computes the graph's {what} {name!r}")
        return self.builder.values[name]

    def _end(self, operation: NnefOperation, where: str) -> None:
        """Add an input, or a constant from the graph's text or a .dat file."""
        (name,) = operation.outputs.values()
        if not isinstance(name, Reference):
            raise CorruptModelError("the operation must have exactly one result", where=where)
        shape = _shape(operation.attributes.get("shape"), where)
        if operation.name == "external":
            if name not in self._parsed.inputs:
                raise CorruptModelError(f"external {name!r} is not an input of the graph", where=where)
            dtype, quant = self._types.get(name, (_plain(operation.dtype), None))
            self.builder.values[name] = self.builder.tensor(TensorType(shape, dtype, quant), label=name)
            return
        if operation.name == "variable":
            data = dat_files.read(self._model, str(operation.attributes.get("label", "")), shape, where)
        else:
            data = _filled(operation.attributes.get("value"), shape, where)
        stored, quant = quantization.stored(data, self._types.get(name), where)
        self.builder.values[name] = self.builder.constant(stored, quant, name)

    def _operation(self, operation: NnefOperation, where: str) -> None:
        outputs = [name for value in operation.outputs.values() for name in _references(value, where)]
        given = [self._operand(value) for value in _flat(operation.inputs.values())]
        again = [name for name in outputs if name in self.builder.values]
        if again:
            raise CorruptModelError(f"the operation computes {again[0]!r}, which already has a value", where=where)
        self.builder.declared |= {name: TensorType((), *self._types.get(name, ("f32", None))) for name in outputs}
        self.builder.operator(operation.name, 1, Attributes(operation.attributes, {}), given, outputs, where)

    def _operand(self, value: Any) -> str:
        """The name of an operand; numbers become constants."""
        if isinstance(value, Reference):
            return str(value)
        name = f"literal {value!r}"
        if name not in self.builder.values:
            kind = np.bool_ if isinstance(value, bool) else np.float32
            self.builder.values[name] = self.builder.constant(np.array(value, kind), label=name)
        return name


def _references(value: Any, where: str) -> Iterator[str]:
    for item in _flat([value]):
        if not isinstance(item, Reference):
            raise CorruptModelError("a result has no name", where=where)
        yield str(item)


def _flat(values: Any) -> Iterator[Any]:
    """Operands or results with lists flattened. Raises UnsupportedError for text."""
    for value in values:
        if isinstance(value, list):
            yield from _flat(value)
        elif isinstance(value, str | int | float) or value is None:
            if not isinstance(value, Reference) and not isinstance(value, int | float):
                raise UnsupportedError(f"operand {value!r} is not a tensor")
            yield value


def _shape(given: Any, where: str) -> Shape:
    """A declared shape. Raises CorruptModelError, ShapeError or UnsupportedError for an invalid one."""
    if not isinstance(given, list) or not all(isinstance(d, int) and not isinstance(d, bool) for d in given):
        raise CorruptModelError(f"the shape {given!r} is not a list of integers", where=where)
    if any(d < 1 for d in given):
        raise ShapeError(f"the shape {given} is not supported: all sizes must be fixed and at least 1", where=where)
    elements = 1
    for d in given:
        elements *= d
    if len(given) > MAX_RANK or elements > MAX_TENSOR_BYTES:
        raise UnsupportedError(f"a tensor of shape {given[:8]} is not supported", where=where)
    return tuple(given)


def _plain(dtype: str | None) -> str:
    found = {"scalar": "f32", "integer": "s32", "logical": "bool", None: "f32"}.get(dtype)
    if found is None:
        raise UnsupportedError(f"tensors of {dtype} are not supported")
    return found


def _filled(value: Any, shape: Shape, where: str) -> np.ndarray:
    """The data of a constant: a value for each element, or one for all."""
    values = list(_flat([value]))
    size = int(np.prod(shape, dtype=np.int64))
    if len(values) not in (1, size) or any(isinstance(v, str) for v in values):
        raise CorruptModelError(f"{len(values)} values do not fill a tensor {list(shape)}", where=where)
    kinds: Sequence[type] = [type(v) for v in values]
    kind = np.bool_ if bool in kinds else np.int32 if set(kinds) == {int} else np.float32
    return np.broadcast_to(np.array(values, kind).reshape(shape if len(values) == size else ()), shape).copy()
