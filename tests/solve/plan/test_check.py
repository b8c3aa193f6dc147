"""Every fault planted in a good plan is found, and named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mcugen.errors import InternalError
from mcugen.solve.plan import Buffer, MemoryPlan, check, plan

BUFFERS = [
    Buffer("conv_1", 64, 16, 0, 2),
    Buffer("conv_2", 32, 16, 2, 4),
    Buffer("late", 64, 16, 3, 4),
    Buffer("empty", 0, 1, 0, 4),
]
OFFSET = {"conv_1": 0, "conv_2": 64, "late": 0, "empty": 0}
GOOD = MemoryPlan(OFFSET, 96, lower_bound=96, peak_step=2, proven=True, method="by hand", floor=96)


def moved(**offset: int) -> MemoryPlan:
    return replace(GOOD, offset={**GOOD.offset, **offset})


def test_good_plan_passes() -> None:
    check(BUFFERS, GOOD)
    check(BUFFERS, plan(BUFFERS))


def test_overlap_names_buffers_step_and_bytes() -> None:
    with pytest.raises(InternalError, match=r"conv_1 and conv_2 overlap in bytes 48\.\.63 at step 2"):
        check(BUFFERS, moved(conv_2=48))


def test_overlap_of_one_byte_is_found() -> None:
    bytes_only = [replace(b, align=1) for b in BUFFERS]
    with pytest.raises(InternalError, match=r"bytes 63\.\.63 at step 2"):
        check(bytes_only, moved(conv_2=63))


def test_buffer_inside_another_is_found() -> None:
    with pytest.raises(InternalError, match=r"late and conv_2 overlap in bytes 16\.\.47 at step 3"):
        check(BUFFERS, moved(conv_2=16, conv_1=32))


def test_every_single_overlap_of_a_planned_graph_is_found() -> None:
    buffers = [Buffer(f"t{i}", 10 + i, 1, i, i + 2) for i in range(8)]
    good = plan(buffers)
    check(buffers, good)
    for a in buffers:
        for b in buffers:
            if a is not b and a.first <= b.last and b.first <= a.last:
                planted = replace(good, offset={**good.offset, a.name: good.offset[b.name]}, nbytes=good.nbytes + 20)
                with pytest.raises(InternalError, match="overlap"):
                    check(buffers, planted)


def test_sharing_bytes_at_different_times_is_lawful() -> None:
    check(BUFFERS[:1] + BUFFERS[2:3], MemoryPlan({"conv_1": 0, "late": 0}, 64, 64, 0, True, "by hand", 64))


@pytest.mark.parametrize(
    ("planted", "message"),
    [
        (moved(conv_2=68), "conv_2: offset 68 is not a multiple of its alignment 16"),
        (moved(conv_1=-16), "conv_1: offset -16 is negative"),
        (replace(GOOD, nbytes=95), r"conv_2: bytes 64\.\.95 do not fit an arena of 95 bytes"),
        (replace(GOOD, offset={"conv_1": 0, "conv_2": 64, "late": 0}), "do not match one to one: empty"),
        (moved(ghost=0), "do not match one to one: ghost"),
        (replace(GOOD, lower_bound=95), "lower bound 95 at step 2 is stated, 96 bytes is the peak"),
        (replace(GOOD, peak_step=0), "at step 0 is stated"),
        (replace(GOOD, nbytes=112), "112 bytes are called optimal, only 96"),
    ],
)
def test_planted_fault_is_named(planted: MemoryPlan, message: str) -> None:
    with pytest.raises(InternalError, match=message):
        check(BUFFERS, planted)


def test_two_buffers_of_one_name_are_found() -> None:
    with pytest.raises(InternalError, match="one to one: conv_1"):
        check([*BUFFERS, Buffer("conv_1", 4, 1, 9, 9)], GOOD)
