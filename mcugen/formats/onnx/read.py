"""Reader of ONNX: a .onnx file becomes a Graph. Operators have their own modules.

Values keep the axes of the file (images as [N, C, H, W]); the pass `follow_orders` finds the order to store them in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from mcugen.errors import CorruptModelError, ShapeError, UnsupportedError, UsageError
from mcugen.formats import _protobuf
from mcugen.formats._builder import Builder, used
from mcugen.formats.onnx.container import OnnxModel, RawInput, read
from mcugen.formats.onnx.nodes import Nodes
from mcugen.formats.registry import Registry
from mcugen.ir.graph import Graph
from mcugen.ir.types import Shape, TensorType
from mcugen.passes.qdq import with_integers
from mcugen.passes.qdq.block_weights import with_packed_weights

_POOLS_BY_ROWS = 19
"""The opset from which on ONNX Runtime adds a float pool's elements row by row; before, it adds them by columns."""

_IR_VERSION, _GRAPH = (1, 0), (7, 2)
_MODEL_FIELDS = {1, 2, 3, 4, 5, 6, 7, 8, 14, 20, 25, 26}
"""The fields of ModelProto, by number."""

REFERENCES = ("ort",)
"""The runtimes whose results a model of this format can reproduce, the default first."""


def recognises(data: bytes) -> bool:
    """Whether a file is one of this format: a message with the fields of a model."""
    try:
        found = list(_protobuf.fields(data))
    except ValueError:
        return False
    return {_IR_VERSION, _GRAPH} <= {*found} and {number for number, _ in found} <= _MODEL_FIELDS


def load(data: bytes, registry: Registry, *, path: Path, sha256: str, shapes: Mapping[str, Shape]) -> Graph:
    """Import a model. shapes: static shapes of inputs, by name.

    Raises CorruptModelError, UnsupportedError (all nodes at once), ShapeError, UsageError.
    """
    raw = read(data, path.parent, partial(registry.ends, "onnx"))
    builder = Builder(registry, "onnx", REFERENCES[0])
    notes: list[str] = []
    for value, array in raw.constants.items():
        builder.values[value] = builder.constant(array, label=value)
    shapes = _named(raw, shapes)
    inputs = tuple(_input(builder, value, shapes, notes) for value in raw.inputs)
    nodes = Nodes(builder, {} if _changes(raw, shapes) else raw.shapes, {value.name for value in raw.outputs})
    for index, node in enumerate(raw.nodes):
        nodes.add(f"node {index} ", node)
    if builder.unsupported:
        listed = "\n  ".join(builder.unsupported)
        raise UnsupportedError(f"the model uses what mcugen does not support:\n  {listed}", hint=registry.hint)
    outputs = tuple(_output(builder, value) for value in raw.outputs)
    notes += nodes.notes
    notes += [_widened(value) for value in raw.outputs if value.dtype == "f16"]
    for output, name in zip(raw.outputs, outputs, strict=True):
        if name not in inputs:  # the import names all results of an operator after its first one
            builder.tensors[name] = replace(builder.tensors[name], label=output.name)
    states = builder.states(outputs)
    ends = (*inputs, *outputs, *(name for state in states for name in (state.before, state.after)))
    graph = Graph(
        name=path.stem,
        tensors=used(builder.tensors, builder.nodes, ends),
        nodes=tuple(builder.nodes),
        inputs=inputs,
        outputs=outputs,
        sha256=sha256,
        format="onnx",
        notes=tuple(notes),
        states=states,
        texts={k: builder.texts[name] for k, name in enumerate(outputs) if raw.outputs[k].dtype == "text"},
        values=dict(builder.values),
    )
    integers = with_integers(graph, REFERENCES[0], by_columns=raw.opset < _POOLS_BY_ROWS)
    return with_packed_weights(integers, REFERENCES[0])


def _named(raw: OnnxModel, shapes: Mapping[str, Shape]) -> Mapping[str, Shape]:
    """The given shapes, by input name. Raises UsageError for a name that is not an input."""
    names = [value.name for value in raw.inputs]
    if len(set(names)) != len(names):
        raise CorruptModelError("the graph names the same input twice")
    if "" in shapes and "" not in names:
        if len(names) != 1 or len(shapes) > 1:
            raise UsageError("a shape has no name", where="--input-shape", hint=f"name its input; inputs: {names}")
        return {names[0]: shapes[""]}
    unknown = sorted(set(shapes) - set(names))
    if unknown:
        raise UsageError(f"the model has no input {unknown[0]!r}", where="--input-shape", hint=f"inputs: {names}")
    return shapes


def _changes(raw: OnnxModel, shapes: Mapping[str, Shape]) -> bool:
    """Whether an input gets another shape than the file fixes: declared shapes of other values are then ignored."""
    stated = [(value.dims, shapes[value.name]) for value in raw.inputs if value.name in shapes and value.dims]
    return any(
        len(dims) != len(given) or any(isinstance(d, int) and d != n for d, n in zip(dims, given, strict=True))
        for dims, given in stated
    )


def _input(builder: Builder, value: RawInput, shapes: Mapping[str, Shape], notes: list[str]) -> str:
    shape = shapes.get(value.name) or _static(value, notes)
    if any(d < 1 for d in shape):
        raise ShapeError(f"input {value.name!r} has the shape {list(shape)}, but sizes must be at least 1")
    dtype = "f32" if value.dtype == "f16" else value.dtype
    notes += [_widened(value)] if value.dtype == "f16" else []
    builder.values[value.name] = builder.tensor(TensorType(shape, dtype), label=value.name)
    return builder.values[value.name]


def _widened(value: RawInput) -> str:
    return f"{value.name!r} is float16 in the file, and float32 here"


def _static(value: RawInput, notes: list[str]) -> Shape:
    """The declared shape, with 1 for a batch that is not fixed. Raises ShapeError for other open dimensions."""
    example = (1, 3, 96, 96) if value.dims is None else _example(value.dims)
    texts = ",".join(map(str, example)), ", ".join(map(str, example))
    hint = f"give it, such as --input-shape {value.name}:{texts[0]}; in Python input_shape=[{texts[1]}]"
    if value.dims is None:
        raise ShapeError(f"input {value.name!r} has no shape", hint=hint)
    found: list[int] = []
    for k, dim in enumerate(value.dims):
        if isinstance(dim, int):
            found.append(dim)
        elif k == 0:
            notes.append(f"input {value.name!r}: its open first dimension {dim!r} is taken as 1")
            found.append(1)
        else:
            shown = ",".join(str(d) for d in value.dims)
            raise ShapeError(f"input {value.name!r} [{shown}] is open in dimension {dim!r}", hint=hint)
    return tuple(found)


def _example(dims: tuple[int | str, ...]) -> Shape:
    """The declared sizes, with examples for open ones: 1 for the first, which is the batch, else 96."""
    return tuple(size if isinstance(size, int) else 96 if k else 1 for k, size in enumerate(dims))


def _output(builder: Builder, value: RawInput) -> str:
    name = builder.values.get(value.name)
    if name is None:
        raise CorruptModelError(f"graph output {value.name!r} is never computed")
    own = builder.tensors[name].type
    if (value.dtype == "text") != (name in builder.texts):
        raise CorruptModelError(f"output {value.name!r} is declared {value.dtype}, but its operator gives another type")
    if value.dtype in ("text", "map"):
        return name
    if own.size == 0:
        raise ShapeError(f"output {value.name!r} has the shape {list(own.shape)}, without elements")
    if value.dtype not in (own.dtype, "f16") and np.dtype(own.np_dtype).kind != "f":
        raise CorruptModelError(
            f"graph output {value.name!r} is declared {value.dtype}, but its operator gives {own.dtype}"
        )
    return name
