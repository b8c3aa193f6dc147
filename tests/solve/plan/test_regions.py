# SPDX-License-Identifier: Apache-2.0
"""Buffers over several memories: every split is checked, the hot ones come first, and what does not fit is said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random

import pytest

from mcugen.errors import InternalError
from mcugen.solve.plan import Buffer, MemoryPlan, Piece, Region, assign, check, lower_bound, plan


def random_buffers(rng: Random, n: int, *, rings: bool) -> list[Buffer]:
    made = []
    for i in range(n):
        first = rng.randrange(12)
        last = min(first + rng.randrange(6), 12)
        size = rng.randint(1, 60)
        if rings and rng.random() < 0.5:
            pieces = [Piece(k * size, size, min(first + k, last), last) for k in range(rng.randint(2, 4))]
            made.append(Buffer.of_pieces(f"t{i}", 4, pieces))
        else:
            made.append(Buffer(f"t{i}", size, rng.choice((1, 4, 8)), first, last))
    return made


def held_by(found: MemoryPlan) -> dict[str, set[str]]:
    return {part.region: set(part.offset) for part in found.parts}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("rings", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_every_split_is_a_plan_within_its_regions(seed: int, rings: bool) -> None:
    rng = Random(seed)
    spread = 0
    for _ in range(12):
        buffers = random_buffers(rng, rng.randint(2, 12), rings=rings)
        heat = {b.name: rng.randrange(1000) for b in buffers}
        peak = lower_bound(buffers)[0]
        regions = [Region(f"r{k}", rng.randint(peak // 3, peak)) for k in range(3)]
        found = assign(buffers, heat, regions)
        if found is None:
            continue
        check(buffers, found)
        assert sorted(name for part in found.parts for name in part.offset) == sorted(b.name for b in buffers)
        for part in found.parts:
            assert next(r for r in regions if r.name == part.region).holds(part.nbytes)
        assert [r.name for r in regions if r.name in held_by(found)] == [part.region for part in found.parts]
        assert found == assign(buffers, heat, regions)
        spread += len(found.parts) > 1
    assert spread >= 3


def always(names: str, nbytes: int = 100) -> list[Buffer]:
    """Buffers that all live at once."""
    return [Buffer(name, nbytes, 4, 0, 1) for name in names]


def test_most_accesses_per_byte_go_to_the_first_region() -> None:
    buffers = [*always("abcd"), Buffer("small", 20, 4, 0, 1)]
    heat = {"a": 10, "b": 40, "c": 30, "d": 20, "small": 9}  # small: the most accesses per byte
    found = assign(buffers, heat, [Region("fast", 220), Region("slow", 1000)])
    assert found is not None
    assert held_by(found) == {"fast": {"small", "b", "c"}, "slow": {"a", "d"}}


def test_lifetimes_share_the_fast_region() -> None:
    """Two buffers that never live at once take the place of one."""
    buffers = [Buffer("a", 100, 4, 0, 1), Buffer("b", 100, 4, 2, 3), Buffer("c", 100, 4, 0, 3)]
    found = assign(buffers, {"a": 5, "b": 5, "c": 1}, [Region("fast", 100), Region("slow", 100)])
    assert found is not None
    assert held_by(found) == {"fast": {"a", "b"}, "slow": {"c"}}


def test_by_size_where_heat_leaves_something_out() -> None:
    """The small hot one would take the place of the large one, which fits nowhere else."""
    buffers = [Buffer("hot", 20, 4, 0, 1), Buffer("large", 100, 4, 0, 1)]
    found = assign(buffers, {"hot": 1000, "large": 1}, [Region("fast", 100), Region("slow", 40)])
    assert found is not None
    assert held_by(found) == {"fast": {"large"}, "slow": {"hot"}}


def test_none_where_nothing_holds_a_buffer() -> None:
    assert assign(always("ab"), {}, [Region("fast", 99), Region("slow", 99)]) is None
    assert assign(always("abc"), {}, [Region("fast", 100), Region("slow", 100)]) is None


def test_an_unlimited_room_takes_all() -> None:
    found = assign(always("ab"), {}, [Region("ram", None)])
    assert found is not None
    assert found.further == ()
    assert found.nbytes == plan(always("ab")).nbytes == 200


def split() -> tuple[Sequence[Buffer], Mapping[str, int], MemoryPlan]:
    buffers = always("abc")
    heat = {"a": 3, "b": 2, "c": 1}
    found = assign(buffers, heat, [Region("fast", 200), Region("slow", 200)])
    assert found is not None
    return buffers, heat, found


def test_the_checker_sees_faults_in_a_further_region() -> None:
    buffers, _, good = split()
    (slow,) = good.further
    for bad, message in (
        (replace(slow, offset={"c": 4}), "do not fit an arena"),
        (replace(slow, offset={"c": 2}, nbytes=104), "not a multiple of its alignment"),
        (replace(slow, offset={}), "do not match one to one: c"),
        (replace(slow, offset={"c": 0, "a": 0}), "do not match one to one: a"),
        (replace(slow, lower_bound=99), "99 at step 0 is stated, 100 bytes is the peak"),
        (replace(slow, region="fast"), "two arenas in one region: fast, fast"),
    ):
        with pytest.raises(InternalError, match=message):
            check(buffers, replace(good, further=(bad,)))
    check(buffers, good)
