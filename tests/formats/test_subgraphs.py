# SPDX-License-Identifier: Apache-2.0
"""Files of several subgraphs: resource variables, their first values, branches, loops, and signatures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import mcugen
from mcugen.builds import inspection
from mcugen.errors import CorruptModelError, McugenError, ModelError, UnsupportedError, UsageError
from mcugen.formats import read, registry
from mcugen.ir.graph import Graph
from mcugen.oracle import interpreter
from mcugen.system.tabular import text_of
from mcugen.verify import host
from mcugen.verify.cases import cases
from tests.support.tflite_writer import ModelWriter

SHAPE = (1, 4)
FIRST = np.array([[3, -2, 1, 50]], np.int8)


def data(m: ModelWriter, name: str, **more: object) -> int:
    return m.tensor(name, SHAPE, "s8", scale=0.1, zero_point=-4, **more)  # type: ignore[arg-type]


def variable(m: ModelWriter, name: str = "kept") -> int:
    found = m.tensor(name, (), "resource")
    m.op("VAR_HANDLE", [], [found], {"container": "", "shared_name": name})
    return found


def number(m: ModelWriter, name: str, value: int | None = None) -> int:
    return m.tensor(name, (1,), "s32", data=None if value is None else np.array([value]))


def load(tmp_path: Path, content: bytes, signature: str = "") -> Graph:
    path = tmp_path / "net.tflite"
    path.write_bytes(content)
    return read.load(path, registry.load(), signature=signature)


def summed(*, first: bool = True, late: bool = False) -> bytes:
    """y(t) = y(t - 1) + x(t), where a variable holds y; `first`: a subgraph gives it its first value."""
    m = ModelWriter()
    x, before, y = data(m, "x"), data(m, "before"), data(m, "y")
    start = m.graph()
    start.op("ASSIGN_VARIABLE", [variable(start), data(start, "first", data=FIRST)], [])
    if first and not late:
        m.op("CALL_ONCE", [], [], {"init_subgraph_index": 1})
    kept = variable(m)
    m.op("READ_VARIABLE", [kept], [before])
    m.op("ADD", [before, x], [y])
    m.op("ASSIGN_VARIABLE", [kept, y], [])
    if late:
        m.op("CALL_ONCE", [], [], {"init_subgraph_index": 1})
    return m.build([x], [y], signatures={"serve": 0, "start": 1})


@pytest.mark.parametrize("first", [True, False])
def test_a_variable_is_a_state(tmp_path: Path, *, first: bool) -> None:
    graph = load(tmp_path, summed(first=first))
    (state,) = graph.states
    assert np.array_equal(state.initial, FIRST if first else np.full(SHAPE, -4, np.int8))
    zeros = np.full(SHAPE, -4, np.int8)
    ones = zeros + np.int8(10)
    found = [v[graph.outputs[0]] for v in interpreter.runs(graph, [[zeros], [ones], [ones]], "tflm")]
    assert [row.tolist() for row in found] == [(state.initial + np.int8(k)).tolist() for k in (0, 10, 20)]


def test_the_code_keeps_it_in_the_object(tmp_path: Path) -> None:
    (tmp_path / "net.tflite").write_bytes(summed())
    artifact = mcugen.compile(tmp_path / "net.tflite")
    assert [s.in_place for s in artifact.report.states] == [True]
    assert "net_reset" in artifact.files["net.h"].decode()
    assert host.verify(artifact, list(cases(artifact.imported, 1))[:3]).agrees


def test_a_variable_that_is_assigned_first_is_no_state(tmp_path: Path) -> None:
    m = ModelWriter()
    x, y = data(m, "x"), data(m, "y")
    kept = variable(m)
    m.op("ASSIGN_VARIABLE", [kept, x], [])
    m.op("READ_VARIABLE", [kept], [y])
    z = data(m, "z")
    m.op("RELU", [y], [z])
    assert not load(tmp_path, m.build([x], [z])).states


def test_an_output_may_be_the_value_from_before(tmp_path: Path) -> None:
    m = ModelWriter()
    x, y = data(m, "x"), data(m, "y")
    kept = variable(m)
    m.op("READ_VARIABLE", [kept], [y])
    m.op("ASSIGN_VARIABLE", [kept, x], [])
    graph = load(tmp_path, m.build([x], [y]))
    x0, x1 = (np.full(SHAPE, k, np.int8) for k in (1, 2))
    found = [v[graph.outputs[0]] for v in interpreter.runs(graph, [[x0], [x1]], "tflm")]
    assert np.array_equal(found, [np.full(SHAPE, -4), x0])


def only_read(*, first: bool) -> bytes:
    """y = reshape(v) + x, where no run changes the variable v; `first`: a subgraph gives it its value."""
    m = ModelWriter()
    x, before, y = data(m, "x"), data(m, "before"), data(m, "y")
    start = m.graph()
    start.op("ASSIGN_VARIABLE", [variable(start), data(start, "first", data=FIRST)], [])
    if first:
        m.op("CALL_ONCE", [], [], {"init_subgraph_index": 1})
    m.op("READ_VARIABLE", [variable(m)], [before])
    shaped = data(m, "shaped")
    m.op("RESHAPE", [before, m.tensor("shape", (2,), "s32", data=np.array(SHAPE, np.int32))], [shaped], {})
    m.op("ADD", [shaped, x], [y])
    return m.build([x], [y], signatures={"serve": 0, "start": 1})


def test_a_variable_that_no_run_changes_is_a_constant(tmp_path: Path) -> None:
    graph = load(tmp_path, only_read(first=True))
    assert not graph.states
    assert [type(node.op).__name__ for node in graph.nodes] == ["Add"]
    x = np.full(SHAPE, -4, np.int8)
    assert np.array_equal(interpreter.run(graph, [x], "tflm")[graph.outputs[0]], FIRST)
    assert mcugen.compile(tmp_path / "net.tflite").files


def looped(trips: int | None, body: int = 2, *, condition: int = 1) -> bytes:
    """A model of x + trips * 1 by a loop that counts down; without `trips` the count is an input of the model."""
    m = ModelWriter()
    x, y = data(m, "x"), data(m, "y")
    left, none = number(m, "left", trips), number(m, "none")
    m.op("WHILE", [left, x], [none, y], {"cond_subgraph_index": condition, "body_subgraph_index": body})
    ask = m.graph()
    count, value, more = number(ask, "count"), data(ask, "value"), ask.tensor("more", (1,), "bool")
    ask.op("CAST", [count], [more], {"in_data_type": "s32", "out_data_type": "bool"})
    ask.ends([count, value], [more])
    work = m.graph()
    count, value, fewer, sum_ = number(work, "count"), data(work, "value"), number(work, "fewer"), data(work, "sum")
    work.op("SUB", [count, number(work, "one", 1)], [fewer])
    work.op("ADD", [value, data(work, "ten", data=np.full(SHAPE, 6, np.int8))], [sum_])
    work.ends([count, value], [fewer, sum_])
    return m.build([x] if trips is not None else [left, x], [y])


@pytest.mark.parametrize("trips", [0, 1, 3])
def test_a_loop_with_a_known_count_is_repeated(tmp_path: Path, trips: int) -> None:
    graph = load(tmp_path, looped(trips))
    assert len(graph.nodes) == trips
    x = np.array([[1, 2, 3, 4]], np.int8)
    (y,) = (interpreter.run(graph, [x], "tflm")[name] for name in graph.outputs)
    assert y.tolist() == (x + 10 * trips).tolist()


@pytest.mark.parametrize("taken", [True, False])
def test_a_known_condition_takes_one_branch(tmp_path: Path, *, taken: bool) -> None:
    m = ModelWriter()
    x, y = data(m, "x"), data(m, "y")
    choice = m.tensor("choice", (1,), "bool", data=np.array([taken]))
    m.op("IF", [choice, x], [y], {"then_subgraph_index": 1, "else_subgraph_index": 2})
    for name in ("RELU", "RELU6"):
        branch = m.graph()
        given, made = data(branch, "given"), data(branch, "made")
        branch.op(name, [given], [made])
        branch.ends([given], [made])
    graph = load(tmp_path, m.build([x], [y]))
    assert [node.source for node in graph.nodes] == [f"subgraph {2 - taken} operator 0 RELU{'' if taken else '6'}"]


def test_signatures_choose_a_subgraph(tmp_path: Path) -> None:
    m = ModelWriter()
    x, y = data(m, "x"), data(m, "y")
    m.op("RELU", [x], [y])
    other = m.graph()
    a, b = data(other, "a"), data(other, "b")
    other.op("RELU6", [a], [b])
    other.ends([a], [b])
    content = m.build([x], [y], signatures={"first": 0, "second": 1, "third": 7})
    assert load(tmp_path, content).nodes[0].source == "operator 0 RELU"
    assert load(tmp_path, content, "second").nodes[0].source == "operator 0 RELU6"
    with pytest.raises(UsageError, match="no signature 'fourth'"):
        load(tmp_path, content, "fourth")
    with pytest.raises(CorruptModelError, match="names subgraph 7, but the file has 2"):
        load(tmp_path, content, "third")
    shown = text_of(
        inspection.as_parts(inspection.facts_of(mcugen.compile(tmp_path / "net.tflite", signature="second")))
    )
    assert "'second' (subgraph 1)" in shown and "RELU6" in shown


def _recursive() -> bytes:
    m = ModelWriter()
    x, y = data(m, "x"), data(m, "y")
    choice = m.tensor("choice", (1,), "bool", data=np.array([True]))
    m.op("IF", [choice, x], [y], {"then_subgraph_index": 0, "else_subgraph_index": 0})
    return m.build([x], [y])


def _computed_first() -> bytes:
    m = ModelWriter()
    x, y = data(m, "x"), data(m, "y")
    m.op("CALL_ONCE", [], [], {"init_subgraph_index": 1})
    m.op("RELU", [x], [y])
    start = m.graph()
    kept, found, changed = variable(start), data(start, "found"), data(start, "changed", is_variable=True)
    start.op("RELU", [changed], [found])
    start.op("ASSIGN_VARIABLE", [kept, found], [])
    return m.build([x], [y])


def _odd(assigned: str) -> bytes:
    """Reads one type, and assigns another one, a variable, or to no variable."""
    m = ModelWriter()
    x, y, wide = data(m, "x"), data(m, "y"), m.tensor("wide", (1, 5), "s8", scale=0.1, data=np.zeros((1, 5)))
    kept = variable(m)
    m.op("READ_VARIABLE", [kept], [y])
    value = {"another shape": wide, "a variable": kept, "no variable": x}[assigned]
    m.op("ASSIGN_VARIABLE", [x if assigned == "no variable" else kept, value], [])
    return m.build([x], [y])


def _endless(size: int = 1 << 18) -> bytes:
    """A loop without an end that adds large constants."""
    m = ModelWriter()
    big, y = m.tensor("big", (size,), "s32", data=np.zeros(size)), m.tensor("y", (size,), "s32")
    x, z = m.tensor("x", (size,), "s32"), m.tensor("z", (size,), "s32")
    m.op("WHILE", [big], [y], {"cond_subgraph_index": 1, "body_subgraph_index": 2})
    m.op("ADD", [x, y], [z])
    ask = m.graph()
    given = ask.tensor("given", (size,), "s32")
    ask.ends([given], [ask.tensor("more", (1,), "bool", data=np.array([True]))])
    body = m.graph()
    given, made = body.tensor("given", (size,), "s32"), body.tensor("made", (size,), "s32")
    body.op("ADD", [given, given], [made])
    body.ends([given], [made])
    return m.build([x], [z])


HOSTILE: dict[str, tuple[Callable[[], bytes], type[McugenError], str]] = {
    "a loop without an end": (lambda: looped(-1), UnsupportedError, "does not end within|more than"),
    "a loop that fills the memory": (_endless, UnsupportedError, "bytes of constants"),
    "a loop that counts in its data": (lambda: looped(None), UnsupportedError, "depends on data"),
    "a body that is not there": (lambda: looped(3, 9), CorruptModelError, "calls subgraph 9, but the file has 3"),
    "a negative subgraph": (lambda: looped(3, -1), CorruptModelError, "calls subgraph -1, but the file has 3"),
    "a body that is the model": (lambda: looped(3, 0), UnsupportedError, "calls itself"),
    "a body of other results": (lambda: looped(3, 1), ModelError, "condition|operands|cannot|gives"),
    "a condition of other results": (lambda: looped(3, 2, condition=2), CorruptModelError, "must have one element"),
    "a graph that calls itself": (_recursive, UnsupportedError, "calls itself"),
    "first values after the first use": (lambda: summed(late=True), UnsupportedError, "but earlier operators use it"),
    "first values that are computed": (_computed_first, UnsupportedError, "constant"),
    "a variable without a value": (lambda: only_read(first=False), UnsupportedError, "nothing in the file assigns it"),
    "another shape": (lambda: _odd("another shape"), CorruptModelError, "is used as one of"),
    "a variable": (lambda: _odd("a variable"), CorruptModelError, "assigns no value"),
    "no variable": (lambda: _odd("no variable"), CorruptModelError, "names no variable"),
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", HOSTILE)
def test_what_has_no_bound_or_no_meaning_is_refused(name: str, tmp_path: Path) -> None:
    content, error, message = HOSTILE[name]
    with pytest.raises(error, match=message):
        load(tmp_path, content())
