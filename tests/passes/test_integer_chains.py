# SPDX-License-Identifier: Apache-2.0
"""Integer operators one after the other: lines, loops over several operators, and banks with their roots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

import mcugen
from mcugen import pipeline
from mcugen.ir.call import Call
from mcugen.ir.types import TensorType
from mcugen.ops import filter_bank
from mcugen.ops.filter_bank import FilterBank
from mcugen.options import Options
from mcugen.passes.fold_lines import line_of
from mcugen.pipeline import Artifact
from mcugen.verify import checks, host
from mcugen.verify.cases import cases
from tests.runtimes import signals
from tests.support.tflite_writer import ModelWriter

EVERY = np.arange(-32768, 32768).astype(np.int16)


class Net:
    """A model of integer operators on tensors of one shape."""

    def __init__(self, size: int) -> None:
        self.writer, self.size, self.made = ModelWriter(), size, 0

    def tensor(self, dtype: str, data: int | None = None) -> int:
        self.made += 1
        value = None if data is None else np.array(data, np.int32)
        return self.writer.tensor(f"t{self.made}", (self.size,) if data is None else (), dtype, data=value)

    def op(self, name: str, *operands: int, dtype: str = "s32") -> int:
        y = self.tensor(dtype)
        self.writer.op(name, list(operands), [y], {})
        return y

    def chain(self, x: int, *steps: tuple[str, int]) -> int:
        for name, number in steps:
            x = self.op(name, x, self.tensor("s32", number))
        return x

    def write(self, folder: Path, inputs: list[int], outputs: list[int]) -> Path:
        path = folder / "net.tflite"
        path.write_bytes(self.writer.build(inputs, outputs))
        return path


TAIL = (("MUL", 256), ("ADD", 333), ("DIV", 666), ("ADD", -128), ("MINIMUM", 127), ("MAXIMUM", -128))


def to_bytes(folder: Path, steps: tuple[tuple[str, int], ...] = TAIL) -> Path:
    net = Net(EVERY.size)
    x = net.tensor("s16")
    return net.write(folder, [x], [net.op("CAST", net.chain(net.op("CAST", x), *steps), dtype="s8")])


def kinds(artifact: Artifact) -> list[str]:
    return [type(step.choice.node.op).__name__ for step in artifact.schedule.steps]


FALLING = (("MUL", -3), ("ADD", 90000), ("DIV", 1000), ("MAXIMUM", 0), ("MINIMUM", 77))


@pytest.mark.parametrize("steps", [TAIL, FALLING])
def test_a_chain_on_one_value_is_a_line(steps: tuple[tuple[str, int], ...], tmp_path: Path) -> None:
    path = to_bytes(tmp_path, steps)
    assert kinds(mcugen.compile(path, name="m")) == ["IntegerLine"]
    line, apart = (mcugen.load(path, no_simplify=n).run(EVERY) for n in (False, True))
    assert np.array_equal(np.asarray(line), np.asarray(apart))


def test_what_is_no_line_is_a_loop(tmp_path: Path) -> None:
    """A quotient that is rounded towards zero, and two steps of a clamp."""
    path = to_bytes(tmp_path, (("DIV", 1000), ("ADD", 3), ("MUL", 2)))
    assert kinds(mcugen.compile(path, name="m")) == ["ElementChain"]
    loop, apart = (mcugen.load(path, no_simplify=n).run(EVERY) for n in (False, True))
    assert np.array_equal(np.asarray(loop), np.asarray(apart))


@pytest.mark.parametrize(
    "steps", [TAIL, pytest.param((("DIV", 1000), ("ADD", 3), ("MUL", 2)), marks=pytest.mark.whole)]
)
def test_a_device_has_the_bits(steps: tuple[tuple[str, int], ...], tmp_path: Path) -> None:
    artifact = pipeline.build(to_bytes(tmp_path, steps), Options(backend="opencl"))
    assert any(step.on_device for step in artifact.schedule.steps)
    assert checks.verify(artifact, 1, None, None, lambda text: None).agrees


def two_values(net: Net) -> tuple[list[int], list[int]]:
    a, b = net.tensor("s32"), net.tensor("s32")
    return [a, b], [net.op("CAST", net.op("SUB", net.chain(a, ("MUL", 77777)), net.op("MAXIMUM", a, b)), dtype="s16")]


def of_one_width(net: Net) -> tuple[list[int], list[int]]:
    a, b = net.tensor("s32"), net.tensor("s32")
    return [a, b], [net.chain(net.op("ADD", a, b), ("MUL", -(2**31)), ("ADD", 5))]


@pytest.mark.parametrize("made", [two_values, of_one_width])
def test_integers_of_several_widths_are_one_loop(
    made: Callable[[Net], tuple[list[int], list[int]]], tmp_path: Path
) -> None:
    net = Net(11)
    path = net.write(tmp_path, *made(net))
    artifact = mcugen.compile(path, name="m")
    assert kinds(artifact) == ["ElementChain"]
    assert host.verify(artifact, list(cases(artifact.imported, 2))).exact


def test_a_line_fits_every_value() -> None:
    rng = np.random.default_rng(1)
    for _ in range(40):
        x = np.arange(rng.integers(-2000, 0), rng.integers(10, 3000))
        factor, addend, shift = (int(rng.integers(*ends)) for ends in ((-9999, 9999), (-(2**20), 2**20), (0, 12)))
        y = np.clip((x * factor + addend) >> shift, *sorted(rng.integers(-2000, 2000, 2)))
        line = line_of(x, y, "s32")
        if y.min() == y.max():
            assert line is None
            continue
        assert line is not None
        assert np.array_equal(np.clip((x * line.factor + line.addend) >> line.shift, line.low, line.high), y)


@pytest.mark.parametrize("y", [lambda x: x * x, lambda x: np.abs(x), lambda x: x * 2**25, lambda x: 0 * x])
def test_other_functions_are_no_lines(y: Callable[[np.ndarray], np.ndarray]) -> None:
    x = np.arange(-100, 101)
    assert line_of(x, y(x), "s32") is None


def bank(first: Sequence[int], width: Sequence[int], weight: int, unweight: int) -> Call:
    """A bank whose channels have these first bins and widths, with two weights for all bins."""
    starts, total = np.cumsum([0, *width[:-1]]), sum(width)
    tables = ([weight] * total, [unweight] * total, first, starts, width)
    data = [np.asarray(t, np.int16) for t in tables]
    types = (TensorType((40,), "u32"), *(TensorType(t.shape, "s16") for t in data))
    op = FilterBank(len(width) - 1)
    return Call(op, types, op.infer(*types), (None, *data), "tflm")


def test_bins_are_read_once_in_order() -> None:
    found = filter_bank.pairs(bank([2, 5, 5], [3, 0, 2], 7, 9))
    assert found is not None
    assert (found.first, found.widths.tolist()) == (2, [3, 0, 2])
    assert found.weights.tolist() == [[0, 9]] * 3 + [[7, 0]] * 2


def test_bins_between_channels_have_no_weight() -> None:
    found = filter_bank.pairs(bank([2, 6, 9], [2, 2, 1], 7, 9))
    assert found is not None
    assert (found.first, found.widths.tolist()) == (2, [2, 4, 2])
    assert found.weights.tolist() == [[0, 9]] * 2 + [[0, 0]] * 2 + [[7, 9]] * 2 + [[0, 0], [7, 0]]


@pytest.mark.parametrize(
    ("first", "width", "weight", "unweight"),
    [([0, 2, 6], [3, 3, 3], 7, 9), ([0, 3, 6], [3, 3, 3], -1, 9), ([0, 3, 6], [3, 3, 3], 20000, 2000)],
    ids=["a bin of two channels", "negative", "more than 65,536"],
)
def test_other_tables_have_another_kernel(first: list[int], width: list[int], weight: int, unweight: int) -> None:
    call = bank(first, width, weight, unweight)
    assert not filter_bank.in_pairs(call)
    assert not FilterBank.kernels[1].refusals(call, frozenset())


def test_roots_that_others_need_stay_apart(tmp_path: Path) -> None:
    """The sums are an output, so no step may leave them out."""
    path = tmp_path / "signal.tflite"
    path.write_bytes(next(d.model for d in signals.models() if "SignalFilterBank u32" in d.label))
    assert "FilterBankRoots" not in kinds(mcugen.compile(path, name="m"))
