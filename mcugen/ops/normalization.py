"""Normalization: groups of elements are divided by their standard deviation, or by their root mean square."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np

from mcugen.errors import QuantizationError, ShapeError, UnsupportedError
from mcugen.ir.axis_order import Order
from mcugen.ir.call import Call, Params, fact
from mcugen.ir.kernel import Cost, Kernel, Run, Whole
from mcugen.ir.op import Example, Op, Reordered, Scaling
from mcugen.ir.quant_rule import Scales, refused
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _onnx
from mcugen.oracle import normalized

_WORD, _MOST_UP, _SPARE = 61, 30, 29
_LARGEST = (1 << 31) - 1
_BITS = {"s8": 8, "u8": 8, "s16": 16}
_KINDS = (("s8", "s8", "s8"), ("s16", "s8", "s16_s8"), ("s16", "s16", "s16"))
"""Element types of the operand and the result, and the end of the kernels' names."""


@dataclass(frozen=True, eq=False)
class NormConstants:
    """The integers of a call; see `norm.h`. The first fields describe rows, gain and offset have an entry a channel.

    why: the reason why there are none; "" if there are
    """

    up: int = 0
    epsilon: int = 0
    left: int = 0
    down: int = 0
    gain: tuple[int, ...] = ()
    offset: tuple[int, ...] = ()
    why: str = ""


def _bits_of(value: Fraction) -> int:
    """The least e with |value| < 2^e, at least -31."""
    e = -31
    while abs(value) >= Fraction(2) ** e:
        e += 1
    return e


def split_of(group: np.ndarray) -> tuple[int, int, int] | None:
    """(positions, groups, channels) of data whose first group has these elements; None if there are none."""
    flat = group.reshape(-1)
    places = np.flatnonzero(flat)
    if places.size == 0 or places[0] != 0:
        return None
    channels = int(np.argmin(flat)) if not flat.all() else flat.size
    positions = places.size // channels
    groups = int(places[channels]) // channels if positions > 1 else 1
    row = positions * groups * channels
    if flat.size % row:
        return None
    expected = np.zeros((flat.size // row, positions, groups, channels), bool)
    expected[0, :, 0] = True
    return (positions, groups, channels) if np.array_equal(expected.reshape(-1), flat) else None


def _reordered_split(op: Normalization, order: Order, x: TensorType) -> tuple[int, int, int] | None:
    """(positions, groups, channels) of data stored in another order; None if its groups cannot be stated so."""
    place = np.arange(x.size).reshape(-1, op.positions, op.groups, op.channels)
    group = (place[:, :1, :, :1] + 0 * place).reshape(x.shape)
    stored = order.stored(group).reshape(-1)
    split = split_of(stored == stored[0])
    if split is None:
        return None
    firsts = stored.reshape(-1, *split)
    return split if (firsts == firsts[:, :1, :, :1]).all() else None


def _reordered_lines(op: Normalization, order: Order, x: TensorType, count: int) -> int | None:
    """How often each gamma repeats in data stored in another order; None if gammas would have to be moved."""
    stored = order.stored((np.arange(x.size) // op.inner % count).reshape(x.shape)).reshape(-1)
    inner = int(np.argmax(stored != 0)) if stored.any() else 1
    return inner if np.array_equal(stored, np.arange(x.size) // inner % count) else None


def rows_of(op: Normalization, x: TensorType) -> tuple[int, int]:
    """(up, half the bits of the root of the row's length), which are known without scales."""
    n, bits = op.length, _BITS[x.dtype]
    spread = 2 * (n - 1).bit_length() + 2 * bits - (2 if op.centred else 0)
    up = min(_MOST_UP, _WORD - spread)
    return up - up % 2, ((n - 1).bit_length() + 1) // 2


@fact
def constants(call: Call) -> NormConstants:
    """The integers of a call, computed with rational numbers."""
    op, x, y = call.op, call.input(0), call.output
    x_scale, y_scale = (Fraction(float(np.float32(t.scale))) for t in (x, y))
    up, half = rows_of(op, x)
    epsilon = Fraction(op.epsilon) * op.length**2 / x_scale**2
    while up >= 0 and round(epsilon * 2**up) >= 1 << _WORD:
        up -= 2
    gamma, beta = ([Fraction(float(v)) / y_scale for v in line] for line in op.lines(call.constants[1:]))
    most, far = max(map(abs, gamma)), max(map(abs, beta)) + (1 << _BITS[y.dtype])
    down = min(_SPARE - half - _bits_of(most), _SPARE + 1 - _bits_of(far))
    if up < 2 * half:
        return NormConstants(
            why=f"rows of {op.length} elements are too long for {x.dtype} data of the scale {x.scale:.3g}"
        )
    if down < 1:
        return NormConstants(why=f"the results reach too far beyond the range of the scale {y.scale:.3g}")
    gain = tuple(min(round(g * 2 ** (down + 2 + half)), _LARGEST) for g in gamma)
    offset = tuple(round((b + y.zero_point) * 2**down) + (1 << (down - 1)) for b in beta)
    return NormConstants(up, max(1, round(epsilon * 2**up)), up // 2 - half - 1, down, gain, offset)


def _norm(call: Call) -> Params:
    found, op = constants(call), call.op
    return {
        "norm.n": op.length, "norm.centred": int(op.centred), "norm.up": found.up, "norm.down": found.down,
        "norm.epsilon_high": found.epsilon >> 32, "norm.epsilon_low": found.epsilon & 0xFFFFFFFF,
        "norm.zero": call.input(0).zero_point, "norm.left": found.left,
    }  # fmt: skip


def _arrays(call: Call) -> dict[str, np.ndarray]:
    found = constants(call)
    return {"gain": np.array(found.gain, np.int32), "offset": np.array(found.offset, np.int32)}


def params(call: Call) -> Params:
    return {"lines": np.stack([*_arrays(call).values()], axis=1).reshape(-1), **_norm(call)}


def even_params(call: Call) -> Params:
    found = constants(call)
    return {"gain": found.gain[0], "offset": found.offset[0], **_norm(call)}


def group_params(call: Call) -> Params:
    op, found = call.op, constants(call)
    rows = call.output.size // (op.positions * op.groups * op.channels)
    last = op.inner == 1 and len(found.gain) > 1
    lines = op.channels if last else max(1, op.length // op.inner)
    shape = (op.channels, 1, op.positions, op.groups * op.channels) if last else (lines, op.inner, op.inner, 1)
    if len(found.gain) == 1:
        shape = (op.channels, 1, op.positions, op.groups * op.channels)
    return {
        **_arrays(call), **_norm(call), "rows": rows,
        "positions": op.positions, "groups": op.groups, "channels": op.channels,
        "count": len(found.gain), "lines": shape[0], "first": shape[1], "length": shape[2], "stride": shape[3],
    }  # fmt: skip


def rows(call: Call) -> int:
    return call.output.size // int(call.op.length)


def work(call: Call) -> dict[str, float]:
    """Counts: groups of elements with a root, and in groups of channels the parts with a factor of their own."""
    total = rows(call)
    return {"norm_rows": total, "norm_lines": 0 if is_one_run(call) else total * call.op.channels}


def has_integers(call: Call) -> bool:
    "rows are short enough for the element type, and the result's scale is not much too small"
    return not constants(call).why


def is_one_run(call: Call) -> bool:
    "the elements of a row follow each other"
    return bool(call.op.positions == call.op.groups == 1)


def is_even(call: Call) -> bool:
    "all elements have the same factor and addend"
    return len(constants(call).gain) == 1


def is_uneven(call: Call) -> bool:
    "each element of a row has a factor and an addend of its own"
    return bool(call.op.inner == 1 and len(constants(call).gain) == call.op.length)


def in_parts(call: Call) -> bool:
    "the channels of an image form groups, or adjacent elements of a row share factor and addend"
    return bool(call.op.with_inner(call.op.inner, len(constants(call).gain)))


def _kernels(x: str, y: str, end: str) -> tuple[Kernel, ...]:
    def is_kind(call: Call) -> bool:
        return call.input(0).dtype == x and call.output.dtype == y

    is_kind.__doc__ = f"the operand is {x}, the result {y}"
    rules, place = (is_kind, has_integers), (0,) if x == y else ()
    cost = Cost(work, ("norm_rows", "norm_lines"))
    kernel = partial(Kernel, operands=(0,), in_place=place, cost=cost)
    return (
        kernel(f"mg_norm_even_{end}", Run(rows), (*rules, is_one_run, is_even), even_params),
        kernel(f"mg_norm_{end}", Run(rows), (*rules, is_one_run, is_uneven), params),
        kernel(f"mg_norm_groups_{end}", Whole(), (*rules, in_parts), group_params),
    )


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    op, x, y = call.op, str(inputs[0]), call.output
    lines = op.lines(call.constants[1:])
    if not op.centred:
        return [_divided_by_root(call, sink, x, lines)]
    if op.inner == op.positions == op.groups == 1:
        flat = (y.size // op.length, op.length)
        given = [sink.constant(np.resize(line, op.length)) for line in lines]
        data = _onnx.reshaped(sink, x, call.input(0).with_shape(flat))
        made = sink.operator(
            "LayerNormalization", [data, *given], [y.with_shape(flat)], {"axis": -1, "epsilon": op.epsilon}
        )
        return [_onnx.reshaped(sink, made[0], y)]
    is_first = op.inner > 1
    channels = lines[0].size if is_first else op.groups * op.channels
    places = op.inner if is_first else op.positions
    shape = (y.size // (channels * places), *((channels, places) if is_first else (places, channels)))
    data = _onnx.reshaped(sink, x, call.input(0).with_shape(shape))
    data = data if is_first else _onnx.transposed(sink, data, (0, 2, 1))
    given = [sink.constant(np.resize(line, channels)) for line in lines]
    attributes = {"num_groups": channels * places // op.length, "epsilon": op.epsilon}
    t = y.with_shape((shape[0], channels, places))
    made = sink.operator("GroupNormalization", [data, *given], [t], attributes)
    return [_onnx.reshaped(sink, made[0] if is_first else _onnx.transposed(sink, made[0], (0, 2, 1)), y)]


def _divided_by_root(call: Call, sink: Sink, x: str, lines: Sequence[np.ndarray]) -> str:
    """The result of a normalization without mean, for which ONNX has no operator before opset 23."""
    op, y = call.op, _onnx.real(call.output)
    split = (y.size // (op.length * op.groups), op.positions, op.groups, op.channels)
    one = TensorType((split[0], 1, op.groups, 1), "f32")
    whole = TensorType(split, "f32")
    data = _onnx.reshaped(sink, x, call.input(0).with_shape(split))
    square = sink.operator("Mul", [data, data], [whole])[0]
    mean = sink.operator("ReduceMean", [square], [one], {"axes": (1, 3), "keepdims": 1})[0]
    least = sink.operator("Add", [mean, _onnx.constant(sink, op.epsilon)], [one])[0]
    normal = sink.operator("Div", [data, sink.operator("Sqrt", [least], [one])[0]], [whole])[0]
    count = lines[0].size
    spread = (y.size // (count * op.inner), count, op.inner) if count > 1 else split
    gamma, beta = (sink.constant(line.reshape(-1, 1) if count > 1 else line) for line in lines)
    flat = _onnx.reshaped(sink, normal, y.with_shape(spread))
    scaled = sink.operator("Mul", [flat, gamma], [y.with_shape(spread)])[0]
    return _onnx.reshaped(sink, sink.operator("Add", [scaled, beta], [call.output.with_shape(spread)])[0], call.output)


@dataclass(frozen=True)
class Normalization(Op):
    """y = gamma * (x - mean) / sqrt(variance + epsilon) + beta; not centred: gamma * x / sqrt(mean of x^2 + epsilon).

    x: s8, u8, s16 (per tensor) or f32, [rows][positions][groups][channels]; mean and variance are over the positions
    and channels of each group of a row, and y as x or, for x of s16, s8
    gamma, beta: f32 constants, or absent; element k of the data has the entry (k / inner) % count; count may be 1
    Integers (steps): S and Q are the sum and the sum of squares of n elements, V = n Q - S^2, or with the zero point z
    in place of the mean S = n z, V = n * sum of (q - z)^2. W = V * 2^up + E, E = round(epsilon n^2 / scale^2 * 2^up),
    at least 1. m is the upper half of W, shifted by an even number of bits to [2^30, 2^32), r = floor(2^46 / sqrt(m)),
    at most 2^31 - 1, d = (n q - S) shifted to 31 bits by the same number, M = gamma * r, rounded to 30 bits, and
    y = (d M + beta, the zero point and a half) shifted right. Equals the real value rounded once but in a few elements
    of a million, and there by one step. Equal elements give beta.
    Source: ONNX LayerNormalization-17, RMSNormalization-23, GroupNormalization-21, InstanceNormalization-22,
    LpNormalization-22, MeanVarianceNormalization-13; the integers: none, mcugen's own.
    """

    positions: int
    groups: int
    channels: int
    epsilon: float = 0.0
    centred: bool = True
    inner: int = 1
    dtype: str = ""

    litert_types = frozenset()
    kept_floats = (1, 2)
    writes = (Write("onnx", to_onnx),)
    kernels = tuple(kernel for kind in _KINDS for kernel in _kernels(*kind))

    @property
    def length(self) -> int:
        """The number of elements that are normalized together."""
        return self.positions * self.channels

    def with_inner(self, inner: int, count: int) -> Normalization | None:
        """The operator with gammas that repeat so; None if no kernel has them."""
        is_run = self.positions == self.groups == 1
        fits = is_run and self.length % inner == 0 if inner > 1 else count in (1, self.groups * self.channels)
        return replace(self, inner=inner) if fits else None

    def lines(self, given: Sequence[np.ndarray | None]) -> tuple[np.ndarray, np.ndarray]:
        """gamma and beta as vectors of equal length, with 1 and 0 for absent ones."""
        gamma, beta = [*given, None, None][:2]
        first = np.ones(1, np.float32) if gamma is None else gamma.reshape(-1)
        second = np.zeros(1, np.float32) if beta is None else beta.reshape(-1)
        count = max(first.size, second.size)
        return np.resize(first, count), np.resize(second, count)

    def infer(
        self, x: TensorType | None, gamma: TensorType | None = None, beta: TensorType | None = None
    ) -> tuple[TensorType, ...]:
        if x is None or x.dtype not in ("s8", "u8", "s16", "f32"):
            raise UnsupportedError(f"normalization of {x} is not supported")
        if min(self.positions, self.groups, self.channels) < 1 or x.size % (self.length * self.groups):
            raise ShapeError(f"groups of {self.positions} x {self.groups} x {self.channels} do not divide {x}")
        if not x.is_float and (x.quant is None or x.quant.per_channel):
            raise QuantizationError(f"{x} needs one scale and one zero point for the whole tensor")
        if any(t is not None and t.dtype != "f32" for t in (gamma, beta)):
            raise UnsupportedError("gamma and beta must be float32")
        return (TensorType(x.shape, self.dtype or x.dtype),)

    def quantized(self, call: Call) -> Scales:
        if any(t is not None and c is None for t, c in zip(call.inputs[1:], call.constants[1:], strict=True)):
            return refused("its gamma or beta is computed")
        up, half = rows_of(self, call.input(0).with_shape(()) if not call.input(0).is_float else TensorType((), "s8"))
        if up < 2 * half:
            return refused(f"groups of {self.length} elements are too long for sums of 64 bits")
        up, half = rows_of(self, TensorType((), "s16"))
        widths = (8, 16) if up >= 2 * half else (8,)
        apart = "TensorFlow Lite has no integer kernel for a normalization"
        return Scales("own", widths=widths, apart=apart, narrows=True)

    def rounded(self, call: Call) -> Op | None:
        return self

    def reordered(self, call: Call, orders: Sequence[Order | None]) -> Reordered | None:
        """This normalization of data in another order, if gammas need not be moved."""
        order, count = orders[0], max(1, *(t.size for t in call.inputs[1:] if t is not None), 1)
        if order is None:
            return None
        split, inner = _reordered_split(self, order, call.input(0)), _reordered_lines(self, order, call.input(0), count)
        if split is None or inner is None:
            return None
        positions, groups, channels = split
        op = replace(self, positions=positions, groups=groups, channels=channels).with_inner(inner, count)
        lines = (None if t is None else Order.plain(t.shape) for t in call.inputs[1:])
        return None if op is None else Reordered(op, (order, *lines), (order,))

    def reference(self, x: np.ndarray, gamma: np.ndarray | None = None, beta: np.ndarray | None = None) -> np.ndarray:
        parts = x.reshape(-1, self.positions, self.groups, self.channels)
        d = parts - parts.mean(axis=(1, 3), keepdims=True) if self.centred else parts
        with np.errstate(divide="ignore", invalid="ignore"):
            normal = d / np.sqrt((d * d).mean(axis=(1, 3), keepdims=True) + self.epsilon)
        first, second = self.lines((gamma, beta))
        lines = np.where(d == 0, 0.0, normal).reshape(-1, first.size, self.inner if first.size > 1 else x.size)
        return np.asarray(lines * first[:, None] + second[:, None]).reshape(x.shape)

    def reference_q(
        self, call: Call, x: np.ndarray, gamma: np.ndarray | None = None, beta: np.ndarray | None = None
    ) -> np.ndarray:
        return normalized.results(call, x, *self.lines((gamma, beta)))

    def scaling(self, call: Call) -> Scaling:
        found = constants(call)
        return {"row": (found.up, found.epsilon, found.left, found.down), "gain": found.gain, "offset": found.offset}

    def scaling_q(self, call: Call) -> Scaling:
        return normalized.scaling(call, *self.lines(call.constants[1:]))

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return _examples(cls)


def _examples(cls: type[Normalization]) -> Sequence[Example]:
    rng = np.random.default_rng(7)
    found = []
    cases = (
        ((3, 24), (1, 1, 24), 24, 1, True), ((2, 5, 7), (1, 1, 7), 1, 1, True), ((1, 6, 5, 8), (30, 4, 2), 8, 1, True),
        ((4, 13), (1, 1, 13), 13, 1, False), ((1, 4, 3, 5), (1, 1, 30), 4, 15, True), ((6, 1), (1, 1, 1), 1, 1, True),
        ((1, 3, 3, 4), (9, 4, 1), 1, 1, False), ((2, 64), (1, 1, 64), 1, 1, False),
    )  # fmt: skip
    for dtype, result, _ in _KINDS:
        for k, (shape, split, count, inner, centred) in enumerate(cases if dtype == result == "s8" else cases[:4]):
            x = TensorType(shape, dtype, QuantParams((0.05 if dtype == "s8" else 2e-4,), (-5 if dtype == "s8" else 0,)))
            y = QuantParams((0.03 if result == "s8" else 1e-4,), (7 if result == "s8" else 0,))
            op = cls(*split, 1e-5 if k % 3 else 0.0, centred, inner, "" if dtype == result else result)
            given = {1: rng.normal(1, 0.4, count), 2: rng.normal(0, 0.4, count)} if k != 6 else {}
            data = {j: v.astype(np.float32) for j, v in given.items()}
            types = (x, *(TensorType(v.shape, "f32") for v in data.values()))
            found.append(Example(op, types, (TensorType(shape, result, y),), data, 40 + k))
    return found
