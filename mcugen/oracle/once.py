"""Results of operators with a `rounding` attribute: exact real values rounded once, or float32 arithmetic ("single").

Source: the definition of QuantizeLinear in ONNX; the fused kernels of ONNX Runtime (mlas, MlasRequantizeOutput).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from mcugen.errors import QuantizationError
from mcugen.ir.call import Call
from mcugen.ir.types import TensorType
from mcugen.oracle.fixed import Ints, int64, wrapped
from mcugen.oracle.quantized import bounds, centred, ends, stored
from mcugen.oracle.rational import binary32, exact, quotient, scale_of

_FAR = 2.0**30
_UNSURE = 2.0**-16


def to_even(numbers: Ints, factors: Sequence[Fraction], addends: Sequence[Fraction]) -> Ints:
    """numbers[..., k] * factors[k] + addends[k] in real numbers, rounded to the nearest integer, halves to even.

    Results are computed in float64, whose error is far below 2**-16 for numbers up to 2**30. Results within 2**-16 of a
    half are computed again with rational numbers.
    """
    real = int64(numbers) * np.array([float(f) for f in factors]) + np.array([float(a) for a in addends])
    real = np.clip(real, -_FAR, _FAR)
    found = int64(np.rint(real))
    numbers = np.asarray(numbers)
    near = np.argwhere(np.abs(np.abs(real - np.floor(real)) - 0.5) < _UNSURE)
    for at in map(tuple, near):
        k = int(at[-1]) if len(factors) > 1 else 0
        found[at] = round(Fraction(int(numbers[at])) * factors[k] + addends[k])
    return found


def _sums_to_even(steps: Sequence[Ints], ratios: Sequence[Fraction]) -> Ints:
    """The sum of steps[k] * ratios[k] over k in real numbers, rounded to the nearest integer, halves to even.

    steps: arrays of one shape, of 8-bit integers minus their zero points. Results near a half are computed again with
    rational numbers, where "near" depends on the largest ratio.
    """
    real = np.sum([s * float(r) for s, r in zip(steps, ratios, strict=True)], axis=0)
    unsure = max(_UNSURE, 2.0**-40 * max(abs(float(r)) for r in ratios))
    bounded = np.clip(real, -_FAR, _FAR)
    found = int64(np.rint(bounded))
    near = (np.abs(np.abs(bounded - np.floor(bounded)) - 0.5) < unsure) & (np.abs(real) < _FAR + unsure)
    for at in map(tuple, np.argwhere(near)):
        exact_sum = round(sum((int(s[at]) * r for s, r in zip(steps, ratios, strict=True)), Fraction(0)))
        found[at] = min(max(exact_sum, -int(_FAR)), int(_FAR))
    return found


def in_float32(sums: Ints, factors: Sequence[Fraction]) -> Ints:
    """float32(float32(sum) * factor), rounded to the nearest integer, halves to even. factors: float32 each."""
    scaled = sums.astype(np.float32) * np.array([float(f) for f in factors], np.float32)
    return int64(np.rint(np.clip(scaled, -_FAR, _FAR)))


def results(call: Call, sums: np.ndarray, b: np.ndarray | None, activation: str) -> Ints:
    """The stored results of operators with weights, from exact sums [..., channels]. b: the bias, int32 or float32."""
    channels, y = sums.shape[-1], call.output
    x_scale, w_scales, y_scale = scale_of(call.input(0)), _weight_scales(call, channels), scale_of(y)
    whole = b is not None and b.dtype != np.float32
    acc = int64(sums) + (int64(b).reshape(-1) if b is not None and whole else 0)
    if call.op.rounding == "single":
        acc = wrapped(acc)
        steps = in_float32(acc, [binary32(quotient(binary32(x_scale * w), y_scale)) for w in w_scales])
    else:
        real = (0.0,) * channels if b is None or whole else tuple(b.reshape(-1).tolist())
        addends = [quotient(exact(v), y_scale) for v in real]
        steps = to_even(acc, [quotient(x_scale * w, y_scale) for w in w_scales], addends)
    return np.asarray(np.clip(steps + y.zero_point, *bounds(activation, y)))


def _weight_scales(call: Call, channels: int) -> tuple[Fraction, ...]:
    quant = call.input(1).quant
    if quant is None:
        raise QuantizationError(f"the weights {call.input(1)} have no scale")
    found = tuple(binary32(exact(v)) for v in quant.scale)
    return found if len(found) == channels else (found[0],) * channels


def scaling(call: Call, channels: int, activation: str) -> dict[str, object]:
    """The scale factor of each output channel, and the clamp, by name."""
    x, w, y = scale_of(call.input(0)), _weight_scales(call, channels), scale_of(call.output)
    if call.op.rounding == "single":
        factors = tuple(binary32(quotient(binary32(x * v), y)) for v in w)
    else:
        factors = tuple(quotient(x * v, y) for v in w)
    return {"factors": factors, "bounds": bounds(activation, call.output)}


def quantized(x: np.ndarray, a: TensorType, y: TensorType) -> Ints:
    """QuantizeLinear of float32 numbers or of stored integers; halves round to even.

    Float32 numbers are divided in float32, and NaN becomes the least value. Stored integers count with their exact real
    values.
    """
    if x.dtype == np.float32:
        with np.errstate(over="ignore", invalid="ignore"):
            steps = x / np.float32(y.scale)
        return stored(int64(np.rint(np.clip(np.nan_to_num(steps, nan=-np.inf), -_FAR, _FAR))), y)
    return stored(to_even(centred(x, a), [quotient(scale_of(a), scale_of(y))], [Fraction(0)]), y)


def averaged(call: Call, sums: Ints, counts: np.ndarray, activation: str) -> Ints:
    """The stored mean of groups of elements. sums: sum of each group's stored integers. counts: their number."""
    x, y = call.input(0), call.output
    number = int64(np.broadcast_to(counts, sums.shape))
    factor, found = quotient(scale_of(x), scale_of(y)), np.zeros(sums.shape, np.int64)
    shift = y.zero_point if call.op.rounding == "stored" else 0
    for n in np.unique(number):
        centred_sums = sums[number == n] - n * x.zero_point
        if call.op.rounding == "single":
            single = binary32(quotient(scale_of(x), binary32(scale_of(y) * int(n))))
            found[number == n] = in_float32(centred_sums[:, None], [single])[:, 0]
            continue
        found[number == n] = to_even(centred_sums[:, None], [factor / int(n)], [Fraction(shift)])[:, 0]
    return np.asarray(np.clip(found - shift + y.zero_point, *bounds(activation, y)))


def summed(call: Call, sums: Ints, count: int) -> Ints:
    """The stored sum of each group of `count` elements, rounded once. sums: sum of each group's stored integers."""
    x, y = call.input(0), call.output
    factor = quotient(scale_of(x), scale_of(y))
    found = to_even((sums - count * x.zero_point)[..., None], [factor], [Fraction(0)])[..., 0]
    return stored(found, y)


def added(call: Call, sign: int, a: np.ndarray, b: np.ndarray) -> Ints:
    """The stored a + sign * b: exact and rounded once, or ("single") as QLinearAdd does with fused multiply-add."""
    y = call.output
    if call.op.rounding == "single":
        return np.asarray(np.clip(_fused_sum(call, sign, a, b), *bounds(call.op.activation, y)))
    ratios = [quotient(scale_of(call.input(k)), scale_of(y)) * (sign if k else 1) for k in (0, 1)]
    first, second = np.broadcast_arrays(centred(a, call.input(0)), centred(b, call.input(1)))
    found = _sums_to_even([first, second], ratios)
    return np.asarray(np.clip(found + y.zero_point, *bounds(call.op.activation, y)))


def _flip(call: Call) -> int:
    """The runtime's integers minus the stored integers: 128 if uint8 tensors were turned into int8, else 0."""
    return 128 if getattr(call.op, "flipped_u8", False) else 0


def _fused_sum(call: Call, sign: int, a: np.ndarray, b: np.ndarray) -> Ints:
    """The stored sums of QLinearAdd before the clamp. Each operation is rounded to float32."""
    types, y = (call.input(0), call.input(1)), call.output
    first, second = (binary32(quotient(scale_of(t), scale_of(y))) for t in types)
    second *= sign
    flip, (zero_a, zero_b, zero_y) = _flip(call), (t.zero_point + _flip(call) for t in (*types, y))
    fixed = binary32(zero_y - binary32(first * zero_a + binary32(second * zero_b)))
    least = ends(types[1])[0] + flip
    parts = np.array([float(binary32(v * second + fixed)) for v in range(least, least + 256)])
    wide = np.float64(float(first)) * (int64(a) + flip) + parts[int64(b) + flip - least]
    return int64(np.rint(np.clip(wide.astype(np.float32), -_FAR, _FAR))) - flip


def multiplied(call: Call, a: np.ndarray, b: np.ndarray) -> Ints:
    """The stored product: exact and rounded once, or ("single") in float32 as QLinearMul computes it, with the zero
    point added before the rounding.
    """
    types, y = (call.input(0), call.input(1)), call.output
    product = centred(a, types[0]) * centred(b, types[1])
    scales = scale_of(types[0]) * scale_of(types[1])
    if call.op.rounding == "single":
        factor = np.float32(float(binary32(quotient(binary32(scales), scale_of(y)))))
        inside = np.float32(y.zero_point + _flip(call))
        steps = int64(np.rint(np.clip(product.astype(np.float32) * factor + inside, -_FAR, _FAR))) - _flip(call)
    else:
        steps = to_even(product, [quotient(scales, scale_of(y))], [Fraction(0)]) + y.zero_point
    return np.asarray(np.clip(steps, *bounds(call.op.activation, y)))


def real(x: np.ndarray, a: TensorType) -> np.ndarray:
    """The float32 numbers that DequantizeLinear makes of stored integers."""
    return np.asarray(centred(x, a).astype(np.float32) * np.float32(a.scale))


def float_mean(call: Call, taps: Mapping[tuple[int, int], np.ndarray], counts: np.ndarray, activation: str) -> Ints:
    """The stored mean of float32 windows, added row by row or, with `by_columns`, the columns first.

    taps: (row, column) in the window -> values, 0 outside the image. counts: elements of each window in the image.

    Source: onnxruntime mlas/lib/pooling.cpp; contrib_ops/cpu/quantization/qlinear_pool.cc (single).
    """
    y, rows, columns = call.output, 1 + max(i for i, _ in taps), 1 + max(j for _, j in taps)
    parts = [taps[i, j] for i in range(rows) for j in range(columns)]
    if call.op.by_columns:
        nothing = np.zeros(counts.shape, np.float32)
        parts = [sum((taps[i, j] for i in range(rows)), nothing) for j in range(columns)]
    steps = sum(parts, np.zeros(counts.shape, np.float32)) / counts.astype(np.float32) / np.float32(y.scale)
    inside = np.float32(y.zero_point + _flip(call) if call.op.rounding == "single" else 0)
    found = int64(np.rint(np.clip(steps + inside, -_FAR, _FAR))) + y.zero_point - int(inside)
    return np.asarray(np.clip(found, *bounds(activation, y)))


def divided(call: Call, a: np.ndarray, b: np.ndarray) -> Ints:
    """The stored quotient, exact and rounded once. x / 0 gives the greatest or the least value, 0 / 0 the least."""
    types, y = (call.input(0), call.input(1)), call.output
    first, second = np.broadcast_arrays(centred(a, types[0]), centred(b, types[1]))
    factor, low = quotient(scale_of(types[0]), scale_of(types[1]) * scale_of(y)), bounds(call.op.activation, y)[0]
    found = np.where(first == 0, low - y.zero_point, np.sign(first) * int(_FAR))
    for divisor in np.unique(second[second != 0]):
        at = second == divisor
        found[at] = to_even(first[at][:, None], [factor / int(divisor)], [Fraction(0)])[:, 0]
    return np.asarray(np.clip(found + y.zero_point, *bounds(call.op.activation, y)))


def summed_up(call: Call, x: Sequence[np.ndarray]) -> Ints:
    """The stored sum of several tensors, exact and rounded once."""
    types, y = [call.input(k) for k in range(len(x))], call.output
    ratios = [quotient(scale_of(t), scale_of(y)) for t in types]
    steps = [centred(a, t) for a, t in zip(x, types, strict=True)]
    return stored(_sums_to_even(steps, ratios), y)
