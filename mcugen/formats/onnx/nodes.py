"""Import of the operators of an ONNX graph, in order. Functions and subgraphs are expanded in place."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import onnx

from mcugen.errors import CorruptModelError, ShapeError, UnsupportedError
from mcugen.formats._builder import Builder, importing
from mcugen.formats._operands import check_shape
from mcugen.formats.onnx import functions, inference
from mcugen.formats.onnx.container import MAX_NODES, Dims, OnnxGraph, RawNode, guarded
from mcugen.ir.imports import Attributes

MAX_DEPTH = 8
"""Largest nesting depth of functions and subgraphs."""


class Nodes:
    """Appends operators to a builder, and the subgraphs that these operators run.

    shapes: declared shapes of results. ends: the model's outputs. A file may declare an output with another shape than
    ONNX's rules give; this only causes a note, as ONNX Runtime only warns of it.
    """

    def __init__(self, builder: Builder, shapes: Mapping[str, Dims], ends: Collection[str] = ()) -> None:
        self._builder, self._shapes, self._ends = builder, shapes, ends
        self.notes: list[str] = []
        self._added: list[RawNode] = []
        self._graphs: list[OnnxGraph] = []
        self._count = 0
        self._within: list[str] = []
        builder.inline = self._inlined

    def add(self, where: str, node: RawNode) -> None:
        """Append an operator, or its ONNX function if mcugen lacks the operator. where: its place in the file."""
        builder = self._builder
        name = f"{node.domain}:{node.type}" if node.domain else node.type
        where += name + (f" {node.name!r}" if node.name else "")
        self._count += 1
        if self._count > MAX_NODES:
            raise UnsupportedError(f"the model runs more than {MAX_NODES} operators", where=where)
        known = builder.registry.find("onnx", name, node.version) is not None
        inner = None if known or len(self._within) >= MAX_DEPTH else self._defined(node)
        self._within.append(where)
        if inner is None:
            attributes = Attributes(self._plain(node.attributes), _defaults(node))
            builder.operator(name, node.version, attributes, node.inputs, node.outputs, where)
        for part in inner or ():
            self.add(f"{where}: ", part)
        self._within.pop()
        if not self._within:
            self._added.append(node)
        self._check(where, node.outputs)

    def _check(self, where: str, values: Sequence[str]) -> None:
        """Compare the shapes of an operator's results with those that the file declares. Raises ShapeError."""
        with importing(where, self._builder.unsupported):
            for value in values:
                if value in self._shapes and value in self._builder.values:
                    self._check_value(value)

    def _check_value(self, value: str) -> None:
        made = self._builder.tensors[self._builder.values[value]].type.shape
        try:
            check_shape(value, made, self._shapes[value])
        except ShapeError as error:
            if self._within or value not in self._ends or not inference.agrees(self._added, self._held()):
                raise
            self.notes.append(f"{error.message}; the former is used, as by ONNX's rules")

    def _held(self) -> inference.Held:
        """Types and constant data of the values so far."""
        builder = self._builder
        known = ((value, name) for value, name in builder.values.items() if name in builder.tensors)
        return {value: (builder.tensors[name].type, builder.data(name)) for value, name in known}

    def _plain(self, attributes: Mapping[str, Any]) -> Mapping[str, Any]:
        """The attributes that have a value, with subgraphs replaced by their indices."""
        found = {}
        for name, value in attributes.items():
            if isinstance(value, OnnxGraph):
                found[name] = len(self._graphs)
                self._graphs.append(value)
            elif value is not None:
                found[name] = value
        return found

    def _defined(self, node: RawNode) -> tuple[RawNode, ...] | None:
        """The operators of an operator's ONNX function; None if it has none, or the type of an operand is unknown.

        Empty if an operand is missing because an operator before it is not supported.
        """
        builder = self._builder
        names = [builder.values.get(value) for value in node.inputs]
        if any(value and name is None for value, name in zip(node.inputs, names, strict=True)):
            return () if builder.unsupported and functions.exists(node) else None
        types = [None if name is None else builder.tensors[name].type for name in names]
        what = "has an operator whose function is damaged"
        found: tuple[RawNode, ...] | None = guarded(what, functions.body, node, types)
        return found

    def _inlined(self, index: int, operands: Sequence[str]) -> Sequence[str]:
        """Append the nodes of a subgraph; returns its results.

        The subgraph can read values of the outer graph. Names of its own values are not visible outside.
        """
        if not 0 <= index < len(self._graphs) or len(self._within) >= MAX_DEPTH:
            raise UnsupportedError(f"subgraphs nested more than {MAX_DEPTH} deep are not supported")
        graph, builder = self._graphs[index], self._builder
        if len(operands) != len(graph.inputs):
            raise CorruptModelError(f"a subgraph has {len(graph.inputs)} inputs, but gets {len(operands)} operands")
        outside, failed, shapes = dict(builder.values), len(builder.unsupported), self._shapes
        self._shapes = graph.shapes
        for name, array in graph.constants.items():
            builder.values[name] = builder.constant(array, label=name)
        builder.values |= dict(zip(graph.inputs, operands, strict=True))
        for node in graph.nodes:
            self.add(f"{self._within[-1]}: ", node)
        found = [builder.values.get(name, "") for name in graph.outputs]
        builder.values, self._shapes = outside, shapes
        if len(builder.unsupported) > failed or (builder.unsupported and "" in found):
            raise UnsupportedError("the operator's subgraph has unsupported operators")
        if "" in found:
            raise CorruptModelError("a result of a subgraph is never computed")
        return found


def _defaults(node: RawNode) -> Mapping[str, Any]:
    """Attribute -> default value, or None without a default; none if ONNX has no schema of the operator.

    `doc_string` is among them, with the node's text as default: an operator need not read it.
    """
    text = {"doc_string": node.proto.doc_string}
    try:
        schema = onnx.defs.get_schema(node.type, node.version, node.domain)
    except onnx.defs.SchemaError:
        return text
    return text | {name: _default(attribute) for name, attribute in schema.attributes.items()}


def _default(attribute: Any) -> Any:
    given = attribute.default_value
    if not given.type:
        return None
    value = onnx.helper.get_attribute_value(given)
    if isinstance(value, list):
        return tuple(item.decode() if isinstance(item, bytes) else item for item in value)
    return value.decode() if isinstance(value, bytes) else value
