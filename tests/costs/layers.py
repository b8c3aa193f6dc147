# SPDX-License-Identifier: Apache-2.0
"""Layers whose instructions are counted to fit the costs of kernels: of the shapes and types that networks have."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator

import numpy as np

from mcugen.errors import McugenError
from mcugen.ir.op import Example, Op
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops import _filter_examples, blocked_fully_connected, tree_ensemble
from mcugen.ops._pool import Pool
from mcugen.ops.add import Add
from mcugen.ops.blocked_fully_connected import BlockedFullyConnected
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from mcugen.ops.fully_connected import FullyConnected
from mcugen.ops.sub import Sub
from mcugen.ops.transpose_conv import TransposeConv
from mcugen.ops.tree_ensemble import TreeEnsemble
from tests.costs import attention, front_end, hybrid, moved, recurrent, signals

Shape = tuple[int, ...]

# Image, kernel, stride, outputs.
CONVOLUTIONS: tuple[tuple[Shape, Shape, Shape, int], ...] = (
    ((16, 16, 16), (3, 3), (1, 1), 16),
    ((32, 32, 3), (3, 3), (1, 1), 16),
    ((16, 16, 32), (3, 3), (2, 2), 32),
    ((8, 8, 64), (3, 3), (1, 1), 64),
    ((24, 24, 3), (3, 3), (2, 2), 8),
    ((25, 10, 1), (10, 4), (2, 2), 32),
    ((20, 1, 40), (3, 1), (1, 1), 32),
    ((13, 11, 19), (3, 3), (1, 1), 15),
    ((14, 14, 16), (1, 1), (2, 2), 32),
    ((24, 24, 8), (1, 1), (1, 1), 16),
    ((12, 12, 32), (1, 1), (1, 1), 32),
    ((25, 5, 64), (1, 1), (1, 1), 64),
    ((6, 6, 128), (1, 1), (1, 1), 128),
    ((3, 3, 128), (1, 1), (1, 1), 96),
    ((10, 9, 31), (1, 1), (1, 1), 19),
    ((11, 7, 15), (1, 1), (1, 1), 57),
    ((1, 28, 64), (1, 1), (1, 1), 32),
    ((7, 7, 24), (5, 5), (1, 1), 12),
    ((33, 24, 1), (10, 8), (2, 2), 8),
    ((28, 28, 1), (3, 3), (1, 1), 16),
    ((12, 12, 30), (1, 1), (1, 1), 62),
    ((24, 24, 15), (1, 1), (1, 1), 25),
    ((6, 6, 106), (1, 1), (1, 1), 57),
    ((16, 32, 16), (3, 3), (1, 1), 16),
    ((8, 16, 32), (3, 3), (1, 1), 32),
    ((8, 8, 64), (3, 3), (1, 1), 32),
    ((12, 20, 8), (3, 3), (1, 1), 24),
    ((7, 14, 12), (3, 3), (1, 1), 10),
    ((6, 23, 36), (3, 3), (1, 1), 4),
    ((4, 4, 256), (1, 1), (1, 1), 256),
)
# Image, kernel, stride, padding.
DEPTHWISE: tuple[tuple[Shape, Shape, Shape, str], ...] = (
    ((25, 5, 64), (3, 3), (1, 1), "SAME"),
    ((24, 24, 16), (3, 3), (1, 1), "SAME"),
    ((28, 1, 128), (5, 1), (1, 1), "VALID"),
    ((48, 48, 8), (3, 3), (1, 1), "SAME"),
    ((14, 14, 24), (5, 5), (1, 1), "SAME"),
    ((15, 1, 128), (15, 1), (1, 1), "VALID"),
    ((24, 24, 32), (3, 3), (2, 2), "SAME"),
    ((12, 12, 64), (3, 3), (1, 1), "SAME"),
    ((6, 6, 128), (3, 3), (2, 2), "SAME"),
    ((3, 3, 256), (3, 3), (1, 1), "SAME"),
    ((6, 6, 19), (3, 3), (1, 1), "SAME"),
    ((6, 6, 25), (3, 3), (2, 2), "SAME"),
    ((30, 1, 40), (3, 1), (1, 1), "VALID"),
    ((14, 13, 19), (3, 3), (1, 1), "SAME"),
    ((9, 11, 30), (5, 5), (2, 2), "SAME"),
    ((28, 28, 6), (3, 3), (1, 1), "VALID"),
)
# Image, kernel, stride, outputs: several of each channel.
MULTIPLIED: tuple[tuple[Shape, Shape, Shape, int], ...] = (
    ((24, 20, 1), (10, 8), (2, 2), 8),
    ((12, 12, 4), (3, 3), (1, 1), 8),
)
# Image, kernel, stride, outputs; of floats.
TRANSPOSED: tuple[tuple[Shape, Shape, tuple[int, int], int], ...] = (
    ((8, 8, 16), (3, 3), (2, 2), 8),
    ((12, 10, 7), (2, 2), (2, 2), 5),
    ((6, 6, 32), (3, 3), (1, 1), 16),
    ((16, 1, 24), (4, 1), (2, 1), 12),
    ((10, 10, 3), (3, 3), (2, 2), 9),
    ((5, 7, 40), (4, 4), (2, 2), 3),
)
FULL: tuple[tuple[int, int], ...] = (
    (640, 128), (128, 128), (8, 128), (128, 640), (64, 12), (16, 16), (1, 16), (16, 1), (4000, 4), (250, 31), (64, 10),
    (256, 2), (32, 3), (100, 5), (512, 7),
)  # fmt: skip
# Image, outputs: layers that can take the image by rows.
IMAGES: tuple[tuple[Shape, int], ...] = (
    ((25, 20, 8), 4), ((5, 5, 64), 10), ((12, 12, 8), 10), ((8, 8, 16), 64), ((6, 1, 40), 12), ((7, 7, 16), 3),
    ((4, 4, 16), 128), ((24, 1, 64), 6),
)  # fmt: skip
# Image, kernel, stride.
POOLS: tuple[tuple[Shape, Shape, Shape], ...] = (
    ((8, 8, 64), (8, 8), (8, 8)),
    ((25, 5, 64), (25, 5), (25, 5)),
    ((3, 3, 256), (3, 3), (3, 3)),
    ((7, 7, 32), (7, 7), (1, 1)),
    ((24, 24, 8), (2, 2), (2, 2)),
    ((14, 13, 30), (2, 2), (2, 2)),
    ((13, 11, 16), (3, 3), (2, 2)),
    ((12, 12, 7), (3, 3), (1, 1)),
)
SUMS: tuple[Shape, ...] = ((16, 16, 16), (8, 8, 64), (13, 5, 7), (24, 24, 8))
SUM_QUANTS = tuple(QuantParams((scale,), (zero,)) for scale, zero in ((0.1, -128), (0.07, 5), (0.11, -10)))
FORESTS: tuple[dict[str, int], ...] = (
    {"trees": 40, "depth": 3},
    {"trees": 8, "depth": 7, "count": 5},
    {"trees": 20, "depth": 5, "count": 2},
    {"trees": 1, "depth": 6},
    {"trees": 12, "depth": 1},
)
KINDS = ("s8", "s16", "s8w16", "f32", "s8w4", "s8w9", "f16")
ROUNDED = (("s8", "even"), ("s8", "single"), ("s16", "even"), ("s8w16", "even"), ("s8w4", "even"), ("s8w9", "even"),
           ("s8b4", "even"))  # fmt: skip
SCALES = ((2, 1), (5, 1), (3, 4), (1, 16), (1, 5))
"""Factors for rows and columns, and for channels."""

MAX_ELEMENTS = 40_000
MAX_MACS = 1_500_000


def of(op: type[Op]) -> list[Example]:
    """Layers of one operator: realistic ones, then its own examples and these with larger images or vectors, the
    largest and the smallest by turns.
    """
    examples = op.examples()
    larger = [found for e in examples for scale in SCALES if (found := grown(e, scale)) is not None]
    rest = sorted([*examples, *larger], key=lambda e: -sum(t.size for t in (*e.inputs, *e.outputs) if t))
    turns = [e for pair in zip(rest, reversed(rest), strict=True) for e in pair]
    return [*realistic(op), *turns[: len(rest)]]


def usual(op: type[Op]) -> int:
    """How many realistic layers a kernel of the operator has to be counted on at least."""
    return sum(1 for _ in _of_one_kind(op)) or sum(1 for _ in realistic(op)) // len(KINDS)


def _of_one_kind(op: type[Op]) -> Iterator[Example]:
    """Layers of operators whose kernels do not divide them by types of weights."""
    for module in (recurrent, hybrid, signals, front_end, moved, attention):
        yield from module.layers(op)


def realistic(op: type[Op]) -> Iterator[Example]:
    """Layers of the shapes of published networks, for the operators that take most of their time."""
    yield from _of_one_kind(op)
    if op is TreeEnsemble:
        yield from (tree_ensemble.example(seed, dtype, features=16, **sizes) for dtype in ("f32", "s8", "s16")
                    for seed, sizes in enumerate(FORESTS))  # fmt: skip
    if op is BlockedFullyConnected:
        for seed, (k, n) in enumerate(FULL):
            for dtype, block, zeros in (("s4", 32, False), ("s8", 64, True), ("s2", 16, False)):
                yield blocked_fully_connected.example(seed, (1, k), n, dtype, block, zeros, True, "NONE")
    for seed, kind in enumerate(KINDS):
        if op is Conv2D:
            for image, kernel, stride, o in CONVOLUTIONS:
                yield from ended(Conv2D(stride), kind, seed, image, (o, *kernel, image[2]), 0)
        if op is DepthwiseConv2D:
            for image, kernel, stride, o in MULTIPLIED:  # first, so that no kernel goes without
                yield made(DepthwiseConv2D(stride, padding="SAME"), kind, seed, image, (1, *kernel, o), 3)
            for image, kernel, stride, padding in DEPTHWISE:
                op_of = DepthwiseConv2D(stride, padding=padding)
                yield from ended(op_of, kind, seed, image, (1, *kernel, image[2]), 3)
        if issubclass(op, Pool) and kind in ("s8", "s16", "f32"):
            for image, kernel, stride in POOLS:
                quant = None if kind == "f32" else QuantParams((0.1,), (0,))
                data = TensorType((1, *image), kind, quant)
                pool = op(kernel, stride)
                yield Example(pool, (data,), (data.with_shape(pool.infer(data)[0].shape),), {}, seed)
        if issubclass(op, Add | Sub) and kind in ("s8", "f32"):
            quants = (None,) * 3 if kind == "f32" else SUM_QUANTS
            for image in SUMS:
                for activation in ("NONE", "RELU"):
                    a, b, y = (TensorType((1, *image), kind, q) for q in quants)
                    yield Example(op(activation=activation), (a, b), (y,), {}, seed)
        if op is TransposeConv and kind in ("f32", "f16"):
            for image, kernel, stride, o in TRANSPOSED:
                transposed = TransposeConv((image[0] * stride[0], image[1] * stride[1]), stride)
                yield made(transposed, kind, seed, image, (o, *kernel, image[2]), 0)
        if op is FullyConnected:
            for k, n in FULL:
                yield from ended(FullyConnected(), kind, seed, (k,), (n, k), 0)
                if kind in ("f32", "f16"):
                    yield made(FullyConnected("RELU"), kind, seed, (k,), (n, k), 0)
            for image, n in IMAGES if kind == "s8" else ():
                yield from ended(FullyConnected(), kind, seed, image, (n, math.prod(image)), 0)
    yield from rounded_once(op)


def rounded_once(op: type[Op]) -> Iterator[Example]:
    """Layers with weights that round as ONNX does, of all integer types; int8 also as fused kernels do: mostly floats
    scale these.
    """
    for seed, (kind, how) in enumerate(ROUNDED):
        if op is Conv2D:
            for image, kernel, stride, o in CONVOLUTIONS[how == "single" :: 3]:
                yield made(Conv2D(stride, rounding=how), kind, seed, image, (o, *kernel, image[2]), 0)
        if op is DepthwiseConv2D:
            for image, kernel, stride, padding in DEPTHWISE[how == "single" :: 2]:
                depthwise = DepthwiseConv2D(stride, padding=padding, rounding=how)
                yield made(depthwise, kind, seed, image, (1, *kernel, image[2]), 3)
        if op is FullyConnected:
            for k, n in FULL[how == "single" :: 2]:
                yield made(FullyConnected(rounding=how), kind, seed, (k,), (n, k), 0)


def ended(op: Op, kind: str, seed: int, data: Shape, weights: Shape, axis: int) -> Iterator[Example]:
    """A layer, and with int8 data also one with outputs from 0 on, as after an activation."""
    yield made(op, kind, seed, data, weights, axis)
    if kind in ("s8", "s8w9"):
        yield made(op, kind, seed, data, weights, axis, -128)


def made(op: Op, kind: str, seed: int, data: Shape, weights: Shape, axis: int, out_zero: int | None = None) -> Example:
    """One layer; gain and bias are such that sums fit 32 bits, as in trained networks."""
    taps = math.prod(weights) // weights[axis]
    spread, most = {"s8w4": (3, 7), "s8b4": (600, 0)}.get(kind, (30, 127))
    gain = 1.5 / spread / math.sqrt(taps)
    zero = -128 if kind in ("s8", "s8w4") else 0
    plain = _filter_examples.example(op, seed, (1, *data), weights, axis, kind, zero, gain, out_zero=out_zero)
    if kind in ("f32", "f16", "s8b4"):
        return plain
    rng = np.random.default_rng(seed + taps)
    narrow = np.clip(np.round(rng.normal(0, spread, weights)), -most, most).astype(
        np.int16 if kind in ("s8w9", "s8w16") else np.int8
    )
    if kind == "s8w9":
        narrow += 12
    if kind == "s8w16":
        narrow.reshape(-1)[::997] = 200
    w = plain.inputs[1]
    assert w is not None and w.quant is not None
    scales = tuple(float(s) for s in rng.uniform(0.25, 1.0, len(w.quant.scale)))
    w = dataclasses.replace(w, quant=dataclasses.replace(w.quant, scale=scales))
    inputs = (plain.inputs[0], w, *plain.inputs[2:])
    return dataclasses.replace(plain, inputs=inputs, constants={**plain.constants, 1: narrow})


def grown(example: Example, scale: tuple[int, int]) -> Example | None:
    """The example with larger operands; None where the operator does not take them, or they are too large."""
    inputs = tuple(_larger(t, *scale) if t and k not in example.constants else t for k, t in enumerate(example.inputs))
    if inputs == example.inputs or sum(t.size for t in inputs if t) > MAX_ELEMENTS:
        return None
    try:
        types = example.op.infer(*inputs)
    except (McugenError, ArithmeticError, LookupError, TypeError, ValueError):
        return None
    if any(a.dtype != b.dtype for a, b in zip(types, example.outputs, strict=True)):
        return None
    outputs = tuple(b.with_shape(a.shape) for a, b in zip(types, example.outputs, strict=True))
    return dataclasses.replace(example, inputs=inputs, outputs=outputs)


def _larger(t: TensorType, rows: int, channels: int) -> TensorType:
    """The type with rows, columns and channels times these factors, where there is more than one of them."""
    last = len(t.shape) - 1
    by = [channels if d == last else rows if d > 0 else 1 for d in range(last + 1)]
    return t.with_shape(tuple(n * k if n > 1 else n for n, k in zip(t.shape, by, strict=True)))
