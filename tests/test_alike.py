# SPDX-License-Identifier: Apache-2.0
"""Facts that calls alike share: each is what it would be if nothing were shared."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from functools import partial
from random import Random
from threading import Barrier
from typing import Any

import numpy as np
import pytest

from mcugen import alike, kernels
from mcugen.alike import NeedsValues, made_call, of_first, shared_fact, trait
from mcugen.call import Call, fact
from mcugen.kernel import Kernel
from mcugen.op import Op
from mcugen.ops.fully_connected import FullyConnected
from mcugen.registry import load
from mcugen.schedule import Choice
from mcugen.schedule.steps import node_of
from mcugen.select import costs
from mcugen.types import QuantParams, TensorType
from tests.support import random_layers
from tests.support.calls import example_calls
from tests.support.cases import prepared, under_test

CORES = {"cortex-m0plus": frozenset[str](), "cortex-m4": frozenset({"dsp"}), "cortex-m55": kernels.features()}
SHAPES, SETS = range(48), 3


class Alone(Call):
    """A call that shares nothing."""


def alone(call: Call) -> Alone:
    return Alone(**{f.name: getattr(call, f.name) for f in fields(Call) if f.init})


def layer(weight: int = 1, zero_point: int = 0, outputs: int = 2, op: Op | None = None) -> Call:
    types = TensorType((1, 4), "s8", QuantParams((0.1,), (zero_point,))), TensorType((outputs, 4), "s8")
    y = TensorType((1, outputs), "s8", QuantParams((0.1,), (zero_point,)))
    return Call(op or FullyConnected(), types, (y,), (None, np.full((outputs, 4), weight, np.int8)), "tflm")


@pytest.fixture
def count() -> list[int]:
    return []


def test_calls_of_one_shape_share_what_needs_no_values(count: list[int]) -> None:
    @shared_fact
    def outputs(call: Call) -> int:
        count.append(1)
        return call.output.size

    assert [outputs(layer(k)) for k in range(5)] == [2] * 5 and len(count) <= 5
    kept = [layer(k) for k in range(5)]  # a bare call is there as long as one of its calls
    count.clear()
    assert [outputs(call) for call in (*kept, layer(outputs=3))] == [2] * 5 + [3]
    assert len(count) == 2


def test_what_needs_values_is_computed_for_each_call(count: list[int]) -> None:
    @shared_fact
    def largest(call: Call, times: int) -> int:
        count.append(1)
        return times * int(np.abs(call.constant(1)).max())

    calls = [layer(k) for k in range(4)]
    assert [largest(call, 2) for call in calls * 3] == [0, 2, 4, 6] * 3
    assert len(count) == 5, "tried once without values, and then once for each call"


def test_traits_tell_calls_apart(count: list[int]) -> None:
    @trait
    def is_odd(call: Call) -> bool:
        return bool(call.constant(1).max() % 2)

    @trait
    def at_zero(call: Call) -> bool:
        return call.output.zero_point == 0

    @fact  # an ordinary fact that asks for traits is not kept for calls that answer differently
    def named(call: Call) -> str:
        return "odd" if is_odd(call) else "even"

    @shared_fact
    def text(call: Call) -> str:
        count.append(1)
        return named(call) + (" at zero" if not is_odd(call) and at_zero(call) else "")

    calls = [layer(weight, zero_point) for weight, zero_point in itertools.product(range(6), (0, 1, 0))]
    expected = ["even at zero", "even", "even at zero", "odd", "odd", "odd"] * 3
    for order in (1, -1):
        assert [text(call) for call in calls[::order]] == expected[::order]
    assert len(count) == 3


def test_a_trait_of_shapes_alone_tells_no_calls_apart(count: list[int]) -> None:
    @trait
    def outputs(call: Call) -> int:
        count.append(1)
        return call.output.size

    @shared_fact
    def twice(call: Call) -> int:
        return 2 * outputs(call)

    calls = [layer(k) for k in range(4)]
    assert [twice(call) for call in calls] == [4] * 4
    assert len(count) == 1


def test_shared_facts_may_ask_each_other(count: list[int]) -> None:
    @trait
    def sign(call: Call) -> int:
        return int(np.sign(call.constant(1).min()))

    @shared_fact
    def inner(call: Call, times: int) -> int:
        count.append(1)
        return times * sign(call)

    @shared_fact
    def outer(call: Call) -> tuple[int, int]:
        return inner(call, 1), inner(call, 2)

    calls = [layer(weight) for weight in (1, -1, 2, 0, -2)]
    assert [inner(calls[1], 2), *map(outer, calls)] == [-2, (1, 2), (-1, -2), (1, 2), (0, 0), (-1, -2)]
    assert len(count) == 6


def test_a_call_made_of_another_has_its_traits() -> None:
    @trait
    def zero_point(call: Call) -> int:
        return call.output.zero_point

    @shared_fact
    def point(call: Call) -> int:
        return zero_point(call) + call.output.size

    @made_call
    def part(call: Call, outputs: int) -> Call:
        y = replace(call.output, shape=(1, outputs))
        return replace(call, outputs=(replace(y, quant=QuantParams((0.1,), (2 * call.output.zero_point,))),))

    @made_call
    def shorter(call: Call, outputs: int) -> Call:
        return replace(call, outputs=(replace(call.output, shape=(1, outputs)),))

    @shared_fact
    def of_part(call: Call) -> int:
        return point(part(call, 1))

    @shared_fact
    def of_parts(call: Call) -> tuple[int, ...]:
        return *(point(shorter(shorter(call, 8), n)) for n in (1, 2)), point(shorter(call, 8))

    calls = [layer(zero_point=k) for k in (3, 5, 3)]
    assert [of_part(call) for call in calls] == [7, 11, 7]
    assert [of_parts(call) for call in calls] == [(4, 5, 11), (6, 7, 13), (4, 5, 11)]


def test_a_changed_copy_of_unknown_origin_is_not_taken_for_the_call() -> None:
    @trait
    def zero_point(call: Call) -> int:
        return call.output.zero_point

    @shared_fact
    def moved(call: Call) -> int:
        return zero_point(replace(call, outputs=(TensorType((1, 2), "s8", QuantParams((0.1,), (7,))),)))

    assert [moved(layer(zero_point=k)) for k in (1, 2)] == [7, 7]


USES: dict[str, Callable[[Any], object]] = {
    "attribute": lambda x: x.size,
    "truth": bool,
    "length": len,
    "item": lambda x: x[0],
    "loop": list,
    "array": np.asarray,
    "absolute": np.abs,
    "sum": lambda x: np.zeros(3) + x,
    "equal": lambda x: x == 1,
    "unequal": lambda x: x != 1,
    "less": lambda x: x < 1,
    "greatest": lambda x: max(1, x),
    "key": lambda x: {x: 1},
    "number": float,
    "whole": int,
    "index": range,
    "text": str,
    "formatted": lambda x: f"{x}",
    "in": lambda x: 1 in x,
    "root": math.sqrt,
}


@pytest.mark.parametrize("use", USES)
def test_nothing_of_values_is_told_without_them(use: str) -> None:
    """Any use of data, scales or ranges leads to the call's own values; only whether they are there is known."""

    places: list[Callable[[Call], Any]] = [
        lambda call: call.constants[1],
        lambda call: call.output.quant,
        lambda call: call.input_range,
    ]
    for value in places:
        withheld = value(alike._bare_of(layer()))
        assert withheld is not None
        with pytest.raises(NeedsValues):
            USES[use](withheld)


def test_types_that_differ_in_scales_alone_are_not_taken_for_equal() -> None:
    @shared_fact
    def rescales(call: Call) -> bool:
        return call.input(0).quant != call.output.quant

    call = layer()
    other = replace(call, outputs=(replace(call.output, quant=QuantParams((0.2,), (0,))),))
    assert [rescales(call), rescales(other)] == [False, True]


def test_an_operator_that_is_no_key_shares_nothing() -> None:
    class Odd(FullyConnected):
        __hash__ = None  # type: ignore[assignment]

    @shared_fact
    def outputs(call: Call) -> int:
        return call.output.size

    assert outputs(layer(op=Odd())) == outputs(layer(op=Odd())) == 2


def test_errors_pass_and_leave_nothing_behind() -> None:
    @shared_fact
    def broken(call: Call) -> int:
        raise ValueError("broken")

    for _ in range(2):
        with pytest.raises(ValueError, match="broken"):
            broken(layer())
    assert not alike._under_way.trials


def test_threads_do_not_answer_for_each_other() -> None:
    """Each waits with its question until all have asked theirs."""
    together = Barrier(4, timeout=10)

    @trait
    def weight(call: Call) -> int:
        value = int(call.constant(1).max())
        together.wait()
        return value

    @shared_fact
    def twice(call: Call) -> int:
        return 2 * weight(call)

    calls = [layer(k) for k in range(4)]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(twice, calls)) == [0, 2, 4, 6]


def test_the_first_of_calls_alike_answers_for_all() -> None:
    calls = [layer(weight) for weight in (5, 6)]
    found = [of_first(call, ("weight",), partial(np.max, call.constant(1))) for call in calls]
    assert found == [5, 5]


def random_calls(shape: int) -> list[Call]:
    """Layers of one shape with several sets of weights, scales and zero points."""
    rng, found = Random(shape), list[Call]()
    op, image, weights, axis = random_layers._first_layer(rng) if shape % 8 == 7 else random_layers._shapes(rng)
    try:
        out = op.infer(TensorType(image, "s8", QuantParams((1.0,), (0,))), random_layers._plain(weights))[0]
    except Exception:
        return []
    for k in range(SETS):
        made = random_layers._quantized(Random(100 * shape + k), op, image, weights, axis, out.shape)
        graph = prepared(made)[1]
        found += [graph.call(node, "tflm") for node in under_test(made, graph)]
    return found


def told(call: Call, kernel: Kernel, core: str) -> object:
    """What selecting kernels asks of a call, but for bytes of constants."""
    if why := kernel.refusal(call, call.features):
        return why
    choice = Choice(node_of(call), call, kernel, "")
    estimates = [costs.estimate(kernel, call, core, by_rows) for by_rows in (False, True)]
    code = costs.code_bytes(kernel, call, core)
    return kernel.identity(call), *estimates, code, choice.working, choice.can_run_by_rows


def packed_bytes(call: Call, kernel: Kernel) -> int:
    values = kernel.params(call).values() if kernel.params else ()
    return sum(value.nbytes for value in values if isinstance(value, np.ndarray))


@pytest.mark.parametrize("core", CORES)
def test_kernels_tell_the_same_of_layers_alike(core: str) -> None:
    """Each layer on each kernel, beside others of its shape, with other weights, scales and zero points."""
    shared = told_apart = 0
    for shape in SHAPES:
        calls = [replace(call, features=CORES[core]) for call in random_calls(shape)]
        bare = {id(alike._bare_of(call)) for call in calls}
        shared += len(calls) - len(bare)
        for call in calls:
            single = alone(call)
            for kernel in kernels.of(call.op):
                expected = told(single, kernel, core)
                assert told(call, kernel, core) == expected, (shape, kernel.symbol)
                if not isinstance(expected, str):
                    told_apart += 1
                    known = Choice(node_of(call), call, kernel, "").constant_bytes
                    assert known == packed_bytes(call, kernel), (shape, kernel.symbol)
    assert shared > 60 and told_apart > 400


@pytest.mark.parametrize("op", [op for op in load().ops if op.examples()], ids=lambda op: op.__name__)
def test_kernels_tell_the_same_of_examples(op: type[Op]) -> None:
    for call in example_calls(op, kernels.features()):  # type: ignore[arg-type]
        single = alone(call)
        for kernel in kernels.of(call.op):
            assert told(call, kernel, "cortex-m55") == told(single, kernel, "cortex-m55"), kernel.symbol
