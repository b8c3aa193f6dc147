# SPDX-License-Identifier: Apache-2.0
"""Elements below a byte, and operators on integers and floats: stored, imported, emitted and computed exactly."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import tflite

import mcugen
from mcugen import passes
from mcugen.errors import CorruptModelError, InternalError, UnsupportedError
from mcugen.ir import subbyte
from mcugen.ir.call import Call
from mcugen.ir.graph import Graph, Node, Tensor, verify
from mcugen.ir.kernel import Kernel, Run, Text
from mcugen.ir.op import Op
from mcugen.ir.types import PACKED_BITS, QuantParams, TensorType
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from mcugen.ops.fully_connected import FullyConnected
from mcugen.ops.transpose_conv import TransposeConv
from mcugen.oracle import interpreter
from mcugen.verify import emulated, host
from mcugen.verify.cases import cases
from tests.states.graphs import built
from tests.support.tflite_writer import ModelWriter


@pytest.mark.parametrize("dtype", PACKED_BITS)
@pytest.mark.parametrize("shape", [(1,), (3, 5), (2, 8), (7,), (0,)])
def test_what_is_stored_is_read_again(dtype: str, shape: tuple[int, ...]) -> None:
    t = TensorType(shape, dtype)
    low, high = t.limits
    values = np.random.default_rng(1).integers(low, high, shape, endpoint=True).astype(t.np_dtype)
    stored = t.stored(values)
    assert (stored.dtype, stored.nbytes) == (np.uint8, t.nbytes)
    np.testing.assert_array_equal(subbyte.unpacked(stored, t.bits, t.size, signed=low < 0).reshape(shape), values)


def test_the_first_element_is_in_the_lowest_bits() -> None:
    assert TensorType((3,), "s4").stored(np.array([1, -2, 7], np.int8)).tolist() == [0xE1, 0x07]
    assert TensorType((5,), "s2").stored(np.array([1, -2, 0, -1, 1], np.int8)).tolist() == [0b11001001, 1]
    assert TensorType((2,), "u4").limits == (0, 15)
    assert TensorType((5,), "s2").nbytes == 2


def layer(dtype: str, name: str, w: np.ndarray) -> bytes:
    """A layer whose weights are stored as `dtype`."""
    m = ModelWriter()
    data = subbyte.packed(w, 4).tobytes() if dtype == "s4" else w
    scale = [0.01, 0.02, 0.04]
    x = m.tensor("x", (1, 6, 5, 3) if name != "FULLY_CONNECTED" else (1, 27), "s8", scale=0.1, zero_point=4)
    axis = 3 if name == "DEPTHWISE_CONV_2D" else 0
    quant = {"scale": scale[:1] if name == "FULLY_CONNECTED" else scale, "axis": axis}
    weights = m.tensor("w", w.shape, dtype, data=data, **quant)
    bias = m.tensor(
        "b", (3,), "s32", scale=[0.1 * s for s in np.atleast_1d(quant["scale"])], data=np.array([100, -200, 300])
    )
    y = m.tensor("y", (1, 4, 3, 3) if name != "FULLY_CONNECTED" else (1, 3), "s8", scale=0.2, zero_point=-7)
    options = {} if name == "FULLY_CONNECTED" else {"padding": "VALID", "stride_h": 1, "stride_w": 1}
    options |= {"depth_multiplier": 1} if name == "DEPTHWISE_CONV_2D" else {}
    m.op(name, [x, weights, bias], [y], options)
    return m.build([x], [y])


SHAPES = {"CONV_2D": (3, 3, 3, 3), "DEPTHWISE_CONV_2D": (1, 3, 3, 3), "FULLY_CONNECTED": (3, 27)}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", SHAPES)
def test_weights_of_four_bits_compute_as_the_same_values_in_bytes(tmp_path: Path, name: str) -> None:
    w = np.random.default_rng(3).integers(-8, 7, SHAPES[name], endpoint=True).astype(np.int8)
    artifacts = []
    for dtype in ("s4", "s8"):
        path = tmp_path / f"{dtype}.tflite"
        path.write_bytes(layer(dtype, name, w))
        artifacts.append(mcugen.compile(path, name="net"))
    small, wide = artifacts
    assert [t.type.dtype for t in small.imported.tensors.values() if t.is_constant] == ["s4", "s32"]
    assert small.imported.type("t1").nbytes == -(-w.size // 2)
    np.testing.assert_array_equal(small.imported.tensors["t1"].data, w)
    for case in cases(wide.imported, 2):
        got, wanted = (interpreter.run(a.imported, case.inputs, "tflm")["t3"] for a in artifacts)
        np.testing.assert_array_equal(got, wanted)
    assert small.files["net_weights.c"] == wide.files["net_weights.c"]
    assert host.verify(small, list(cases(small.imported, 1))).agrees


@pytest.mark.parametrize(
    ("name", "data", "scales", "refused"),
    [
        ("CONV_2D", "s8", 3, ""), ("CONV_2D", "s16", 3, "tflm"),
        ("DEPTHWISE_CONV_2D", "s8", 3, ""), ("DEPTHWISE_CONV_2D", "s16", 3, "tflm litert"),
        ("FULLY_CONNECTED", "s8", 1, ""), ("FULLY_CONNECTED", "s8", 3, "tflm"), ("FULLY_CONNECTED", "s16", 1, "tflm"),
        ("TRANSPOSE_CONV", "s8", 3, "tflm litert"),
    ],
)  # fmt: skip
def test_which_runtimes_take_weights_of_four_bits(name: str, data: str, scales: int, refused: str) -> None:
    """Recorded from both runtimes; LiteRT is version 2.3.0: its depthwise kernel gives other bits with int16 data."""
    op = {"CONV_2D": Conv2D(), "DEPTHWISE_CONV_2D": DepthwiseConv2D(), "FULLY_CONNECTED": FullyConnected(),
          "TRANSPOSE_CONV": TransposeConv((1, 4, 3, 3))}[name]  # fmt: skip
    x = TensorType((1, 6, 5, 3), data, QuantParams((0.1,), (0,)))
    w = TensorType((3, 3, 3, 3), "s4", QuantParams((0.1,) * scales, (0,) * scales))
    b = TensorType((3,), "s32" if data == "s8" else "s64")
    call = Call(op, (x, w, b), (x,), (None, None, None), "tflm")
    assert " ".join(r for r in ("tflm", "litert") if op.refused_by(call, r)) == refused


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    w = np.zeros(SHAPES["CONV_2D"], np.int8)
    path = tmp_path / "m.tflite"
    m = ModelWriter()
    x, y = (m.tensor(n, (1, 4), "s4", scale=0.1) for n in "xy")
    m.op("RELU", [x], [y])
    path.write_bytes(m.build([x], [y]))
    with pytest.raises(UnsupportedError, match="element type INT4 of tensor 0 'x' is not supported"):
        mcugen.compile(path)
    m = ModelWriter()
    x, y = (m.tensor(n, (1, 6, 5, 3), "s8", scale=0.1) for n in "xy")
    half = m.tensor("w", w.shape, "s4", scale=0.1, data=bytes(40))
    m.op("CONV_2D", [x, half, -1], [y], {"padding": "SAME", "stride_h": 1, "stride_w": 1})
    path.write_bytes(m.build([x], [y]))
    with pytest.raises(CorruptModelError, match=r"has 40 bytes of data, but its shape \[3, 3, 3, 3\] needs 41"):
        mcugen.compile(path)


def test_weights_in_blocks_are_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kind of details is set as in a file, whose other fields stay those of a plain tensor."""
    path = tmp_path / "m.tflite"
    path.write_bytes(layer("s4", "FULLY_CONNECTED", np.zeros(SHAPES["FULLY_CONNECTED"], np.int8)))
    monkeypatch.setattr(tflite.QuantizationParameters, "DetailsType", lambda table: 2)
    with pytest.raises(UnsupportedError, match=r"tensor \d+ '\w' has a scale for each block of weights \(Blockwise"):
        mcugen.compile(path)


HEADER = """/* y = x * w * scale, w packed two to a byte, s4. */
#ifndef HALVES_H
#define HALVES_H
#include "mcugen/runtime.h"
typedef struct { float scale; } mg_halves_params;
void mg_halves(const mg_halves_params *p, const mg_f32 *x, const uint8_t *w, mg_f32 *y, uint32_t n);
#endif
"""
SOURCE = """#include "mcugen/halves.h"
void mg_halves(const mg_halves_params *p, const mg_f32 *x, const uint8_t *w, mg_f32 *y, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        const int32_t nibble = (int32_t)(w[i / 2u] >> (i % 2u * 4u)) & 15;
        const float product = x[i] * (float)((nibble ^ 8) - 8);
        y[i] = product * p->scale;
    }
}
"""


def packed_weights(call: Call) -> bool:
    "data is float, weights are of four bits"
    return call.input(0).dtype == "f32" and call.input(1).dtype == "s4"


@dataclass(frozen=True)
class Halves(Op):
    """y = (x * w) * scale: float data, integer weights, each product rounded to float. Source: none, an invention."""

    packed_operands: ClassVar[tuple[int, ...]] = (1,)
    kernels = (
        Kernel(
            "mg_halves",
            Run(lambda call: call.output.size),
            accepts=(packed_weights,),
            params=lambda call: {"scale": float(call.input(1).scale)},
            operands=(0, 1),
            text=Text(files={"halves.h": HEADER, "halves.c": SOURCE}),
        ),
    )

    def infer(self, x: TensorType, w: TensorType) -> tuple[TensorType, ...]:
        return (TensorType(x.shape, x.dtype),)

    def reference_q(self, call: Call, x: np.ndarray, w: np.ndarray) -> np.ndarray:
        return np.asarray((x * w.astype(np.float32)) * np.float32(call.input(1).scale))


def mixed() -> Graph:
    x, w = TensorType((1, 9), "f32"), TensorType((1, 9), "s4", QuantParams((0.3,), (0,)))
    data = np.array([[-8, 7, 1, 0, -1, 5, -3, 2, 6]], np.int8)
    tensors = {"x": Tensor("x", x), "w": Tensor("w", w, data), "y": Tensor("y", x)}
    return verify(
        Graph("m", tensors, (Node("n", Halves(), ("x", "w"), ("y",), "n"),), ("x",), ("y",), "0" * 64, "tflite"), ""
    )


def test_float_data_and_packed_weights_keep_every_bit() -> None:
    """The weights stay packed in the C; nothing of it goes through float64."""
    artifact = built(mixed())
    assert b"const uint8_t net_k0[5]" in artifact.files["net_weights.c"]
    for case in cases(artifact.imported, 2):
        wanted = Halves().reference_q(
            artifact.imported.call(artifact.imported.nodes[0], "tflm"),
            case.inputs[0],
            artifact.imported.tensors["w"].data,
        )  # type: ignore[arg-type]
        np.testing.assert_array_equal(interpreter.run(artifact.imported, case.inputs, "tflm")["y"], wanted)
    verdict = host.verify(artifact, list(cases(artifact.imported, 2)))
    assert verdict.agrees
    assert verdict.max_abs_diff == 0
    found = emulated.simulate(built(mixed(), board="cortex-m4"), list(cases(mixed(), 1)))
    assert found.verdict.max_abs_diff == 0


def test_only_operators_that_read_them_get_packed_constants() -> None:
    assert passes.run(mixed(), "tflm").type("w").dtype == "s4"

    class Plain(Halves):
        packed_operands = ()

    graph = mixed()
    plain = graph.updated(nodes=[replace(graph.nodes[0], op=Plain())])
    assert passes.run(plain, "tflm").type("w").dtype == "s8"


def test_packed_tensors_are_constants_that_fit() -> None:
    graph = mixed()
    for wrong in (None, np.full((1, 9), 8, np.int8)):
        with pytest.raises(InternalError, match=r"is no constant|reads 'w' before|does not fit its type"):
            verify(graph.updated(tensors=[replace(graph.tensors["w"], data=wrong)]), "test")
