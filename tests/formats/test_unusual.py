# SPDX-License-Identifier: Apache-2.0
"""Valid .tflite files that few converters write: they build, and every layer is exact."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import flatbuffers
import numpy as np
import pytest
import tflite

import mcugen
from mcugen.errors import CorruptModelError, McugenError, ShapeError
from mcugen.ir.types import TensorType
from mcugen.oracle import interpreter
from mcugen.pipeline import Artifact
from mcugen.verify import checks
from tests.formats.onnx_models import Writer, write
from tests.formats.small_models import image_net
from tests.support.tflite_writer import ModelWriter


def built(folder: Path, data: bytes) -> Artifact:
    (folder / "model.tflite").write_bytes(data)
    return mcugen.compile(folder / "model.tflite")


def exact(artifact: Artifact) -> bool:
    return checks.verify(artifact, 2, None, None, lambda text: None).agrees


def code_places(data: bytes, slot: int) -> list[int]:
    """The positions of a field of each operator code in the file."""
    model = tflite.Model.GetRootAsModel(data, 0)
    codes = [model.OperatorCodes(k) for k in range(model.OperatorCodesLength())]
    places = [code._tab.Offset(slot) for code in codes]
    assert all(places), "the writer leaves the field out"
    return [place + code._tab.Pos for place, code in zip(places, codes, strict=True)]


def test_operator_codes_in_either_field(tmp_path: Path) -> None:
    data = image_net()
    known = built(tmp_path, data)
    new, old = bytearray(data), bytearray(data)
    for place in code_places(data, 4):
        new[place] = 0
    for place in code_places(data, 10):
        old[place : place + 4] = bytes(4)
    operators = [node.op for node in known.imported.nodes]
    assert len({type(op) for op in operators}) > 1
    for changed in (bytes(new), bytes(old)):
        assert [node.op for node in built(tmp_path, changed).imported.nodes] == operators


def test_an_operator_code_below_zero_is_refused(tmp_path: Path) -> None:
    data = bytearray(image_net())
    for old, place in zip(code_places(bytes(data), 4), code_places(bytes(data), 10), strict=True):
        data[old] = 0x80
        flatbuffers.encode.Write(flatbuffers.packer.int32, data, place, -5)
    with pytest.raises(McugenError, match=r"-5"):
        built(tmp_path, bytes(data))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ["u8", "s8"])
@pytest.mark.parametrize("case", ["input is output", "constant is output", "constant is input"])
def test_ends_of_the_graph_that_no_operator_computes(dtype: str, case: str, tmp_path: Path) -> None:
    m = ModelWriter()
    x, y = (m.tensor(name, (4,), dtype, scale=0.1, zero_point=3) for name in "xy")
    c = m.tensor("c", (4,), dtype, scale=0.1, data=np.arange(4))
    m.op("ADD", [x, c], [y])
    outputs = {"input is output": [y, x], "constant is output": [y, c], "constant is input": [y]}[case]
    artifact = built(tmp_path, m.build([x, c] if case == "constant is input" else [x], outputs))
    assert artifact.imported.inputs == ("t0",) and len(artifact.imported.outputs) == len(outputs)
    assert {artifact.imported.type(name).dtype for name in artifact.graph.inputs} == {dtype}
    assert exact(artifact)


def open_net(signature: tuple[int, ...], declared: tuple[int, ...]) -> bytes:
    """Two convolutions; the result of the first is declared so."""
    r = np.random.default_rng(1)
    m = ModelWriter()
    x = m.tensor("x", (1, 8, 8, 3), "s8", scale=0.1, shape_signature=(-1, 8, 8, 3))
    y = m.tensor("y", declared, "s8", scale=0.2, shape_signature=signature)
    z = m.tensor("z", (1, 4, 4, 2), "s8", scale=0.2)
    for channels, stride, source, result in ((4, 1, x, y), (2, 2, y, z)):
        shape = (channels, 3, 3, 3 if source == x else 4)
        w = m.tensor("w", shape, "s8", scale=0.01, data=r.integers(-127, 128, shape))
        b = m.tensor("b", (channels,), "s32", scale=0.001, data=r.integers(-99, 99, channels))
        m.op("CONV_2D", [source, w, b], [result], {"padding": "SAME", "stride_h": stride, "stride_w": stride})
    return m.build([x], [z])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("signature", [(-1, -1, -1, 4), (1, -1, -1, 4), (-1, -1, -1, -1)])
def test_shapes_that_the_file_leaves_open_are_inferred(signature: tuple[int, ...], tmp_path: Path) -> None:
    declared = tuple(1 if d == -1 else d for d in signature)
    artifact = built(tmp_path, open_net(signature, declared))
    assert artifact.imported.type("t1").shape == (1, 8, 8, 4)
    assert exact(artifact)


@pytest.mark.parametrize(
    ("signature", "declared"), [((-1, -1, -1, 5), (1, 1, 1, 5)), ((-1, -1, 4), (1, 1, 4)), ((1, 1, 1, 4), (1, 1, 1, 4))]
)
def test_shapes_that_contradict_the_operands_are_refused(
    signature: tuple[int, ...], declared: tuple[int, ...], tmp_path: Path
) -> None:
    with pytest.raises(ShapeError, match=r"operands make 'y' \[1, 8, 8, 4\]"):
        built(tmp_path, open_net(signature, declared))


def test_an_open_result_without_operands_is_refused(tmp_path: Path) -> None:
    m = ModelWriter()
    x, y = (m.tensor(n, (1, 4), "s8", scale=0.1, shape_signature=(-1, -1)) for n in "xy")
    m.op("CONV_2D", [x], [y], {"padding": "SAME", "stride_h": 1, "stride_w": 1})
    with pytest.raises(CorruptModelError, match="operands"):
        built(tmp_path, m.build([x], [y]))


@pytest.mark.sampled(12)
@pytest.mark.parametrize("dtype", ["s8", "s16", "f32"])
@pytest.mark.parametrize("operator", ["UNPACK", "SPLIT", "PACK", "CONCATENATION"])
def test_more_parts_than_a_function_has_arguments(operator: str, dtype: str, tmp_path: Path) -> None:
    """16 parts of three elements: most begin at no multiple of four bytes, so they cannot lie in the whole tensor."""
    quant = {} if dtype == "f32" else {"scale": 0.1}
    m = ModelWriter()
    one = (1, 1, 3) if operator in ("SPLIT", "CONCATENATION") else (1, 3)
    whole = m.tensor("whole", (16, 1, 3), dtype, **quant)
    parts = [m.tensor(f"p{k}", one, dtype, **quant) for k in range(16)]
    if operator in ("UNPACK", "SPLIT"):
        axis = [m.tensor("axis", (), "s32", data=np.array(0))] if operator == "SPLIT" else []
        options = {"num": 16, "axis": 0} if operator == "UNPACK" else {"num_splits": 16}
        m.op(operator, [*axis, whole], parts, options)
        data = m.build([whole], parts)
    else:
        m.op(operator, parts, [whole], {"axis": 0} | ({"values_count": 16} if operator == "PACK" else {}))
        data = m.build(parts, [whole])
    artifact = built(tmp_path, data)
    assert exact(artifact)
    assert dtype != "f32" or operator == "PACK" or operator == "CONCATENATION" or not artifact.schedule.steps


def _far_beyond_floats(folder: Path) -> Path:
    """Stored integers whose real numbers no float holds, and floats made of them."""
    m = ModelWriter()
    x, q = (m.tensor(n, (1, 8), "s8", scale=s) for n, s in (("x", 3e38), ("q", 0.5)))
    y, z = (m.tensor(n, (1, 8), "f32") for n in "yz")
    m.op("DEQUANTIZE", [x], [y], {}, version=2)
    m.op("MUL", [y, y], [z], {})
    m.op("QUANTIZE", [z], [q], {})
    (folder / "model.tflite").write_bytes(m.build([x], [z, q]))
    return folder / "model.tflite"


def _infinite_norm(folder: Path) -> Path:
    """A batch normalization whose constants give infinities, and what is no number, for a part of the channels."""
    w = Writer()
    statistics = ([np.inf, 3e38, 1, 1], [1, 0, np.inf, 1], [0, 3e38, 1, np.inf], [np.inf, 1, 1, np.nan])
    names = [w.constant(np.array(values, np.float32)) for values in statistics]
    return write(w.model(w.node("BatchNormalization", [w.input([1, 4, 2, 2]), *names])), folder)


def _overflowing_norm(folder: Path) -> Path:
    """A batch normalization behind a convolution, of which three channels overflow, and their maximum."""
    w = Writer()
    y = w.node("Conv", [w.input([1, 3, 4, 4]), w.constant(np.ones((4, 3, 1, 1), np.float32))])
    statistics = ([1, 1, 1, 1], [1, np.inf, -np.inf, 3e38], [0, 0, 1, -3e38], [1, 1, 1, 1e-30])
    y = w.node("BatchNormalization", [y, *(w.constant(np.array(values, np.float32)) for values in statistics)])
    return write(w.model(w.node("MaxPool", [y], kernel_shape=[2, 2])), folder)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("make", [_far_beyond_floats, _infinite_norm, _overflowing_norm])
def test_nothing_is_said_of_infinite_values(make: Callable[[Path], Path], tmp_path: Path) -> None:
    """NumPy's own warnings, which name lines of mcugen, are none for users; the C computes the same values."""
    artifact = mcugen.compile(make(tmp_path))
    graph = artifact.imported
    values = interpreter.run(graph, [_ends(graph.type(name)) for name in graph.inputs], "")
    floats = [values[n] for n in graph.outputs if values[n].dtype.kind == "f"]
    assert not all(np.isfinite(v).all() for v in floats)
    assert make is _infinite_norm or exact(artifact)  # its scales are those that other parts compute with


def _ends(t: TensorType) -> np.ndarray:
    return np.resize(np.array([-128, 127]), t.shape).astype(t.np_dtype)
