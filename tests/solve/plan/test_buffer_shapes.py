# SPDX-License-Identifier: Apache-2.0
"""Placement of buffers whose bytes are in use at different times: against brute force, in time, and its checker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

import mcugen
from mcugen.errors import InternalError
from mcugen.solve.plan import Buffer, Piece, buffer_shapes, check, domains, live_bytes, plan
from tests.support.clock import Watch
from tests.support.tflite_writer import ModelWriter

STEPS = 8


def random_shaped(rng: Random) -> list[Buffer]:
    """3 to 5 small buffers; three of four are rings or images taken in row by row."""
    aligns = rng.choice(((1,), (4,), (1, 2, 4)))
    return [_random_buffer(rng, f"t{i}", rng.choice(aligns)) for i in range(rng.randint(3, 5))]


def _random_buffer(rng: Random, name: str, align: int) -> Buffer:
    start = rng.randrange(STEPS)
    if rng.random() < 0.25:
        return Buffer(name, rng.randint(1, 12), align, start, min(STEPS - 1, start + rng.randrange(STEPS // 2)))
    size, rising, start = rng.randint(1, 3), rng.random() < 0.7, start // 2
    pieces = []
    for row in range(rng.randint(2, 4)):
        first = min(STEPS - 1, start + (row if rising and rng.random() < 0.8 else rng.randrange(STEPS // 2)))
        pieces.append(Piece(row * size, size, first, min(STEPS - 1, first + rng.randrange(1 + STEPS // 3))))
    return Buffer.of_pieces(name, align, pieces)


def occupied(b: Buffer) -> list[int]:
    """For each byte a bit mask of the steps in which it is in use."""
    use = [0] * b.nbytes
    for p in b.pieces:
        for i in range(p.offset, p.offset + p.nbytes):
            use[i] |= (1 << (p.last + 1)) - (1 << p.first)
    return use


def brute_force(buffers: Sequence[Buffer]) -> int:
    """The least bytes in which any offsets at all keep the buffers apart."""
    large_first = sorted(buffers, key=lambda b: -b.nbytes)
    capacity = large_first[0].nbytes
    while not fits([(occupied(b), b.align) for b in large_first], [0] * capacity):
        capacity += 1
    return capacity


def fits(left: Sequence[tuple[list[int], int]], arena: list[int]) -> bool:
    if not left:
        return True
    use, align = left[0]
    for start in range(0, len(arena) - len(use) + 1, align):
        if any(arena[start + i] & steps for i, steps in enumerate(use)):
            continue
        taken = [*arena[:start], *(arena[start + i] | s for i, s in enumerate(use)), *arena[start + len(use) :]]
        if fits(left[1:], taken):
            return True
    return False


@pytest.mark.whole
@pytest.mark.parametrize("seed", range(5))
def test_equals_brute_force(seed: int) -> None:
    rng = Random(seed)
    for _ in range(100):
        buffers = random_shaped(rng)
        result = plan(buffers)
        check(buffers, result)
        optimum = brute_force(buffers)
        assert result.nbytes == optimum, buffers
        assert result.floor <= optimum
        assert result.proven


def test_a_ring_lies_in_what_its_producer_has_left() -> None:
    """An image dies row by row while a result grows: both fit where one and a row fit."""
    image = Buffer.of_pieces("image", 1, [Piece(r * 8, 8, 0, r) for r in range(8)])
    result = Buffer.of_pieces("result", 1, [Piece(r * 8, 8, r, 8) for r in range(8)])
    found = plan([image, result])
    check([image, result], found)
    assert max(live_bytes([image, result])) == found.nbytes == 72
    assert found.proven


def test_same_buffers_same_plan() -> None:
    buffers = random_shaped(Random(11))
    assert plan(buffers) == plan(list(buffers))


def test_every_planted_overlap_of_pieces_is_found() -> None:
    """Each buffer moved so that one of its pieces meets a piece of another that is in use at the same step."""
    rng, planted = Random(3), 0
    for _ in range(60):
        buffers = random_shaped(rng)
        good = plan(buffers)
        check(buffers, good)
        for a in buffers:
            for start in range(0, good.nbytes - a.nbytes + 1, a.align):
                moved = replace(good, offset={**good.offset, a.name: start})
                if clash(buffers, moved.offset, good.nbytes):
                    planted += 1
                    with pytest.raises(InternalError, match="overlap in bytes"):
                        check(buffers, moved)
                else:
                    check(buffers, moved)
    assert planted > 500


def clash(buffers: Sequence[Buffer], offset: Mapping[str, int], nbytes: int) -> bool:
    """Whether two buffers use one byte at one step, found byte by byte."""
    arena = [0] * nbytes
    for b in buffers:
        for i, steps in enumerate(occupied(b)):
            if arena[offset[b.name] + i] & steps:
                return True
            arena[offset[b.name] + i] |= steps
    return False


def test_checker_finds_pieces_that_meet_at_one_step_only() -> None:
    image = Buffer.of_pieces("image", 1, [Piece(r, 1, 0, r) for r in range(4)])
    result = Buffer.of_pieces("result", 1, [Piece(r, 1, r, 4) for r in range(4)])
    good = plan([image, result])
    assert good.nbytes == 5
    with pytest.raises(InternalError, match=r"image and result overlap in bytes 0\.\.0 at step 0"):
        check([image, result], replace(good, offset={"image": 0, "result": 0}))


def deep_network(layers: int, rows: int) -> bytes:
    """`layers` convolutions, every third strided, with a residual connection now and then."""
    rng = np.random.default_rng(5)
    m = ModelWriter()
    quant = {"scale": 0.05, "zero_point": 3}
    shape = (1, rows, rows, 3)
    x = start = m.tensor("x", shape, "s8", **quant)
    for k in range(layers):
        stride = 2 if k in (1, 20, 50, 80, 110) else 1
        w = m.tensor(f"w{k}", (8, 3, 3, shape[3]), "s8", scale=0.01, data=rng.integers(-127, 127, (8, 3, 3, shape[3])))
        shape = (1, -(-shape[1] // stride), -(-shape[2] // stride), 8)
        y = m.tensor(f"y{k}", shape, "s8", **quant)
        m.op("CONV_2D", [x, w, -1], [y], {"padding": "SAME", "stride_h": stride, "stride_w": stride})
        if k % 5 == 4 and stride == 1:
            total = m.tensor(f"s{k}", shape, "s8", **quant)
            m.op("ADD", [y, x], [total])
            y = total
        x = y
    return m.build([start], [x])


@pytest.mark.whole
def test_deep_network_with_many_rows_is_planned_in_seconds(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    layers, steps, limit = (130, 150, 15) if pytestconfig.getoption("--whole") else (80, 92, 10)
    path = tmp_path / "deep.tflite"
    path.write_bytes(deep_network(layers, 224))
    made = mcugen.compile(path, input_mode="rows")
    assert len(made.schedule.steps) >= steps
    buffers = made.schedule.buffers()
    watch = Watch()
    found = plan(buffers)
    seconds = watch.seconds()
    check(buffers, found)
    assert found.nbytes <= 1.05 * found.lower_bound
    assert seconds < limit


def test_a_buffer_as_large_as_the_arena_has_one_place() -> None:
    b = Buffer("b", 24, 8, 0, 1)
    assert [domains._first_domain(b, size, 4) for size in (20, 24, 28, 32)] == [0, 0b1, 0b1, 0b101]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(20))
def test_an_order_is_placed_again_as_if_from_the_start(seed: int) -> None:
    """After each of many moves and swaps, as hill climbing makes them, though most buffers are not looked at again."""
    rng = Random(seed)
    buffers = [_random_buffer(rng, f"t{i}", rng.choice((1, 4))) for i in range(12)]
    near = list(map(buffer_shapes._Near.of, buffers, buffer_shapes._forbidden(buffers)))
    order = list(range(len(buffers)))
    placed = buffer_shapes._place(buffers, near, order)
    found, refused = {tuple(placed)}, 0
    for _ in range(40):
        move = buffer_shapes._moved(order, rng.sample(order, len(order)), rng)
        anew = buffer_shapes._place(buffers, near, move.order)
        assert buffer_shapes._place_again(buffers, near, move, placed) == anew
        most = buffer_shapes.height(buffers, placed)
        within = buffer_shapes._place_again(buffers, near, move, placed, most)
        assert within == (anew if buffer_shapes.height(buffers, anew) <= most else None)
        refused += within is None
        order, placed = move.order, anew
        found.add(tuple(placed))
    assert len(found) > 3 and refused
