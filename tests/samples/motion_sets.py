# SPDX-License-Identifier: Apache-2.0
"""Motions that people recorded: an emulated core decides like Python on every window.

    pip download --no-deps aeon==1.6.0
    python -m tests.samples.motion_sets aeon-1.6.0-py3-none-any.whl [CORE]

The wheel of aeon has BasicMotions (six axes, 10 Hz), PickupGestureWiimoteZ (one axis) and a recording of Daphnet (nine
axes at 64 Hz, in which no freezing of gait is marked). Ridge regression on features of the training part decides on
the test part.
"""

from __future__ import annotations

import csv
import io
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.ir.graph import Graph, Node, Tensor
from mcugen.ir.types import TensorType
from mcugen.ops.fully_connected import FullyConnected
from mcugen.oracle import interpreter
from mcugen.samples import words
from mcugen.samples.preprocess import applied, parse
from mcugen.verify import emulated
from mcugen.verify.cases import Case
from tests.samples.test_firmware import built

CORE = "cortex-m4"
FOLDER = "aeon/datasets/data"
SETS = {
    "BasicMotions": (
        "BasicMotions/BasicMotions",
        "100x6:f32@10",
        "rate=10,magnitude=3,windows(window=10s,hop=10s),statistics=mean:std:rms:mad:range:skewness:kurtosis:"
        "mean-crossings,spectrum(decibels=yes,floor=1e-3),autocorrelation=1:2:5",
        10.0,
    ),
    "PickupGestureWiimoteZ": (
        "PickupGestureWiimoteZ/PickupGestureWiimoteZ_eq",
        "361x1:f32",
        "windows(window=361,hop=361),statistics=mean:std:rms:mad:min:max:skewness:kurtosis:zero-crossings:"
        "mean-crossings,spectrum(decibels=yes,floor=1e-2),autocorrelation=1:2:4:8:16:32",
        30.0,
    ),
}
GAIT = (
    "rate=64,magnitude=3,windows(window=2s,hop=500ms),statistics=std:mad:range:skewness:kurtosis:mean-crossings,"
    "bands(edges=0.5:3:8:20,decibels=yes),autocorrelation=16:32"
)


@dataclass(frozen=True, eq=False)
class Motions:
    """Windows [n, time, channels], and their classes [n]."""

    x: np.ndarray
    y: np.ndarray


def read(wheel: zipfile.ZipFile, name: str, part: str) -> Motions:
    """The TRAIN or TEST part of a set: a line for each window, with its channels and its class between colons."""
    text = wheel.read(f"{FOLDER}/{name}_{part}.ts").decode()
    lines = [line.split(":") for line in text.partition("@data")[2].split()]
    x = np.float32([[channel.split(",") for channel in channels] for *channels, _ in lines])
    names = sorted({label for *_, label in lines})
    return Motions(x.transpose(0, 2, 1), np.array([names.index(label) for *_, label in lines]))


def read_gait(wheel: zipfile.ZipFile) -> Motions:
    """Windows of 2 s every 500 ms. The class is whether the ankle moves more than in the median window."""
    rows = list(csv.reader(io.StringIO(wheel.read(f"{FOLDER}/Daphnet_S06R02E0/S06R02E0.csv").decode())))[1:]
    values = np.array([row[1:10] for row in rows], np.int16)
    x = np.lib.stride_tricks.sliding_window_view(values, 128, axis=0)[::32].transpose(0, 2, 1)
    moved = x[..., :3].std(axis=1).sum(axis=1)
    return Motions(x, (moved > np.median(moved)).astype(int))


def network(x: np.ndarray, y: np.ndarray, ridge: float) -> Graph:
    """Scores of the classes from features [n, features], which it standardizes."""
    mean, std = x.mean(axis=0, dtype=np.float64), x.std(axis=0, dtype=np.float64) + 1e-6
    z, wanted = (x - mean) / std, np.eye(y.max() + 1)[y]
    center = wanted.mean(axis=0)
    w = np.linalg.solve(z.T @ z + ridge * np.eye(z.shape[1]), z.T @ (wanted - center)).T / std
    data = {"w": np.float32(w), "b": np.float32(center - w @ mean)}
    tensors = {name: Tensor(name, TensorType(array.shape, "f32"), array) for name, array in data.items()}
    tensors["x"] = Tensor("x", TensorType((1, x.shape[1]), "f32"), label="features")
    tensors["y"] = Tensor("y", TensorType((1, len(center)), "f32"))
    nodes = (Node("n", FullyConnected(), ("x", "w", "b"), ("y",)),)
    return Graph("net", tensors, nodes, ("x",), ("y",), format="tflite")


def compared(name: str, text: str, raw: str, train: Motions, test: Motions, ridge: float, core: str) -> bool:
    """Print how many decisions are right, and how many differ; returns whether none differs."""
    steps = parse(text, words()).steps
    net = network(applied(steps, np.float32(train.x))[:, 0], train.y, ridge)
    python = decisions([interpreter.run(net, [f], "litert")["y"] for f in applied(steps, np.float32(test.x))])
    cases = [Case(f"window {k}", [x[None]]) for k, x in enumerate(test.x)]
    found = decisions([outputs[0] for outputs in emulated.simulate(built(text, raw, net, core), cases).outputs])
    sizes = f"{len(found)} windows, {net.type('x').shape[1]} features"
    right = f"right {(python == test.y).sum()} in Python, {(found == test.y).sum()} on {core}"
    print(f"{name}: {sizes}; {right}; {(python != found).sum()} differ", flush=True)
    return bool((python == found).all())


def decisions(scores: Sequence[np.ndarray]) -> np.ndarray:
    return np.array([int(row.argmax()) for row in scores])


def main(path: str, core: str = CORE) -> None:
    with zipfile.ZipFile(path) as wheel:
        sets = {
            name: (text, raw, read(wheel, file, "TRAIN"), read(wheel, file, "TEST"), ridge)
            for name, (file, raw, text, ridge) in SETS.items()
        }
        gait = read_gait(wheel)
    half = len(gait.y) // 2
    later = Motions(gait.x[half + 3 :], gait.y[half + 3 :])  # three windows share samples with the training part
    sets["Daphnet"] = (GAIT, "128x9:s16@64", Motions(gait.x[:half], gait.y[:half]), later, 100.0)
    differing = [name for name, values in sets.items() if not compared(name, *values, core)]
    sys.exit(bool(differing))


if __name__ == "__main__":
    main(*sys.argv[1:])
