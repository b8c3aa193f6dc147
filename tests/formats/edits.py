# SPDX-License-Identifier: Apache-2.0
"""Changes single fields of a .tflite file in place: what a hostile file would say, with the container intact."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tflite

Edit = Callable[["Editor"], None]
DIMS = (0, -1, 2**31 - 1, 65536)
SCALES = (0.0, -1.0, float("nan"), float("inf"), 1e-45, 3.4e38)
ZERO_POINTS = (-(2**63), 2**63 - 1, 128, -129)
INDICES = (-1, -2, 2**31 - 1)


class Editor:
    """The vectors of one model as writable arrays over a copy of its bytes."""

    def __init__(self, data: bytes) -> None:
        self._bytes = bytearray(data)
        self._base = np.frombuffer(self._bytes, np.uint8).ctypes.data
        self.model = tflite.Model.GetRootAsModel(self._bytes, 0)
        self.graph = self.model.Subgraphs(0)

    def data(self) -> bytes:
        return bytes(self._bytes)

    def inputs(self, operator: int) -> Any:
        return self.graph.Operators(operator).InputsAsNumpy()

    def outputs(self, operator: int) -> Any:
        return self.graph.Operators(operator).OutputsAsNumpy()

    def shape(self, tensor: int) -> Any:
        return self.graph.Tensors(tensor).ShapeAsNumpy()

    def scale(self, tensor: int) -> Any:
        quant = self.graph.Tensors(tensor).Quantization()
        return quant.ScaleAsNumpy() if quant else 0

    def zero_point(self, tensor: int) -> Any:
        quant = self.graph.Tensors(tensor).Quantization()
        return quant.ZeroPointAsNumpy() if quant else 0

    def constant(self, tensor: int) -> Any:
        return self.model.Buffers(self.graph.Tensors(tensor).Buffer()).DataAsNumpy()

    def shorten(self, vector: Any, length: int) -> None:
        """Overwrite the length that stands before a vector."""
        start = vector.ctypes.data - self._base
        self._bytes[start - 4 : start] = length.to_bytes(4, "little")

    def put(self, table: Any, field: int, value: bytes) -> bool:
        """Overwrite a scalar of a table, by the field's number; False where the table does not store it."""
        place = table._tab.Offset(4 + 2 * field)
        if place:
            start = table._tab.Pos + place
            self._bytes[start : start + len(value)] = value
        return bool(place)


def edited(data: bytes) -> Iterator[tuple[str, bytes]]:
    """A small model with every edit of every operator and tensor, and what was changed."""
    for what, edit in edits_of(data):
        yield what, applied(edit, data)


def edits_of(data: bytes) -> list[tuple[str, Edit]]:
    """Every edit of every operator and tensor of a small model, with what it changes."""
    first = Editor(data)
    return [*_operator_edits(first), *_tensor_edits(first)]


def applied(edit: Edit, data: bytes) -> bytes:
    """The model with one edit."""
    editor = Editor(data)
    edit(editor)
    return editor.data()


def _operator_edits(first: Editor) -> Iterator[tuple[str, Edit]]:
    for op in range(first.graph.OperatorsLength()):
        for name in ("inputs", "outputs"):
            count = len(getattr(first, name)(op))
            for length in range(count):
                yield f"operator {op} keeps {length} {name}", _shorten(name, op, length)
            for k in range(count):
                for index in (*INDICES, *range(first.graph.TensorsLength())):
                    yield f"operator {op} {name}[{k}] = {index}", _set(name, op, k, index)
        yield from _option_edits(first, op)


def _option_edits(first: Editor, op: int) -> Iterator[tuple[str, Edit]]:
    if first.graph.Operators(op).BuiltinOptions() is None:
        return
    for field in range(10):
        for value in (b"\0\0\0\0", b"\xff\xff\xff\x7f", b"\xff\xff\xff\xff", b"\0\0\xc0\x7f"):
            yield f"operator {op} option {field} = {value.hex()}", _set_option(op, field, value)
    for kind in (0, 1, 5, 9, 17):
        yield f"operator {op} options of kind {kind}", _set_kind(op, kind)


def _set_option(op: int, field: int, value: bytes) -> Edit:
    class _Record:
        def __init__(self, table: Any) -> None:
            self._tab = table

    def change(e: Editor) -> None:
        record = _Record(e.graph.Operators(op).BuiltinOptions())
        width = 1 if field < 1 else 4
        e.put(record, field, value[:width])

    return change


def _set_kind(op: int, kind: int) -> Edit:
    def change(e: Editor) -> None:
        e.put(e.graph.Operators(op), 3, bytes([kind]))

    return change


def _tensor_edits(first: Editor) -> Iterator[tuple[str, Edit]]:
    for tensor in range(first.graph.TensorsLength()):
        for name, values in (("shape", DIMS), ("scale", SCALES), ("zero_point", ZERO_POINTS)):
            vector = getattr(first, name)(tensor)
            if isinstance(vector, int):
                continue
            for k in range(min(len(vector), 6)):
                for value in (*values, *((int(vector[k]) + 1,) if name == "shape" else ())):
                    yield f"tensor {tensor} {name}[{k}] = {value}", _set(name, tensor, k, value)
            for length in range(min(len(vector), 6)):
                yield f"tensor {tensor} keeps {length} of {name}", _shorten(name, tensor, length)
        for kind in (0, 1, 2, 3, 4, 5, 6, 7, 9, 13, 15, 17, 18):
            yield f"tensor {tensor} type {kind}", _set_type(tensor, kind)
        if not isinstance(first.constant(tensor), int):
            for pattern in (b"\xff\xff\xff\x7f", b"\0\0\0\x80", b"\xff\xff\xff\xff", b"\0\0\xc0\x7f"):
                yield f"tensor {tensor} holds {pattern.hex()}", _fill(tensor, pattern)


def _set(name: str, owner: int, k: int, value: Any) -> Edit:
    def change(e: Editor) -> None:
        getattr(e, name)(owner)[k] = value

    return change


def _shorten(name: str, owner: int, length: int) -> Edit:
    def change(e: Editor) -> None:
        e.shorten(getattr(e, name)(owner), length)

    return change


def _set_type(tensor: int, kind: int) -> Edit:
    def change(e: Editor) -> None:
        e.put(e.graph.Tensors(tensor), 1, bytes([kind]))

    return change


def _fill(tensor: int, pattern: bytes) -> Edit:
    def change(e: Editor) -> None:
        data = e.constant(tensor)
        data[:] = np.resize(np.frombuffer(pattern, np.uint8), len(data))

    return change
