"""DFT and STFT as products with a constant matrix, and the constant matrix of MelWeightMatrix."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.formats.operators.elements import operands
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ops.fully_connected import FullyConnected
from mcugen.ops.gather import Gather
from mcugen.ops.reshape import Reshape
from mcugen.ops.transpose import Transpose

MAX_MATRIX = 1 << 22
MAX_MEL, MAX_LENGTH = 1 << 10, 1 << 16
"""Most mel bins, and most points of the spectrum that they cover."""

_MEL = 2595 / math.log(10)


def dft(source: Source, e: Expansion) -> Sequence[str]:
    """The discrete Fourier transform along an axis of real or complex data. Source: ONNX DFT-20, DFT-17."""
    x, a = operands(e, 1)[0], source.attributes
    shape = e.type(x).shape
    axis = a.get("axis", _length(source, 2, -2))
    if not -len(shape) <= axis < len(shape) or axis % len(shape) == len(shape) - 1 or shape[-1] not in (1, 2):
        raise ShapeError(
            f"axis {axis} of {list(shape)} cannot be transformed: the last axis must be the real and imaginary parts"
        )
    axis %= len(shape)
    backward, half = bool(a["inverse"]), bool(a["onesided"])
    length = _length(source, 1, 2 * (shape[axis] - 1) if backward and half else shape[axis])
    matrix = _matrix(shape[axis], shape[-1], length, half=half, backward=backward)
    order = [*(k for k in range(len(shape)) if k not in (axis, len(shape) - 1)), axis, len(shape) - 1]
    moved = e.node(Transpose(tuple(order)), x)
    kept = tuple(shape[k] for k in order[:-2])
    flat = e.node(Reshape((*kept, shape[axis] * shape[-1])), moved)
    parts = 1 if half and backward else 2
    y = e.node(FullyConnected(keep_dims=True), flat, e.constant(matrix))
    y = e.node(Reshape((*kept, matrix.shape[0] // parts, parts)), y)
    return [e.node(Transpose(tuple(order.index(k) for k in range(len(shape)))), y)]


def stft(source: Source, e: Expansion) -> Sequence[str]:
    """Fourier transforms of windows along a signal. Source: ONNX STFT-17."""
    x, step = operands(e, 1)[0], source.ints(1)
    shape, window = e.type(x).shape, source.constant(2)
    given = [k for k in (2, 3) if k < len(source.inputs) and source.inputs[k] is not None]
    if step is None or len(step) != 1 or step[0] < 1 or any(source.constant(k) is None for k in given):
        raise UnsupportedError("the step, the window or its length is computed at run time", hint="make it a constant")
    if len(shape) not in (2, 3) or (len(shape) == 3 and shape[2] not in (1, 2)):
        raise ShapeError(f"a signal has the shape [N, T], [N, T, 1] or [N, T, 2], not {list(shape)}")
    parts = shape[2] if len(shape) == 3 else 1
    length = _length(source, 3, shape[1] if window is None else window.size)
    if not 1 <= length <= shape[1] or (window is not None and window.size != length):
        raise ShapeError(f"windows of {length} elements do not fit {list(shape)}")
    count = (shape[1] - length) // step[0] + 1
    matrix = _matrix(length, parts, length, half=bool(source.attributes["onesided"]), backward=False)
    if window is not None:
        matrix = (matrix * np.repeat(window.reshape(-1), parts)).astype(np.float32)
    index = np.arange(count)[:, None] * step[0] + np.arange(length)
    frames = e.node(Gather(1), e.node(Reshape((shape[0], shape[1], parts)), x), e.constant(index.astype(np.int32)))
    flat = e.node(Reshape((shape[0], count, length * parts)), frames)
    y = e.node(FullyConnected(keep_dims=True), flat, e.constant(matrix))
    return [e.node(Reshape((shape[0], count, matrix.shape[0] // 2, 2)), y)]


def _length(source: Source, k: int, default: int) -> int:
    if k >= len(source.inputs) or source.inputs[k] is None:
        return default
    given = source.ints(k)
    if given is None or len(given) != 1:
        raise UnsupportedError("the length or the axis is computed at run time", hint="make it a constant")
    return given[0]


def _matrix(size: int, parts: int, length: int, *, half: bool, backward: bool) -> np.ndarray:
    """Matrix of a transform of `length` elements, [results * parts of a result, size * parts].

    size: elements of the operand; missing ones are 0, and those beyond `length` are ignored. half: only the first half
    is computed (forward), or given (backward).
    """
    if not 1 <= length <= MAX_MATRIX or length * max(size, length) * 4 > MAX_MATRIX:
        raise UnsupportedError(f"a transform of {length} elements is not supported")
    results = length // 2 + 1 if half and not backward else length
    used = np.arange(min(size, length))
    angle = 2 * np.pi / length * np.outer(np.arange(results), used) * (1 if backward else -1)
    weight = np.full(used.size, 1 / length if backward else 1.0)
    if half and backward:
        weight = np.where((used == 0) | (2 * used == length), weight, 2 * weight) * (used <= length // 2)
    matrix = np.zeros((results, 2, size, parts))
    matrix[:, 0, used, 0], matrix[:, 1, used, 0] = np.cos(angle) * weight, np.sin(angle) * weight
    if parts == 2:
        matrix[:, 0, used, 1], matrix[:, 1, used, 1] = -np.sin(angle) * weight, np.cos(angle) * weight
    if half and backward:
        matrix = matrix[:, :1]
    return matrix.reshape(-1, size * parts).astype(np.float32)


def mel_weights(source: Source, e: Expansion) -> Sequence[str]:
    """Triangular filters on a spectrum, with corners at equal steps in mel. Source: ONNX MelWeightMatrix-17."""
    given = [source.constant(k) for k in range(5)]
    known = [float(v.reshape(-1)[0]) for v in given if v is not None and v.size == 1]
    if len(known) < 5 or source.attributes["output_datatype"] != 1:
        raise UnsupportedError("a mel matrix whose sizes are computed at run time, or not of float32, is not supported")
    bins, length, rate, *edges = known
    if not (1 <= bins <= MAX_MEL and 1 <= length <= MAX_LENGTH and rate >= 1 and all(map(math.isfinite, known))):
        raise ShapeError(f"{bins:g} mel bins of a spectrum of {length:g} points are not supported")
    if not 0 <= edges[0] <= edges[1] <= rate / 2:
        raise ShapeError(f"edges {edges} of a mel matrix are not within half of the sample rate {rate:g}")
    low, high = (_MEL * math.log1p(f / 700) for f in edges)
    steps = low + np.arange(int(bins) + 2) * (high - low) / (int(bins) + 2)
    corners = np.floor((length + 1) * (700 * np.expm1(steps / _MEL)) / rate).astype(np.int64)
    at = np.arange(int(length) // 2 + 1)[:, None]
    first, middle, last = corners[:-2], corners[1:-1], corners[2:]
    with np.errstate(divide="ignore", invalid="ignore"):
        rising = np.where((at >= first) & (at <= middle) & (middle > first), (at - first) / (middle - first), 0.0)
        falling = np.where((at >= middle) & (at < last), (last - at) / (last - middle), rising)
    peaked = np.where((at == middle) & (middle == first) & (last <= middle), 1.0, falling)
    return [e.constant(peaked.astype(np.float32))]


IMPORTS = (
    Import("onnx", "DFT", expand=dft),
    Import("onnx", "STFT", expand=stft),
    Import("onnx", "MelWeightMatrix", expand=mel_weights),
)
