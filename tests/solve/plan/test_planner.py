"""The planner against brute force, known optima and its own bound."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from random import Random

import pytest

from mcugen.errors import InternalError
from mcugen.solve.plan import Buffer, check, live_bytes, plan, plan_regions
from mcugen.solve.plan.buffers import height
from mcugen.solve.plan.exact import search
from mcugen.solve.plan.greedy import near_of, orders, place
from mcugen.solve.plan.hillclimb import climb
from tests.support.clock import Watch


def random_buffers(rng: Random, n: int, steps: int, longest: int, largest: int, aligns: Sequence[int]) -> list[Buffer]:
    buffers = []
    for i in range(n):
        first = rng.randrange(steps)
        last = min(steps - 1, first + rng.randrange(longest))
        buffers.append(Buffer(f"t{i}", rng.randint(1, largest), rng.choice(aligns), first, last))
    return buffers


def brute_force(buffers: Sequence[Buffer]) -> int:
    """The optimum: some order of dropping every buffer onto those below it gives it, so all orders are tried."""
    best = sum(b.nbytes + b.align for b in buffers)
    for order in permutations(buffers):
        tops: list[tuple[Buffer, int]] = []
        for b in order:
            below = [top for other, top in tops if other.first <= b.last and b.first <= other.last]
            start = max(below, default=0)
            while start % b.align:
                start += 1
            tops.append((b, start + b.nbytes))
            if start + b.nbytes >= best:
                break
        else:
            best = max(top for _, top in tops)
    return best


def fits(buffers: Sequence[Buffer], capacity: int, placed: tuple[tuple[Buffer, int], ...] = ()) -> bool:
    """Whether any offsets at all, floating ones too, keep the buffers apart within `capacity`."""
    if not buffers:
        return True
    b = buffers[0]
    for start in range(0, capacity - b.nbytes + 1, b.align):
        apart = (
            o.last < b.first or b.last < o.first or at + o.nbytes <= start or start + b.nbytes <= at for o, at in placed
        )
        if all(apart) and fits(buffers[1:], capacity, (*placed, (b, start))):
            return True
    return False


# Four bytes are live at every step, yet no four bytes hold them: (nbytes, first, last).
GAP = [(2, 0, 2), (2, 0, 0), (1, 1, 4), (1, 1, 1), (1, 2, 3), (1, 3, 4), (1, 3, 3), (2, 4, 5), (2, 5, 5)]


def gap_buffers(unit: int = 1, align: int = 1) -> list[Buffer]:
    return [Buffer(f"t{i}", n * unit, align, first, last) for i, (n, first, last) in enumerate(GAP)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(10))
def test_equals_brute_force(seed: int) -> None:
    rng = Random(seed)
    for _ in range(50):
        n = 5 if rng.random() < 0.5 else 6 if rng.random() < 0.8 else 7
        buffers = random_buffers(rng, n, steps=6, longest=4, largest=12, aligns=rng.choice([(1,), (4,), (1, 2, 8)]))
        result = plan(buffers)
        check(buffers, result)
        assert result.nbytes == brute_force(buffers), buffers
        assert result.proven
        assert result.lower_bound <= result.floor == result.nbytes


@pytest.mark.parametrize("seed", range(4))
def test_exact_search_alone_equals_brute_force(seed: int) -> None:
    rng = Random(100 + seed)
    for _ in range(25):
        buffers = random_buffers(rng, 6, steps=5, longest=4, largest=9, aligns=(1, 4))
        optimum = brute_force(buffers)
        found = search(buffers, optimum, nodes=100_000)
        assert found.offset is not None
        assert height(buffers, found.offset) == optimum
        assert search(buffers, optimum - 1, nodes=100_000).exhausted


def test_search_says_when_the_limit_and_not_the_tree_ended_it() -> None:
    outcome = search(gap_buffers(), 4, nodes=2)
    assert (outcome.offset, outcome.exhausted, outcome.nodes) == (None, False, 2)


def test_chain_reaches_the_bound_greedily() -> None:
    sizes = [490, 4000, 8000, 8000, 8000, 4000, 64, 12]
    chain = [Buffer(f"t{i}", n, 16, max(0, i - 1), i) for i, n in enumerate(sizes)]
    result = plan(chain)
    check(chain, result)
    assert (result.nbytes, result.lower_bound, result.peak_step) == (16000, 16000, 2)
    assert result.proven
    assert result.method == "greedy size"
    assert result.gap_bytes == 0


def test_residual_block_reaches_the_bound() -> None:
    """The peak of a residual network: skip, branch and sum live together."""
    buffers = [
        Buffer("skip", 16384, 4, 0, 3),
        Buffer("conv_1", 16384, 4, 1, 2),
        Buffer("conv_2", 16384, 4, 2, 3),
        Buffer("sum", 16384, 4, 3, 4),
        Buffer("scratch", 640, 4, 2, 2),
    ]
    result = plan(buffers)
    check(buffers, result)
    assert result.nbytes == 3 * 16384 + 640


def test_greedy_is_beaten_where_it_must_be() -> None:
    rng = Random(5)
    beaten = 0
    for _ in range(200):
        buffers = random_buffers(rng, 14, steps=10, longest=6, largest=40, aligns=(1,))
        greedy = min(height(buffers, place(buffers, order, near_of(buffers))) for _, order in orders(buffers))
        result = plan(buffers)
        check(buffers, result)
        assert result.nbytes <= greedy
        beaten += result.nbytes < greedy
    assert beaten >= 10


def test_bound_that_no_plan_reaches_is_proven_by_search() -> None:
    buffers = gap_buffers()
    assert set(live_bytes(buffers)) == {4}
    assert not fits(buffers, 4)
    result = plan(buffers)
    check(buffers, result)
    assert (result.lower_bound, result.floor, result.nbytes) == (4, 5, 5)
    assert result.proven


def test_proven_gap_scales_with_alignment() -> None:
    buffers = gap_buffers(unit=16, align=16)
    result = plan(buffers)
    check(buffers, result)
    assert (result.lower_bound, result.nbytes, result.proven) == (64, 80, True)


def test_alignment_padding_is_not_a_gap() -> None:
    buffers = [Buffer("a", 5, 8, 0, 0), Buffer("b", 5, 8, 0, 0), Buffer("c", 3, 8, 0, 0)]
    result = plan(buffers)
    check(buffers, result)
    assert (result.lower_bound, result.floor, result.nbytes) == (13, 19, 19)
    assert result.proven


def test_fine_buffers_fill_the_padding_of_coarse_ones() -> None:
    buffers = [Buffer("a", 9, 16, 0, 0), Buffer("b", 16, 16, 0, 0), Buffer("c", 7, 1, 0, 0)]
    result = plan(buffers)
    check(buffers, result)
    assert result.nbytes == result.lower_bound == 32


def test_no_buffers() -> None:
    result = plan([])
    check([], result)
    assert (result.nbytes, result.lower_bound, result.proven, dict(result.offset)) == (0, 0, True, {})


def test_zero_byte_buffers_take_no_room() -> None:
    buffers = [Buffer("empty", 0, 16, 0, 3), Buffer("a", 8, 4, 0, 1), Buffer("also_empty", 0, 1, 1, 1)]
    result = plan(buffers)
    check(buffers, result)
    assert (result.nbytes, result.offset["empty"], result.offset["a"]) == (8, 0, 0)


def test_groups_that_never_meet_share_bytes() -> None:
    buffers = [Buffer("early", 100, 4, 0, 2), Buffer("late_1", 60, 4, 3, 5), Buffer("late_2", 60, 4, 4, 6)]
    result = plan(buffers)
    check(buffers, result)
    assert (result.nbytes, result.peak_step) == (120, 4)


@pytest.mark.whole
def test_same_buffers_same_plan() -> None:
    buffers = random_buffers(Random(3), 60, steps=40, longest=12, largest=3000, aligns=(4, 16))
    assert plan(buffers) == plan(list(buffers))


def test_climbing_never_loses_what_it_started_with() -> None:
    buffers = random_buffers(Random(8), 40, steps=20, longest=8, largest=500, aligns=(1, 4))
    start = list(range(len(buffers)))
    before = height(buffers, place(buffers, start, near_of(buffers)))
    assert height(buffers, climb(buffers, start, target=0, rounds=60)) < before


@pytest.mark.whole
def test_thousand_buffers_in_time() -> None:
    for steps, longest in ((800, 20), (100, 100)):
        buffers = random_buffers(Random(1), 1000, steps=steps, longest=longest, largest=5000, aligns=(4, 8, 16))
        watch = Watch()
        result = plan(buffers)
        assert watch.seconds() < 7
        check(buffers, result)
        assert result.nbytes <= 1.1 * result.lower_bound


def test_one_plan_per_region() -> None:
    buffers = [Buffer("a", 10, 1, 0, 1, "dtcm"), Buffer("b", 20, 1, 0, 1, "sram"), Buffer("c", 30, 1, 1, 2, "dtcm")]
    plans = plan_regions(buffers)
    assert {region: p.nbytes for region, p in plans.items()} == {"dtcm": 40, "sram": 20}
    with pytest.raises(InternalError, match="dtcm, sram"):
        plan(buffers)


def test_two_buffers_of_one_name_are_refused() -> None:
    with pytest.raises(InternalError, match="buffer a"):
        plan([Buffer("a", 1, 1, 0, 0), Buffer("a", 2, 1, 1, 1)])


@pytest.mark.parametrize(
    ("nbytes", "align", "first", "last"), [(-1, 1, 0, 0), (1, 0, 0, 0), (1, 3, 0, 0), (1, 1, 2, 1), (1, 1, -1, 0)]
)
def test_impossible_buffers_are_refused(nbytes: int, align: int, first: int, last: int) -> None:
    with pytest.raises(InternalError, match="buffer odd"):
        Buffer("odd", nbytes, align, first, last)


def test_nothing_needs_no_bytes() -> None:
    assert height([], []) == 0
