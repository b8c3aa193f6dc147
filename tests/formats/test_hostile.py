# SPDX-License-Identifier: Apache-2.0
"""One test per known class of hostile .tflite content: the right error, naming what is wrong and its value."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mcugen
from mcugen.errors import CorruptModelError, McugenError, QuantizationError, ShapeError, UnsupportedError, UsageError
from tests.formats import damage
from tests.formats.edits import Editor
from tests.formats.small_models import image_net, three_dense
from tests.support.tflite_writer import ModelWriter

NAN, INF = float("nan"), float("inf")


def refuse(tmp_path: Path, data: bytes, error: type[McugenError], *parts: str) -> None:
    """Build the file; expect exactly this class of error, with every part in its message."""
    path = tmp_path / "hostile.tflite"
    path.write_bytes(data)
    with pytest.raises(McugenError) as caught:
        mcugen.compile(path)
    assert type(caught.value) is error, caught.value.explain()
    for part in parts:
        assert part in str(caught.value), str(caught.value)


def edited(change: Callable[[Editor], Any], data: bytes = b"") -> bytes:
    editor = Editor(data or three_dense())
    change(editor)
    return editor.data()


def setter(name: str, owner: int, k: int, value: Any) -> Callable[[Editor], Any]:
    return lambda e: getattr(e, name)(owner).__setitem__(k, value)


def one_op(
    name: str,
    options: dict[str, Any] | None = None,
    x: tuple[int, ...] = (1, 4, 4, 2),
    y: tuple[int, ...] = (1, 4, 4, 2),
    *constants: tuple[tuple[int, ...], str, Any],
) -> bytes:
    m = ModelWriter()
    source = m.tensor("x", x, "s8", scale=0.1)
    rest = [m.tensor(f"c{k}", s, d, scale=0.1 if d == "s8" else None, data=v) for k, (s, d, v) in enumerate(constants)]
    result = m.tensor("y", y, "s8", scale=0.1)
    m.op(name, [source, *rest], [result], options)
    return m.build([source], [result])


POOL = {"padding": "VALID", "stride_h": 1, "stride_w": 1, "filter_height": 1, "filter_width": 1}
CONV = {"padding": "SAME", "stride_h": 1, "stride_w": 1}
FILTER = ((2, 3, 3, 2), "s8", np.ones((2, 3, 3, 2)))
DEEP = ((1, 3, 3, 2), "s8", np.ones((1, 3, 3, 2)))

CONTAINER = {
    "root offset past the end (8 byte file)": (b"\x18\0\0\0TFL3", CorruptModelError, "the model table"),
    "root offset past the end": (b"\xff\xff\xff\x7f" + three_dense()[4:], CorruptModelError, "the model table"),
    "empty": (b"", CorruptModelError, "the file is empty"),
    "other file": (b"\x7fELF" + bytes(100), CorruptModelError, "TFL3"),
}


@pytest.mark.parametrize("case", CONTAINER)
def test_container(tmp_path: Path, case: str) -> None:
    data, error, *parts = CONTAINER[case]
    refuse(tmp_path, data, error, *parts)


@pytest.mark.parametrize("index", [9999, 65535, 2**31 - 1, -2, -(2**31)])
@pytest.mark.parametrize("name", ["inputs", "outputs"])
def test_operator_names_a_tensor_out_of_range(tmp_path: Path, name: str, index: int) -> None:
    refuse(
        tmp_path,
        edited(setter(name, 1, 0, index)),
        CorruptModelError,
        "FULLY_CONNECTED",
        str(index),
        "but the subgraph has 10 tensors",
    )


def test_operator_without_a_required_operand(tmp_path: Path) -> None:
    refuse(tmp_path, edited(setter("inputs", 1, 1, -1)), CorruptModelError, "operator 1 FULLY_CONNECTED", "operand 1")


def test_operator_without_operands_or_results(tmp_path: Path) -> None:
    none = edited(lambda e: e.shorten(e.inputs(1), 0))
    refuse(tmp_path, none, CorruptModelError, "operator 1 FULLY_CONNECTED", "has 0 operands, needs 2 to 3")
    none = edited(lambda e: e.shorten(e.outputs(2), 0))
    refuse(tmp_path, none, CorruptModelError, "operator 2 FULLY_CONNECTED", "has 0 results")


def test_operator_with_an_absent_result(tmp_path: Path) -> None:
    refuse(tmp_path, edited(setter("outputs", 1, 0, -1)), CorruptModelError, "FULLY_CONNECTED", "tensor -1")


@pytest.mark.parametrize("index", [14, 65535])
def test_tensor_names_a_buffer_out_of_range(tmp_path: Path, index: int) -> None:
    def change(e: Editor) -> None:
        assert e.put(e.graph.Tensors(1), 2, index.to_bytes(4, "little"))

    refuse(tmp_path, edited(change), CorruptModelError, "tensor 1", f"buffer {index}, but the file has 7")


@pytest.mark.parametrize("index", [1, 65534, 2**31 - 2])
def test_operator_names_an_operator_code_out_of_range(tmp_path: Path, index: int) -> None:
    m = ModelWriter()
    x, y, z = (m.tensor(name, (2,), "s8", scale=0.1) for name in "xyz")
    m.op("ADD", [x, x], [y])
    m.op("RELU", [y], [z])

    def change(e: Editor) -> None:
        assert e.put(e.graph.Operators(1), 0, (index + 1).to_bytes(4, "little"))

    refuse(
        tmp_path,
        edited(change, m.build([x], [z])),
        CorruptModelError,
        "operator 1",
        f"code {index + 1}, but the file has 2",
    )


def test_graph_input_out_of_range(tmp_path: Path) -> None:
    data = edited(lambda e: e.graph.InputsAsNumpy().__setitem__(0, 10))
    refuse(tmp_path, data, CorruptModelError, "graph input names tensor 10, but the subgraph has 10")


def test_cyclic_graph(tmp_path: Path) -> None:
    data = edited(lambda e: e.inputs(1).__setitem__(0, int(e.outputs(2)[0])))
    refuse(tmp_path, data, CorruptModelError, "operator 1 FULLY_CONNECTED", "before anything writes it")


def test_tensor_written_twice(tmp_path: Path) -> None:
    data = edited(lambda e: e.outputs(2).__setitem__(0, int(e.outputs(1)[0])))
    refuse(tmp_path, data, CorruptModelError, "operator 2 FULLY_CONNECTED", "already has a value")


@pytest.mark.parametrize("dim", [0, -1, -(2**31)])
def test_dimension_not_positive(tmp_path: Path, dim: int) -> None:
    refuse(tmp_path, edited(setter("shape", 3, 1, dim)), ShapeError, "tensor 3 'y0'", str(dim))


@pytest.mark.parametrize("shape", [(2**31 - 1,) * 6, (65536,) * 4, (2**31 - 1, 1), (1,) * 7, (1,) * 10_000])
def test_shape_too_large(tmp_path: Path, shape: tuple[int, ...]) -> None:
    m = ModelWriter()
    x = m.tensor("huge", shape, "s8", scale=1.0)
    y = m.tensor("y", shape, "s8", scale=1.0)
    m.op("RELU", [x], [y])
    refuse(tmp_path, m.build([x], [y]), ShapeError, "'huge'", str(shape[0]))


def test_constant_shorter_than_its_shape(tmp_path: Path) -> None:
    data = edited(setter("shape", 1, 0, 17))
    refuse(tmp_path, data, CorruptModelError, "tensor 1 'w0'", "16 bytes", "[17, 1] needs 17")


def test_reshape_to_another_number_of_elements(tmp_path: Path) -> None:
    bad = one_op("RESHAPE", None, (1, 8), (1, 9), ((2,), "s32", np.array([1, 9])))
    refuse(tmp_path, bad, ShapeError, "operator 0 RESHAPE", "9")


def test_reshape_rank_grows_past_the_declared(tmp_path: Path) -> None:
    bad = one_op("RESHAPE", None, (1, 8), (1, 8), ((5,), "s32", np.array([1, 2, 2, 2, 1])))
    refuse(tmp_path, bad, ShapeError, "operator 0 RESHAPE", "[1, 8]", "[1, 2, 2, 2, 1]")


DIVISORS = {
    "CONV_2D stride": one_op("CONV_2D", {**CONV, "stride_h": 0}, (1, 4, 4, 2), (1, 4, 4, 2), FILTER),
    "CONV_2D dilation": one_op("CONV_2D", {**CONV, "dilation_w_factor": 0}, (1, 4, 4, 2), (1, 4, 4, 2), FILTER),
    "DEPTHWISE_CONV_2D stride": one_op("DEPTHWISE_CONV_2D", {**CONV, "stride_w": 0}, (1, 4, 4, 2), (1, 4, 4, 2), DEEP),
    "MAX_POOL_2D stride": one_op("MAX_POOL_2D", {**POOL, "stride_w": 0}),
    "MAX_POOL_2D window": one_op("MAX_POOL_2D", {**POOL, "filter_height": 0}),
    "AVERAGE_POOL_2D window": one_op("AVERAGE_POOL_2D", {**POOL, "filter_width": -1}),
}


@pytest.mark.parametrize("case", DIVISORS)
def test_division_by_zero(tmp_path: Path, case: str) -> None:
    refuse(tmp_path, DIVISORS[case], ShapeError, f"operator 0 {case.split()[0]}", "0" if "window" not in case else "")


def test_filter_with_no_input_channel(tmp_path: Path) -> None:
    refuse(tmp_path, edited(setter("shape", 1, 3, 0), image_net()), ShapeError, "tensor 1 'wc'", "[5, 3, 3, 0]")


@pytest.mark.parametrize("scale", [0.0, -1.0, NAN, INF, -INF])
def test_scale_without_meaning(tmp_path: Path, scale: float) -> None:
    refuse(tmp_path, edited(setter("scale", 3, 0, scale)), QuantizationError, "tensor 3 'y0'", str(scale))


@pytest.mark.parametrize("zero_point", [128, -129, 2**40, -(2**63)])
def test_zero_point_out_of_range(tmp_path: Path, zero_point: int) -> None:
    data = edited(setter("zero_point", 3, 0, zero_point))
    refuse(tmp_path, data, QuantizationError, "tensor 3 'y0'", str(zero_point))


def test_as_many_scales_as_channels(tmp_path: Path) -> None:
    data = edited(lambda e: e.shorten(e.scale(1), 4), image_net())
    refuse(tmp_path, data, QuantizationError, "tensor 1 'wc'", "4 scales but 5 zero points")
    both = edited(lambda e: (e.shorten(e.scale(1), 4), e.shorten(e.zero_point(1), 4)), image_net())
    refuse(tmp_path, both, QuantizationError, "tensor 1 'wc'", "4 scales for dimension 0 of size 5")


@pytest.mark.parametrize("scale", [1e-45, 3.4e38])
def test_extreme_scales_build_or_are_refused_by_name(tmp_path: Path, scale: float) -> None:
    for tensor in range(10):
        path = tmp_path / "extreme.tflite"
        path.write_bytes(edited(setter("scale", tensor, 0, scale)))
        try:
            assert mcugen.compile(path, selftest=True).files
        except QuantizationError as error:
            assert "scale" in str(error)


@pytest.mark.parametrize("value", [NAN, INF])
def test_constant_that_is_not_finite(tmp_path: Path, value: float) -> None:
    m = ModelWriter()
    x, y = (m.tensor(name, (2,), "f32") for name in "xy")
    m.op("ADD", [x, m.tensor("c", (2,), "f32", data=np.array([1.0, value]))], [y])
    refuse(tmp_path, m.build([x], [y]), CorruptModelError, "tensor 2 'c'", "infinities or NaN")


def test_attribute_that_is_not_finite(tmp_path: Path) -> None:
    refuse(tmp_path, one_op("SOFTMAX", {"beta": NAN}), CorruptModelError, "operator 0", "beta is nan")


def test_options_of_another_operator(tmp_path: Path) -> None:
    def change(e: Editor) -> None:
        assert e.put(e.graph.Operators(1), 3, bytes([1]))

    refuse(tmp_path, edited(change), CorruptModelError, "operator 1", "FULLY_CONNECTED", "Conv2DOptions")


def test_activation_that_does_not_exist(tmp_path: Path) -> None:
    m = ModelWriter()
    x, y = (m.tensor(name, (2,), "s8", scale=0.1) for name in "xy")
    m.op("ADD", [x, x], [y], {"fused_activation_function": 77})
    refuse(tmp_path, m.build([x], [y]), CorruptModelError, "fused_activation_function is 77")


def test_all_unsupported_operators_are_named(tmp_path: Path) -> None:
    m = ModelWriter()
    x, y, z = (m.tensor(name, (1, 3), "s8", scale=1.0) for name in "xyz")
    m.op("CUSTOM", [x], [y], custom_code='evil"*/\n')
    m.op("HASHTABLE", [y], [z])
    refuse(tmp_path, m.build([x], [z]), UnsupportedError, "operator 0 CUSTOM", "operator 1 HASHTABLE")


@pytest.mark.whole
def test_many_nodes_are_bounded(tmp_path: Path) -> None:
    m = ModelWriter()
    tensors = [m.tensor("x", (1,), "s8", scale=1.0) for _ in range(66_000)]
    m.op("RELU", tensors[:1], tensors[1:2])
    refuse(tmp_path, m.build(tensors[:1], tensors[1:2]), CorruptModelError, "66000 tensors")


@pytest.mark.parametrize("name", ["model.txt", "model", "model.tflite.gz"])
def test_other_suffixes_of_what_nobody_knows(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"no model")
    with pytest.raises(UsageError) as caught:
        mcugen.compile(tmp_path / name)
    assert ".tflite" in caught.value.hint


def _row(op: str, width: int) -> bytes:
    more = {} if op == "CONV_2D" else {"depth_multiplier": 1}
    shape = (1, 1, width, 1)
    return one_op(op, {**CONV, **more}, shape, shape, ((1, 3, 3, 1), "s8", np.ones((1, 3, 3, 1))))


@pytest.mark.parametrize("op", ["CONV_2D", "DEPTHWISE_CONV_2D"])
def test_rows_too_long_for_a_constant_border(tmp_path: Path, op: str) -> None:
    refuse(tmp_path, _row(op, 2**27), UnsupportedError, f"operator 0 {op}", str(2**27))


@pytest.mark.whole
def test_more_operators_than_a_network_has(tmp_path: Path) -> None:
    m = ModelWriter()
    tensors = [m.tensor("t", (4,), "s8", scale=1.0) for _ in range(10_002)]
    for x, y in pairwise(tensors):
        m.op("RELU", [x], [y])
    refuse(tmp_path, m.build(tensors[:1], tensors[-1:]), UnsupportedError, "10001 operators")


HUGE = {
    "elementwise": one_op("RELU", None, (2**28,), (2**28,)),
    "folded padding": one_op("PAD", None, (1, 1), (1, 2**27), ((2, 2), "s32", np.array([[0, 0], [0, 2**27 - 1]]))),
    "row of a convolution": _row("CONV_2D", 2**16 - 1),
}


def test_what_a_few_bytes_can_ask_for_is_bounded() -> None:
    verdicts = damage.judge(list(HUGE.values()))
    assert {name: v.kind for name, v in zip(HUGE, verdicts, strict=True)} == dict.fromkeys(HUGE, damage.BUILT)
