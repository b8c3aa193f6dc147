# SPDX-License-Identifier: Apache-2.0
"""Random networks that can be streamed frame by frame, and their C held to the oracle on the window of each moment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np

import mcugen
from mcugen.errors import McugenError, ToolError
from mcugen.pipeline import Artifact
from tests.rows.graphs import MAX_ELEMENTS, RandomGraph, Recipe, board_of
from tests.rows.program import Model, Wanted, Workshop, problem, wanted_of
from tests.rows.tensors import KINDS, Value

FRAMES_AFTER = 7
"""Frames beyond the first window: rings go round, and each of their slots is the oldest once."""

OFFSET = 10_000
"""Seeds of streams are those of no other random network."""


def random_stream(seed: int) -> RandomGraph:
    """The stream of this seed: a third have branches that rejoin, a third odd sizes, one in eight is float."""
    return _Stream(OFFSET + seed, KINDS[seed % len(KINDS)]).graph()


class _Stream(Recipe):
    """Layers that keep the rows of different frames apart: no padding and no stride in time."""

    def __init__(self, seed: int, kind: str) -> None:
        super().__init__(seed)
        self.kind = kind

    def graph(self) -> RandomGraph:
        depth = self.rng.randint(3, 20)
        x = start = self._input()
        if self.kind == "branches":
            x = self._branch(x)
        while self._count() < max(depth - 3, 2):
            branches = self.kind == "branches" and self.rng.random() < 0.35 and self._count() + 5 <= depth
            x = self._branch(x) if branches else self._layer(x)
        x = self._head(x)
        return RandomGraph(self.seed, self.kind, self.m.build([start.index], [x.index]), self.operators)

    def _input(self) -> Value:
        odd = self.kind == "odd"
        frames = self.rng.choice((3, 5, 7, 11, 13, 17, 23) if odd else (4, 6, 8, 12, 16, 20, 24))
        width = self.rng.choice((1, 3, 5, 7) if odd else (1, 1, 2, 4, 6))
        scale, zero = self.rng.uniform(0.01, 0.1), self.rng.randint(-30, 30)
        return self._value((1, frames, width, self.rng.choice((1, 2, 3, 4, 5))), scale, zero, 74 * scale)

    def _layer(self, x: Value) -> Value:
        layers = (
            (self._conv, 5), (self._depthwise, 4), (self._max_pool, 2), (self._average_pool, 2), (self._pad, 1),
            (self._transpose_conv, 1), (self._resize, 1), (self._relu, 1), (self._pointwise, 2),
        )  # fmt: skip
        while True:
            layer = self.rng.choices([f for f, _ in layers], [w for _, w in layers])[0]
            made: Value | None = layer(x)
            if made is not None:
                return made

    def _geometry(self, x: Value, largest: int = 4) -> tuple[tuple[int, int], tuple[int, int], str]:
        """A window that pads columns only where it is one row high."""
        height, width, _ = x.hwc
        high = min(self.rng.choice((1, 2, 2, 3, largest)), height)
        padding = "SAME" if high == 1 and self.rng.random() < 0.5 else "VALID"
        wide = self.rng.choice((1, 2, 3, 3))
        return (high, wide if padding == "SAME" else min(wide, width)), (1, self.rng.choice((1, 1, 2))), padding

    def _dilated(self, x: Value) -> tuple[tuple[int, int], tuple[int, int], tuple[int, int], str]:
        kernel, stride, padding = self._geometry(x)
        if padding == "SAME" or kernel[0] == 1 or self.rng.random() < 0.6:
            return kernel, stride, (1, 1), padding
        fits = [d for d in (2, 3, 4) if (kernel[0] - 1) * d < x.shape[1]]
        return (kernel[0], 1), (1, 1), (self.rng.choice(fits or [1]), 1), padding

    def _conv(self, x: Value, like: Value | None = None) -> Value | None:
        """like: one row high, so that all rows stay."""
        if like is None:
            return super()._conv(x)
        channels, wide = like.shape[3], self.rng.choice((1, 3))
        wb, rms = self._weights((channels, 1, wide, x.shape[3]), channels, 0, wide * x.shape[3], x)
        y = self._result((*x.shape[:3], channels), rms, like=like)
        return self._op("CONV_2D", [x.index, *wb], y, padding="SAME", stride_h=1, stride_w=1)

    def _pad(self, x: Value) -> Value:
        widths = [[0, 0], [0, 0], [self.rng.randint(0, 2), 1], [0, self.rng.choice((0, 0, 1))]]
        shape = tuple(n + a + b for n, (a, b) in zip(x.shape, widths, strict=True))
        return self._op("PAD", [x.index, self._ints(widths)], self._result(shape, x.rms, like=x))

    def _transpose_conv(self, x: Value) -> Value | None:
        """Columns spread, rows as they are."""
        stride, wide, channels = self.rng.choice((1, 2)), self.rng.choice((1, 2, 3)), self.rng.choice((1, 2, 4))
        shape = (1, x.shape[1], x.shape[2] * stride, channels)
        if prod(shape) > MAX_ELEMENTS:
            return None
        wb, rms = self._weights((channels, 1, wide, x.shape[3]), channels, 0, wide * x.shape[3], x)
        inputs = [self._ints(shape), wb[0], x.index, wb[1]]
        return self._op("TRANSPOSE_CONV", inputs, self._result(shape, rms), padding="SAME", stride_h=1, stride_w=stride)

    def _resize(self, x: Value) -> Value | None:
        size = (x.shape[1], self.rng.randint(1, 9))
        if prod(size) * x.shape[3] > MAX_ELEMENTS:
            return None
        y = self._result((1, *size, x.shape[3]), x.rms, like=x)
        return self._op("RESIZE_NEAREST_NEIGHBOR", [x.index, self._ints(size)], y)

    def _branch(self, x: Value) -> Value:
        kind = self.rng.choice(("residual", "twins", "twins", "concat"))
        if kind == "concat":
            parts = [x, *(self._same(self._keeping(x), x) for _ in range(self.rng.randint(1, 2)))]
            return self._joined(parts)
        if kind == "residual" or x.shape[1] < 3:
            a = self._same(self._keeping(x) if self.rng.random() < 0.5 else x, x)
            return self._add(a, x) if self.rng.random() < 0.5 else self._add(x, a)
        near, far = self._reaching(x, 3, 1), self._reaching(x, 2, 2)
        return self._joined([near, far]) if self.rng.random() < 0.4 else self._add(near, far)

    def _reaching(self, x: Value, size: int, dilation: int) -> Value:
        """A convolution over three frames, or the first and the last of them: branches that look back as far."""
        channels = x.shape[3]
        wb, rms = self._weights((channels, size, 1, channels), channels, 0, size * channels, x)
        y = self._result((1, x.shape[1] - 2, *x.shape[2:]), rms, like=x)
        return self._op(
            "CONV_2D", [x.index, *wb], y, padding="VALID", stride_h=1, stride_w=1,
            dilation_h_factor=dilation, dilation_w_factor=1,
        )  # fmt: skip

    def _joined(self, parts: Sequence[Value]) -> Value:
        like = parts[0]
        shape = (*like.shape[:3], sum(p.shape[3] for p in parts))
        if prod(shape) > MAX_ELEMENTS:
            return self._add(parts[0], parts[1])
        return self._op("CONCATENATION", [p.index for p in parts], self._result(shape, like.rms, like=like), axis=3)

    def _head(self, x: Value) -> Value:
        """All rows that are left become one, and what it has may go through a dense layer."""
        kind = self.rng.choice(("mean", "mean dense", "pool dense", "conv", "conv dense"))
        if kind.startswith("mean"):
            x = self._mean(x, keep=True)
        elif kind.startswith("pool"):
            y = self._result((1, 1, *x.shape[2:]), x.rms, like=x)
            size = {"filter_height": x.shape[1], "filter_width": 1}
            x = self._op("AVERAGE_POOL_2D", [x.index], y, padding="VALID", stride_h=1, stride_w=1, **size)
        else:
            wb, rms = self._weights((3, x.shape[1], 1, x.shape[3]), 3, 0, x.shape[1] * x.shape[3], x)
            y = self._result((1, 1, x.shape[2], 3), rms)
            x = self._op("CONV_2D", [x.index, *wb], y, padding="VALID", stride_h=1, stride_w=1)
        if not kind.endswith("dense"):
            return x
        flat = self._flat(x)
        weights, rms = self._dense_weights(flat)
        return self._op("FULLY_CONNECTED", [flat.index, *weights], self._result((1, 5), rms))


@dataclass(frozen=True, eq=False)
class Streamed:
    """A stream as built, the frames it is fed with, and the outputs and rows that each of them must give."""

    model: Model
    frames: np.ndarray
    wanted: list[Wanted]


def streamed(graph: RandomGraph, folder: Path) -> Streamed:
    """The stream, built, with a little more than a window of frames."""
    path = folder / f"{graph.name}.tflite"
    path.write_bytes(graph.data)
    made = mcugen.compile(path, name=f"{graph.name}_frames", board=board_of(graph.seed), input_mode="frames")
    t = made.imported.type(made.imported.inputs[0])
    rng, shape = np.random.default_rng(graph.seed), (t.shape[1] + FRAMES_AFTER, *t.shape[2:])
    frames = rng.standard_normal(shape) if t.is_float else rng.integers(-128, 128, shape)
    frames = frames.astype(t.np_dtype)
    windows = [frames[None, k : k + t.shape[1]] for k in range(FRAMES_AFTER + 1)]
    return Streamed(
        model_of(graph, made), frames, wanted_of(made.imported, [[w] for w in windows], made.view.reference)
    )


def model_of(graph: RandomGraph, a: Artifact) -> Model:
    """The data of a stream for the harness."""
    label = f"stream {graph.seed} ({graph.kind})"
    parts = (a.view, dict(a.files), a.imported, a.graph, a.schedule.steps, a.schedule.buffers(), a.plan)
    return Model(label, *parts, a.schedule.trace)


def failures(graphs: Sequence[RandomGraph], workshop: Workshop, folder: Path) -> list[str]:
    """The faults of these streams."""
    folder.mkdir(parents=True, exist_ok=True)
    found: list[str] = []
    streams: list[Streamed] = []
    for graph in graphs:
        try:
            streams.append(streamed(graph, folder))
        except McugenError as error:
            found.append(f"stream {graph.seed} ({graph.kind}): {error}")
    return found + (_differences(streams, workshop, folder) if streams else [])


def _differences(streams: Sequence[Streamed], workshop: Workshop, folder: Path) -> list[str]:
    try:
        program = workshop.program([s.model for s in streams], folder)
    except ToolError as error:
        return [f"{streams[0].model.label} and others: {error.explain()}"]
    told = ((s.model.label, problem(program, k, s.model, [[s.frames]], s.wanted)) for k, s in enumerate(streams))
    return [f"{label}: {what}" for label, what in told if what]


def batches(first: int, count: int, size: int) -> Iterator[list[RandomGraph]]:
    """`count` streams from seed `first` on, some at a time."""
    for start in range(first, first + count, size):
        yield [random_stream(seed) for seed in range(start, min(start + size, first + count))]
