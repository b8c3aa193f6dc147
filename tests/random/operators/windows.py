# SPDX-License-Identifier: Apache-2.0
"""Convolutions, pools and what changes the size of images."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.random.operators import draws
from tests.random.sketch import Sketch, Value


def image(s: Sketch, axes: int | None = None, channels: int | None = None) -> Value:
    """A tensor of samples, channels and 1 to 3 axes more."""
    axes = s.pick((1, 2, 2, 2, 3)) if axes is None else axes
    fitting = [v for v in s.values if v.data.dtype.kind == "f" and v.rank == axes + 2 and v.data.size <= 600]
    fitting = [v for v in fitting if channels in (None, v.shape[1])]
    if fitting and s.chance(0.7):
        return s.pick(fitting)
    sides = [s.number(1, {1: 16, 2: 9, 3: 5}[axes]) for _ in range(axes)]
    shape = (s.pick((1, 1, 2)), channels or s.number(1, 6), *sides)
    return s.take(shape=shape) if s.chance(0.5) else s.input(shape)


def geometry(s: Sketch, sides: tuple[int, ...], *, dilated: bool = True, most: int = 4) -> dict[str, Any]:
    """A kernel, with strides, dilations and padding as the file may state them."""
    n = len(sides)
    kernel = [s.number(1, min(most, side + 1)) for side in sides]
    found: dict[str, Any] = {"kernel_shape": kernel}
    if s.chance(0.6):
        found["strides"] = [s.number(1, 3) for _ in range(n)]
    if dilated and s.chance(0.3):
        found["dilations"] = [s.number(1, 2) for _ in range(n)]
    how = s.pick(("none", "pads", "pads", "SAME_UPPER", "SAME_LOWER", "VALID"))
    if how == "pads":
        found["pads"] = [s.number(0, k - 1) for k in kernel * 2]
    elif how != "none":
        found["auto_pad"] = how
    return found


@draws("Conv")
def conv(s: Sketch) -> None:
    x = image(s)
    group = s.pick([d for d in range(1, x.shape[1] + 1) if x.shape[1] % d == 0])
    found = geometry(s, x.shape[2:])
    weights = s.weights(group * s.number(1, 4), x.shape[1] // group, *found["kernel_shape"])
    bias = [s.weights(weights.shape[0])] if s.chance(0.6) else []
    if s.chance(0.3):
        del found["kernel_shape"]
    s.node("Conv", [x, weights, *bias], group=group if group > 1 or s.chance(0.3) else None, **found)


@draws("ConvTranspose")
def conv_transpose(s: Sketch) -> None:
    x = image(s)
    group = s.pick([d for d in range(1, x.shape[1] + 1) if x.shape[1] % d == 0])
    found = geometry(s, x.shape[2:])
    strides = found.get("strides", [1] * (x.rank - 2))
    weights = s.weights(x.shape[1], s.number(1, 3), *found["kernel_shape"])
    if s.chance(0.3):
        found["output_padding"] = [s.number(0, k - 1) for k in strides]
    if s.chance(0.15) and "pads" not in found:
        found["output_shape"] = [d * k + s.number(0, 1) for d, k in zip(x.shape[2:], strides, strict=True)]
    bias = [s.weights(weights.shape[1] * group)] if s.chance(0.6) else []
    s.node("ConvTranspose", [x, weights, *bias], group=group if group > 1 else None, **found)


@draws("MaxPool")
def max_pool(s: Sketch) -> None:
    x = image(s)
    found = geometry(s, x.shape[2:], dilated=s.opset >= 10)
    ceil = s.pick((None, 0, 1)) if s.opset >= 10 else None
    both = s.opset >= 8 and x.exact and s.chance(0.2)
    order = s.pick((None, 0, 1)) if both else None
    s.results("MaxPool", [x], 1 + both, True, ceil_mode=ceil, storage_order=order, **found)


@draws("AveragePool")
def average_pool(s: Sketch) -> None:
    x = image(s)
    found = geometry(s, x.shape[2:], dilated=s.opset >= 19)
    ceil = s.pick((None, 0, 1)) if s.opset >= 10 else None
    s.node("AveragePool", [x], count_include_pad=s.pick((None, 0, 1)), ceil_mode=ceil, **found)


@draws("LpPool")
def lp_pool(s: Sketch) -> None:
    x = image(s)
    found = geometry(s, x.shape[2:], dilated=s.opset >= 18)
    s.node("LpPool", [x], p=s.pick((None, 1, 2, 3)), ceil_mode=s.pick((None, 0, 1)) if s.opset >= 18 else None, **found)


@draws("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(s: Sketch, name: str) -> None:
    s.node(name, [image(s)], name == "GlobalMaxPool", p=s.pick((None, 1, 3)) if name == "GlobalLpPool" else None)


@draws("MaxUnpool", since=9)
def max_unpool(s: Sketch) -> None:
    x = image(s, 2)
    sides = [2 * d for d in x.shape[2:]]
    total = int(np.prod(sides))
    planes = x.shape[0] * x.shape[1]
    flat = [k * total + s.rng.permutation(total)[: x.data.size // planes] for k in range(planes)]
    places = s.const(np.reshape(flat, x.shape).astype(np.int64))
    s.node("MaxUnpool", [x, places], True, kernel_shape=[2, 2], strides=[2, 2])


@draws("Upsample", until=9)
def upsample(s: Sketch) -> None:
    x = image(s, 2)
    scales = [1.0, 1.0, *(float(s.number(1, 3)) for _ in range(2))]
    mode = s.pick((None, "nearest", "linear"))
    if s.opset < 9:
        s.node("Upsample", [x], mode != "linear", mode=mode, scales=scales)
    else:
        s.node("Upsample", [x, s.const(np.array(scales, np.float32))], mode != "linear", mode=mode)


@draws("Resize", since=10)
def resize(s: Sketch) -> None:
    mode = s.pick(("nearest", "nearest", "linear", "linear", "cubic"))
    x = image(s, 2 if mode == "cubic" else None)
    axes = list(range(2, x.rank))
    scales = [s.pick((0.5, 2.0, 1.5, 3.0, 0.7, 1.3, 1.0)) for _ in axes]
    sizes = [max(1, int(d * k)) for d, k in zip(x.shape[2:], scales, strict=True)]
    if s.opset == 10:
        s.need(mode != "cubic")
        s.node("Resize", [x, s.const(np.array([1, 1, *scales], np.float32))], mode == "nearest", mode=mode)
        return
    modes = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", None]
    more: dict[str, Any] = {"coordinate_transformation_mode": s.pick(modes), "mode": mode}
    if mode == "nearest":
        more["nearest_mode"] = s.pick((None, "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"))
    if mode == "cubic":
        more["cubic_coeff_a"] = s.pick((None, -0.5, -0.75))
        more["exclude_outside"] = s.pick((None, 0, 1))
    if s.opset >= 18 and mode != "nearest":
        more["antialias"] = s.pick((None, 0, 1))
    by_axes = s.opset >= 18 and s.chance(0.4)
    if by_axes:
        more["axes"] = axes
    head = [] if by_axes else [1, 1]
    none = s.const(np.zeros(0, np.float32)) if s.opset < 13 else None
    if s.chance(0.5):
        operands = [x, none, s.const(np.array([*head, *scales], np.float32))]
    else:
        lead = [] if by_axes else x.shape[:2]
        operands = [x, none, none, s.int64(*lead, *sizes)]
    s.node("Resize", operands, mode == "nearest", **more)


@draws("Col2Im", since=18)
def col2im(s: Sketch) -> None:
    sides, block = [s.number(3, 6) for _ in range(2)], [s.number(1, 3) for _ in range(2)]
    strides = [s.number(1, 2) for _ in range(2)]
    blocks = int(np.prod([(d - k) // t + 1 for d, k, t in zip(sides, block, strides, strict=True)]))
    x = s.take(shape=(s.number(1, 2), s.number(1, 3) * block[0] * block[1], blocks))
    s.node("Col2Im", [x, s.int64(*sides), s.int64(*block)], strides=strides)


@draws("GridSample", since=16)
def grid_sample(s: Sketch) -> None:
    x = image(s, 2)
    size = (x.shape[0], s.number(1, 4), s.number(1, 4), 2)
    grid = s.const(s.rng.uniform(-1.2, 1.2, size).astype(np.float32))
    modes = ("bilinear", "nearest", "bicubic") if s.opset < 20 else ("linear", "nearest", "cubic")
    padding = s.pick((None, "zeros", "border", "reflection"))
    s.node("GridSample", [x, grid], mode=s.pick(modes), padding_mode=padding, align_corners=s.pick((None, 0, 1)))


@draws("AffineGrid", since=20)
def affine_grid(s: Sketch) -> None:
    count = s.number(1, 2)
    theta = s.take(shape=(count, 2, 3))
    s.node("AffineGrid", [theta, s.int64(count, 2, s.number(2, 4), s.number(2, 4))], align_corners=s.pick((None, 0, 1)))


@draws("RoiAlign", since=10)
def roi_align(s: Sketch) -> None:
    x = image(s, 2)
    corners = s.rng.uniform(0, 3, (3, 2))
    boxes = s.const(np.concatenate([corners, corners + s.rng.uniform(0.5, 4, (3, 2))], 1).astype(np.float32))
    which = s.const(s.ints((3,), np.int64, 0, x.shape[0] - 1))
    more: dict[str, Any] = {"output_height": s.number(1, 3), "output_width": s.number(1, 3)}
    if s.opset >= 16:
        more["coordinate_transformation_mode"] = s.pick((None, "half_pixel", "output_half_pixel"))
    mode = s.pick((None, "avg", "max"))
    more["sampling_ratio"] = 1 if mode == "max" else s.pick((None, 0, 1, 2))  # ONNX Runtime rejects other values
    more["spatial_scale"] = s.pick((None, 0.5, 2.0))
    s.node("RoiAlign", [x, boxes, which], mode=mode, **more)


@draws("DeformConv", since=19)
def deform_conv(s: Sketch) -> None:
    x = s.input((1, s.pick((2, 4)), s.number(3, 6), s.number(3, 6)))
    weights = s.weights(s.number(1, 3), x.shape[1], 2, 2)
    sides = [d - 1 for d in x.shape[2:]]
    offset = s.const(s.rng.uniform(-0.9, 0.9, (1, 8, *sides)).astype(np.float32))
    s.node("DeformConv", [x, weights, offset], kernel_shape=[2, 2])
