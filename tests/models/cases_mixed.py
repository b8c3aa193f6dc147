# SPDX-License-Identifier: Apache-2.0
"""Cases whose operands differ in dtype: quantize, dequantize, casts, index tensors, shape arithmetic, half floats."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.models.family import Family

Cases = Callable[[Family], None]


def _requantize(source: str, target: str) -> Cases:
    def cases(f: Family) -> None:
        shape = (1, 8, 8, 4)
        for k, ratio in enumerate((1.0, 0.37, 0.013, 2.6)):
            zero = {"s8": (-128, 0, 5, 127), "s16": (0,) * 4}[target][k]
            x = f.x(*shape, k=k, dtype=source, scale=None if source in ("s8", "u8") else _wide_scale(source))
            scale = _target_scale(f.info[x].scale or 1.0, source, target) / ratio
            f.op("QUANTIZE", [x], shape, dtype=target, scale=scale, zero_point=zero)

    return cases


def _wide_scale(dtype: str) -> float:
    return {"s16": 0.00037, "s32": 1.7e-7}[dtype]


def _target_scale(scale: float, source: str, target: str) -> float:
    """Scale that maps the full range of the source onto the full range of the target."""
    bits = {"s8": 8, "u8": 8, "s16": 16, "s32": 32}
    return float(scale * 2.0 ** (bits[source] - bits[target]))


def quantize_signs(f: Family) -> None:
    """Equal scales, zero points 128 apart: the flip of the top bit."""
    x = f.x(1, 4, 64, dtype="u8", scale=0.05, zero_point=131)
    f.op("QUANTIZE", [x], (1, 4, 64), dtype="s8", scale=0.05, zero_point=3)
    y = f.x(1, 4, 64, dtype="s8", scale=0.05, zero_point=-7)
    f.op("QUANTIZE", [y], (1, 4, 64), dtype="u8", scale=0.05, zero_point=121)


def quantize_from_float(f: Family) -> None:
    x = f.x(1, 4, 64)
    for dtype, scale, zero in (("s8", 0.03, -128), ("s8", 0.011, 127), ("s8", 0.5, 3), ("s16", 0.0001, 0)):
        f.op("QUANTIZE", [x], (1, 4, 64), dtype=dtype, scale=scale, zero_point=zero)


def quantize_float_u8(f: Family) -> None:
    f.op("QUANTIZE", [f.x(1, 4, 64)], (1, 4, 64), dtype="u8", scale=0.03, zero_point=120)


def _dequantize(source: str) -> Cases:
    def cases(f: Family) -> None:
        for k in range(3):
            f.op("DEQUANTIZE", [f.x(1, 4, 64, k=k)], (1, 4, 64), dtype="f32")

    return cases


def softmax_wide_output(f: Family) -> None:
    for k, n in enumerate((10, 3)):
        f.op("SOFTMAX", [f.x(2, n, k=k)], (2, n), {"beta": 1.0}, dtype="s16", scale=1 / 65536, zero_point=-32768)


def scatter_nd(f: Family) -> None:
    x, rows = f.x(3), f.x(2, 4)
    f.op("SCATTER_ND", [f.const([[4], [1], [6]]), x, f.const([8])], (8,))
    f.op("SCATTER_ND", [f.const([[2], [0]]), rows, f.const([3, 4])], (3, 4))
    f.op("SCATTER_ND", [f.const([[0, 1], [2, 2], [0, 1]]), x, f.const([3, 3])], (3, 3))


def _reverse_sequence(dtype: str) -> Cases:
    def cases(f: Family) -> None:
        x, y = f.x(4, 8, dtype=dtype), f.x(3, 5, 2, dtype=dtype)
        lengths = f.const([3, 8, 1, 5], "s64")
        f.op("REVERSE_SEQUENCE", [x, lengths], (4, 8), {"seq_dim": 1, "batch_dim": 0}, dtype=dtype)
        options = {"seq_dim": 0, "batch_dim": 1}
        f.op("REVERSE_SEQUENCE", [y, f.const([3, 2, 1, 2, 3])], (3, 5, 2), options, dtype=dtype)

    return cases


def _cast(source: str, target: str) -> Cases:
    def cases(f: Family) -> None:
        x = f.x(3, 20, dtype=source)
        f.op("CAST", [x], (3, 20), {"in_data_type": source, "out_data_type": target}, dtype=target)

    return cases


def shape_chain(f: Family) -> None:
    """RESHAPE to a shape that the graph computes: [first dimension, 12, 2] from SHAPE, STRIDED_SLICE and PACK."""
    x = f.x(2, 3, 4, 2, k=1)
    shape = f.op("SHAPE", [x], (4,), {"out_type": "s32"}, hidden=True, dtype="s32")
    begin, end, step = f.const([0]), f.const([1]), f.const([1])
    masks = {"shrink_axis_mask": 1}
    first = f.op("STRIDED_SLICE", [shape, begin, end, step], (), masks, hidden=True, dtype="s32")
    options = {"axis": 0, "values_count": 3}
    target = f.op("PACK", [first, f.const(12), f.const(2)], (3,), options, hidden=True, dtype="s32")
    f.op("RESHAPE", [x, target], (2, 12, 2), like=x)


def float16_constants(f: Family) -> None:
    """Weights and bias stored as f16, widened by DEQUANTIZE before the convolution reads them."""
    x = f.x(1, 5, 5, 2)
    wide = []
    for shape in ((3, 3, 3, 2), (3,)):
        values = f.rng.standard_normal(shape).astype(np.float16)
        wide.append(f.op("DEQUANTIZE", [f.const(values, "f16")], shape, hidden=True, dtype="f32"))
    options = {"padding": "SAME", "stride_h": 1, "stride_w": 1, "fused_activation_function": "RELU"}
    f.op("CONV_2D", [x, *wide], (1, 5, 5, 3), options)
    table = f.rng.standard_normal((4,)).astype(np.float16)
    f.op("ADD", [f.x(3, 4), f.op("DEQUANTIZE", [f.const(table, "f16")], (4,), hidden=True)], (3, 4))


FAMILIES: list[tuple[str, str, Cases]] = [
    ("s8", "quantize_s8", _requantize("s8", "s8")),
    ("u8", "quantize_s8", _requantize("u8", "s8")),
    ("s8", "quantize_s16", _requantize("s8", "s16")),
    ("s16", "quantize_s8", _requantize("s16", "s8")),
    ("s16", "quantize_s16", _requantize("s16", "s16")),
    ("s32", "quantize_s16", _requantize("s32", "s16")),
    ("s32", "quantize_s8", _requantize("s32", "s8")),
    ("u8", "quantize_signs", quantize_signs),
    ("f32", "quantize", quantize_from_float),
    ("f32", "quantize_u8", quantize_float_u8),
    ("s8", "dequantize", _dequantize("s8")),
    ("u8", "dequantize", _dequantize("u8")),
    ("s16", "dequantize", _dequantize("s16")),
    ("s8", "softmax_s16", softmax_wide_output),
    ("f32", "scatter_nd", scatter_nd),
    ("f32", "reverse_sequence", _reverse_sequence("f32")),
    ("s32", "reverse_sequence", _reverse_sequence("s32")),
    ("s32", "cast_f32", _cast("s32", "f32")),
    ("f32", "cast_s32", _cast("f32", "s32")),
    ("s8", "cast_f32", _cast("s8", "f32")),
    ("s8", "shape_chain", shape_chain),
    ("f32", "shape_chain", shape_chain),
    ("f32", "float16_constants", float16_constants),
]
