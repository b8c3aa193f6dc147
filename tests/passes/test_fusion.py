# SPDX-License-Identifier: Apache-2.0
"""Fused steps compute the same as before; operators that would not are left as they are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import mcugen
from mcugen.ir.graph import Graph
from mcugen.ops._window import SlidingWindow
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.table import Table
from mcugen.verify import host
from mcugen.verify.cases import cases
from tests.passes.net import Net, simplified

IMAGE = (1, 4, 4, 3)
STRIDES = {"stride_h": 1, "stride_w": 1}


def names(graph: Graph) -> list[str]:
    return [type(node.op).__name__ for node in graph.nodes]


def whats(graph: Graph) -> set[str]:
    return {item.what for item in graph.removed}


@dataclass
class Layers(Net):
    """Networks whose first layer has nothing to remove."""

    def __init__(self, size: int = 4) -> None:
        super().__init__(size=size)
        self.a = self.conv(self.x, [7, 8, 9])

    def unary(self, name: str, x: int, zero: int = 0, scale: float | None = None, **options: object) -> int:
        y = self.result(self.shape[x], zero) if scale is None else self.tensor(self.shape[x], zero, scale)
        self.shape[y] = self.shape[x]
        self.m.op(name, [x], [y], options)
        return y

    def pad(self, x: int, widths: list[list[int]], value: int | None = None) -> int:
        ends = np.array(widths)
        w = self.m.tensor("p", (4, 2), "s32", data=ends)
        shape = tuple(int(d) for d in np.array(self.shape[x]) + ends.sum(axis=1))
        if value is None:
            return self.op("PAD", [x, w], shape)
        v = self.m.tensor("v", (1,), "s8", scale=0.05, zero_point=0, data=np.array([value]))
        return self.op("PADV2", [x, w, v], shape)


# clamps --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "activation"), [("RELU", "RELU"), ("RELU6", "RELU6"), ("RELU_N1_TO_1", "RELU_N1_TO_1")]
)
def test_a_clamp_becomes_an_activation(name: str, activation: str, tmp_path: Path) -> None:
    for reference in ("tflm", "litert"):
        net = Net()
        a = net.conv(net.x, [9000, -9000, 9])
        y = net.result(net.shape[a], 0)
        net.m.op(name, [a], [y])
        after = simplified(net.build(y), tmp_path, reference)
        assert names(after) == ["Conv2D"]
        assert [getattr(node.op, "activation", "") for node in after.nodes] == [activation]
        assert whats(after) == {"fused clamps"}


def test_every_operator_with_an_activation_takes_a_clamp(tmp_path: Path) -> None:
    net = Layers()
    window = {"padding": "VALID", **STRIDES, "filter_height": 2, "filter_width": 2}
    b = net.unary("RELU", net.depthwise(net.a, [1, 2, 3], 1, "VALID", set()))
    c = net.unary("RELU", net.op("AVERAGE_POOL_2D", [b], (1, 3, 3, 3), -3, **window), -3)
    d = net.unary("RELU6", net.op("MAX_POOL_2D", [c], (1, 2, 2, 3), -3, **window), -3)
    others = [net.unary("RELU", net.op(name, [d, d], (1, 2, 2, 3))) for name in ("ADD", "MUL")]
    e = net.unary("RELU", net.op("SUB", others, (1, 2, 2, 3)))
    y = net.unary("RELU", net.dense(e, 2, set()))
    after = simplified(net.build(y), tmp_path)
    assert "Relu" not in names(after)
    assert len(after.nodes) == 8


def test_a_clamp_after_another_scale_stays(tmp_path: Path) -> None:
    net = Layers()
    after = simplified(net.build(net.unary("RELU", net.a, scale=0.04)), tmp_path)
    assert names(after) == ["Conv2D", "Relu"]


def test_a_clamp_to_another_scale_stays_where_stored_values_look_clamped(tmp_path: Path) -> None:
    """Stored values 0 and 1 stay the same with a scale of 5 instead of 6, but the values they represent change."""
    net = Layers()
    b = net.op("ADD", [net.a, net.a], IMAGE)
    c = net.unary("RELU6", b, scale=6.0)
    d = net.unary("RELU", c, scale=5.0)
    net.shape[d] = IMAGE
    after = simplified(net.build(d), tmp_path)
    assert [node for node in after.nodes if not isinstance(node.op, Conv2D)][-1].outputs == after.outputs
    assert names(after) == ["Conv2D", "Add", "Table"]


def test_a_clamp_of_what_others_read_stays(tmp_path: Path) -> None:
    net = Layers()
    b = net.unary("RELU", net.a)
    after = simplified(net.build(net.op("ADD", [net.a, b], IMAGE)), tmp_path)
    assert names(after) == ["Conv2D", "Relu", "Add"]
    net = Layers()
    assert len(simplified(net.build(net.a, net.unary("RELU", net.a)), tmp_path).nodes) == 2


def test_a_wider_clamp_does_not_replace_a_narrower_one(tmp_path: Path) -> None:
    """RELU_N1_TO_1 after RELU is neither of them."""
    net = Layers()
    a = net.op("ADD", [net.a, net.a], IMAGE, fused_activation_function="RELU")
    after = simplified(net.build(net.unary("RELU_N1_TO_1", a)), tmp_path)
    assert names(after) == ["Conv2D", "Add", "Relu"]
    net = Layers()
    a = net.op("ADD", [net.a, net.a], IMAGE, fused_activation_function="RELU")
    assert names(simplified(net.build(net.unary("RELU6", a)), tmp_path)) == ["Conv2D", "Add"]


# tables and identities -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reference", ["tflm", "litert"])
def test_functions_of_bytes_become_one_table(reference: str, tmp_path: Path) -> None:
    net = Layers()
    b = net.unary("LOGISTIC", net.a, -128, 1 / 256)
    c = net.unary("QUANTIZE", b, 5, 0.007)
    d = net.unary("HARD_SWISH", c, -100, 0.01)
    e = net.unary("TANH", net.unary("LEAKY_RELU", d, 3, alpha=0.3), 0, 1 / 128)
    after = simplified(net.build(e), tmp_path, reference)
    assert names(after) == ["Conv2D", "Table"]
    assert [item.tensor for item in after.removed] == [f"t{t}" for t in (b, c, d, e - 1)]
    assert isinstance(after.nodes[1].op, Table) and "values" not in repr(after.nodes[1].op)


def test_a_table_in_between_that_others_read_stays(tmp_path: Path) -> None:
    net = Layers()
    b = net.unary("LOGISTIC", net.a, -128, 1 / 256)
    after = simplified(net.build(net.unary("TANH", b, 0, 1 / 128), b), tmp_path)
    assert names(after) == ["Conv2D", "Logistic", "Tanh"]


def test_identities_go_wherever_they_stand(tmp_path: Path) -> None:
    net = Layers()
    b = net.unary("QUANTIZE", net.unary("QUANTIZE", net.a))
    c = net.op("ADD", [b, net.a], IMAGE)
    y = net.unary("QUANTIZE", c)
    after = simplified(net.build(y), tmp_path)
    assert names(after) == ["Conv2D", "Add"]
    assert after.outputs == (f"t{y}",)
    assert whats(after) == {"identities"}


def test_a_clamp_of_what_is_within_it_is_an_identity(tmp_path: Path) -> None:
    net = Layers()
    b = net.op("ADD", [net.a, net.a], IMAGE, fused_activation_function="RELU6")
    after = simplified(net.build(net.op("ADD", [net.unary("RELU", b), net.a], IMAGE), b), tmp_path)
    assert names(after) == ["Conv2D", "Add", "Add"]


def test_identities_between_ends_of_the_model_stay(tmp_path: Path) -> None:
    """The input and each output are different memory."""
    net = Layers()
    y = net.unary("QUANTIZE", net.x)
    z = net.unary("QUANTIZE", net.a)
    after = simplified(net.build(y, z, net.a), tmp_path)
    assert names(after).count("Quantize") == 2


def test_the_same_values_in_another_scale_are_no_identity(tmp_path: Path) -> None:
    """A clip alone keeps stored values, but its readers need its scale."""
    net = Layers()
    b = net.unary("RELU6", net.a, scale=0.06)
    c = net.op("ADD", [net.unary("RELU6", b, scale=0.05), net.a], IMAGE)
    assert len(simplified(net.build(c), tmp_path).nodes) >= 3


# padding and reshapes ------------------------------------------------------------------------------------------------

AROUND = [[0, 0], [1, 0], [0, 1], [0, 0]]


def test_padding_goes_into_the_windows_that_can_see_to_it(tmp_path: Path) -> None:
    net = Layers()
    b = net.conv(net.pad(net.a, AROUND), [1, 2, 3], size=2)
    c = net.depthwise(net.pad(b, AROUND), [1, 2, 3], 3, "VALID", set())
    after = simplified(net.build(c), tmp_path)
    assert names(after) == ["Conv2D", "Conv2D", "DepthwiseConv2D"]
    assert [getattr(node.op, "padding", "") for node in after.nodes[1:]] == [((1, 0), (0, 1))] * 2
    assert whats(after) == {"fused paddings"}


def test_a_maximum_takes_padding_of_the_least_value_only(tmp_path: Path) -> None:
    for value, count in ((-128, 2), (-127, 3), (0, 3)):
        net = Layers()
        window = {"padding": "VALID", **STRIDES, "filter_height": 2, "filter_width": 2}
        y = net.op("MAX_POOL_2D", [net.pad(net.a, AROUND, value)], IMAGE, **window)
        assert len(simplified(net.build(y), tmp_path).nodes) == count


@pytest.mark.parametrize(
    ("widths", "value", "size", "padding"),
    [
        (AROUND, 5, 2, "VALID"),
        ([[0, 0], [2, 0], [0, 0], [0, 0]], None, 2, "VALID"),
        (AROUND, None, 1, "VALID"),
        (AROUND, None, 3, "SAME"),
    ],
    ids=["another value", "a window in the padding", "a window of one", "padded twice"],
)
def test_other_padding_stays(
    widths: list[list[int]], value: int | None, size: int, padding: str, tmp_path: Path
) -> None:
    net = Layers()
    y = net.conv(net.pad(net.a, widths, value), [1, 2], size=size, padding=padding)
    assert names(simplified(net.build(y), tmp_path)) == ["Conv2D", "Pad", "Conv2D"]


def test_padded_channels_go_before_the_padding_does(tmp_path: Path) -> None:
    net = Layers()
    y = net.conv(net.pad(net.a, [[0, 0], [1, 1], [1, 1], [0, 1]]), [1, 2], size=3)
    after = simplified(net.build(y), tmp_path)
    assert names(after) == ["Conv2D", "Conv2D"]
    assert whats(after) == {"constant channels", "fused paddings"}


def test_padding_that_others_read_stays(tmp_path: Path) -> None:
    net = Layers()
    b = net.pad(net.a, AROUND)
    after = simplified(net.build(net.conv(b, [1, 2], size=2), net.conv(b, [1, 2], size=3)), tmp_path)
    assert names(after).count("Pad") == 1


def test_averages_count_what_is_padded(tmp_path: Path) -> None:
    net = Layers()
    window = {"padding": "VALID", **STRIDES, "filter_height": 2, "filter_width": 2}
    y = net.op("AVERAGE_POOL_2D", [net.pad(net.a, AROUND)], IMAGE, **window)
    assert names(simplified(net.build(y), tmp_path)) == ["Conv2D", "Pad", "AveragePool2D"]


def test_windows_in_explicit_padding_have_the_shape_of_the_padded_image() -> None:
    plain = SlidingWindow((3, 2), (2, 1), (1, 2), "VALID")
    found = plain.around((5, 6), ((2, 1), (0, 2)))
    assert found is not None
    assert found.output((5, 6)) == plain.output((8, 8))
    assert found.pad((5, 6)) == (2, 0) and found.leaves((1, 5, 6, 1))
    assert plain.around((5, 6), ((3, 1), (0, 2))) is None
    assert found.around((5, 6), ((1, 0), (0, 0))) is None


def test_reshapes_become_one(tmp_path: Path) -> None:
    net = Layers()
    shapes = [(1, 48), (4, 12), (1, 48)]
    x = net.a
    for shape in shapes:
        to = net.m.tensor("s", (len(shape),), "s32", data=np.array(shape))
        x = net.op("RESHAPE", [x, to], shape, new_shape=list(shape))
    after = simplified(net.build(net.op("SOFTMAX", [x], shapes[-1], beta=1.0)), tmp_path)
    assert names(after) == ["Conv2D", "Reshape", "Softmax"]


def test_the_c_of_all_that_equals_the_imported_network(tmp_path: Path) -> None:
    net = Layers()
    b = net.unary("RELU", net.conv(net.pad(net.a, AROUND), [1, 400, 3], fixed={1}, size=2))
    c = net.unary("QUANTIZE", net.unary("LOGISTIC", b, -128, 1 / 256), 0, 0.004)
    net.shape[c] = IMAGE
    y = net.dense(c, 3, set())
    (tmp_path / "m.tflite").write_bytes(net.build(y))
    artifact = mcugen.compile(tmp_path / "m.tflite")
    verdict = host.verify(artifact, cases(artifact.imported, 2))
    assert verdict.agrees, verdict.first_difference
    assert len(verdict.fused) == 3 and verdict.constant_channels == 2
    assert names(artifact.graph) == ["Conv2D", "Conv2D", "Table", "FullyConnected"]
    assert isinstance(artifact.graph.nodes[1].op, Conv2D)
