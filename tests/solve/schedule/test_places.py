# SPDX-License-Identifier: Apache-2.0
"""Tensors that lie in each other: what a join, a split or a residual needs in bytes, and where copies stay."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mcugen
from mcugen import kernels
from mcugen.ir.kernel import Join
from mcugen.options import Options
from mcugen.pipeline import Artifact
from mcugen.solve import budget, schedule
from mcugen.solve.plan import MemoryPlan, Region, plan
from mcugen.solve.schedule import Schedule
from mcugen.solve.schedule.places import Place
from mcugen.verify import host
from mcugen.verify.cases import cases
from tests.support.tflite_writer import ModelWriter

PIXELS = {"padding": "SAME", "stride_h": 1, "stride_w": 1}


class Net:
    """A network of int8 tensors of one scale, written operator by operator."""

    def __init__(self) -> None:
        self.m = ModelWriter()
        self.count = 0

    def tensor(self, *shape: int, data: Any = None) -> int:
        self.count += 1
        return self.m.tensor(f"t{self.count}", shape, "s8", scale=0.1, data=data)

    def ints(self, *values: int) -> int:
        self.count += 1
        return self.m.tensor(f"t{self.count}", (len(values),), "s32", data=values)

    def op(self, name: str, inputs: list[int], shape: tuple[int, ...], **options: Any) -> int:
        y = self.tensor(*shape)
        self.m.op(name, inputs, [y], options)
        return y

    def conv(self, x: int, shape: tuple[int, ...], channels: int, side: int = 1) -> int:
        """A convolution of `channels` input channels to `shape`."""
        self.count += 1
        data = np.random.default_rng(self.count).integers(-127, 128, (shape[-1], side, side, channels))
        w = self.m.tensor(f"w{self.count}", data.shape, "s8", scale=[0.01] * shape[-1], data=data)
        return self.op("CONV_2D", [x, w, -1], shape, **PIXELS)

    def built(self, folder: Path, inputs: list[int], outputs: list[int], **options: Any) -> Artifact:
        (folder / "m.tflite").write_bytes(self.m.build(inputs, outputs))
        return mcugen.compile(folder / "m.tflite", **options)


def is_exact(made: Artifact) -> bool:
    return host.verify(made, list(cases(made.imported, 1))).agrees


def working_bytes(made: Artifact) -> int:
    return max(step.scratch_bytes + step.ring_bytes for step in made.schedule.steps)


def copies(made: Artifact) -> int:
    return sum(step.choice.kernel.symbol == "mg_copy" for step in made.schedule.steps)


def joined(net: Net, parts: list[int], rows: int) -> int:
    return net.op("CONCATENATION", parts, (1, rows, 4, 8), axis=1)


def test_parts_are_written_where_they_lie(tmp_path: Path) -> None:
    net = Net()
    x = net.tensor(1, 4, 4, 8)
    parts = [net.conv(x, (1, 4, 4, 8), 8) for _ in range(3)]
    made = net.built(tmp_path, [x], [joined(net, parts, 12)], no_rows=True)
    assert [type(step.choice.node.op).__name__ for step in made.schedule.steps] == ["Conv2D"] * 3
    assert made.plan.nbytes == made.plan.lower_bound == 128 + 3 * 128 + working_bytes(made)
    (name,) = made.graph.outputs
    join = made.graph.nodes[-1]
    assert [made.schedule.places[str(part)] for part in join.inputs] == [Place(name, start) for start in (0, 128, 256)]
    for path in (f"{made.name}.c", "memory.svg"):
        assert b"from byte 128" in made.files[path]


def test_a_part_that_dies_leaves_its_bytes_to_others(tmp_path: Path) -> None:
    """The second half of a split is read late; the first one's bytes hold what is made in between."""
    net = Net()
    x = net.tensor(1, 8, 4, 8)
    both = net.conv(x, (1, 8, 4, 8), 8)
    halves = [net.tensor(1, 4, 4, 8) for _ in range(2)]
    net.m.op("SPLIT", [net.ints(1), both], halves, {"num_splits": 2})
    wide = net.conv(halves[0], (1, 4, 4, 16), 8)
    narrow = net.conv(wide, (1, 4, 4, 8), 16)
    y = net.op("ADD", [narrow, halves[1]], (1, 4, 4, 8))
    made = net.built(tmp_path, [x], [y], no_rows=True, features="-dsp", board="cortex-m4")
    assert [type(step.choice.node.op).__name__ for step in made.schedule.steps] == ["Conv2D"] * 3 + ["Add"]
    scratch = working_bytes(made)
    assert made.plan.lower_bound == 256 + 256 + scratch  # while `wide` is made: both halves and twice a half
    late = next(b for b in made.schedule.buffers() if b.name == made.graph.nodes[0].outputs[0])
    assert sorted({(p.offset >= 128, p.last) for p in late.pieces}) == [(False, 1), (True, 3)]


@pytest.mark.parametrize("kind", ["twice", "constant", "view", "other join"])
def test_only_the_part_that_cannot_lie_there_is_copied(kind: str, tmp_path: Path) -> None:
    net = Net()
    x = net.tensor(1, 4, 4, 8)
    a, b = (net.conv(x, (1, 4, 4, 8), 8) for _ in range(2))
    inputs, outputs, part = [x], [], a
    if kind == "constant":
        part = net.tensor(1, 4, 4, 8, data=np.arange(128).reshape(1, 4, 4, 8))
    elif kind == "view":
        inputs.append(net.tensor(1, 8, 4, 8))
        part = net.tensor(1, 4, 4, 8)
        net.m.op("SPLIT", [net.ints(1), inputs[1]], [net.tensor(1, 4, 4, 8), part], {"num_splits": 2})
    elif kind == "other join":
        outputs.append(joined(net, [a, net.conv(x, (1, 4, 4, 8), 8)], 8))
    parts = [b, part, a] if kind != "other join" else [b, part]
    outputs.append(joined(net, parts, 4 * len(parts)))
    made = net.built(tmp_path, inputs, outputs, no_rows=True)
    assert copies(made) == 1
    assert not any("concatenation" in step.choice.kernel.symbol for step in made.schedule.steps)


@pytest.mark.whole
def test_a_part_lies_where_kernels_can_rely_on_its_alignment(tmp_path: Path) -> None:
    net = Net()
    ends = [net.tensor(1, n) for n in (3, 8, 4)]
    parts = [net.op("RELU", [x], (1, n)) for x, n in zip(ends, (3, 8, 4), strict=True)]
    made = net.built(tmp_path, ends, [net.op("CONCATENATION", parts, (1, 15), axis=1)])
    assert copies(made) == 2
    (buffer,) = {made.schedule.places[made.graph.outputs[0]].buffer}
    inside = [n for n, place in made.schedule.places.items() if place.buffer == buffer and place.start % 4]
    assert [type(node.op).__name__ for node in made.graph.nodes if node.outputs[0] in inside] == ["Copy"] * 2
    assert is_exact(made)


def test_where_no_part_can_lie_there_the_join_stays_one_step(tmp_path: Path) -> None:
    net = Net()
    x = net.tensor(1, 4, 4, 8)
    halves = [net.tensor(1, 2, 4, 8) for _ in range(2)]
    net.m.op("SPLIT", [net.ints(1), x], halves, {"num_splits": 2})
    made = net.built(tmp_path, [x], [joined(net, halves[::-1], 4)])
    assert ["concatenation" in step.choice.kernel.symbol for step in made.schedule.steps] == [True]


def test_a_join_of_joins_lies_in_one_buffer(tmp_path: Path) -> None:
    net = Net()
    x = net.tensor(1, 4, 4, 8)
    inner = joined(net, [net.conv(x, (1, 4, 4, 8), 8) for _ in range(2)], 8)
    made = net.built(tmp_path, [x], [joined(net, [net.conv(x, (1, 4, 4, 8), 8), inner], 12)], no_rows=True)
    starts = sorted(place.start for place in made.schedule.places.values() if place.buffer == made.graph.outputs[0])
    assert starts == [0, 0, 128, 128, 256]
    assert copies(made) == 0


def test_inputs_and_outputs_can_be_parts(tmp_path: Path) -> None:
    net = Net()
    a, b = net.tensor(1, 4, 4, 8), net.tensor(1, 4, 4, 8)
    part = net.op("RELU", [a], (1, 4, 4, 8))
    y = joined(net, [part, b], 8)
    made = net.built(tmp_path, [a, b], [part, y])
    assert made.plan.nbytes == 256  # the result, over one input and with the other in it
    offset = {end.label: end.offset for end in made.view.ends}
    assert offset["t2"] == offset["t4"] + 128
    kept = net.built(tmp_path, [a, b], [part, y], keep_input=True)
    assert kept.plan.nbytes == 384
    assert is_exact(kept)


def test_an_operand_that_dies_is_overwritten_in_its_part(tmp_path: Path) -> None:
    """Elementwise results take over their operand also where they are parts of something larger."""
    net = Net()
    x = net.tensor(1, 4, 4, 8)
    parts = [net.op("RELU", [net.conv(x, (1, 4, 4, 8), 8)], (1, 4, 4, 8)) for _ in range(2)]
    made = net.built(tmp_path, [x], [joined(net, parts, 8)], no_rows=True, no_simplify=True)
    assert made.plan.nbytes == made.plan.lower_bound == 128 + 256 + working_bytes(made)


def residual(folder: Path, *, flipped: bool = False, side: int = 3, **options: Any) -> Artifact:
    """A convolution, another one of its result, and the sum of that with the result of the first, or the other way."""
    net = Net()
    x = net.tensor(1, 8, 8, 2)
    a = net.conv(x, (1, 8, 8, 8), 2)
    b = net.conv(a, (1, 8, 8, 8), 8, side=side)
    y = net.op("ADD", [a, b] if flipped else [b, a], (1, 8, 8, 8))
    small = net.op(
        "MAX_POOL_2D", [y], (1, 1, 1, 8), padding="VALID", stride_h=8, stride_w=8, filter_height=8, filter_width=8
    )
    return net.built(folder, [x], [small], **options)


def test_a_sum_is_made_over_one_of_its_operands(tmp_path: Path) -> None:
    made = residual(tmp_path, no_rows=True)
    assert made.plan.nbytes == made.plan.lower_bound == 512 + 512 + working_bytes(made)


@pytest.mark.parametrize("flipped", [False, True])
def test_a_convolution_writes_over_the_rows_of_the_operand_that_waits_for_its_sum(
    tmp_path: Path, flipped: bool
) -> None:
    """Row y of the sum is made when rows y - 1 to the last of that operand are left: ten rows of eight, not sixteen."""
    made = residual(tmp_path, flipped=flipped, optimize="ram", features="-dsp", board="cortex-m4")
    assert [step.by_rows for step in made.schedule.steps[1:3]] == [True, True]
    assert made.plan.nbytes == made.plan.lower_bound == 10 * 64 + made.schedule.steps[1].scratch_bytes
    places, (first, second, total, _) = made.schedule.places, made.graph.nodes
    assert places[second.outputs[0]] == places[total.outputs[0]] != places[first.outputs[0]]


def test_a_sum_lies_over_the_operand_that_leaves_the_smaller_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By bytes in use that is the one computed last, but its plan may have holes; here it is made to have them."""
    model = residual(tmp_path, side=1, no_rows=True, features="-dsp", board="cortex-m4")
    choices = [step.choice for step in model.schedule.steps]

    def planned() -> tuple[Schedule, MemoryPlan]:
        made = budget.unplanned(model.graph, choices, (range(3),), Options(), (Region("ram", None),)).planned()
        return made.schedule, made.plan

    last, least = planned()
    first, second, total, _ = (node.outputs[0] for node in model.graph.nodes)
    assert last.places[total] == last.places[second] != last.places[first]
    assert schedule.over_first(last, choices, keep_input=False) is None  # the sum's first operand was computed last

    flipped = residual(tmp_path, side=1, flipped=True, no_rows=True, features="-dsp", board="cortex-m4")
    model, choices = flipped, [step.choice for step in flipped.schedule.steps]
    assert planned()[1].nbytes == least.nbytes
    holes = iter((10_000, least.nbytes + 8))
    monkeypatch.setattr(budget, "plan", lambda buffers: replace(plan(buffers), nbytes=next(holes)))
    other, _ = planned()
    assert other.places[total] == other.places[first] != other.places[second]


def test_what_is_read_in_frames_stays_whole(tmp_path: Path) -> None:
    """A part of a tensor that streams would be rows of other times."""
    net = Net()
    x = net.tensor(1, 8, 4, 8)
    cut = net.op("STRIDED_SLICE", [x, net.ints(0, 4, 0, 0), net.ints(1, 8, 4, 8), net.ints(1, 1, 1, 1)], (1, 4, 4, 8))
    y = net.conv(cut, (1, 4, 4, 8), 8)
    (tmp_path / "m.tflite").write_bytes(net.m.build([x], [y]))
    made = mcugen.compile(tmp_path / "m.tflite", input_mode="frames")
    assert made.schedule.rolls and any("joins, cuts or reshapes rows" in note for note in made.report.notes)


def test_the_join_itself_is_no_step(tmp_path: Path) -> None:
    net = Net()
    x = net.tensor(1, 4, 4, 8)
    y = joined(net, [net.conv(x, (1, 4, 4, 8), 8) for _ in range(2)], 8)
    made = net.built(tmp_path, [x], [net.op("RELU", [y], (1, 8, 4, 8))])
    join = next(n for n in made.graph.nodes if type(n.op).__name__ == "Concatenation")
    call = made.graph.call(join, "tflm")
    first = next(k for k in kernels.of(join.op) if not k.refusals(call, frozenset()))
    assert isinstance(first.form, Join)
    assert len(made.schedule.steps) == 3
