# SPDX-License-Identifier: Apache-2.0
"""Random networks as .tflite files: windowed operators in every geometry, branches that rejoin, odd sizes, heads."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from math import prod, sqrt

import numpy as np

from tests.rows.tensors import Shape, Tensors, Value

WINDOWED = ("CONV_2D", "DEPTHWISE_CONV_2D", "MAX_POOL_2D", "AVERAGE_POOL_2D", "PAD", "TRANSPOSE_CONV")
BOARDS = ("cortex-m4", "cortex-m55", "cortex-m0plus", "cortex-m7", "cortex-m33", "host")
MAX_ELEMENTS = 1500
MAX_SIDE = 18


@dataclass(frozen=True)
class RandomGraph:
    """A network: `seed` makes it again; operators: how often each occurs."""

    seed: int
    kind: str
    data: bytes
    operators: Counter[str]

    @property
    def name(self) -> str:
        return f"g{self.seed}"


def board_of(seed: int) -> str:
    """The core whose kernels this network gets; their meaning in plain C runs anywhere, on the same packed data."""
    return BOARDS[seed % len(BOARDS)]


def random_graph(seed: int) -> RandomGraph:
    """The network of this seed: a third have branches, a third odd sizes, one in eight is float."""
    return Recipe(seed).graph()


def planted_graph(seed: int) -> RandomGraph:
    """The network of this seed with channels that never change, or that nothing reads, and zero points at the ends."""
    return _Planted(seed).graph()


class Recipe(Tensors):
    """Builds a network layer by layer from the random numbers of a seed."""

    def graph(self) -> RandomGraph:
        depth = self.rng.randint(3, 18)
        x = start = self._input()
        inner: list[Value] = []
        if self.kind == "branches":
            x = self._branch(x)
        while self._count() < depth - 1:
            branches = self.kind == "branches" and self.rng.random() < 0.35 and self._count() + 5 <= depth
            x = self._branch(x) if branches else self._layer(x)
            if self.rng.random() < 0.06:
                inner.append(x)
        outputs = dict.fromkeys(v.index for v in (*inner, self._head(x)) if v.index != start.index)
        return RandomGraph(self.seed, self.kind, self.m.build([start.index], list(outputs)), self.operators)

    def _count(self) -> int:
        return sum(self.operators.values())

    def _input(self) -> Value:
        if self.kind == "odd":
            h, w = (self.rng.choice((1, 2, 3, 5, 7, 9, 11, 13, 17)) for _ in range(2))
        else:
            h, w = (self.rng.choice((4, 6, 8, 10, 12, 16)) for _ in range(2))
        scale, zero = self.rng.uniform(0.01, 0.1), self.rng.randint(-30, 30)
        return self._value((1, h, w, self.rng.choice((1, 2, 3, 4))), scale, zero, 74 * scale)

    # layers ----------------------------------------------------------------------------------------------------

    def _layer(self, x: Value) -> Value:
        layers = (
            (self._conv, 5), (self._depthwise, 4), (self._max_pool, 2), (self._average_pool, 2), (self._pad, 2),
            (self._transpose_conv, 2), (self._resize, 1), (self._relu, 1), (self._pointwise, 2), (self._slice, 0.5),
            (self._reshape, 0.3), (self._strip, 0.3),
        )  # fmt: skip
        while True:
            layer = self.rng.choices([f for f, _ in layers], [w for _, w in layers])[0]
            made: Value | None = layer(x)
            if made is not None:
                return made

    def _geometry(self, x: Value, largest: int = 4) -> tuple[tuple[int, int], tuple[int, int], str]:
        """(kernel, stride, padding) that fit x; with SAME the kernel may be larger than the image."""
        h, w, _ = x.hwc
        padding = self.rng.choice(("SAME", "SAME", "VALID"))
        kernel = [self.rng.choice((1, 2, 3, 3, largest)) for _ in range(2)]
        if padding == "VALID":
            kernel = [min(k, n) for k, n in zip(kernel, (h, w), strict=True)]
        small = min(h, w) < 5
        stride = [self.rng.choice((1, 1, 1, 1, 2) if small else (1, 1, 1, 2, 2, 3)) for _ in range(2)]
        return (kernel[0], kernel[1]), (stride[0], stride[1]), padding

    @staticmethod
    def _size(x: Value, kernel: tuple[int, int], stride: tuple[int, int], padding: str) -> tuple[int, int]:
        sizes = zip(x.hwc, kernel, stride, strict=False)
        found = [-(-n // s) if padding == "SAME" else (n - k) // s + 1 for n, k, s in sizes]
        return found[0], found[1]

    def _dilated(self, x: Value) -> tuple[tuple[int, int], tuple[int, int], tuple[int, int], str]:
        kernel, stride, padding = self._geometry(x)
        dilation = (self.rng.choice((1, 2)), self.rng.choice((1, 2))) if self.rng.random() < 0.25 else (1, 1)
        extent = tuple((k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True))
        if dilation != (1, 1):
            stride = (1, 1)
        if padding == "VALID" and (extent[0] > x.shape[1] or extent[1] > x.shape[2]):
            padding = "SAME"
        return kernel, stride, dilation, padding

    def _conv(self, x: Value, like: Value | None = None) -> Value | None:
        """like: keep the size, and quantize like this tensor, whose channels the result gets."""
        kernel, stride, dilation, padding = self._dilated(x)
        channels = self.rng.choice((1, 2, 3, 4, 5, 8))
        if like is not None:
            stride, padding, channels = (1, 1), "SAME", like.shape[3]
        extent = (kernel[0] - 1) * dilation[0] + 1, (kernel[1] - 1) * dilation[1] + 1
        shape = (1, *self._size(x, extent, stride, padding), channels)
        if prod(shape) > MAX_ELEMENTS:
            return None
        wb, rms = self._weights((channels, *kernel, x.shape[3]), channels, 0, prod(kernel) * x.shape[3], x)
        bounded = "RELU6" if 1 < rms < 6 else "RELU"
        activation = "NONE" if like is not None else self.rng.choice(("NONE", "RELU", bounded))
        y = self._result(shape, rms, activation, like)
        return self._op(
            "CONV_2D", [x.index, *wb], y, padding=padding, stride_h=stride[0], stride_w=stride[1],
            dilation_h_factor=dilation[0], dilation_w_factor=dilation[1], fused_activation_function=activation,
        )  # fmt: skip

    def _pointwise(self, x: Value) -> Value | None:
        channels = self.rng.choice((1, 3, 4, 8))
        if prod(x.shape[:3]) * channels > MAX_ELEMENTS:
            return None
        wb, rms = self._weights((channels, 1, 1, x.shape[3]), channels, 0, x.shape[3], x)
        y = self._result((*x.shape[:3], channels), rms)
        return self._op("CONV_2D", [x.index, *wb], y, padding="SAME", stride_h=1, stride_w=1)

    def _depthwise(self, x: Value) -> Value | None:
        kernel, stride, dilation, padding = self._dilated(x)
        factor = self.rng.choice((1, 1, 1, 2))
        channels = x.shape[3] * factor
        extent = (kernel[0] - 1) * dilation[0] + 1, (kernel[1] - 1) * dilation[1] + 1
        shape = (1, *self._size(x, extent, stride, padding), channels)
        if prod(shape) > MAX_ELEMENTS:
            return None
        wb, rms = self._weights((1, *kernel, channels), channels, 3, prod(kernel), x)
        activation = self.rng.choice(("NONE", "NONE", "RELU"))
        y = self._result(shape, rms, activation)
        return self._op(
            "DEPTHWISE_CONV_2D", [x.index, *wb], y, padding=padding, stride_h=stride[0], stride_w=stride[1],
            dilation_h_factor=dilation[0], dilation_w_factor=dilation[1], depth_multiplier=factor,
            fused_activation_function=activation,
        )  # fmt: skip

    def _max_pool(self, x: Value) -> Value:
        return self._pool("MAX_POOL_2D", x)

    def _average_pool(self, x: Value) -> Value:
        return self._pool("AVERAGE_POOL_2D", x)

    def _pool(self, name: str, x: Value) -> Value:
        kernel, stride, padding = self._geometry(x, largest=5)
        if self.rng.random() < 0.1:
            kernel, padding = (x.shape[1], x.shape[2]), "VALID"
        y = self._result((1, *self._size(x, kernel, stride, padding), x.shape[3]), x.rms, like=x)
        return self._op(
            name, [x.index], y, padding=padding, stride_h=stride[0], stride_w=stride[1],
            filter_height=kernel[0], filter_width=kernel[1],
        )  # fmt: skip

    def _pad(self, x: Value) -> Value | None:
        widths = [[0, 0], *([self.rng.randint(0, 2), self.rng.randint(0, 2)] for _ in range(2)), [0, 0]]
        if self.rng.random() < 0.2:
            widths[3] = [self.rng.randint(0, 1), 1]
        shape = tuple(n + a + b for n, (a, b) in zip(x.shape, widths, strict=True))
        if prod(shape) > MAX_ELEMENTS or max(shape) > MAX_SIDE:
            return None
        return self._op("PAD", [x.index, self._ints(widths)], self._result(shape, x.rms, like=x))

    def _transpose_conv(self, x: Value) -> Value | None:
        h, w, c = x.hwc
        stride = (self.rng.choice((1, 2, 2)), self.rng.choice((1, 2, 2)))
        kernel = (self.rng.choice((1, 2, 3, 4)), self.rng.choice((1, 2, 3, 4)))
        padding = self.rng.choice(("SAME", "VALID"))
        extra = (max(kernel[0] - stride[0], 0), max(kernel[1] - stride[1], 0)) if padding == "VALID" else (0, 0)
        size = (h * stride[0] + extra[0], w * stride[1] + extra[1])
        channels = self.rng.choice((1, 2, 4))
        if size[0] * size[1] * channels > MAX_ELEMENTS or max(size) > MAX_SIDE:
            return None
        wb, rms = self._weights((channels, *kernel, c), channels, 0, max(prod(kernel) // prod(stride), 1) * c, x)
        shape = (1, *size, channels)
        inputs = [self._ints(shape), wb[0], x.index, wb[1]]
        return self._op(
            "TRANSPOSE_CONV", inputs, self._result(shape, rms), padding=padding, stride_h=stride[0], stride_w=stride[1]
        )

    def _resize(self, x: Value) -> Value | None:
        size = [n * self.rng.choice((1, 2)) if self.rng.random() < 0.7 else self.rng.randint(1, 9) for n in x.hwc[:2]]
        if size[0] * size[1] * x.shape[3] > MAX_ELEMENTS or max(size) > MAX_SIDE:
            return None
        y = self._result((1, *size, x.shape[3]), x.rms, like=x)
        centers = self.rng.random() < 0.3
        return self._op("RESIZE_NEAREST_NEIGHBOR", [x.index, self._ints(size)], y, half_pixel_centers=centers)

    def _relu(self, x: Value) -> Value:
        return self._op("RELU", [x.index], self._result(x.shape, x.rms, "RELU"))

    def _slice(self, x: Value) -> Value:
        """Rows and columns cut off."""
        begin = [0, self.rng.randint(0, x.shape[1] // 3), self.rng.randint(0, x.shape[2] // 3), 0]
        end = [1, self.rng.randint(begin[1] + 1, x.shape[1]), self.rng.randint(begin[2] + 1, x.shape[2]), x.shape[3]]
        y = self._result(tuple(b - a for a, b in zip(begin, end, strict=True)), x.rms, like=x)
        return self._op("STRIDED_SLICE", [x.index, *map(self._ints, (begin, end, [1] * 4))], y)

    def _reshape(self, x: Value) -> Value | None:
        """Rows and columns rearranged: the same bytes with other rows."""
        h, w, c = x.hwc
        sides = [k for k in range(1, h * w + 1) if h * w % k == 0 and max(k, h * w // k) <= MAX_SIDE]
        if not sides:
            return None
        k = self.rng.choice(sides)
        shape = (1, k, h * w // k, c)
        return self._op("RESHAPE", [x.index, self._ints(shape)], self._result(shape, x.rms, like=x), new_shape=shape)

    def _strip(self, x: Value) -> Value:
        """SPLIT_V along the rows, mostly into parts of different heights; the mean of the first scales the second."""
        if x.shape[1] < 2:
            return self._relu(x)
        first = self.rng.randint(1, x.shape[1] - 1)
        parts = [self._result((1, n, *x.shape[2:]), x.rms, like=x) for n in (first, x.shape[1] - first)]
        self.m.op("SPLIT_V", [x.index, self._ints([p.shape[1] for p in parts]), self._ints(1)],
                  [p.index for p in parts], {"num_splits": 2})  # fmt: skip
        self.operators["SPLIT_V"] += 1
        pixel = self._mean(parts[0], keep=True)
        return self._mul(parts[1], pixel)

    # branches --------------------------------------------------------------------------------------------------

    def _branch(self, x: Value) -> Value:
        kind = self.rng.choice(("residual", "residual", "concat", "excite", "down"))
        if kind == "excite":
            return self._excite(x)
        if kind == "concat":
            return self._concat(x)
        if kind == "down":
            return self._down(x)
        a = x
        for _ in range(self.rng.randint(0, 2)):
            a = self._keeping(a)
        a = self._same(a, x)
        b = self._same(x, x) if self.rng.random() < 0.3 else x
        return self._add(a, b) if self.rng.random() < 0.5 else self._add(b, a)

    def _keeping(self, x: Value) -> Value:
        """A layer that keeps rows and columns."""
        return self._pointwise(x) or self._relu(x) if self.rng.random() < 0.4 else self._same(x, x)

    def _same(self, x: Value, like: Value) -> Value:
        made = self._conv(x, like)
        assert made is not None, "a convolution onto a tensor that exists is small enough"
        return made

    def _add(self, a: Value, b: Value) -> Value:
        rms = sqrt(a.rms**2 + b.rms**2)
        return self._op("ADD", [a.index, b.index], self._result(a.shape, rms, self.rng.choice(("NONE", "RELU"))))

    def _mul(self, a: Value, b: Value) -> Value:
        shape = tuple(max(p, q) for p, q in zip(a.shape, b.shape, strict=True))
        return self._op("MUL", [a.index, b.index], self._result(shape, a.rms * b.rms))

    def _concat(self, x: Value) -> Value:
        parts = [
            self._same(self._keeping(x) if self.rng.random() < 0.5 else x, x) for _ in range(self.rng.randint(1, 2))
        ]
        parts.insert(self.rng.randint(0, len(parts)), x)
        axis = self.rng.choice((3, 3, 2))
        shape = list(x.shape)
        shape[axis] *= len(parts)
        if prod(shape) > MAX_ELEMENTS or max(shape) > MAX_SIDE:
            return self._add(parts[0], parts[1])
        y = self._result(tuple(shape), x.rms, like=x)
        return self._op("CONCATENATION", [p.index for p in parts], y, axis=axis)

    def _excite(self, x: Value) -> Value:
        """Channels scaled by a pooled branch."""
        pixel = self._mean(x, keep=True)
        wb, rms = self._weights((x.shape[3], 1, 1, x.shape[3]), x.shape[3], 0, x.shape[3], pixel)
        gate = self._op(
            "CONV_2D", [pixel.index, *wb], self._result(pixel.shape, rms), padding="SAME", stride_h=1, stride_w=1
        )
        if self.rng.random() < 0.5:
            open_ = self._value(gate.shape, 1 / 256, -128, 0.5)
            gate = self._op("LOGISTIC", [gate.index], open_)
        return self._mul(x, gate)

    def _down(self, x: Value) -> Value:
        """A pooled and a strided path, joined."""
        pooled = self._result((1, -(-x.shape[1] // 2), -(-x.shape[2] // 2), x.shape[3]), x.rms, like=x)
        window = {"padding": "SAME", "stride_h": 2, "stride_w": 2}
        self._op("MAX_POOL_2D", [x.index], pooled, filter_height=2, filter_width=2, **window)
        wb, rms = self._weights((x.shape[3], 3, 3, x.shape[3]), x.shape[3], 0, 9 * x.shape[3], x)
        strided = self._op("CONV_2D", [x.index, *wb], self._result(pooled.shape, rms), **window)
        return self._add(replace(pooled, rms=x.rms), strided)

    # heads -----------------------------------------------------------------------------------------------------

    def _mean(self, x: Value, keep: bool) -> Value:
        pixels = x.shape[1] * x.shape[2]
        rms = x.rms / min(sqrt(pixels), 4.0)
        shape = (1, 1, 1, x.shape[3]) if keep else (1, x.shape[3])
        return self._op("MEAN", [x.index, self._ints([1, 2])], self._result(shape, rms), keep_dims=keep)

    def _head(self, x: Value) -> Value:
        kind = self.rng.choice(("none", "mean", "dense", "dense", "mean dense"))
        if kind == "none":
            return self._layer(x)
        flat = self._mean(x, keep=False) if kind.startswith("mean") else self._flat(x)
        if kind == "mean":
            return flat
        wb, rms = self._dense_weights(flat)
        return self._op("FULLY_CONNECTED", [flat.index, *wb], self._result((1, 5), rms))

    def _flat(self, x: Value) -> Value:
        shape = (1, prod(x.shape))
        return self._op("RESHAPE", [x.index, self._ints(shape)], self._result(shape, x.rms, like=x), new_shape=shape)

    def _dense_weights(self, x: Value) -> tuple[list[int], float]:
        name, length = f"t{len(self.m._tensors)}", x.shape[1]
        if self.dtype == "f32":
            w = self.data.standard_normal((5, length)) / sqrt(length)
            return [self.m.tensor(name, (5, length), "f32", data=w), -1], 1.0
        w = self.data.integers(-127, 127, (5, length), endpoint=True)
        return [self.m.tensor(name, (5, length), "s8", scale=0.008, data=w), -1], x.rms * 73 * 0.008 * sqrt(length)


class _Planted(Recipe):
    """Networks with something to remove."""

    _BIASES = (0, 0, 10**6, -(10**6), 2**27, -(2**27), 2**31 - 1, -(2**31), 2**31 - 2**15)

    def _plant(self, w: np.ndarray, b: np.ndarray, axis: int) -> None:
        outputs = np.moveaxis(w, axis, 0)
        for k in range(len(outputs)):
            kind = self.rng.random()
            if kind < 0.3:
                outputs[k] = 0
            elif kind < 0.5:
                b[k] = self.rng.choice(self._BIASES)
        if axis == 0:
            unread = self.data.random(w.shape[-1]) < 0.3
            w[..., unread] = 0

    def _result(self, shape: Shape, rms: float, activation: str = "NONE", like: Value | None = None) -> Value:
        found = super()._result(shape, rms, activation, like)
        if like is not None or self.rng.random() < 0.5 or self.dtype == "f32":
            return found
        zero = -128 if activation != "NONE" else self.rng.choice((-128, 0, 127))
        return self._value(shape, found.scale, zero, rms)
