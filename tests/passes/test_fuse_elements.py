# SPDX-License-Identifier: Apache-2.0
"""Chains of float operators that work element by element: one loop, the same bits, no tensor between them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import mcugen
from mcugen import pipeline
from mcugen.machines.toolchain.process import run_checked
from mcugen.ops.element_chain import ElementChain
from mcugen.options import Options
from mcugen.pipeline import Artifact
from mcugen.solve import costs
from mcugen.verify import checks, emulated, host
from mcugen.verify.cases import cases
from tests.emit.built import Built
from tests.support.tflite_writer import ModelWriter

SHAPE = (1, 32, 32, 16)


class Net:
    """A model of float operators on tensors of one shape."""

    def __init__(self, shape: tuple[int, ...] = SHAPE) -> None:
        self.writer, self.shape, self.made = ModelWriter(), shape, 0

    def input(self, shape: tuple[int, ...] | None = None) -> int:
        return self.tensor(shape or self.shape)

    def tensor(self, shape: tuple[int, ...], data: object = None) -> int:
        self.made += 1
        found = None if data is None else np.array(data, np.float32)
        return self.writer.tensor(f"t{self.made}", shape, "f32", data=found)

    def op(self, name: str, *operands: int, **options: object) -> int:
        y = self.tensor(self.shape)
        self.writer.op(name, list(operands), [y], options)
        return y

    def write(self, folder: Path, inputs: list[int], outputs: list[int]) -> Path:
        path = folder / "net.tflite"
        path.write_bytes(self.writer.build(inputs, outputs))
        return path


def six_operators(folder: Path, shape: tuple[int, ...] = SHAPE) -> Path:
    """|max(0, k * x + c) - t|, and the larger of that and u."""
    net = Net(shape)
    x, t, u = (net.input() for _ in range(3))
    scaled = net.op("ADD", net.op("MUL", x, net.tensor((), 0.37)), net.tensor((), -0.11))
    y = net.op("MAXIMUM", net.op("ABS", net.op("SUB", net.op("RELU", scaled), t)), u)
    return net.write(folder, [x, t, u], [y])


def chains(artifact: Artifact) -> list[int]:
    """The number of operators in each step."""
    ops = [node.op for node in artifact.graph.nodes]
    return [len(op.links) if isinstance(op, ElementChain) else 1 for op in ops]


def counted(artifact: Artifact) -> int:
    return sum(s.instructions for s in emulated.simulate(artifact, list(cases(artifact.imported, 1))[:1]).steps)


def test_a_chain_takes_a_fraction_of_separate_steps(tmp_path: Path) -> None:
    path = six_operators(tmp_path)
    fused, apart = (mcugen.compile(path, board="cortex-m4", name="m", no_simplify=n) for n in (False, True))
    assert chains(fused) == [6] and len(apart.schedule.steps) == 6
    taken, separate = counted(fused), counted(apart)
    elements = int(np.prod(SHAPE))
    print(f"{taken} instructions in one loop, {separate} in six: {100 * taken / separate:.0f} %")
    assert taken <= 0.5 * separate
    assert taken <= 18.1 * elements
    assert fused.view.arena_size == 3 * 4 * elements
    choice = fused.schedule.steps[0].choice
    assert costs.estimate(choice.kernel, choice.call, "cortex-m4").instructions == pytest.approx(taken, rel=0.1)


def test_verify_lists_the_tensors_inside(tmp_path: Path) -> None:
    artifact = mcugen.compile(six_operators(tmp_path, (1, 4, 4, 4)), name="m")
    verdict = host.verify(artifact, list(cases(artifact.imported, 2)))
    assert verdict.agrees
    assert len(verdict.fused) == 5


def vectors(folder: Path) -> Path:
    """Constants along the last axis, in either place, activations, and a value that two operands are."""
    net = Net((1, 5, 3, 7))
    x = net.input()
    rng = np.random.default_rng(3)
    shifted = net.op("ADD", net.tensor((7,), rng.normal(size=7)), x, fused_activation_function="RELU6")
    scaled = net.op("SUB", net.tensor((), 1.5), net.op("MUL", shifted, net.tensor((7,), rng.normal(size=7))))
    y = net.op("MUL", net.op("LEAKY_RELU", scaled, alpha=0.1), scaled)
    return net.write(folder, [x], [net.op("LOGISTIC", y)])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("model", [six_operators, vectors])
def test_the_bits_are_those_of_separate_steps(model: Callable[[Path], Path], tmp_path: Path) -> None:
    path, outputs = model(tmp_path), []
    for k, alone in enumerate((False, True)):
        artifact = mcugen.compile(path, name="m", no_simplify=alone)
        artifact.write(tmp_path / str(k))
        built = Built(tmp_path / str(k), artifact)
        outputs.append(run_checked([built.program(["-std=c99", "-O2"])], stdin=built.inputs()).stdout)
    assert outputs[0] == outputs[1]


def test_a_device_may_store_the_operands_of_a_chain_as_halves(tmp_path: Path) -> None:
    """The chain is one step between the casts of the input and the output."""
    artifact = pipeline.build(vectors(tmp_path), Options(backend="opencl", precision="f16"))
    assert chains(artifact) == [1, 6, 1]
    assert artifact.schedule.steps[1].choice.kernel.symbol == "mg_elements_f16__cl"
    assert checks.verify(artifact, 1, None, None, lambda text: None).agrees


def read_twice(net: Net) -> tuple[list[int], list[int]]:
    x = net.input()
    y = net.op("ABS", x)
    return [x], [net.op("NEG", y), net.op("SQUARE", y)]


def an_output_itself(net: Net) -> tuple[list[int], list[int]]:
    x = net.input()
    y = net.op("ABS", x)
    return [x], [y, net.op("NEG", y)]


def of_another_shape(net: Net) -> tuple[list[int], list[int]]:
    x, row = net.input(), net.input((1, 1, 1, net.shape[-1]))
    return [x, row], [net.op("MUL", net.op("ADD", x, row), row)]


def waiting_for_another(net: Net) -> tuple[list[int], list[int]]:
    """a - b would have to be kept as a and b until the steps after it are done."""
    a, b, c = (net.input() for _ in range(3))
    difference = net.op("SUB", a, b)
    means = net.tensor((1, 1, 1, net.shape[-1]))
    axes = net.writer.tensor("axes", (2,), "s32", data=np.array([1, 2], np.int32))
    net.writer.op("MEAN", [c, axes], [means], {"keep_dims": True})
    return [a, b, c], [net.op("MAXIMUM", difference, net.op("ADD", c, means))]


@pytest.mark.parametrize("shape_of", [read_twice, an_output_itself, of_another_shape, waiting_for_another])
def test_what_stays_apart(shape_of: Callable[[Net], tuple[list[int], list[int]]], tmp_path: Path) -> None:
    net = Net((1, 4, 4, 4))
    path = net.write(tmp_path, *shape_of(net))
    artifact = mcugen.compile(path, name="m")
    assert set(chains(artifact)) == {1}


def test_accelerated_operators_stay_apart(tmp_path: Path) -> None:
    """Helium has kernels for the clamp and the difference: the others become loops, for which it has none of floats."""
    artifact = mcugen.compile(six_operators(tmp_path), board="cortex-m55", name="m", require_accelerated=True)
    assert chains(artifact) == [2, 1, 1, 2]
