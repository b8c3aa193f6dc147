"""A fully connected layer on floats with weights of 2, 4 or 8 bits, which have a scale for each block of inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir import subbyte
from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Cost, Kernel, Run, Text
from mcugen.ir.op import Example
from mcugen.ir.types import TensorType, dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _onnx
from mcugen.ops._activation import Activated, float_clamp_fields
from mcugen.oracle import filters

BITS = {"s2": 2, "s4": 4, "s8": 8}
"""Element types of the weights, and their bits."""


def vectors(call: Call) -> int:
    """The number of output vectors."""
    return call.output.size // call.output.shape[-1]


def constant_weights(call: Call) -> bool:
    "weights, scales, zero points and bias are constant"
    return all(c is not None for t, c in zip(call.inputs[1:], call.constants[1:], strict=True) if t is not None)


def whole_bytes(call: Call) -> bool:
    "each block of weights fills whole bytes, or has more weights than a row"
    return bool(call.op.block % (8 // bits(call)) == 0 or call.op.block >= call.input(1).shape[1])


def bits(call: Call) -> int:
    """The bits of a weight."""
    return BITS[call.input(1).dtype]


def rows_of_bytes(stored: np.ndarray, width: int) -> np.ndarray:
    """Unsigned integers [rows, n] of `width` bits as bytes; each row begins a new byte."""
    each = 8 // width
    padded = np.pad(stored, ((0, 0), (0, -stored.shape[1] % each)))
    return subbyte.packed(padded, width)


def spread(per_block: np.ndarray, block: int, length: int) -> np.ndarray:
    """Numbers [rows, blocks], repeated for each of `length` weights of a row."""
    return np.repeat(per_block, block, axis=1)[:, :length]


def params(call: Call) -> Params:
    w, half = call.constant(1).astype(np.int64), 1 << (bits(call) - 1)
    zeros = call.constant(3).astype(np.int64) + half if call.has(3) else np.array([half])
    is_even = bool((zeros == zeros.flat[0]).all())
    outputs = w.shape[0]
    bias = call.constant(4).reshape(-1) if call.has(4) else np.zeros(outputs)
    packed = rows_of_bytes((w + half).astype(np.uint8), bits(call))
    return {
        "weights": packed,
        "scales": call.constant(2).astype(np.float32).reshape(-1),
        "zeros": (zeros.reshape(-1)[:1] if is_even else zeros.reshape(-1)).astype(np.uint8),
        "bias": bias.astype(np.float32),
        **float_clamp_fields(call, call.op.activation),
        "in_len": w.shape[1],
        "out_len": outputs,
        "block": min(call.op.block, w.shape[1]),
        "row_len": packed.size // outputs,
        "zero_stride": int(not is_even),
    }


def work(call: Call) -> dict[str, float]:
    """The cost terms: bytes of weights that are read, and blocks of weights."""
    fields, count = params(call), vectors(call)
    return {
        "packed": count * float(np.asarray(fields["weights"]).size),
        "blocks": count * float(np.asarray(fields["scales"]).size),
    }


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    """DequantizeLinear with blocks, and Gemm."""
    x, w = call.input(0), call.input(1)
    outputs, length = w.shape
    kind = "s8" if w.dtype == "s8" else "s4"
    given = [sink.constant_of(TensorType(w.shape, kind), call.constant(1)), inputs[2]]
    given += [sink.constant_of(TensorType(call.input(3).shape, kind), call.constant(3))] if call.has(3) else []
    stated = {"axis": 1, "block_size": call.op.block}
    real = sink.operator("DequantizeLinear", given, [TensorType(w.shape, "f32")], stated)[0]
    flat = _onnx.reshaped(sink, str(inputs[0]), x.with_shape((x.size // length, length)))
    operands = [flat, real, *([] if len(inputs) < 5 or inputs[4] is None else [inputs[4]])]
    y = call.output.with_shape((call.output.size // outputs, outputs))
    return [_onnx.reshaped(sink, _onnx.activated(_flat(call, y), sink, "Gemm", operands, {"transB": 1}), call.output)]


def _flat(call: Call, y: TensorType) -> Call:
    return Call(call.op, call.inputs, (y,), call.constants, call.reference)


@dataclass(frozen=True)
class BlockedFullyConnected(Activated):
    """y[..., o] = activation(b[o] + sum over k of s[o, k / block] * (w[o, k] - z[o, k / block]) * x[..., k]).

    x: f32 [..., K]   w: s2, s4 or s8 [O, K], packed in the C   s: f32 [O, K / block, rounded up]
    z: as w, but in whole bytes, of the shape of s, or absent   b: f32 [O] or absent   y: f32 [..., O]
    Source: com.microsoft MatMulNBits-1; ONNX DequantizeLinear-21 with block_size before MatMul-13 and Gemm-13.
    """

    block: int
    activation: str = "NONE"

    packed_operands = (1,)
    tflm_types = litert_types = dtypes("")
    writes = (Write("onnx", to_onnx),)
    kernels = (
        Kernel(
            "mg_blocked_fully_connected_f32",
            Run(vectors),
            accepts=(constant_weights, whole_bytes),
            params=params,
            operands=(0,),
            text=Text(lambda call: {"bits": bits(call)}),
            cost=Cost(work, ("packed", "blocks")),
        ),
    )

    def infer(
        self,
        x: TensorType | None,
        w: TensorType | None,
        s: TensorType | None,
        z: TensorType | None = None,
        b: TensorType | None = None,
    ) -> tuple[TensorType, ...]:
        if x is None or w is None or s is None or len(w.shape) != 2 or not x.shape or x.shape[-1] != w.shape[1]:
            raise ShapeError(f"vectors {x} do not fit weights {w}")
        if x.dtype != "f32" or w.dtype not in BITS or s.dtype != "f32" or (b is not None and b.dtype != "f32"):
            raise UnsupportedError(f"{x.dtype} data with {w.dtype} weights in blocks is not supported")
        outputs, length = w.shape
        wanted = (outputs, -(-length // self.block)) if self.block > 0 else ()
        if s.shape != wanted or (z is not None and (z.shape != wanted or z.dtype != "s8")):
            raise ShapeError(f"scales {s} and zero points {z} do not fit blocks of {self.block} of the weights {w}")
        if b is not None and b.size != outputs:
            raise ShapeError(f"bias {b} does not fit {outputs} outputs")
        return (TensorType((*x.shape[:-1], outputs), "f32"),)

    def reference_q(
        self,
        call: Call,
        x: np.ndarray,
        w: np.ndarray,
        s: np.ndarray,
        z: np.ndarray | None = None,
        b: np.ndarray | None = None,
    ) -> np.ndarray:
        """The product with the dequantized weights, in float64."""
        real = filters.unblocked(w, s, z, self.block)
        wide = None if b is None else b.astype(np.float64)
        return filters.real_results(x.astype(np.float64) @ real.T, wide, self.activation)

    def macs(self, call: Call) -> int:
        return call.output.size * call.input(1).shape[1]

    def in_words(self, call: Call) -> str:
        made, given = call.input(1).shape
        times = f", {vectors(call)} times" if vectors(call) > 1 else ""
        return f"{given} to {made}, weights in blocks of {self.block}{times}"

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [example(k, *case) for k, case in enumerate(_CASES)]


_CASES: tuple[tuple[tuple[int, ...], int, str, int, bool, bool, str], ...] = (
    ((1, 64), 5, "s4", 32, False, True, "NONE"),
    ((3, 37), 4, "s4", 16, True, False, "RELU"),
    ((2, 2, 16), 3, "s8", 16, True, True, "NONE"),
    ((1, 50), 7, "s8", 7, False, True, "RELU6"),
    ((1, 21), 2, "s2", 8, False, False, "NONE"),
    ((2, 9), 6, "s4", 64, True, True, "NONE"),
)
"""Shape of the data, outputs, weights, block, whether there are zero points and a bias, activation."""


def example(
    seed: int, shape: tuple[int, ...], outputs: int, dtype: str, block: int, zeros: bool, bias: bool, activation: str
) -> Example:
    length, rng = shape[-1], np.random.default_rng(seed)
    blocks = (outputs, -(-length // block))
    x, w, s = TensorType(shape, "f32"), TensorType((outputs, length), dtype), TensorType(blocks, "f32")
    low, high = w.limits
    data: dict[int, np.ndarray | None] = {1: rng.integers(low, high, w.shape, endpoint=True).astype(np.int8)}
    data[2] = (rng.uniform(0.2, 1.0, blocks) * rng.choice([-1, 1], blocks) / high).astype(np.float32)
    z = TensorType(blocks, "s8") if zeros else None
    b = TensorType((outputs,), "f32") if bias else None
    if z is not None:
        data[3] = rng.integers(low, high, blocks, endpoint=True).astype(np.int8)
    if b is not None:
        data[4] = rng.standard_normal(outputs).astype(np.float32)
    op = BlockedFullyConnected(block, activation)
    return Example(op, (x, w, s, z, b), (TensorType((*shape[:-1], outputs), "f32"),), data, seed)
