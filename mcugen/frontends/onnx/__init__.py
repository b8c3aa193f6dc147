"""ONNX: a .onnx file to a Graph. It handles the container, not the operators.

Values keep the axes of the file (images as [N, C, H, W]); the pass `follow_orders` finds the order to store them in.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from mcugen.errors import CorruptModelError, ShapeError, UnsupportedError, UsageError
from mcugen.frontends._builder import Builder, used
from mcugen.frontends.onnx import functions
from mcugen.frontends.onnx.container import MAX_NODES, RawInput, RawModel, RawNode, guarded, read
from mcugen.graph import Graph
from mcugen.imports import Attributes
from mcugen.qdq import with_integers
from mcugen.registry import Registry
from mcugen.types import Shape, TensorType

MAX_DEPTH = 8
"""Functions within functions that are taken for operators."""

REFERENCES = ("ort",)
"""The runtimes whose meaning a model of this format can have, the default first."""


def load(data: bytes, registry: Registry, *, path: Path, sha256: str, shapes: Mapping[str, Shape]) -> Graph:
    """Import a model. shapes: static shapes of inputs, by name.

    Raises CorruptModelError, UnsupportedError (all nodes at once), ShapeError, UsageError.
    """
    raw = read(data, path.parent)
    builder = Builder(registry, "onnx", REFERENCES[0])
    notes: list[str] = []
    for value, array in raw.constants.items():
        builder.values[value] = builder.constant(array, label=value)
    inputs = tuple(_input(builder, value, shapes, notes) for value in _inputs(raw, shapes))
    for index, node in enumerate(raw.nodes):
        _add(builder, f"node {index} ", node)
    if builder.unsupported:
        listed = "\n  ".join(builder.unsupported)
        raise UnsupportedError(f"the model uses what mcugen does not support:\n  {listed}", hint=registry.hint)
    outputs = tuple(_output(builder, value) for value in raw.outputs)
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
    )
    return with_integers(graph, REFERENCES[0])


def _inputs(raw: RawModel, shapes: Mapping[str, Shape]) -> tuple[RawInput, ...]:
    """The graph's inputs. Raises UsageError for a shape of an input that there is not."""
    names = [value.name for value in raw.inputs]
    unknown = sorted(set(shapes) - set(names))
    if unknown:
        raise UsageError(f"the model has no input {unknown[0]!r}", where="--input-shape", hint=f"inputs: {names}")
    if len(set(names)) != len(names):
        raise CorruptModelError("the graph names the same input twice")
    return raw.inputs


def _input(builder: Builder, value: RawInput, shapes: Mapping[str, Shape], notes: list[str]) -> str:
    shape = shapes.get(value.name) or _static(value, notes)
    if any(d < 1 for d in shape):
        raise ShapeError(f"input {value.name!r} has the shape {list(shape)}, which holds nothing")
    dtype = "f32" if value.dtype == "f16" else value.dtype
    builder.values[value.name] = builder.tensor(TensorType(shape, dtype), label=value.name)
    return builder.values[value.name]


def _static(value: RawInput, notes: list[str]) -> Shape:
    """The declared shape, with 1 for a batch that is not fixed. Raises ShapeError for other open dimensions."""
    hint = f"give it: --input-shape {value.name}:1,3,96,96"
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


def _add(builder: Builder, where: str, node: RawNode, depth: int = 0) -> None:
    """Append an operator, or those by which ONNX defines one that mcugen does not have. where: its place."""
    name = _name(node.domain, node.type)
    where += name + (f" {node.name!r}" if node.name else "")
    known = builder.registry.find("onnx", name, node.version) is not None
    inner = None if known or depth == MAX_DEPTH else _defined(builder, node)
    if inner is None:
        attributes = Attributes(_plain(node.attributes), _defaults(node))
        builder.operator(name, node.version, attributes, node.inputs, node.outputs, where)
        return
    if len(builder.nodes) > MAX_NODES:
        raise UnsupportedError(f"the model has more than {MAX_NODES} operators", where=where)
    for part in inner:
        _add(builder, f"{where}: ", part, depth + 1)


def _defined(builder: Builder, node: RawNode) -> tuple[RawNode, ...] | None:
    """The function of an operator; None where there is none, or where an operand is not known."""
    names = [builder.values.get(value) for value in node.inputs]
    if any(value and name is None for value, name in zip(node.inputs, names, strict=True)):
        return () if builder.unsupported and functions.exists(node) else None
    types = [None if name is None else builder.tensors[name].type for name in names]
    found: tuple[RawNode, ...] | None = guarded(
        "has an operator whose function is damaged", functions.body, node, types
    )
    return found


def _name(domain: str, kind: str) -> str:
    """The name under which an operator is imported."""
    return f"{domain}:{kind}" if domain else kind


def _plain(attributes: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in attributes.items() if value is not None}


def _defaults(node: RawNode) -> Mapping[str, Any]:
    """The attributes of the operator's schema, with None for those without a default; none where it has no schema."""
    try:
        schema = onnx.defs.get_schema(node.type, node.version, node.domain)
    except onnx.defs.SchemaError:
        return {}
    return {name: _default(attribute) for name, attribute in schema.attributes.items()}


def _default(attribute: Any) -> Any:
    given = attribute.default_value
    if not given.type:
        return None
    value = onnx.helper.get_attribute_value(given)
    if isinstance(value, list):
        return tuple(item.decode() if isinstance(item, bytes) else item for item in value)
    return value.decode() if isinstance(value, bytes) else value


def _output(builder: Builder, value: RawInput) -> str:
    name = builder.values.get(value.name)
    if name is None:
        raise CorruptModelError(f"graph output {value.name!r} is never computed")
    own = builder.tensors[name].type
    if (value.dtype == "text") != (name in builder.texts):
        raise CorruptModelError(f"output {value.name!r} is declared {value.dtype}, and its operator gives another type")
    if value.dtype in ("text", "map"):
        return name
    if own.size == 0:
        raise ShapeError(f"output {value.name!r} has the shape {list(own.shape)}, which holds nothing")
    if value.dtype not in (own.dtype, "f16") and np.dtype(own.np_dtype).kind != "f":
        raise CorruptModelError(
            f"graph output {value.name!r} is declared {value.dtype}, its operator gives {own.dtype}"
        )
    return name
