# SPDX-License-Identifier: Apache-2.0
"""int8 on OpenCL devices: bytes as floats, words of any place, sums in convolutions; reals as bytes."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from mcugen import kernels, passes
from mcugen.emit.opencl import program
from mcugen.ir.graph import Graph, Node, Tensor, verify
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops._summed import SummedConv2D
from mcugen.ops.add import Add
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.quantize import Quantize
from mcugen.oracle import interpreter
from mcugen.solve import device_kernels as chosen
from mcugen.solve.schedule import Choice
from tests.opencl import launched

BYTES = np.arange(-128, 128).astype(np.int8)
ONE = QuantParams((1.0,), (0,))


def sum_of(channels: int, rounding: str = "", *, swapped: bool = False, scale: float = 0.05) -> Graph:
    """conv(x) + x, or x + conv(x), with taps for several parts; scale: that of the convolution's result."""
    image, between, made = (
        TensorType((1, 5, 4, channels), "s8", QuantParams((s,), (zero,)))
        for s, zero in ((0.04, -7), (scale, 12), (0.09, 3))
    )
    rng = np.random.default_rng(3)
    w = rng.integers(-127, 128, (channels, 3, 3, channels)).astype(np.int8)
    b = rng.integers(-3000, 3000, channels).astype(np.int32)
    tensors = [
        Tensor("x", image, None, "x"),
        Tensor("w", TensorType(w.shape, "s8", QuantParams((0.001,), (0,))), w, "w"),
        Tensor("b", TensorType(b.shape, "s32", QuantParams((4e-5,), (0,))), b, "b"),
        Tensor("c", between, None, "c"),
        Tensor("y", made, None, "y"),
    ]
    nodes = (
        Node("conv", Conv2D(activation="RELU6", rounding=rounding), ("x", "w", "b"), ("c",), "node 0"),
        Node("sum", Add("RELU", rounding=rounding), ("x", "c") if swapped else ("c", "x"), ("y",), "node 1"),
    )
    return verify(Graph("case", {t.name: t for t in tensors}, nodes, ("x",), ("y",), format="tflite"), "test")


def smallest(graph: Graph) -> Iterator[Choice]:
    """The launches of the graph's last node by each kernel that takes it, with the tile of the fewest work-items."""
    assert launched.DEVICE is not None
    node = graph.nodes[-1]
    call = graph.call(node, "tflm")
    for kernel in kernels.on_device(type(node.op)):
        if not kernel.refusals(call, launched.FEATURES):
            tiles = sorted(chosen.launches(call, kernel, launched.DEVICE), key=lambda k: k.launch(call).group_items)
            yield from (Choice(node, call, made, "") for made in tiles[:1])


def checked(given: Graph, *symbols: str) -> Iterator[launched.Launched]:
    """The fused sum of a graph by those of its kernels: the oracle of one step must have the bits of two."""
    graph = passes.run(given, "tflm", launched.FEATURES)
    assert [type(node.op) for node in graph.nodes] == [SummedConv2D]
    x = np.random.default_rng(1).integers(-128, 128, given.type("x").shape).astype(np.int8)
    expected = interpreter.run(given, [x], "tflm")["y"]
    assert np.array_equal(interpreter.run(graph, [x], "tflm")["y"], expected)
    assert len(np.unique(expected)) > 20
    for choice in smallest(graph):
        if choice.kernel.symbol in symbols:
            yield launched.Launched(f"{choice.kernel.symbol} {choice.kernel.grid.tile}", choice, (x, x), expected, 0.0)


TILED = "mg_matmul_s8__tiled_sum"


def sums(*, whole: bool) -> list[launched.Launched]:
    """Sums by one linear form or, with scales far apart, by three roundings; in either order."""
    cases = [*checked(sum_of(8), TILED), *checked(sum_of(8, swapped=True), TILED)]
    cases += checked(sum_of(8, swapped=True, scale=1e-5), TILED)
    assert len(cases) == 3
    if whole:
        more = (sum_of(5), sum_of(8, "even"), sum_of(8, "single", swapped=True), sum_of(5, swapped=True, scale=1e-5))
        every = ("tiled", "split", "dots", "split_dots")
        cases += (case for graph in more for case in checked(graph, *(f"mg_matmul_s8__{how}_sum" for how in every)))
    return cases


def test_what_is_no_sum_of_two_computed_images_stays_a_step() -> None:
    graph = sum_of(8)
    assert len(passes.run(graph, "tflm").nodes) == 2
    twice = tuple(Node(n.name, n.op, ("c", "c"), n.outputs, n.source) if n.name == "sum" else n for n in graph.nodes)
    assert len(passes.run(graph.updated(nodes=twice), "tflm", launched.FEATURES).nodes) == 2


def point(x: np.ndarray, w: np.ndarray, symbol: str = "mg_matmul_s8__tiled") -> launched.Launched:
    """A convolution of one pixel, of scales 1, whose results are the sums of products."""
    types = (TensorType(x.shape, "s8", ONE), TensorType(w.shape, "s8", ONE))
    y = TensorType((*x.shape[:3], len(w)), "s8", ONE)
    tensors = [Tensor("x", types[0], None, "x"), Tensor("w", types[1], w, "w"), Tensor("y", y, None, "y")]
    node = Node("conv", Conv2D(), ("x", "w"), ("y",), "node 0")
    graph = verify(Graph("case", {t.name: t for t in tensors}, (node,), ("x",), ("y",), format="tflite"), "test")
    (choice,) = (c for c in smallest(graph) if c.kernel.symbol == symbol)
    expected = (x.astype(np.int64) @ w.reshape(len(w), -1).T.astype(np.int64)).clip(-128, 127).astype(np.int8)
    return launched.Launched(f"{x.shape} {w.shape}", choice, (x,), expected, 0.0)


def every_byte() -> list[launched.Launched]:
    """Launches with every byte as data and as weights, read in words as floats; pixels of three channels are
    unaligned."""
    three = np.resize(BYTES, 86 * 3)
    cases = [
        point(BYTES.reshape(1, 8, 8, 4), np.eye(4, dtype=np.int8).reshape(4, 1, 1, 4)),
        point(three.reshape(1, 43, 2, 3), np.eye(3, dtype=np.int8).reshape(3, 1, 1, 3)),
        point(np.eye(4, dtype=np.int8).reshape(1, 2, 2, 4), BYTES.reshape(64, 1, 1, 4)),
    ]
    assert all(not case.choice.kernel.sizes(case.choice.call)["INT_SUMS"] for case in cases)
    return cases


def dots() -> list[launched.Launched]:
    """The largest and smallest products, and others, of pixels that begin at any byte and end within a word."""
    rng = np.random.default_rng(2)
    ends = np.array([-128, 127, -1, 0, 1], np.int8)
    x, w = rng.choice(ends, (1, 5, 3, 19)), rng.choice(ends[1:], (7, 1, 1, 19))
    cases = [point(x, w, "mg_matmul_s8__dots"), point(x // 16, w // 32, "mg_matmul_s8__dots")]
    assert cases[0].choice.kernel.sizes(cases[0].choice.call)["LOOSE"]
    assert len(np.unique(cases[1].expected)) > 20
    return cases


def test_devices_with_an_instruction_for_four_products_get_it() -> None:
    """The text for NVIDIA's compiler, which alone defines that extension: this one spells its assembler otherwise."""
    flags = "-x cl -cl-std=CL1.2 -Xclang -finclude-default-header -target nvptx64 -Dcl_nv_pragma_unroll -Dasm=__asm__"
    command = ["clang", *flags.split(), "-Xclang", "-target-cpu", "-Xclang", "sm_80", "-S", "-o", "-", "-"]
    text = program.of([dots()[0].choice]).text
    made = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr[:2000]
    assert made.stdout.count("dp4a.s32.s32") >= 4


def stored(dtype: str, rounding: str, scale: float, zero: int) -> launched.Launched:
    """The numbers at which stored bytes begin, those just below, and what is no number or very large."""
    y = TensorType((772,), dtype, QuantParams((scale,), (zero,)))
    tensors = [Tensor("x", TensorType((772,), "f32"), None, "x"), Tensor("y", y, None, "y")]
    node = Node("quantize", Quantize(dtype, rounding), ("x",), ("y",), "node 0")
    graph = verify(Graph("case", {t.name: t for t in tensors}, (node,), ("x",), ("y",), format="tflite"), "test")
    (choice,) = (c for c in smallest(graph) if c.kernel.symbol == "mg_quantize__cl")
    at = np.asarray(choice.params["begins"])
    below = np.nextafter(at, np.float32(-np.inf))
    away = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 3e38, -3e38], np.float32)
    x = np.concatenate([at, below, np.nextafter(at, np.float32(np.inf)), away]).astype(np.float32)
    expected = interpreter.run(graph, [x], "litert")["y"]
    assert np.array_equal(expected[:255].astype(int), expected[255:510].astype(int) + 1)
    return launched.Launched(f"{dtype} {rounding} {scale}", choice, (x,), expected, 0.0)


def bytes_of_reals() -> list[launched.Launched]:
    kinds = (("s8", "", 0.03, -128), ("s8", "even", 0.1, 5), ("u8", "even", 1e-9, 7), ("u8", "", 2.0**-5, 255))
    return [stored(*kind) for kind in kinds]


def test_integers_have_the_bits_of_the_oracle(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    """All in one program, as each takes its time to compile."""
    cases = [*sums(whole=pytestconfig.getoption("--whole")), *every_byte(), *dots(), *bytes_of_reals()]
    assert not launched.check(cases, tmp_path)
