# SPDX-License-Identifier: Apache-2.0
"""Float kernels for Helium: what they refuse, how weights are packed, and odd shapes on an emulated Cortex-M55."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mcugen import kernels
from mcugen.ir.call import Call
from mcugen.ir.kernel import Kernel
from mcugen.ir.op import Example, Op
from mcugen.ir.types import TensorType
from mcugen.ops._filter_examples import example
from mcugen.ops.add import Add
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from mcugen.ops.fully_connected import FullyConnected
from mcugen.ops.mul import Mul
from mcugen.ops.relu import Relu
from mcugen.ops.sub import Sub
from tests.support import emulated
from tests.support.cases import cases_of, graph_of

M55 = frozenset({"dsp", "fpu", "mve", "mve_float"})
DENSE = next(k for k in kernels.of(Conv2D) if k.symbol == "mg_conv2d_f32__mve")
DEPTHWISE = next(k for k in kernels.of(DepthwiseConv2D) if k.symbol == "mg_depthwise_conv2d_f32__mve")
SUM = next(k for k in kernels.of(Add) if k.symbol == "mg_add_f32__mve")
CLAMP = next(k for k in kernels.of(Relu) if k.symbol == "mg_clamp_f32__mve")
PADDED = ((1, 2), (2, 1))


def call_of(found: Example) -> Call:
    graph = graph_of(found)
    return graph.call(graph.nodes[0], "tflm")


def dense(op: Op, image: Sequence[int], kernel: Sequence[int], outputs: int, **types: Any) -> Example:
    return example(op, 3, (1, *image), (outputs, *kernel, image[2]), 0, kind="f32", **types)


def deep(op: Op, image: Sequence[int], kernel: Sequence[int], channels: int = 0) -> Example:
    return example(op, 3, (1, *image), (1, *kernel, channels or image[2]), 3, kind="f32", gain=0.03)


def vectors(n: int, inputs: int, outputs: int, activation: str = "NONE") -> Example:
    return example(FullyConnected(activation), 3, (n, inputs), (outputs, inputs), 0, kind="f32")


def added(shape: tuple[int, ...], activation: str) -> Example:
    return paired(Add(activation), shape)


def paired(op: Op, shape: tuple[int, ...]) -> Example:
    t = TensorType(shape, "f32")
    return Example(op, (t, t), (t,), {}, 3)


def clamped(size: int, high: float, low: float = 0.0) -> Example:
    t = TensorType((size,), "f32")
    return Example(Relu(low, high), (t,), (t,), {}, 3)


def params(kernel: Kernel, call: Call) -> dict[str, Any]:
    assert kernel.params is not None and not kernel.refusals(call, M55)
    return dict(kernel.params(call))


@pytest.mark.parametrize(("outputs", "eights", "fours"), [(3, 0, 1), (5, 1, 0), (8, 1, 0), (10, 1, 1), (13, 2, 0)])
def test_eights_of_channels_hold_biases_then_taps_and_the_last_few_are_four(
    outputs: int, eights: int, fours: int
) -> None:
    call = call_of(dense(Conv2D(), (4, 5, 2), (3, 3), outputs))
    weights = np.asarray(params(DENSE, call)["weights"])
    assert weights.size == 19 * (8 * eights + 4 * fours)
    whole, rest = np.split(weights, [19 * 8 * eights])
    blocks = whole.reshape(-1, 19, 8), rest.reshape(-1, 19, 4)
    found = np.concatenate([block.transpose(0, 2, 1).reshape(-1, 19) for block in blocks])
    np.testing.assert_array_equal(found[:outputs, 0], call.constant(2))
    np.testing.assert_array_equal(found[:outputs, 1:], call.constant(1).reshape(outputs, 18))
    assert not found[outputs:].any()


def test_the_last_four_channels_of_a_depthwise_kernel_end_with_the_last() -> None:
    call = call_of(deep(DepthwiseConv2D(), (4, 5, 6), (2, 2)))
    fours = np.asarray(params(DEPTHWISE, call)["weights"]).reshape(2, 5, 4)
    np.testing.assert_array_equal(fours[0, 0], call.constant(2)[:4])
    np.testing.assert_array_equal(fours[1, 1:], call.constant(1).reshape(4, 6)[:, 2:])


@pytest.mark.parametrize(
    ("activation", "low", "high"), [("NONE", None, None), ("RELU", 0.0, None), ("RELU6", 0.0, 6.0)]
)
def test_bounds_are_the_bits_of_floats(activation: str, low: float | None, high: float | None) -> None:
    limits = np.iinfo(np.int32)
    for kernel, found in (
        (DENSE, dense(Conv2D(activation=activation), (4, 5, 2), (3, 3), 5)),
        (DEPTHWISE, deep(DepthwiseConv2D(activation=activation), (4, 5, 6), (2, 2))),
        (SUM, added((1, 3), activation)),
    ):
        made = params(kernel, call_of(found))
        assert made["low"] == (limits.min if low is None else np.float32(low).view(np.int32))
        assert made["high"] == (limits.max if high is None else np.float32(high).view(np.int32))


def test_what_is_refused() -> None:
    found = dense(Conv2D(), (4, 5, 2), (3, 3), 5)
    assert DENSE.refusals(call_of(found), M55 - {"mve_float"}) == ["the core has no mve_float"]
    bounded = call_of(dense(Conv2D(activation="RELU_N1_TO_1"), (4, 5, 2), (3, 3), 5))
    assert DENSE.refusals(bounded, M55) == ["the activation is NONE, RELU or RELU6"]
    assert SUM.refusals(call_of(added((1, 3), "RELU_N1_TO_1")), M55) == ["the activation is NONE, RELU or RELU6"]
    assert DENSE.refusals(call_of(example(Conv2D(), 1, (1, 4, 4, 8), (4, 3, 3, 4), 0, kind="f32")), M55)
    assert CLAMP.refusals(call_of(clamped(3, 1.0, -1.0)), M55) == ["float data, and the lower bound is 0"]
    few = call_of(deep(DepthwiseConv2D(), (4, 5, 3), (2, 2)))
    assert DEPTHWISE.refusals(few, M55) == ["there are at least four channels"]


@pytest.mark.parametrize("operand", [1, 2])
def test_weights_that_helium_would_read_as_zero_are_left_to_others(operand: int) -> None:
    found = dense(Conv2D(), (4, 5, 2), (3, 3), 5)
    t = found.inputs[operand]
    assert t is not None
    values = np.ones(t.shape, np.float32)
    values.flat[1:3] = 0, np.finfo(np.float32).tiny
    kept = replace(found, constants={**found.constants, operand: values.copy()})
    assert not DENSE.refusals(call_of(kept), M55)
    values.flat[2] /= 2
    lost = replace(found, constants={**found.constants, operand: values})
    assert DENSE.refusals(call_of(lost), M55) == ["every weight and bias is 0 or at least 2**-126 in magnitude"]


ODD: dict[type[Op], tuple[Example, ...]] = {
    Conv2D: (
        *(dense(Conv2D(), (3, w + 1, c), (3, 3), w + 1) for w, c in enumerate((1, 2, 3, 5, 7, 8, 9, 17))),
        dense(Conv2D((2, 2), activation="RELU"), (5, 7, 3), (3, 3), 9),
        dense(Conv2D((1, 3), activation="RELU6"), (2, 12, 2), (2, 5), 17),
        dense(Conv2D(dilation=(1, 2)), (2, 9, 3), (2, 3), 12),
        dense(Conv2D(dilation=(2, 3), activation="RELU"), (4, 4, 5), (2, 4), 6),
        dense(Conv2D(dilation=(1, 2)), (2, 1, 3), (1, 2), 4),
        dense(Conv2D((2, 1), padding=PADDED), (4, 6, 2), (3, 3), 10),
        dense(Conv2D(padding="VALID"), (3, 9, 4), (3, 2), 16, bias=False),
        dense(Conv2D((2, 2)), (4, 9, 4), (1, 1), 3),
        *(dense(Conv2D(activation="RELU6"), (1, n, c), (1, 1), o) for n, c, o in ((1, 5, 3), (2, 9, 8), (7, 8, 13))),
    ),
    DepthwiseConv2D: (
        *(
            deep(DepthwiseConv2D(), (3, w, c), (3, 3))
            for w, c in zip(range(1, 9), (4, 5, 7, 8, 9, 17, 6, 12), strict=True)
        ),
        deep(DepthwiseConv2D((2, 2), activation="RELU"), (5, 11, 9), (3, 3)),
        deep(DepthwiseConv2D((1, 1), (1, 2), activation="RELU6"), (3, 11, 5), (3, 3)),
        deep(DepthwiseConv2D((1, 2), (2, 3)), (4, 9, 6), (3, 4)),
        deep(DepthwiseConv2D(dilation=(1, 2)), (2, 1, 4), (1, 2)),
        deep(DepthwiseConv2D(padding=PADDED), (4, 7, 7), (3, 3)),
        deep(DepthwiseConv2D(padding="VALID"), (4, 8, 4), (4, 3)),
        deep(DepthwiseConv2D((2, 2)), (3, 6, 5), (3, 3)),
        deep(DepthwiseConv2D(padding=((1, 1), (1, 2))), (4, 2, 4), (3, 3)),
        deep(DepthwiseConv2D(), (3, 9, 5), (2, 5)),
        deep(DepthwiseConv2D((2, 1)), (4, 5, 1), (3, 3), 6),
    ),
    FullyConnected: (vectors(1, 1, 1), vectors(1, 7, 5, "RELU6"), vectors(2, 6, 12), vectors(4, 17, 9, "RELU")),
    Add: (added((1, 4), "NONE"), added((1, 1, 3, 3), "RELU"), added((3, 5), "RELU6"), added((1,), "NONE")),
    Sub: (paired(Sub("RELU6"), (1, 7)),),
    Mul: (paired(Mul("RELU"), (2, 3)),),
    Relu: tuple(clamped(n, high) for n, high in ((1, np.inf), (8, 6.0), (13, 1.0))),
}


def odd(op: type[Op]) -> type[Op]:
    """The operator with no other kernels than those for Helium, and the odd examples."""
    helium = tuple(k for k in kernels.of(op) if "mve_float" in k.needs)
    made = dataclass(frozen=True)(type(f"Odd{op.__name__}", (op,), {"kernels": helium, "__module__": __name__}))
    found = [replace(e, op=made(**{f.name: getattr(e.op, f.name) for f in fields(e.op)})) for e in ODD[op]]  # type: ignore[arg-type]
    made.examples = classmethod(lambda cls: found)  # type: ignore[assignment]
    return made


@pytest.mark.whole
def test_odd_shapes_on_an_emulated_core(tmp_path: Path) -> None:
    ops = [odd(op) for op in ODD]
    for op in ops:
        cases, refused = cases_of(op, M55, 1, variants=False)
        assert not refused and len(cases) >= len(op.examples())
    problems = emulated.check_core("cortex-m55", ops, tmp_path)
    assert not problems, "\n".join(map(str, problems[:8]))
