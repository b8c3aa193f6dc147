# SPDX-License-Identifier: Apache-2.0
"""Transposes move no bytes where operators can run on what is stored, and no value changes."""

from __future__ import annotations

import random

import numpy as np
import pytest

from mcugen import passes
from mcugen.ir.axis_order import Order, move
from mcugen.ir.graph import Graph
from mcugen.ops.transpose import Transpose
from tests.passes.channels_first import Builder
from tests.passes.net import differences


def moves(graph: Graph) -> int:
    """Transposes that move bytes."""
    done = passes.run(graph, "tflm")
    assert not differences(graph, done, "tflm")
    return sum(isinstance(node.op, Transpose) for node in done.nodes)


def test_a_network_moves_only_its_input() -> None:
    b = Builder(1)
    x = b.input((1, 3, 6, 5))
    a = b.relu(b.conv(x, 4))
    c = b.add_channels(b.add(a, b.conv(a, 4)))
    d = b.concat([b.pad(c), b.pad(b.depthwise(a))])
    assert moves(b.graph(b.dense(b.flatten(b.mean(d)), 5))) == 1


def test_an_image_of_one_channel_moves_nothing() -> None:
    b = Builder(2)
    x = b.input((1, 1, 6, 5))
    assert moves(b.graph(b.dense(b.flatten(b.relu(b.conv(x, 4))), 3))) == 0


def test_channel_shuffles_go_into_weights() -> None:
    b = Builder(3)
    x = b.conv(b.input((1, 1, 6, 6)), 12)
    y = b.conv(b.depthwise(b.relu(b.shuffle(x, 3))), 6, kernel=1)
    z = b.dense(b.flatten(b.shuffle(y, 2)), 3)
    assert moves(b.graph(z)) == 0


def test_outputs_are_as_the_model_states_them() -> None:
    b = Builder(4)
    y = b.conv(b.input((1, 1, 4, 6)), 3)
    assert moves(b.graph(y)) == 1
    assert moves(b.graph(b.mean(y), y)) == 1


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(25))
def test_random_networks(seed: int) -> None:
    rng, b = random.Random(seed), Builder(seed)
    values = [b.input((1, rng.choice((1, 2, 4)), 4, 6))]
    for _ in range(rng.randint(3, 9)):
        x = rng.choice(values)
        rank = len(b.shape(x))
        if rank == 4:
            made = rng.choice((b.relu, b.depthwise, b.pad, b.add_channels, lambda x: b.conv(x, rng.choice((2, 4, 6)))))(
                x
            )
            values.append(made)
            if b.shape(x)[1] % 2 == 0:
                values.append(b.shuffle(x, 2))
                values += b.halves(x)
            same = [v for v in values if b.shape(v) == b.shape(made)]
            values.append(b.add(made, rng.choice(same)))
            values.append(b.concat([made, rng.choice(same)], rng.choice((1, 2, 3))))
            values.append(rng.choice((b.mean, b.flatten, lambda x: b.mean(x, keep=True)))(made))
            values.append(b.transpose(made, rng.sample(range(4), 4)))
        else:
            values.append(b.relu(b.dense(x, rng.choice((4, 6)))))
    graph = b.graph(*dict.fromkeys(rng.choices(values, k=3)))
    done = passes.run(graph, "tflm")
    assert not differences(graph, done, "tflm")


@pytest.mark.parametrize("seed", range(200))
def test_orders_hold_what_they_say(seed: int) -> None:
    rng = random.Random(seed)
    shape = tuple(rng.choice((1, 2, 3, 4, 6)) for _ in range(rng.randint(0, 4)))
    logical = stored = np.arange(int(np.prod(shape))).reshape(shape)
    order = Order.plain(shape)
    for _ in range(5):
        if rng.random() < 0.5:
            perm = rng.sample(range(logical.ndim), logical.ndim)
            order, logical = order.transposed(perm), logical.transpose(perm)
        else:
            new = _shape(rng, logical.size)
            found = order.reshaped(new)
            order, logical = (order, logical) if found is None else (found, logical.reshape(new))
        assert order.logical_shape == logical.shape
        assert np.array_equal(order.stored(logical), stored)
        assert order.is_plain == np.array_equal(logical.reshape(-1), stored.reshape(-1))
        found = move(order, Order.plain(logical.shape))
        if found is not None:
            split, perm, moved = found
            result = stored.reshape(split.stored_shape).transpose(perm)
            assert result.shape == moved.stored_shape
            assert np.array_equal(result.reshape(-1), logical.reshape(-1))


def _shape(rng: random.Random, size: int) -> tuple[int, ...]:
    dims = []
    while size > 1 and len(dims) < 4:
        dims.append(rng.choice([k for k in range(1, size + 1) if size % k == 0]))
        size //= dims[-1]
    dims.append(size)
    rng.shuffle(dims)
    return tuple(dims)
