# SPDX-License-Identifier: Apache-2.0
"""Facts that calls alike share: each is what it would be if nothing were shared."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from random import Random
from threading import Barrier
from typing import Any

import numpy as np
import pytest

from mcugen import kernels
from mcugen.formats.registry import load
from mcugen.ir import alike
from mcugen.ir.alike import made_call, of_first, shared_fact, trait
from mcugen.ir.call import Call, fact
from mcugen.ir.kernel import Grid
from mcugen.ir.op import Op
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops.fully_connected import FullyConnected
from mcugen.ops.leaky_relu import LeakyRelu
from mcugen.solve import device_kernels
from tests.support.calls import alone


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

    kept = [layer(k) for k in range(5)]  # a bare call is there as long as one of its calls
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

    @fact  # an ordinary fact that uses traits is not shared by calls with other answers
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
        return zero_point(replace(call, outputs=call.inputs[:1]))  # type: ignore[arg-type]

    y = TensorType((1, 2), "s8", QuantParams((0.1,), (7,)))
    calls = [replace(layer(zero_point=k), outputs=(y,)) for k in (1, 2)]
    assert [moved(call) for call in calls] == [1, 2]


def attempt(function: Callable[..., object], *given: object) -> object:
    """The result of a function, or the type of its error."""
    try:
        return function(*given)
    except Exception as error:
        return type(error)


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
    "negative": lambda x: -x,
    "inverse": lambda x: ~x,
    "absolute number": abs,
    "rounded": round,
    "more": lambda x: x + 1,
    "one more": lambda x: 1 + x,
    "twice": lambda x: x * 2,
    "bits": lambda x: x & 15,
    "shifted": lambda x: x >> 4,
    "called": lambda x: x(),
    "kind": lambda x: isinstance(x, np.ndarray),
    "scalar": np.isscalar,
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

        @shared_fact
        def used(call: Call, value: Callable[[Call], Any] = value) -> str:
            return repr(USES[use](withheld)) if (withheld := value(call)) is not None else ""

        calls = [layer(), layer(3, 5)]
        assert [attempt(used, call) for call in calls] == [attempt(used, alone(call)) for call in calls]
        assert alike._bare_of(calls[0]).known[used.__wrapped__] is alike._NEEDS_VALUES  # type: ignore[attr-defined]


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


def test_operators_that_are_equal_but_not_the_same_are_told_apart() -> None:
    @shared_fact
    def text(call: Call) -> str:
        return repr(call.op.alpha)

    calls = [layer(op=LeakyRelu(slope)) for slope in (0.0, -0.0, 1.0, 1)]
    assert [text(call) for call in calls] == ["0.0", "-0.0", "1.0", "1"]


def test_a_kernel_with_the_same_tile_is_the_same_kernel() -> None:
    """So that calls alike share what is known of it."""
    listed = (k for op in load().ops for k in kernels.on_device(op))
    kernel = next(k for k in listed if isinstance(k.form, Grid) and k.form.tiles and k.form.room)
    tile = (("step", 4),)
    assert (
        device_kernels._tiled(kernel, tile)
        is device_kernels._tiled(kernel, tile)
        is not device_kernels._tiled(kernel, (("step", 8),))
    )


@pytest.mark.parametrize("order", (1, -1))
def test_an_error_that_someone_catches_is_that_of_the_call(order: int) -> None:
    """An error within a fact or a trait does not affect other calls."""

    @trait
    def is_odd(call: Call) -> bool:
        return bool(call.constant(1).max() % 2)

    @trait
    def inverse(call: Call) -> float:
        return 1 / int(call.constant(1).max())

    @fact
    def even(call: Call) -> int:
        if is_odd(call):
            raise ValueError("odd")
        return 2

    @shared_fact
    def text(call: Call) -> str:
        try:
            return f"{even(call)} {inverse(call)}"
        except ValueError:
            return "odd"
        except ZeroDivisionError:
            return "none"

    calls = [layer(weight) for weight in (1, 2, 0, 3, 4, 0)]
    expected = ["odd", "2 0.5", "none", "odd", "2 0.25", "none"]
    assert [text(call) for call in calls[::order]] == expected[::order]


@made_call
def narrowed(call: Call, outputs: int) -> Call:
    return replace(call, outputs=(replace(call.output, shape=(1, outputs)),))


def program(rng: Random) -> list[Callable[[Call, int], int]]:
    """Traits, facts and shared ones that ask each other, also of calls made of the call, and fail now and then."""
    made: list[Callable[[Call, int], int]] = []
    values: list[Callable[[Call], int]] = [
        lambda call: int(call.constant(1).max()) % 3,
        lambda call: call.output.zero_point % 2,
        lambda call: call.output.size,
    ]

    def function(kind: Any, earlier: Sequence[Callable[[Call, int], int]]) -> Callable[[Call, int], int]:
        steps = [(rng.random(), rng.randrange(max(len(earlier), 1)), rng.choice(values)) for _ in range(4)]
        end, looks = rng.randrange(5), kind is trait or rng.random() < 0.2

        def compute(call: Call, k: int) -> int:
            total = k
            for chance, other, value in steps:
                if looks and chance < 0.4:
                    total += value(call)
                elif earlier and chance < 0.6:
                    with suppress(ValueError):
                        total = 3 * total + earlier[other](call, k % 3)
                elif earlier and chance < 0.8:
                    total = 3 * total + earlier[other](call, (k + 1) % 3)
                elif earlier:
                    total += earlier[other](narrowed(call, k % 3 + 1), k % 2)
                if total % 5 == end:
                    break
                if total % 11 == 5:
                    raise ValueError
            return total % 101

        found: Callable[[Call, int], int] = kind(compute)
        return found

    for _ in range(7):
        made.append(function(rng.choice((trait, shared_fact, fact)), tuple(made)))
    return made


@pytest.mark.parametrize("seed", range(60))
def test_random_facts_are_what_they_are_alone(seed: int) -> None:
    rng = Random(seed)
    functions, found = program(rng), 0
    calls = [layer(weight, zero_point) for weight in range(3) for zero_point in (0, 1)]
    asked = list(itertools.product(functions, calls, range(3)))
    rng.shuffle(asked)
    for function, call, k in asked:
        expected = attempt(function, alone(call), k)
        assert attempt(function, call, k) == expected
        found += isinstance(expected, int)
    assert found


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
