# SPDX-License-Identifier: Apache-2.0
"""Random one-operator models of the rarer operators: batches, sums of many, norms, resized images, look-ups."""

from __future__ import annotations

import math
from collections.abc import Callable

from tests.runtimes.sketch import ACTIVATIONS, Sketch
from tests.runtimes.weighing import _window

Draw = Callable[[Sketch], None]


def add_n(s: Sketch) -> None:
    shape = s.shape()
    quant = s.quant()
    operands = [s.x(shape, None, quant) for _ in range(s.rng.randint(2, 4))]
    s.result("ADD_N", operands, shape, None, s.quant(near=quant and 2 * quant[0]))


def batches(name: str) -> Draw:
    def draw(s: Sketch) -> None:
        axes = s.rng.choice((1, 2, 2))
        block = [s.rng.choice((1, 2, 3)) for _ in range(axes)]
        pads = [[s.rng.randint(0, 1), 0] for _ in block]
        sizes = [s.rng.randint(1, 2) * b - pads[k][0] + (b if b == 1 else 0) for k, b in enumerate(block)]
        n, c, blocks = s.rng.randint(1, 2), s.rng.randint(1, 3), math.prod(block)
        image = (n, *sizes, c)
        small = (n * blocks, *((d + p[0]) // b for d, p, b in zip(sizes, pads, block, strict=True)), c)
        given, made = (image, small) if name == "SPACE_TO_BATCH_ND" else (small, image)
        x = s.x(given)
        s.moved(name, [x, s.const(block), s.const(pads)], made, x)

    return draw


def fill(s: Sketch) -> None:
    shape = s.shape(least=1)
    value = s.x(())
    s.moved("FILL", [s.const(shape), value], shape, value)


def zeros_like(s: Sketch) -> None:
    shape = s.shape()
    x = s.x(shape)
    s.moved("ZEROS_LIKE", [x], shape, x)


def broadcast_args(s: Sketch) -> None:
    shape = s.shape(least=1)
    other = tuple(d if s.chance(0.5) else 1 for d in shape)
    made = s.tensor((len(shape),), s.dtype)
    s.writer.op("BROADCAST_ARGS", [s.const(shape, s.dtype), s.const(other, s.dtype)], [made])
    s.outputs.append(made)
    s.result("ABS", [s.x(shape, "f32")], shape, "f32")


def l2_pool(s: Sketch) -> None:
    image = s.shape(rank=4)
    kernel, size, options = _window(s, image, dilate=False)
    options |= {"filter_height": kernel[0], "filter_width": kernel[1]}
    s.result("L2_POOL_2D", [s.x(image)], (image[0], *size, image[3]), None, None, options)


def l2_normalization(s: Sketch) -> None:
    shape = s.shape(rank=s.rng.choice((2, 4)))
    quant = {"s8": (1 / 128, 0), "u8": (1 / 128, 128)}.get(s.dtype)
    options = {"fused_activation_function": "NONE"}
    s.result("L2_NORMALIZATION", [s.x(shape)], shape, None, quant, options)


def log_softmax(s: Sketch) -> None:
    shape = s.shape(least=1)
    quant = {"s8": (16 / 256, 127), "u8": (16 / 256, 255)}.get(s.dtype)
    s.result("LOG_SOFTMAX", [s.x(shape)], shape, None, quant)


def resize_bilinear(s: Sketch) -> None:
    image = s.shape(rank=4)
    size = (s.rng.randint(1, 9), s.rng.randint(1, 9))
    mode = s.rng.choice(((False, False), (True, False), (False, True)))
    x = s.x(image)
    options = {"align_corners": mode[0], "half_pixel_centers": mode[1]}
    s.moved("RESIZE_BILINEAR", [x, s.const(size)], (image[0], *size, image[3]), x, options)


def embedding_lookup(s: Sketch) -> None:
    rows, shape = s.rng.randint(2, 6), s.shape(rank=s.rng.randint(1, 2))
    ids = s.x((s.rng.randint(1, 4),), "s32", below=rows)
    quant = {"s8": (0.03, 0), "s16": (0.001, 0)}.get(s.dtype)
    table = s.tensor((rows, *shape), s.dtype, quant, s.values((rows, *shape), s.dtype, 0))
    made = "f32" if s.dtype == "s8" and s.chance(0.5) else s.dtype
    s.result("EMBEDDING_LOOKUP", [ids, table], (*s.shapes[ids], *shape), made, None if made == "f32" else quant)


def dynamic_update_slice(s: Sketch) -> None:
    shape = s.shape(rank=s.rng.randint(1, 4))
    part = tuple(s.rng.randint(1, d) for d in shape)
    x = s.x(shape)
    update, start = s.x(part, None, s.quants[x]), s.x((len(shape),), "s32", below=4)
    s.moved("DYNAMIC_UPDATE_SLICE", [x, update, start], shape, x)


def conv_3d(s: Sketch) -> None:
    shape = (s.rng.randint(1, 2), *(s.rng.choice((2, 3, 4, 5)) for _ in range(3)), s.rng.randint(1, 2))
    kernel, stride = (tuple(s.rng.choice((1, 2, 2, 3)) for _ in range(3)), tuple(s.rng.randint(1, 2) for _ in range(3)))
    dilation = tuple(s.rng.choice((1, 1, 2)) for _ in range(3))
    extent = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    fits = all(n >= d for n, d in zip(shape[1:4], extent, strict=True))
    padding, outputs = "VALID" if fits and s.chance(0.6) else "SAME", s.rng.randint(1, 3)
    lost = [0 if padding == "SAME" else d - 1 for d in extent]
    size = tuple(-(-(n - less) // step) for n, less, step in zip(shape[1:4], lost, stride, strict=True))
    options = {f"stride_{axis}": step for axis, step in zip("dhw", stride, strict=True)}
    options |= {f"dilation_{axis}_factor": d for axis, d in zip("dhw", dilation, strict=True)}
    options |= {"padding": padding, "fused_activation_function": s.rng.choice(ACTIVATIONS)}
    x, w = s.x(shape), s.constant((*kernel, shape[4], outputs))
    bias = s.const(s.data.standard_normal(outputs), "f32")
    s.result("CONV_3D", [x, w, *([bias] if s.chance(0.7) else [])], (shape[0], *size, outputs), None, None, options)


OPERATORS: dict[str, tuple[tuple[str, ...], Draw]] = {
    "ADD_N": (("s8", "s32", "f32"), add_n),
    **{n: (("s8", "u8", "s16", "s32", "s64", "f32"), batches(n)) for n in ("SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND")},
    "FILL": (("s8", "s32", "s64", "f32", "bool"), fill),
    "ZEROS_LIKE": (("s8", "s32", "s64", "f32"), zeros_like),
    "BROADCAST_ARGS": (("s32", "s64"), broadcast_args),
    "L2_POOL_2D": (("f32",), l2_pool),
    "L2_NORMALIZATION": (("s8", "u8", "f32"), l2_normalization),
    "LOG_SOFTMAX": (("s8", "u8", "f32"), log_softmax),
    "RESIZE_BILINEAR": (("s8", "u8", "s16", "f32"), resize_bilinear),
    "EMBEDDING_LOOKUP": (("s8", "s16", "s32", "s64", "f32", "bool"), embedding_lookup),
    "CONV_3D": (("f32",), conv_3d),
    "DYNAMIC_UPDATE_SLICE": (("s8", "u8", "s16", "s32", "s64", "f32", "bool"), dynamic_update_slice),
}
"""Operator: (element types that are drawn, how a model of one is drawn)."""
