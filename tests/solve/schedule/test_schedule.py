# SPDX-License-Identifier: Apache-2.0
"""The buffers of a schedule, their lifetimes, and the tensors that share memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import mcugen
from mcugen.boards import target
from mcugen.ir.kernel import Ring, RowWindow
from mcugen.ir.op import Example
from mcugen.ir.types import TensorType
from mcugen.ops._filter_examples import example
from mcugen.ops.abs import Abs
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from mcugen.options import Options
from mcugen.pipeline import Artifact
from mcugen.solve import schedule
from mcugen.solve.candidates import candidates_of
from mcugen.solve.plan import Buffer
from mcugen.solve.schedule import storage
from mcugen.solve.schedule.steps import Step
from mcugen.solve.schedule.trace import INPUT
from tests.formats.small_models import image_net, three_dense
from tests.support.cases import graph_of
from tests.support.tflite_writer import ModelWriter


def built(folder: Path, data: bytes, keep_input: bool = False) -> Artifact:
    (folder / "m.tflite").write_bytes(data)
    return mcugen.compile(folder / "m.tflite", keep_input=keep_input)


def buffers(artifact: Artifact) -> dict[str, Buffer]:
    return {b.name: b for b in artifact.schedule.buffers()}


def test_one_event_per_step_in_order(tmp_path: Path) -> None:
    schedule = built(tmp_path, three_dense()).schedule
    assert [(event.step, event.event) for event in schedule.trace] == [(0, 0), (1, 0), (2, 0)]
    assert [step.index for step in schedule.steps] == [0, 1, 2]
    assert not schedule.interleaved


def test_whole_steps_that_change_places_need_a_table_of_the_order(tmp_path: Path) -> None:
    """Within a group steps run when they are needed: of this sum the second operand, in the file, comes first."""
    m = ModelWriter()
    x, first, second, y = (m.tensor(name, (1, 8), "s8", scale=0.1) for name in ("x", "first", "second", "y"))
    for k, made in enumerate((first, second)):
        w = m.tensor(f"w{k}", (8, 8), "s8", scale=0.01, data=np.full((8, 8), k + 1))
        m.op("FULLY_CONNECTED", [x, w, -1], [made])
    m.op("ADD", [second, first], [y])
    artifact = built(tmp_path, m.build([x], [y]))
    choices = [step.choice for step in artifact.schedule.steps]
    order = schedule.build(artifact.graph, choices, [range(3)], keep_input=False)
    assert [event.step for event in order.trace] == [1, 0, 2]
    assert order.interleaved
    assert not artifact.schedule.interleaved


def test_inputs_live_to_their_last_use_or_to_the_end(tmp_path: Path) -> None:
    free, kept = (built(tmp_path, three_dense(), keep) for keep in (False, True))
    name = free.graph.inputs[0]
    last = len(kept.schedule.trace) - 1
    assert (buffers(free)[name].first, buffers(free)[name].last) == (0, 0)
    assert (buffers(kept)[name].first, buffers(kept)[name].last) == (0, last)
    assert last == 2


def test_outputs_live_to_the_end(tmp_path: Path) -> None:
    m = ModelWriter()
    x, early, late = (m.tensor(name, (1, 8), "s8", scale=0.1) for name in ("x", "early", "late"))
    m.op("RELU", [x], [early])
    m.op("ADD", [early, early], [late])
    artifact = built(tmp_path, m.build([x], [early, late]))
    schedule = artifact.schedule
    early_buffer = schedule.buffer_name[artifact.graph.outputs[0]]
    assert early_buffer != schedule.buffer_name[artifact.graph.outputs[1]]
    assert buffers(artifact)[early_buffer].last == len(schedule.trace) - 1


def test_a_reshape_is_no_step(tmp_path: Path) -> None:
    m = ModelWriter()
    x, y = (m.tensor(name, (1, 2, 4), "s8", scale=0.1) for name in "xy")
    flat, z = m.tensor("flat", (1, 8), "s8", scale=0.1), m.tensor("z", (1, 8), "s8", scale=1 / 256, zero_point=-128)
    m.op("LOGISTIC", [x], [y])
    m.op("RESHAPE", [y], [flat], {"new_shape": (1, 8)})
    m.op("SOFTMAX", [flat], [z], {"beta": 1.0})
    artifact = built(tmp_path, m.build([x], [z]))
    aliases = [n for n in artifact.graph.nodes if type(n.op).__name__ == "Reshape"]
    assert len(aliases) == 1
    buffer = artifact.schedule.buffer_name
    assert aliases[0].inputs[0] is not None
    assert buffer[aliases[0].outputs[0]] == buffer[aliases[0].inputs[0]]
    assert all(step.choice.kernel.has_code for step in artifact.schedule.steps)
    assert len(artifact.schedule.steps) == len(artifact.graph.nodes) - 1


@pytest.mark.parametrize(("keep_input", "shared"), [(False, True), (True, False)])
def test_elementwise_overwrites_what_nobody_needs(tmp_path: Path, keep_input: bool, shared: bool) -> None:
    m = ModelWriter()
    x, y = (m.tensor(name, (1, 8), "s8", scale=0.1) for name in "xy")
    c = m.tensor("c", (1, 8), "s8", scale=0.1, data=np.arange(8).reshape(1, 8))
    m.op("ADD", [x, c], [y])
    artifact = built(tmp_path, m.build([x], [y]), keep_input)
    buffer = artifact.schedule.buffer_name
    assert (buffer[artifact.graph.inputs[0]] == buffer[artifact.graph.outputs[0]]) == shared
    assert artifact.plan.nbytes == (8 if shared else 16)


def test_a_tensor_read_again_is_not_overwritten(tmp_path: Path) -> None:
    m = ModelWriter()
    x, y, z = (m.tensor(name, (1, 8), "s8", scale=0.1) for name in "xyz")
    c = m.tensor("c", (1, 8), "s8", scale=0.1, data=np.ones((1, 8)))
    m.op("ADD", [x, c], [y])
    m.op("ADD", [y, x], [z])
    artifact = built(tmp_path, m.build([x], [z]))
    buffer, graph = artifact.schedule.buffer_name, artifact.graph
    assert buffer[graph.inputs[0]] != buffer[graph.nodes[0].outputs[0]]


def test_held_lists_every_tensor_once(tmp_path: Path) -> None:
    schedule = built(tmp_path, image_net()).schedule
    held = schedule.held()
    assert sorted(name for names in held.values() for name in names) == sorted(schedule.buffer_name)
    for buffer, names in held.items():
        assert all(schedule.buffer_name[name] == buffer for name in names)
        assert buffers_bytes(schedule.buffers(), buffer) == max(schedule.graph.type(name).nbytes for name in names)


def buffers_bytes(found: list[Buffer], buffer: str) -> int:
    return next(b.nbytes for b in found if b.name == buffer)


def test_a_dilated_window_reaches_further_down() -> None:
    window = RowWindow(size=3, stride=2, dilation=2, pad=2, in_rows=9, out_rows=5)
    assert [(window.first(y), window.last(y)) for y in range(5)] == [(-2, 2), (0, 4), (2, 6), (4, 8), (6, 10)]


def test_buffers_of_frames_are_aligned_to_words(tmp_path: Path) -> None:
    m = ModelWriter()
    x = m.tensor("x", (1, 9, 1, 3), "s8", scale=0.1)
    w = m.tensor("w", (5, 3, 1, 3), "s8", scale=(0.01,) * 5, data=np.ones((5, 3, 1, 3)))
    y = m.tensor("y", (1, 7, 1, 5), "s8", scale=0.1)
    z = m.tensor("z", (1, 5), "s8", scale=0.1)
    m.op("CONV_2D", [x, w], [y], {"padding": "VALID", "stride_h": 1, "stride_w": 1})
    m.op("MEAN", [y, m.tensor("axes", (2,), "s32", data=np.array([1, 2]))], [z], {"keep_dims": False})
    (tmp_path / "m.tflite").write_bytes(m.build([x], [z]))
    artifact = mcugen.compile(tmp_path / "m.tflite", input_mode="frames")
    rows = artifact.schedule.row_buffers.values()
    assert {b.row_bytes for b in rows} >= {3, 5}
    assert {b.align for b in rows} == {4}


def test_each_row_of_the_input_comes_once_and_in_order(tmp_path: Path) -> None:
    """Both convolutions read each row three times."""
    (tmp_path / "m.tflite").write_bytes(image_net())
    artifact = mcugen.compile(tmp_path / "m.tflite", board="cortex-m4", input_mode="rows")
    made = artifact.schedule
    rows = artifact.graph.type(artifact.graph.inputs[0]).shape[1]
    assert [event.event for event in made.trace if event.step == INPUT] == list(range(rows))


def test_a_ring_holds_whole_converted_rows() -> None:
    """A window of 10 rows of 6 pixels and 8 channels, with a pixel of padding at each side, of 16 bits each."""
    op = DepthwiseConv2D((1, 1), (1, 1), "SAME", "NONE")
    graph = graph_of(example(op, 0, (1, 40, 6, 8), (1, 10, 3, 8), 3, gain=0.002, out_zero=-128))
    listed = candidates_of(graph, target.load("cortex-m4"), Options(input_mode="rows"))[0]
    found = {Step(0, c.choice, True, 1).ring_bytes for c in listed if isinstance(c.choice.kernel.form, Ring)}
    assert found == {10 * (8 * 8) * 2}


def test_rows_are_those_on_which_the_tensors_of_a_buffer_agree() -> None:
    def rows(*shapes: tuple[int, ...]) -> tuple[int, int]:
        types = {str(k): TensorType(shape, "s8") for k, shape in enumerate(shapes)}
        return storage._row_shape(SimpleNamespace(type=types.__getitem__), list(types))

    assert rows((1, 4, 3, 5)) == (4, 15)
    assert rows((1, 4, 3, 5), (60,)) == (4, 15)
    assert rows((1, 4, 3, 5), (1, 2, 6, 5)) == (1, 60)
    assert rows((2, 4, 3, 5)) == (1, 120)
    assert rows((1, 4, 3, 5), (70,)) == (1, 70)


def test_steps_of_two_rows_at_a_time_make_their_buffers_multiples_of_two() -> None:
    op = Abs()
    x = TensorType((1, 8, 1, 4), "f32")
    graph = graph_of(Example(op, (x,), (x,), {}, 0))
    choice = candidates_of(graph, target.load("cortex-m4"), Options(input_mode="rows"))[0][0].choice
    steps = [Step(0, choice, True, 2)]
    names = (*choice.node.inputs, *choice.node.outputs)
    assert storage._batches(steps, {str(name): f"b{name}" for name in names}) == {f"b{name}": 2 for name in names}


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_a_step_whose_rows_are_one_batch_is_whole(rows: int) -> None:
    """Nothing takes turns with it: the generated code has no table of events, and so no row to begin at."""
    x = TensorType((1, rows, 1, 4), "f32")
    graph = graph_of(Example(Abs(), (x,), (x,), {}, 0))
    choice = candidates_of(graph, target.load("cortex-m4"), Options(optimize="ram"))[0][0].choice
    built = schedule.build(graph, [replace(choice, rows=0)], [range(1)], keep_input=False)
    assert built.steps[0].by_rows == (rows > 2) == built.interleaved
    assert built.steps[0].events == len(built.trace)


def test_steps_between_groups_are_groups_of_their_own() -> None:
    found = schedule._groups([range(2, 4), range(5, 7)], 8)
    assert found == [range(1), range(1, 2), range(2, 4), range(4, 5), range(5, 7), range(7, 8)]
    assert schedule._groups([], 2) == [range(1), range(1, 2)]
