"""Kernels of layers on int8 data whose weights of 4 bits have a factor for each block, and what files hold of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mcugen.ir import subbyte
from mcugen.ir.block_factors import FactoredRows, factored
from mcugen.ir.call import Call, Params, Rule, fact
from mcugen.ir.kernel import Cost, Kernel, Run, Window
from mcugen.ir.types import TensorType
from mcugen.ir.writes import Sink
from mcugen.ops import _filter, _onnx, _rounding
from mcugen.ops._weighted import activation_of, matrix, pixels, row_window, sums_fit, window_of
from mcugen.ops._window import fields

_HALF = 8
_ORDER = (0, 1, 4, 5, 2, 3, 6, 7)
"""The order of eight weights in four bytes: some cores widen every second byte of a word at once."""


@fact
def blocks_of(call: Call) -> FactoredRows | None:
    """The weights as factors and integers; None if they are not in blocks."""
    quant = call.input(1).quant
    if quant is None or not quant.block or quant.axis or call.constants[1] is None or quant.block % len(_ORDER):
        return None
    return factored(matrix(call), quant.block)


def in_blocks(call: Call) -> bool:
    "data is int8, and weights are in blocks: products of integers of 4 bits and a factor from 1 to 255 for each block"
    if call.input(0).dtype != "s8" or call.output.dtype != "s8" or not _filter.constant_weights(call):
        return False
    return _rounding.is_stated(call) and blocks_of(call) is not None


def _row_fields(call: Call) -> Params:
    w, found, quant = matrix(call), blocks_of(call), call.input(1).quant
    assert found is not None and quant is not None
    eights = np.pad(found.integers + _HALF, ((0, 0), (0, -w.shape[1] % len(_ORDER)))).reshape(-1, len(_ORDER))
    packed = subbyte.packed(eights[:, _ORDER], 4)
    return {
        **_filter.weight_fields(call, w, w, activation_of(call)),
        "weights": packed,
        "factors": found.factors.astype(np.uint8).reshape(-1),
        "taps": w.shape[1],
        "block": quant.block,
        "row_len": packed.size // len(w),
    }


def dense_params(call: Call) -> Params:
    found = {**_row_fields(call), "out_len": call.input(1).shape[0]}
    del found["in_zero_point"]
    return found


def window_params(call: Call) -> Params:
    return {**_row_fields(call), **fields(window_of(call), call.input(0), call.output)}


def patch_bytes(call: Call) -> int:
    """Scratch in bytes: the taps of an output pixel."""
    return int(matrix(call).shape[1])


def _blocks(call: Call) -> dict[str, float]:
    """Cost terms: blocks of weights that are read."""
    found = blocks_of(call)
    count = call.output.size // call.input(1).shape[0]
    return {"blocks": 0.0 if found is None else float(count * found.factors.size)}


def _gathered(call: Call) -> dict[str, float]:
    """Cost terms: blocks of weights that are read, and elements that are copied to patches."""
    return {**_blocks(call), "copied": call.output.size // call.input(1).shape[0] * float(matrix(call).shape[1])}


_RULES = (in_blocks, sums_fit, _rounding.has_line)
_DENSE = Kernel("mg_fully_connected_s8b4_line", Run(pixels), _RULES, dense_params, cost=Cost(_blocks, ("blocks",)))
DENSE = (_DENSE,)


def convolution(pointwise: Rule, one_group: Rule) -> tuple[Kernel, ...]:
    """The kernels of a convolution: one for 1x1 kernels, and one for all kernels with one group."""
    cost = Cost(_gathered, ("blocks", "copied"))
    of_rows = Kernel(
        "mg_conv2d_s8b4_line", Window(row_window, _filter.outside), (one_group, *_RULES), window_params, cost=cost
    )
    return replace(_DENSE, accepts=(pointwise, *_RULES)), replace(of_rows, scratch=patch_bytes)


def written(call: Call, sink: Sink, name: str, perm: Sequence[int] = ()) -> str:
    """The weights of a layer as ONNX has them, transposed by `perm`. Those in blocks are real numbers there, from
    integers of 4 bits and DequantizeLinear with blocks.
    """
    t, data, found = sink.type(name), sink.data(name), blocks_of(call)
    if found is None or t.quant is None or data is None:
        return _onnx.transposed(sink, name, perm) if perm else name
    integers = sink.constant_of(TensorType(found.integers.shape, "s4"), found.integers)
    scales = np.array(t.quant.scale, np.float64).reshape(-1, 1) * found.factors
    stated = {"axis": 1, "block_size": t.quant.block}
    flat = TensorType(found.integers.shape, "f32")
    real = sink.operator("DequantizeLinear", [integers, sink.constant(scales.astype(np.float32))], [flat], stated)[0]
    whole = _onnx.reshaped(sink, real, TensorType(t.shape, "f32"))
    return _onnx.transposed(sink, whole, perm) if perm else whole
