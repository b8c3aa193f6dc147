# SPDX-License-Identifier: Apache-2.0
"""Random models whose constants are compressed as TensorFlow Lite Micro's compression writes them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from tests.runtimes.sketch import Drawn, Quant, Sketch

NAME = "CUSTOM:TFLM_DECODE"
SHAPE = (1, 5, 7)
FOUND = {16: (0x8000, 11), 32: (0x8000_0000, 27)}
"""Bits of an entry: its flag of a symbol, and where the count of bits begins."""


def header(kind: int, *more: int) -> bytes:
    return bytes((kind, 1, 0, 0, 1, *more)).ljust(16, b"\0")


def packed(bits: str) -> bytes:
    """Bits in bytes, the first the most significant, and words of 32."""
    return bytes(np.packbits([int(b) for b in bits.ljust(-(-len(bits) // 32) * 32, "0")]))


def by_table(s: Sketch, dtype: str, count: int, width: int, channels: int = 1) -> tuple[bytes, bytes]:
    """Indices of a few values for each channel."""
    tables = s.values((channels, 1 << width), dtype, 0)
    index = s.data.integers(0, 1 << width, count)
    bits = "".join(format(int(k), f"0{width}b") for k in index)
    return packed(bits), header(0, width, 1 << width) + tables.tobytes()


def by_zeros(s: Sketch, dtype: str, count: int) -> tuple[bytes, bytes]:
    """A bit for each element, and the values that are kept."""
    kept = s.data.integers(0, 2, count)
    return packed("".join(map(str, kept))), header(2) + s.values((max(int(kept.sum()), 1),), dtype, 0).tobytes()


def by_codes(s: Sketch, dtype: str, count: int, width: int) -> tuple[bytes, bytes]:
    """Four symbols with codes of one to three bits, in a table of two bits and one of the third."""
    flag, shift = FOUND[width]
    symbols = [int(v) & (0xFF if dtype == "s8" else 0xFFFF) for v in s.values((4,), dtype, 0)]
    used = ((0, 1), (0, 1), (1, 2), None, (2, 1), (3, 1))
    entries = [1 if use is None else flag | use[1] << shift | symbols[use[0]] for use in used]
    table = struct.pack(f"<6{'H' if width == 16 else 'I'}", *entries)
    bits = "".join(("0", "10", "110", "111")[k] for k in s.data.integers(0, 4, count))
    return packed(bits), header(1, 0x10 | (width == 32)) + table


def _bytes(s: Sketch, data: bytes) -> int:
    return s.tensor((len(data),), "u8", None, np.frombuffer(data, np.uint8))


def _decoded(s: Sketch, parts: tuple[bytes, bytes], shape: Sequence[int], quant: Quant) -> int:
    y = s.tensor(shape, s.dtype, quant)
    s.writer.op("CUSTOM", [_bytes(s, part) for part in parts], [y], custom_code=NAME.partition(":")[2])
    return y


def _sum(s: Sketch, compress: Callable[[Sketch, str, int], tuple[bytes, bytes]]) -> None:
    """The constant is added to an input."""
    quant = (0.05, -7) if s.dtype == "s8" else s.quant()
    x = s.x(SHAPE, None, quant)
    y = _decoded(s, compress(s, s.dtype, int(np.prod(SHAPE))), SHAPE, quant)
    s.result("ADD", [x, y], SHAPE, None, (0.1, 3) if s.dtype == "s8" else None, {"fused_activation_function": "NONE"})


_SUMS: tuple[tuple[str, Callable[[Sketch, str, int], tuple[bytes, bytes]]], ...] = (
    *(("s8", lambda s, dtype, n, width=width: by_table(s, dtype, n, width)) for width in range(1, 8)),
    *((dtype, lambda s, dtype, n: by_table(s, dtype, n, 3)) for dtype in ("f32", "s16", "s32")),
    *((dtype, by_zeros) for dtype in ("s8", "f32", "s32")),
    *(("s8", lambda s, dtype, n, width=width: by_codes(s, dtype, n, width)) for width in FOUND),
)


def _weights(s: Sketch, compress: Callable[[Sketch], tuple[bytes, bytes]], axis: int) -> None:
    """Weights with a scale for each channel: along the first axis, or of a depthwise convolution along the last."""
    shape = (6, 1, 1, 5) if axis == 0 else (1, 2, 3, 6)
    x = s.x((1, 2, 3, 5 if axis == 0 else 6), None, (0.05, 3))
    scales = [0.01 * (k + 1) for k in range(6)]
    w = s.writer.tensor("w", shape, "s8", scale=scales, zero_point=[0] * 6, axis=axis)
    s.writer.op("CUSTOM", [_bytes(s, part) for part in compress(s)], [w], custom_code=NAME.partition(":")[2])
    bias = s.writer.tensor("b", (6,), "s32", scale=[0.05 * v for v in scales], zero_point=[0] * 6, data=np.arange(6))
    plain = {"padding": "VALID", "stride_w": 1, "stride_h": 1, "fused_activation_function": "NONE"}
    if axis == 0:
        s.result("CONV_2D", [x, w, bias], (1, 2, 3, 6), None, (0.3, 2), plain)
    else:
        s.result("DEPTHWISE_CONV_2D", [x, w, bias], (1, 1, 1, 6), None, (0.3, 2), {**plain, "depth_multiplier": 1})


def models() -> Iterator[Drawn]:
    """All of them."""
    for k, (dtype, compress) in enumerate(_SUMS):
        s = Sketch(f"{NAME} {dtype} {k}", dtype)
        _sum(s, compress)
        yield s.drawn()
    for axis, count in ((0, 30), (3, 36)):
        ways = (lambda s, n=count: by_table(s, "s8", n, 4, 6), lambda s, n=count: by_zeros(s, "s8", n))
        for k, way in enumerate(ways):
            s = Sketch(f"{NAME} axis {axis} {k}", "s8")
            _weights(s, way, axis)
            yield s.drawn()
