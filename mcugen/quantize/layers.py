"""Quantization of one layer with weights: weights and bias as integers, fitted to the inputs that reach the layer."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.graph import Graph, Node
from mcugen.ir.types import QuantParams, TensorType
from mcugen.quantize import batch_evaluation, block_rounding, rounding
from mcugen.quantize.im2col import im2col
from mcugen.quantize.recipe import LEAST_SQUARES, Recipe
from mcugen.quantize.stored_integers import to_real

Sums = Callable[[str], np.ndarray]
"""Function: name of a node's result -> its float values before the fused activation."""
Constant = tuple[TensorType, np.ndarray]
"""Type and data of a constant."""
Rows = tuple[np.ndarray, np.ndarray]
"""Input rows of a layer [groups, rows, taps], and the wanted results [groups, rows, outputs]."""

_PATCH_ELEMENTS = 1 << 23
ENOUGH_ROWS, ROWS_PER_TAP = 8192, 64
"""Rows that suffice for moments: in total, and per tap. Larger images are subsampled."""
_BIAS_END = float(1 << 30)
_FEW_ROWS = 64
_BYTE = 8


def with_same_weights(graph: Graph) -> list[list[Node]]:
    """Groups of layers that read the same weights, such as the steps of an unrolled recurrent layer."""
    found: dict[str, list[Node]] = {}
    for node in graph.nodes:
        if node.op.scaled_axis is not None and is_constant(graph, node):
            found.setdefault(str(node.inputs[1]), []).append(node)
    return [nodes for nodes in found.values() if len(nodes) > 1]


def is_constant(graph: Graph, node: Node) -> bool:
    """Whether weights and bias are constants."""
    return all(n is None or graph.tensors[n].data is not None for n in node.inputs[1:3])


@dataclass(frozen=True, eq=False)
class Layer:
    """A float node with weights, and the settings of its quantization.

    bits: bits of the weights; one_scale: whether all outputs have one weight scale; block: the number of weights that
    share a scale; 0: all of an output do
    """

    graph: Graph
    node: Node
    reference: str
    recipe: Recipe
    bits: int
    one_scale: bool = False
    block: int = 0

    @property
    def call(self) -> Call:
        return self.graph.call(self.node, self.reference)

    @property
    def refits(self) -> bool:
        """Whether weights are fitted again before rounding; with 8 bits that costs more than it gains."""
        return self.recipe.refit and self.recipe.rounding == LEAST_SQUARES and self.bits < _BYTE

    def solved(
        self, x: TensorType, values: np.ndarray, y: TensorType, wanted: np.ndarray | None
    ) -> tuple[Constant, Constant]:
        """Weights and bias as integers.

        x, values: type and integers of the input, for all samples; y: type of the result; wanted: the float network's
        results before the activation, None if the recipe does not need them.
        """
        call = self.call
        rows = _Rows(lambda: iter(()) if wanted is None else self._rows(x, values, wanted))
        moments = self._moments(rows)
        w = self._matrix(call)
        w = w[None] if moments is None else w.reshape(*moments.y.shape, -1)
        rounded = self._rounded(w, moments)
        bias = np.zeros(w.shape[0] * w.shape[1]) if not call.has(2) else call.constant(2).reshape(-1).astype(np.float64)
        if moments is not None and moments.rows >= self.recipe.least_rows:
            bias = self._bias(rounded.real, moments, rows, y).reshape(-1)
        rounded, steps = _with_bias(rounded, bias, x.scale, w, self)
        return self._constants(call, rounded, steps, x)

    def _bias(self, w: np.ndarray, moments: rounding.Moments, rows: Iterable[Rows], y: TensorType) -> np.ndarray:
        """Biases that cancel the mean error of results with rounded weights, [groups, outputs].

        Results outside the range of the integers or of a clamp are left out, since they would distort the mean.
        """
        plain = moments.y - np.einsum("gok,gk->go", w, moments.x)
        low, high = (y.scale * (end - y.zero_point) for end in y.limits)
        total, count = np.zeros(plain.shape), np.zeros(plain.shape)
        turned = w.swapaxes(1, 2).astype(np.float32)
        for met, wanted in rows:
            inside = (wanted > low) & (wanted < high)
            lacking = met @ turned
            np.subtract(wanted, lacking, out=lacking)
            lacking *= inside
            total += lacking.sum(axis=1, dtype=np.float64)
            count += np.count_nonzero(inside, axis=1)
        return np.where(count >= _FEW_ROWS, total / np.maximum(count, 1), plain)

    def _rounded(self, w: np.ndarray, moments: rounding.Moments | None) -> rounding.Rounded:
        if self.one_scale:
            return rounding.nearest(w, np.full(w.shape[:2], rounding.scales(w.reshape(-1), self.bits)), self.bits)
        if self.block:
            return self._in_blocks(w, moments)
        if moments is None or self.recipe.rounding != LEAST_SQUARES:
            return rounding.nearest(w, rounding.scales(w, self.bits), self.bits)
        if self.refits:
            w = rounding.refitted(w, moments)
        return rounding.least_squares(w.copy(), moments, self.bits)

    def _in_blocks(self, w: np.ndarray, moments: rounding.Moments | None) -> rounding.Rounded:
        """Integers with a scale for each output: products of 4 bits and the factor of their block."""
        if moments is None or self.recipe.rounding != LEAST_SQUARES:
            return block_rounding.nearest(w, self.block)
        return block_rounding.least_squares(rounding.refitted(w, moments) if self.refits else w, moments, self.block)

    def _matrix(self, call: Call) -> np.ndarray:
        """The weights as [outputs, taps], float64."""
        axis = int(self.node.op.scaled_axis or 0)
        w = call.constant(1)
        return np.moveaxis(w, axis, 0).reshape(w.shape[axis], -1).astype(np.float64)

    def _moments(self, rows: Iterable[Rows]) -> rounding.Moments | None:
        """Moments of the layer's inputs; None if nothing uses them or the operator has no im2col form."""
        needs_squares = self.recipe.rounding == LEAST_SQUARES
        sums = None
        for met, results in rows:
            sizes = (met.shape[0], results.shape[2], met.shape[2])
            sums = Gathered(sizes, needs_squares, self.refits) if sums is None else sums
            sums.add(met, results)
        return None if sums is None else sums.moments()

    def _rows(self, x: TensorType, values: np.ndarray, wanted: np.ndarray) -> Iterator[Rows]:
        """Parts of the layer's input rows and wanted results, with some samples in each."""
        first = self._patches(x, values[:1], 1)
        if first is None:
            return
        groups, rows, taps = first.shape
        every = _stride(wanted.shape[1:], len(values) * rows, taps)
        size = max(1, _PATCH_ELEMENTS // first.size * every**2)
        for part, target in zip(
            batch_evaluation.chunks(values, size), batch_evaluation.chunks(wanted, size), strict=True
        ):
            met = self._patches(x, part, every)
            if met is not None:
                kept = target[:, :, ::every, ::every] if every > 1 else target
                yield met, np.ascontiguousarray(kept.reshape(-1, groups, kept.shape[-1] // groups).transpose(1, 0, 2))

    def _patches(self, x: TensorType, values: np.ndarray, every: int) -> np.ndarray | None:
        call, real = self.call, to_real(values, x)
        return im2col(call.op, call, real.reshape(-1, *values.shape[2:]), every)

    def _constants(
        self, call: Call, rounded: rounding.Rounded, steps: np.ndarray, x: TensorType
    ) -> tuple[Constant, Constant]:
        axis, shape = int(self.node.op.scaled_axis or 0), call.input(1).shape
        moved = (shape[axis], *(n for k, n in enumerate(shape) if k != axis))
        scales = rounded.scales.reshape(-1)[: 1 if self.one_scale else None]
        quant = QuantParams(tuple(float(s) for s in scales), (0,) * scales.size, axis, self.block)
        t = TensorType(shape, "s16" if self.block else "s8" if self.bits == 8 else "s4", quant)
        data = np.moveaxis(rounded.integers.reshape(moved), 0, axis).astype(t.np_dtype)
        weights = (t, np.ascontiguousarray(data))
        wide = "s64" if x.dtype == "s16" else "s32"
        both = QuantParams(tuple(float(np.float32(x.scale * s)) for s in scales), (0,) * scales.size, 0)
        bias = TensorType((steps.size,), wide, both)
        return weights, (bias, steps.astype(bias.np_dtype))


def _stride(shape: tuple[int, ...], rows: int, taps: int) -> int:
    """Stride at which rows and columns of result images are sampled, so that enough remain for this many taps."""
    wanted = max(ENOUGH_ROWS, ROWS_PER_TAP * taps)
    is_image = len(shape) == 4 and min(shape[1:3]) > 1
    return max(1, math.isqrt(rows // wanted)) if is_image else 1


class _Rows:
    """Rows of a layer in parts. A single part is stored; several parts are computed again in each iteration."""

    def __init__(self, made: Callable[[], Iterator[Rows]]) -> None:
        self._made = made
        self._only: Rows | None = None

    def __iter__(self) -> Iterator[Rows]:
        if self._only is not None:
            yield self._only
            return
        count, last = 0, None
        for last in self._made():
            count += 1
            yield last
        self._only = last if count == 1 else None


class Gathered:
    """Sums over rows, from which moments follow. Inputs are taken relative to the first part's mean, for precision.

    sizes: groups, outputs of a group, taps; squares, products: whether to sum `Moments.xx`, and `Moments.xy`
    """

    def __init__(self, sizes: tuple[int, int, int], squares: bool, products: bool) -> None:
        groups, outputs, taps = sizes
        self._rows = 0
        self._centre: np.ndarray | None = None
        self._x, self._y = np.zeros((groups, taps)), np.zeros((groups, outputs))
        self._xx = np.zeros((groups, taps, taps)) if squares else None
        self._xy = np.zeros((groups, outputs, taps)) if products else None

    def add(self, x: np.ndarray, y: np.ndarray) -> None:
        """Add rows: x [groups, rows, taps], y [groups, rows, outputs]."""
        self._centre = x.mean(axis=1, keepdims=True) if self._centre is None else self._centre
        x = x - self._centre
        self._rows += x.shape[1]
        self._x += x.sum(axis=1, dtype=np.float64)
        self._y += y.sum(axis=1, dtype=np.float64)
        if self._xx is not None:
            self._xx += x.swapaxes(1, 2) @ x
        if self._xy is not None:
            self._xy += y.swapaxes(1, 2) @ x

    def moments(self) -> rounding.Moments:
        """Moments of all added rows. At least one row must have been added."""
        n, x, y = self._rows, self._x / self._rows, self._y / self._rows
        centre = 0.0 if self._centre is None else self._centre[:, 0]
        xx = None if self._xx is None else self._xx / n - x[:, :, None] * x[:, None, :]
        xy = None if self._xy is None else self._xy / n - y[:, :, None] * x[:, None, :]
        return rounding.Moments(n, x + centre, y, np.zeros(0) if xx is None else xx, xy)


def _with_bias(
    rounded: rounding.Rounded, bias: np.ndarray, x_scale: float, w: np.ndarray, layer: Layer
) -> tuple[rounding.Rounded, np.ndarray]:
    """Bias in steps of input scale * weight scale. A weight scale is raised if a bias would exceed 31 bits."""
    step = np.float64(np.float32(x_scale)) * rounded.scales
    far = np.abs(bias.reshape(step.shape)) > _BIAS_END * step
    if far.any():
        least = np.abs(bias.reshape(step.shape)) / (_BIAS_END * np.float64(np.float32(x_scale)))
        least, far = (np.full_like(least, least.max()), np.full_like(far, True)) if layer.one_scale else (least, far)
        scales = np.where(far, np.float32(least * 1.01), rounded.scales).astype(np.float64)
        again = rounding.nearest(w, scales, layer.bits)
        rounded = replace(rounded, integers=np.where(far[..., None], again.integers, rounded.integers), scales=scales)
        step = np.float64(np.float32(x_scale)) * scales
    return rounded, np.asarray(np.round(bias.reshape(step.shape) / step)).reshape(-1)
