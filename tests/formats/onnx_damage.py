# SPDX-License-Identifier: Apache-2.0
"""Small .onnx files with many operators, and edits of single fields that hostile files would have."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tests.formats.onnx_models import Writer
from tests.formats.quantized_models import made

INTS = (0, -1, 1, 7, -(2**31), 2**31 - 1, 2**40, 2**63 - 1, -(2**63))
FLOATS = (0.0, -1.0, 1e30, float("nan"), float("inf"), float("-inf"))
SEED = 11


def images() -> bytes:
    """Convolutions, pools and resizes of images, signals and volumes."""
    w = Writer(22)
    x, line = w.input([1, 4, 6, 6]), w.input([1, 2, 4, 4, 4])
    sizes = w.constant(np.array([1, 4, 9, 5]))
    found = [
        w.node("Conv", [x, w.weights(4, 2, 3, 3), w.weights(4)], group=2, pads=[1, 0, 2, 1], dilations=[1, 2]),
        w.node("Conv", [line, w.weights(2, 2, 2, 2, 2)], strides=[1, 2, 1]),
        w.node("ConvTranspose", [x, w.weights(4, 3, 2, 2)], strides=[2, 2], output_padding=[1, 0]),
        w.node("MaxPool", [x], kernel_shape=[2, 2], dilations=[2, 1], ceil_mode=1),
        w.node("AveragePool", [line], kernel_shape=[2, 2, 2], pads=[1, 0, 0, 0, 1, 0], count_include_pad=1),
        w.node("LpPool", [x], kernel_shape=[3, 3], p=3),
        w.node("Resize", [x, "", "", sizes], mode="linear", coordinate_transformation_mode="half_pixel"),
        w.node("Resize", [x, "", w.constant(np.array([1, 1, 2, 2], np.float32))], mode="nearest"),
        w.node("InstanceNormalization", [x, w.weights(4), w.weights(4)], epsilon=0.1),
        w.node("LRN", [x], size=3),
        w.node("DepthToSpace", [x], blocksize=2),
        w.node("Pad", [x, w.constant(np.array([0, 0, 2, 1, 0, 0, 1, 3]))], mode="reflect"),
        w.node(
            "Col2Im", [w.input([1, 8, 4]), w.constant(np.array([4, 4])), w.constant(np.array([2, 2]))], strides=[2, 2]
        ),
    ]
    return bytes(w.model(*found).SerializeToString())


def _loop_body() -> onnx.GraphProto:
    """A turn of a loop that adds a constant to its state."""
    return helper.make_graph(
        [helper.make_node("Add", ["state", "step"], ["next"]), helper.make_node("Identity", ["going"], ["again"])],
        "body",
        [
            helper.make_tensor_value_info("turn", TensorProto.INT64, []),
            helper.make_tensor_value_info("going", TensorProto.BOOL, []),
            helper.make_tensor_value_info("state", TensorProto.FLOAT, [3, 5]),
        ],
        [
            helper.make_tensor_value_info("again", TensorProto.BOOL, []),
            helper.make_tensor_value_info("next", TensorProto.FLOAT, [3, 5]),
        ],
        [numpy_helper.from_array(np.ones((1, 5), np.float32), "step")],
    )


def tensors() -> bytes:
    """Gathers, scatters, reductions, indices, comparisons, a loop and functions."""
    w = Writer(22)
    x, y = w.input([3, 5]), w.input([3, 5])
    index = w.constant(np.array([[0, 1, -1, 2, 0]] * 3))
    count = w.constant(np.array(3))
    where = w.node("Where", [w.node("Less", [x, y]), x, y])
    found = [
        w.node("GatherElements", [where, index], axis=1),
        w.node("GatherND", [x, w.constant(np.array([[0, 1], [2, -1]]))]),
        w.node("ScatterElements", [x, index, y], axis=1, reduction="add"),
        w.node("ScatterND", [x, w.constant(np.array([[1], [0]])), w.weights(2, 5)], reduction="max"),
        *w.node("TopK", [x, w.constant(np.array([2]))], 2, axis=-1),
        w.node("CumSum", [x, w.constant(np.array(1))], reverse=1),
        w.node("OneHot", [w.node("ArgMax", [x], axis=1), w.constant(np.array(4)), w.weights(2)], axis=0),
        w.node("Trilu", [x, w.constant(np.array(1))], upper=0),
        w.node("ReduceProd", [x, w.constant(np.array([0]))], keepdims=0),
        w.node("ReduceLogSumExp", [x, w.constant(np.array([1]))]),
        w.node("LayerNormalization", [x, w.weights(5)], axis=-1),
        w.node("LeakyRelu", [w.node("Mod", [x, y], fmod=1)], alpha=0.2),
        w.node("Slice", [x, *(w.constant(np.array([v])) for v in (4, 0, 1, -2))]),
        w.node("Tile", [w.node("Expand", [x, w.constant(np.array([2, 3, 5]))]), w.constant(np.array([1, 2, 1]))]),
        *w.node("Split", [x, w.constant(np.array([1, 4]))], 2, axis=1),
        w.node("Loop", [count, "", x], body=_loop_body()),
        w.node("DFT", [w.node("Reshape", [x, w.constant(np.array([1, 15, 1]))]), "", w.constant(np.array(1))]),
        w.node("Range", [w.constant(np.array(v)) for v in (0, 6, 2)]),
        w.node("Einsum", [x, y], equation="ij,kj->ik"),
    ]
    return bytes(w.model(*found).SerializeToString())


QUANTIZED = ("island_chain", "qlinear_conv", "qlinear_concat", "qlinear_gemm", "qdq_conv_batch_norm_u8", "qdq_moves")
"""Models on stored integers whose fields are edited, too."""


def all_edited() -> Iterator[tuple[str, bytes]]:
    """Every edit of all the models."""
    quantized = (made(name)[0].SerializeToString() for name in QUANTIZED)
    for data in (images(), tensors(), *quantized):
        yield from edited(data)


def edited(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Every attribute, constant and dimension of a model with values it should not have; operands left out."""
    for k in range(_count(data)):
        for j in range(max(len(INTS), len(FLOATS)) + 2):
            model = onnx.ModelProto.FromString(data)
            what = _edit(model, k, j)
            if what:
                yield what, model.SerializeToString()


def _places(model: onnx.ModelProto) -> list[tuple[str, object]]:
    graph = model.graph
    found: list[tuple[str, object]] = []
    for node in graph.node:
        found += [(f"{node.name} {a.name}", a) for a in node.attribute]
        found += [(f"{node.name} operands", node)]
    found += [(f"constant {t.name}", t) for t in graph.initializer]
    found += [(f"dimensions of {v.name}", v) for v in (*graph.input, *graph.output)]
    return found


def _count(data: bytes) -> int:
    return len(_places(onnx.ModelProto.FromString(data)))


def _edit(model: onnx.ModelProto, k: int, j: int) -> str:
    """Change place k in way j; what was done, "" where there is no such way."""
    name, place = _places(model)[k]
    if isinstance(place, onnx.AttributeProto):
        return f"{name} {_edit_attribute(place, j)}" if _edit_attribute(place, j) else ""
    if isinstance(place, onnx.NodeProto):
        if j >= len(place.input):
            return ""
        place.input[j] = "" if j % 2 else place.input[0] if j else ""
        return f"{name} {j}"
    if isinstance(place, onnx.TensorProto):
        return f"{name} {_edit_constant(place, j)}" if j < len(INTS) else ""
    dims = place.type.tensor_type.shape.dim  # type: ignore[attr-defined]
    if j >= len(INTS) or not dims:
        return ""
    dims[j % len(dims)].dim_value = INTS[j]
    return f"{name} {INTS[j]}"


def _edit_attribute(a: onnx.AttributeProto, j: int) -> str:
    kind = onnx.AttributeProto
    if a.type == kind.INT and j < len(INTS):
        a.i = INTS[j]
    elif a.type == kind.FLOAT and j < len(FLOATS):
        a.f = FLOATS[j]
    elif a.type == kind.INTS and j < len(INTS) and a.ints:
        a.ints[j % len(a.ints)] = INTS[j]
    elif a.type == kind.INTS and j == len(INTS):
        del a.ints[0:1]
    elif a.type == kind.STRING and j == 0:
        a.s = b"\xff*/\n"
    else:
        return ""
    return f"edit {j}"


def _edit_constant(tensor: onnx.TensorProto, j: int) -> str:
    data = numpy_helper.to_array(tensor).copy()
    if data.dtype.kind == "f":
        data.reshape(-1)[:] = FLOATS[j % len(FLOATS)]
    elif data.size and data.dtype.kind == "b":
        data.reshape(-1)[j % data.size] ^= True
    elif data.size and data.dtype.kind in "iu":
        limits = np.iinfo(data.dtype)
        data.reshape(-1)[j % data.size] = min(max(INTS[j], limits.min), limits.max)
    if j == len(INTS) - 1:
        data = data.reshape(-1)[:0]
    tensor.CopyFrom(numpy_helper.from_array(data, tensor.name))
    return f"edit {j}"


def damaged(count: int) -> list[bytes]:
    """Files cut at random bytes, and with one to three bits or bytes flipped, of both models."""
    files = []
    sources = (images(), tensors())
    for k in range(count):
        rng = np.random.default_rng([SEED, k])
        data = bytearray(sources[k % 2])
        if k % 5 == 0:
            files.append(bytes(data[: int(rng.integers(0, len(data)))]))
            continue
        for place in rng.integers(0, len(data), rng.integers(1, 4)):
            data[place] ^= 1 << int(rng.integers(8)) if rng.random() < 0.7 else int(rng.integers(1, 256))
        files.append(bytes(data))
    return files
