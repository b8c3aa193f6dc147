"""IntegerSoftmax: softmax of 8-bit data over the last axis in integers, over all elements or those of a mask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params, fact
from mcugen.ir.kernel import Cost, Kernel, Run, Whole
from mcugen.ir.op import Example, Op
from mcugen.ir.quant_rule import Scales
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _onnx
from mcugen.oracle import byte_tables, gemmlowp
from mcugen.oracle.fixed import each, int64
from mcugen.oracle.rational import exact, nearest, scale_of

STEPS = "mcugen: softmax in integers"
"""The doc_string of Softmax in an .onnx whose integers are those of IntegerSoftmax."""
MOST_BITS = 23
"""Largest number of bits of an exponential's fraction."""
MAX_CLASSES = 1 << 16
"""Most elements of a row; exponentials then have 15 bits."""
_SUM_BITS = 31
_WORD = 32
RESULT = {"s8": QuantParams((1 / 256,), (-128,)), "u8": QuantParams((1 / 256,), (0,))}
"""The quantization of results, by element type."""


def fraction_bits(classes: int) -> int:
    """The bits of an exponential's fraction in a row of that many elements, so that sums are at most 2^31."""
    return min(MOST_BITS, _SUM_BITS - (classes - 1).bit_length())


def exponentials(call: Call) -> np.ndarray:
    """2^(23 - f) times the nearest integer to 2^f times the exponential of each difference, uint32 [256]."""
    classes, step = call.input(0).shape[-1], float(np.float32(call.input(0).scale)) * float(np.float32(call.op.beta))
    real = np.exp(-np.arange(256, dtype=np.float64) * step)
    f = fraction_bits(classes)
    return np.asarray(np.rint(real * (1 << f)).astype(np.uint32) << np.uint32(MOST_BITS - f))


@fact
def mask_rows(call: Call) -> np.ndarray:
    """The rows of the mask that are used in turn, bool [rows, classes]; one row without a mask."""
    shape = call.input(0).shape
    if not call.has(1):
        return np.ones((1, shape[-1]), bool)
    mask = call.constant(1)
    trimmed = mask.reshape([1] * (len(shape) - mask.ndim) + list(mask.shape))
    while trimmed.ndim > 1 and trimmed.shape[0] == 1:
        trimmed = trimmed[0]
    while trimmed.ndim > 1 and bool((trimmed[1:] == trimmed[:1]).all()):
        trimmed = trimmed[0]
    inner = shape[len(shape) - trimmed.ndim :]
    return np.broadcast_to(trimmed, inner).reshape(-1, shape[-1])


def int8_steps(call: Call) -> bool:
    "input and output are int8, and the output has the scale 1/256 and the zero point -128"
    return (call.input(0).dtype, call.output.dtype) == ("s8", "s8") and call.output.quant == RESULT["s8"]


def no_mask(call: Call) -> bool:
    "all elements of a row are keys"
    return not call.has(1)


def first_keys(call: Call) -> bool:
    "the keys of each row are its first elements"
    rows = mask_rows(call)
    return call.has(1) and bool((rows[:, 1:] <= rows[:, :-1]).all())


def any_keys(call: Call) -> bool:
    "there is a mask"
    return call.has(1)


def rows(call: Call) -> int:
    """The number of vectors along the last axis."""
    return call.output.size // call.output.shape[-1]


def _ends(call: Call) -> np.ndarray:
    return np.asarray(mask_rows(call).sum(axis=1).astype(np.uint32))


def _bits(call: Call) -> np.ndarray:
    found = mask_rows(call)
    padded = np.pad(found, ((0, 0), (0, -found.shape[1] % _WORD)))
    words: np.ndarray = np.packbits(padded, axis=1, bitorder="little").view("<u4")
    return words.reshape(-1).astype(np.uint32)


def _params(call: Call, mask: np.ndarray) -> Params:
    classes = call.input(0).shape[-1]
    return {
        "exp": exponentials(call),
        "mask": mask,
        "mask_rows": len(mask_rows(call)),
        "rows": rows(call),
        "classes": classes,
        "f": fraction_bits(classes),
    }


def _keys(call: Call) -> dict[str, float]:
    """Cost terms: keys of all rows (keys), and elements that are none (others)."""
    found = mask_rows(call)
    keys = float(found.sum()) / len(found) * rows(call)
    return {"keys": keys, "others": call.output.size - keys}


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    x = str(inputs[0])
    if call.op.beta != 1.0:
        x = sink.operator("Mul", [x, _onnx.constant(sink, call.op.beta)], [_onnx.real(call.input(0))])[0]
    if call.has(1):
        hidden = sink.constant(np.array(-np.inf, np.float32))
        x = sink.operator("Where", [inputs[1], x, hidden], [_onnx.real(call.input(0))])[0]
    return sink.operator("Softmax", [x], call.outputs, {"axis": len(call.output.shape) - 1, "doc_string": STEPS})


@dataclass(frozen=True)
class IntegerSoftmax(Op):
    """y[i] = exp(beta * x[i]) / sum over the keys k of exp(beta * x[k]) for a key i, else 0; over the last axis.

    x, y: s8 or u8 per tensor, y with the scale 1/256 and the least zero point, or both f32; rank 1 or more
    mask: constant bool, broadcast to x: true for keys; optional, by default all elements are keys
    8 bits: f = min(23, 31 - ceil(log2 n)) for n elements, T[k] = 2^f exp(-k beta scale_x) to nearest, s = sum of
    T[max - x], r = floor(2^(30 + f) / s) by gemmlowp's reciprocal, y = min(255, (T[max - x] * r + 2^(f + 21)) >> (f +
    22)) / 256.
    Source: none; `mcugen quantize` makes it.
    """

    beta: float = 1.0

    litert_types = frozenset()
    writes = (Write("onnx", to_onnx),)
    kernels = (
        Kernel(
            "mg_integer_softmax_s8",
            Run(rows),
            (int8_steps, no_mask),
            lambda call: _params(call, np.zeros(1, np.uint32)),
            operands=(0,),
            in_place=(0,),
        ),
        Kernel(
            "mg_integer_softmax_s8__ends",
            Whole(),
            (int8_steps, first_keys),
            lambda call: _params(call, _ends(call)),
            operands=(0,),
            in_place=(0,),
            cost=Cost(_keys, ("keys", "others")),
        ),
        Kernel(
            "mg_integer_softmax_s8__bits",
            Whole(),
            (int8_steps, any_keys),
            lambda call: _params(call, _bits(call)),
            operands=(0,),
            in_place=(0,),
        ),
    )

    def quantized(self, call: Call) -> Scales:
        apart = "TensorFlow Lite has no softmax with a mask"
        return Scales("fixed", {8: (1 / 256, -128)}, widths=(8,), apart=apart)

    def infer(self, x: TensorType | None, mask: TensorType | None = None) -> tuple[TensorType, ...]:
        if x is None or not x.shape or not 1 <= x.shape[-1] <= MAX_CLASSES:
            raise ShapeError(f"softmax needs rows of 1 to {MAX_CLASSES} elements, not {x}")
        if x.dtype not in ("s8", "u8", "f32"):
            raise UnsupportedError(f"a softmax in integers needs 8-bit data, not {x.dtype}")
        if not 0 < self.beta < np.inf:
            raise UnsupportedError(f"beta {self.beta} must be positive and finite")
        if mask is not None:
            if mask.dtype != "bool":
                raise UnsupportedError(f"the mask must be of booleans, not {mask.dtype}")
            try:
                fits = np.broadcast_shapes(mask.shape, x.shape) == x.shape
            except ValueError:
                fits = False
            if not fits or mask.shape[-1:] != x.shape[-1:]:
                raise ShapeError(f"the mask {list(mask.shape)} does not fit {list(x.shape)}")
        return (TensorType(x.shape, x.dtype),)

    def reference(self, x: np.ndarray, mask: np.ndarray | None = None) -> np.ndarray:
        keys = np.ones(x.shape, bool) if mask is None else np.broadcast_to(mask, x.shape)
        most = np.where(keys, x, -np.inf).max(axis=-1, keepdims=True)
        e = np.exp(np.where(keys, (x - np.where(np.isfinite(most), most, 0)) * self.beta, -np.inf))
        total = e.sum(axis=-1, keepdims=True)
        return np.asarray(e / np.where(total > 0, total, 1))

    def reference_q(self, call: Call, x: np.ndarray, mask: np.ndarray | None = None) -> np.ndarray:
        if call.output.is_float:
            return self.reference(x.astype(np.float64), mask)
        keys = np.ones(x.shape, bool) if mask is None else np.broadcast_to(mask, x.shape)
        f, scale = min(23, 31 - (x.shape[-1] - 1).bit_length()), scale_of(call.input(0)) * exact(self.beta)
        table = np.array([nearest(byte_tables.exp(-k * scale) * (1 << f)) for k in range(256)])
        wide = int64(x)
        most = np.where(keys, wide, np.iinfo(x.dtype).min).max(axis=-1, keepdims=True)
        t = np.where(keys, table[np.where(keys, most - wide, 0)], 0)
        r = each(t.sum(axis=-1, keepdims=True), lambda total: _reciprocal(total, f))
        least = np.iinfo(x.dtype).min
        return np.asarray(np.minimum((t * r + (1 << (f + 21))) >> (f + 22), 255) + least)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        causal, rng = np.tril(np.ones((5, 5), bool)), np.random.default_rng(3)
        holes = rng.integers(0, 2, (2, 1, 3, 37)).astype(bool)
        holes[1, 0, 2] = False
        cases: tuple[tuple[Any, ...], ...] = (
            ((2, 10), 0.1, None),
            ((1, 3, 4), 0.02, None),
            ((7,), 3.0, None),
            ((2, 301), 0.05, None),
            ((3, 1), 0.5, None),
            ((2, 3, 5, 5), 0.07, causal, 0.25),
            ((4, 9), 0.03, np.arange(9) < np.array([[9], [1], [0], [4]])),
            ((2, 4, 3, 37), 0.04, holes),
        )
        return [example(k, *case) for k, case in enumerate(cases)]


def _reciprocal(total: int, f: int) -> int:
    """floor(2^(30 + f) / total), about; 0 if total is 0."""
    return gemmlowp.reciprocal(total, 0)[0] >> (total.bit_length() - f) if total else 0


def example(seed: int, shape: tuple[int, ...], scale: float, mask: np.ndarray | None, beta: float = 1.0) -> Example:
    x, y = (TensorType(shape, "s8", quant) for quant in (QuantParams((scale,), (3 * seed,)), RESULT["s8"]))
    if mask is None:
        return Example(IntegerSoftmax(beta), (x,), (y,), {}, seed)
    return Example(IntegerSoftmax(beta), (x, TensorType(mask.shape, "bool")), (y,), {1: mask}, seed)
