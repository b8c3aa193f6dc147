# SPDX-License-Identifier: Apache-2.0
"""Random models of operators that call subgraphs of the file, and of variables that they share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tests.runtimes.sketch import Quant, Sketch

Draw = Callable[[Sketch], None]


def _called(s: Sketch) -> Sketch:
    """The sketch of another subgraph of the file, with no inputs or outputs of the model."""
    return replace(s, writer=s.writer.graph(), inputs=[], outputs=[], shapes={}, dtypes={}, quants={})


def _handle(s: Sketch, name: str) -> int:
    found = s.tensor((), "resource")
    s.writer.op("VAR_HANDLE", [], [found], {"container": "", "shared_name": name})
    return found


def _added(s: Sketch, a: int, quant: Quant) -> int:
    """A sum with a constant, which is no output."""
    y = s.tensor(s.shapes[a], s.dtype, quant)
    s.writer.op("ADD", [a, s.constant(s.shapes[a][-1:], None, quant)], [y], {})
    return y


def variable(s: Sketch) -> None:
    """A value that is read and assigned in turn, with a first value of its own or without one."""
    shape, quant = s.shape(least=1), s.quant()
    if s.chance(0.7):
        start = _called(s)
        start.writer.op("ASSIGN_VARIABLE", [_handle(start, "kept"), start.constant(shape, None, quant)], [])
        s.writer.op("CALL_ONCE", [], [], {"init_subgraph_index": 1})
    kept = _handle(s, "kept")
    for _ in range(s.rng.randint(1, 3)):
        before = s.tensor(shape, s.dtype, quant)
        s.writer.op("READ_VARIABLE", [kept], [before])
        s.result("ADD", [before, s.x(shape, None, quant)], shape, None, quant, {})
        s.writer.op("ASSIGN_VARIABLE", [kept, s.outputs[-1]], [])


def loop(s: Sketch) -> None:
    """A recurrent network by WHILE: each trip takes one row of the data, which a counter chooses."""
    rows, width = s.rng.randint(1, 5), s.rng.randint(1, 6)
    quant = s.quant()
    data, first = s.x((rows, width), None, quant), s.x((width,), None, quant)
    counter, y, end = s.const([0]), s.tensor((width,), s.dtype, quant), s.tensor((1,), "s32")
    passed = s.tensor((rows, width), s.dtype, quant)
    s.writer.op("WHILE", [counter, data, first], [end, passed, y], {"cond_subgraph_index": 1, "body_subgraph_index": 2})
    s.outputs.append(y)
    ask = _called(s)
    operands = [ask.tensor((1,), "s32"), *(ask.tensor(shape, s.dtype, quant) for shape in ((rows, width), (width,)))]
    more = ask.tensor((1,), "bool")
    ask.writer.op("LESS", [operands[0], ask.const([rows])], [more])
    ask.writer.ends(operands, [more])
    body = _called(s)
    operands = [body.tensor((1,), "s32"), *(body.tensor(shape, s.dtype, quant) for shape in ((rows, width), (width,)))]
    row, row_as_vector = body.tensor((1, width), s.dtype, quant), body.tensor((width,), s.dtype, quant)
    body.writer.op("GATHER", [operands[1], operands[0]], [row], {"axis": 0})
    body.writer.op("RESHAPE", [row, body.const([width])], [row_as_vector], {"new_shape": [width]})
    after, next_ = body.tensor((width,), s.dtype, quant), body.tensor((1,), "s32")
    body.writer.op("ADD", [row_as_vector, operands[2]], [after], {})
    body.writer.op("ADD", [operands[0], body.const([1])], [next_], {})
    body.writer.ends(operands, [next_, operands[1], _added(body, after, quant)])


def branch(s: Sketch) -> None:
    """One of two subgraphs, by a constant."""
    shape, quant = s.shape(least=1), s.quant()
    choice = s.tensor((1,), "bool", None, np.array([s.chance(0.5)]))
    x, y = s.x(shape, None, quant), s.tensor(shape, s.dtype, quant)
    s.writer.op("IF", [choice, x], [y], {"then_subgraph_index": 1, "else_subgraph_index": 2})
    s.outputs.append(y)
    for _ in range(2):
        graph = _called(s)
        given = graph.tensor(shape, s.dtype, quant)
        graph.writer.ends([given], [_added(graph, given, quant)])


_TYPES = ("s8", "s16", "f32")
OPERATORS: dict[str, tuple[tuple[str, ...], Draw]] = {
    "READ_VARIABLE": (_TYPES, variable),
    "WHILE": (_TYPES, loop),
    "IF": (("s8", "f32"), branch),
}
"""Operator: (element types that are drawn, how a model of one is drawn)."""
