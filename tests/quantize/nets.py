# SPDX-License-Identifier: Apache-2.0
"""Small float networks for the tests of quantization, made in seconds: random layers and a fitted last one.

usage: python -m tests.quantize.nets FOLDER [NAME...]
Writes NAME.tflite and NAME.onnx, as far as the formats can say them, and NAME.npz with calib_x, test_x and test_y.

The `_uneven` ones are the same functions with channels multiplied by powers of two, so that a scale for a whole tensor
has little left for most of them. `mobilenet_v2` has random weights alone, at 224 x 224, and is for timing.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from mcugen.errors import UnsupportedError, UsageError
from mcugen.formats import write
from mcugen.ir.graph import Graph, Node, Tensor
from mcugen.ops.add import Add
from mcugen.ops.concatenation import Concatenation
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.detection_postprocess import DetectionPostprocess
from mcugen.ops.gru import Gru
from mcugen.ops.logistic import Logistic
from mcugen.ops.lstm import Lstm
from mcugen.ops.mul import Mul
from mcugen.ops.softmax import Softmax
from mcugen.ops.transpose import Transpose
from tests.formats.onnx_models import Writer
from tests.quantize import net_tasks as tasks
from tests.quantize.net_builder import Builder, least_squares, uneven

TRAIN, TEST, CALIBRATION = 1500, 600, 200


@dataclass(frozen=True, eq=False)
class Net:
    """A float network and its data.

    graph: None where only `files` has it.   files: model files by format, where they are not written from the graph
    calib: samples [n, ...]   test: samples, with labels: classes [n] (for `ssd` also boxes [n, 4])
    """

    name: str
    graph: Graph | None
    calib: np.ndarray
    test: np.ndarray
    labels: np.ndarray
    boxes: np.ndarray | None = None
    files: tuple[tuple[str, bytes], ...] = ()

    def written(self, format_name: str) -> bytes:
        """The model file. Raises UnsupportedError and UsageError where the format cannot say it."""
        given = dict(self.files)
        if format_name in given:
            return given[format_name]
        if self.graph is None:
            raise UnsupportedError(f"{self.name} is not made as .{format_name}")
        return write.write(self.graph, format_name)


def one_hot(labels: np.ndarray) -> np.ndarray:
    return np.eye(labels.max() + 1)[labels] * 8 - 4


def grating_net() -> Net:
    """Depthwise and pointwise convolutions: 24 x 24 x 3, 12 classes, all channels through a mean."""
    x, y = tasks.gratings(TRAIN, 11)
    net = Builder("gratings", x, 1, "image")
    v = net.conv(net.input, 24, (7, 7), "stem", stride=(2, 2), activation="RELU")
    for k, channels in enumerate((32, 64, 96)):
        stride = (2, 2) if k == 1 else (1, 1)
        v = net.depthwise(v, (3, 3), f"block{k}/depthwise", stride=stride, activation="RELU")
        v = net.conv(v, channels, (1, 1), f"block{k}/pointwise", activation="RELU")
    v = net.fitted(net.mean(v, (1, 2), "mean"), one_hot(y), "logits")
    test = tasks.gratings(TEST, 12)
    return Net("gratings", net.graph(v), x[:CALIBRATION], *test)


def move_net() -> Net:
    """Convolutions over time with a skip: 48 steps of 3 axes, 8 classes."""
    x, y = tasks.moves(TRAIN, 21)
    net = Builder("moves", x[:, :, None], 2, "steps")
    v = net.conv(net.input, 24, (7, 1), "stem", stride=(2, 1), activation="RELU")
    inner = net.conv(v, 40, (5, 1), "wide", activation="RELU")
    inner = net.conv(inner, 40, (3, 1), "deep", activation="RELU")
    inner = net.conv(inner, 24, (1, 1), "narrow")
    v = net.node(Add("RELU"), (v, inner), "skip")
    v = net.conv(v, 64, (5, 1), "last", stride=(2, 1), activation="RELU")
    v = net.fitted(net.mean(v, (1, 2), "mean"), one_hot(y), "logits")
    test, labels = tasks.moves(TEST, 22)
    return Net("moves", net.graph(v), x[:CALIBRATION, :, None], test[:, :, None], labels)


def made_uneven(net: Net, factors: Callable[[int], np.ndarray]) -> Net:
    assert net.graph is not None
    graph = uneven(net.graph, factors)
    return replace(net, name=graph.name, graph=graph)


def grating_uneven() -> Net:
    """All channels between two convolutions times 2^U(-4, 4)."""
    rng = np.random.default_rng(31)
    return made_uneven(made("gratings"), lambda count: 2 ** rng.uniform(-4, 4, count))


def move_uneven() -> Net:
    """Channels times 2^N(0, 2.5): most lie close together, and a few dwarf the others."""
    rng = np.random.default_rng(32)
    return made_uneven(made("moves"), lambda count: 2 ** rng.normal(0, 2.5, count))


def attention_net() -> Net:
    """One block of attention with two heads over 8 patches of 6 steps, a skip, and a layer for each patch."""
    x, y = tasks.moves(TRAIN, 41)
    patches, width, heads = 8, 32, 2
    net = Builder("attention", x, 4, "steps")
    v = net.project(net.reshape(net.input, (patches, 18), "patches"), width, "embed", activation="RELU")

    def part(label: str) -> str:
        split = net.reshape(net.project(v, width, label), (patches, heads, width // heads), f"{label}/split")
        return net.node(Transpose((0, 2, 1, 3)), (split,), f"{label}/heads")

    query, key, value = part("query"), part("key"), part("value")
    scores = net.product(query, key, "products", transpose_b=True)
    scale = net.constant(np.float32((heads / width) ** 0.5), "scale")
    weights = net.node(Softmax(), (net.node(Mul(), (scores, scale), "scores"),), "weights")
    joined = net.node(Transpose((0, 2, 1, 3)), (net.product(weights, value, "mixed"),), "mixed/steps")
    joined = net.project(net.reshape(joined, (patches, width), "joined"), width, "out")
    v = net.project(net.node(Add(), (v, joined), "skip"), 96, "wide", activation="RELU")
    v = net.fitted(net.mean(v, (1,), "mean"), one_hot(y), "logits")
    return Net("attention", net.graph(v), x[:CALIBRATION], *tasks.moves(TEST, 42))


def recurrent_net(kind: str) -> Net:
    """A layer of LSTM or GRU over 48 steps, [time, batch, axes]; a fitted layer reads the mean of its states."""
    x, y = tasks.moves(TRAIN, 51)
    hidden, gates = 40, 4 if kind == "LSTM" else 3
    rng = np.random.default_rng(52)
    w = rng.normal(0, 0.7, (gates * hidden, 3)).astype(np.float32)
    r = rng.normal(0, 1.1 / np.sqrt(hidden), (gates * hidden, hidden)).astype(np.float32)
    b = rng.normal(0, 0.2, gates * hidden).astype(np.float32)
    start = np.zeros((TRAIN, hidden), np.float32)
    steps = np.ascontiguousarray(x.transpose(1, 0, 2))
    if kind == "LSTM":
        state = Lstm().reference(steps, w, r, b, start, start)[0]
    else:
        state = Gru().reference(steps, w, r, b, 0 * b, start)[0]
    weights, bias = least_squares(np.mean(state, axis=0), one_hot(y), 1e-3)
    model = Writer(17)
    both = np.concatenate([b, 0 * b])
    given = [model.input((48, 1, 3)), *(model.constant(v[None]) for v in (w, r, both))]
    results = model.node(kind, given, 3 if kind == "LSTM" else 2, hidden_size=hidden)
    mean = model.node("ReduceMean", [results[0]], axes=[0, 1], keepdims=0)
    ends = [model.constant(v.astype(np.float32)) for v in (weights, bias)]
    data = model.model(model.node("Gemm", [mean, *ends], transB=1)).SerializeToString()
    test, labels = tasks.moves(TEST, 53)
    shaped = (x[:CALIBRATION, :, None], test[:, :, None])
    return Net(kind.lower(), None, *shaped, labels, files=(("onnx", data),))


ANCHORS = ((8, 8.0), (4, 11.0))
"""Cells on a side, and the side of the anchor in pixels, of the two levels."""


def ssd_net(detect: bool) -> Net:
    """A detector of two levels and a kind of box: classes [1, 80, 3] with the background, boxes [1, 80, 4].

    detect: the boxes are decoded and chosen by TFLite's operator for it, whose four tables are the outputs.
    """
    x, kind, box = tasks.scenes(TRAIN, 61)
    net = Builder("ssd" if detect else "ssd_heads", x, 6, "image")
    v = net.conv(net.input, 12, (5, 5), "stem", stride=(2, 2), activation="RELU")
    v = net.depthwise(v, (3, 3), "block0/depthwise", stride=(2, 2), activation="RELU")
    levels = [net.conv(v, 32, (1, 1), "block0/pointwise", activation="RELU")]
    v = net.depthwise(levels[0], (3, 3), "block1/depthwise", stride=(2, 2), activation="RELU")
    levels.append(net.conv(v, 48, (3, 3), "block1/wide", activation="RELU"))
    found = [_head(net, level, k, kind, box) for k, level in enumerate(levels)]
    classes = net.node(Concatenation(1), [c for c, _ in found], "classes")
    boxes = net.node(Concatenation(1), [b for _, b in found], "boxes")
    scores = net.node(Logistic(), (classes,), "scores")
    test, labels, places = tasks.scenes(TEST, 62)
    graph = _detecting(net, boxes, scores) if detect else net.graph(scores, boxes)
    return Net(net.name, graph, x[:CALIBRATION], test, labels, places)


def _anchors(level: int) -> np.ndarray:
    """[cells, 4]: centre y, x, height, width, as shares of the image."""
    cells, side = ANCHORS[level]
    y, x = np.mgrid[:cells, :cells].reshape(2, -1)
    sides = np.full(cells * cells, side / 32)
    return np.stack([(y + 0.5) / cells, (x + 0.5) / cells, sides, sides], axis=1).astype(np.float32)


def _head(net: Builder, level: str, k: int, kind: np.ndarray, box: np.ndarray) -> tuple[str, str]:
    """Two fitted convolutions on a level: the class and the box of the anchor of each cell."""
    cells, side = ANCHORS[k]
    anchors = _anchors(k)
    windows = np.lib.stride_tricks.sliding_window_view(
        np.pad(net.seen[level], ((0, 0), (1, 1), (1, 1), (0, 0))), (3, 3), (1, 2)
    )
    rows = windows.transpose(0, 1, 2, 4, 5, 3).reshape(len(kind) * cells * cells, -1)
    inside = (np.abs(box[:, None, :2] - anchors[:, :2]) <= 0.5 / cells).all(axis=2)
    near = inside & (np.abs(np.log2(box[:, None, 2] * 32 / side)) < 0.7)
    classes = np.where(near[..., None], one_hot(kind + 1)[:, None], one_hot(np.array([0, 2]))[0])
    offsets = np.concatenate(
        [(box[:, None, :2] - anchors[:, :2]) / anchors[:, 2:] * 10, np.log(box[:, None, 2:] / anchors[:, 2:]) * 5],
        axis=2,
    )
    share = rows.reshape(len(kind), cells * cells, -1)
    rng = np.random.default_rng(63)
    some = near | (rng.random(near.shape) < 4 / cells**2)
    found = []
    for name, wanted, chosen in (("classes", classes, some), ("boxes", offsets, near)):
        w, b = least_squares(share[chosen], wanted[chosen], 1e-2)
        shape = (wanted.shape[2], 3, 3, net.tensors[level].type.shape[3])
        operands = (level, net.constant(w.reshape(shape), f"{name}{k}/w"), net.constant(b, f"{name}{k}/b"))
        head = net.node(Conv2D(), operands, f"{name}{k}")
        found.append(net.reshape(head, (cells * cells, wanted.shape[2]), f"{name}{k}/rows"))
    return found[0], found[1]


def _detecting(net: Builder, boxes: str, scores: str) -> Graph:
    """The network with the operator that decodes boxes and chooses the best; it has four results."""
    anchors = net.constant(np.concatenate([_anchors(0), _anchors(1)]), "anchors")
    op = DetectionPostprocess(tasks.THINGS, 5, 1, 0.3, 0.5, (10.0, 10.0, 5.0, 5.0))
    names = []
    for t, label in zip(op.infer(*(net.tensors[n].type for n in (boxes, scores, anchors))), TABLES, strict=True):
        names.append(f"t{len(net.tensors)}")
        net.tensors[names[-1]] = Tensor(names[-1], t, label=label)
    net.nodes.append(Node(f"n{len(net.nodes)}", op, (boxes, scores, anchors), tuple(names)))
    return net.graph(*names)


TABLES = ("found_boxes", "found_classes", "found_scores", "found_count")


def mobilenet_v2(size: int = 224, classes: int = 1000) -> Net:
    """MobileNetV2 (width 1.0) with random weights: 3.5 million of them, 300 million multiplications at 224 x 224."""
    rng = np.random.default_rng(71)
    coarse = rng.uniform(-1, 1, (100, size // 16, size // 16, 3)).repeat(16, axis=1).repeat(16, axis=2)
    x = np.clip(coarse + rng.normal(0, 0.2, coarse.shape), -1, 1).astype(np.float32)
    net = Builder("mobilenet_v2", x[:2], 7, "image")
    v = net.conv(net.input, 32, (3, 3), "stem", stride=(2, 2), activation="RELU6")
    settings = (
        (1, 16, 1, 1),
        (6, 24, 2, 2),
        (6, 32, 3, 2),
        (6, 64, 4, 2),
        (6, 96, 3, 1),
        (6, 160, 3, 2),
        (6, 320, 1, 1),
    )
    k = 0
    for expand, channels, repeats, first in settings:
        for step in (first, *([1] * (repeats - 1))):
            v, k = _inverted(net, v, f"block{k}", expand, channels, step), k + 1
    v = net.conv(v, 1280, (1, 1), "head", activation="RELU6")
    v = net.mean(v, (1, 2), "mean")
    w = net.rng.standard_normal((classes, 1280)) / 8
    v = net.dense(v, w, np.zeros(classes), "logits")
    return Net("mobilenet_v2", net.graph(v), x, x[:10], np.zeros(10, np.int64))


def _inverted(net: Builder, x: str, label: str, expand: int, channels: int, step: int) -> str:
    depth = net.tensors[x].type.shape[3]
    v = net.conv(x, depth * expand, (1, 1), f"{label}/expand", activation="RELU6") if expand > 1 else x
    v = net.depthwise(v, (3, 3), f"{label}/depthwise", stride=(step, step), activation="RELU6")
    v = net.conv(v, channels, (1, 1), f"{label}/project")
    return net.node(Add(), (x, v), f"{label}/skip") if step == 1 and channels == depth else v


NETS: dict[str, Callable[[], Net]] = {
    "gratings": grating_net,
    "gratings_uneven": grating_uneven,
    "moves": move_net,
    "moves_uneven": move_uneven,
    "attention": attention_net,
    "lstm": functools.partial(recurrent_net, "LSTM"),
    "gru": functools.partial(recurrent_net, "GRU"),
    "ssd": functools.partial(ssd_net, True),
    "ssd_heads": functools.partial(ssd_net, False),
    "mobilenet_v2": mobilenet_v2,
}


@functools.cache
def made(name: str) -> Net:
    """A network by its name, made once."""
    return NETS[name]()


def main(folder: Path, names: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or list(NETS):
        net = made(name)
        for format_name in ("tflite", "onnx"):
            try:
                data = net.written(format_name)
            except (UnsupportedError, UsageError) as error:
                print(f"{name}.{format_name}: {error}", file=sys.stderr)
                continue
            (folder / f"{name}.{format_name}").write_bytes(data)
        arrays = {"calib_x": net.calib, "test_x": net.test, "test_y": net.labels}
        np.savez_compressed(folder / f"{name}.npz", **arrays)
        print(name, net.calib.shape[1:], f"{len(net.calib)} calibration, {len(net.test)} test samples")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
