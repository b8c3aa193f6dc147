"""TFLM_DECODE: constants that a file holds compressed, expanded when it is read.

Each result has two operands: bits, the most significant of a byte first, and a header of 16 bytes with tables after it.
The header's first byte is the compression: indices into a table per channel, Huffman codes, or a mask of nonzeros.
Source: TensorFlow Lite Micro, decode.cc, decode_state_lut.cc, decode_state_huffman.h, decode_state_prune.cc.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from mcugen.errors import CorruptModelError, UnsupportedError
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ir.types import TensorType

_HEADER = 16
_MAX_ELEMENTS = 1 << 22
_TABLES = {False: ("<u2", 11, 0x8000), True: ("<u4", 27, 0x8000_0000)}
"""Huffman tables: the type of an entry, the first bit of its bit count, and the flag that marks a symbol."""


def expand(source: Source, e: Expansion) -> Sequence[str]:
    """The constants that the operands hold."""
    if len(source.inputs) != 2 * len(source.outputs) or not source.outputs:
        raise CorruptModelError(f"the operator needs two operands for each result, but has {len(source.inputs)}")
    e.refuse("litert", "no such operator")
    return [_decoded(source, e, k, t) for k, t in enumerate(source.outputs)]


def _decoded(source: Source, e: Expansion, k: int, t: TensorType) -> str:
    packed, more = source.constant(2 * k), source.constant(2 * k + 1)
    if packed is None or more is None:
        raise UnsupportedError("the compressed data is not a constant")
    header = more.tobytes()
    if len(header) < _HEADER or header[1] != 1 or header[4] != 1 or t.size > _MAX_ELEMENTS:
        raise CorruptModelError("the header of a compressed constant is damaged, or of another version")
    way = _WAYS.get(header[0])
    if way is None:
        raise UnsupportedError(f"compression of type {header[0]} is not supported")
    if t.dtype not in ("s8", "s16", "s32", "s64", "f32", "bool"):
        raise UnsupportedError(f"a compressed constant of {t.dtype} is not supported")
    return e.constant(way(t, packed.tobytes(), header).reshape(t.shape), t.quant)


def _channels(t: TensorType) -> np.ndarray:
    """The channel of each element: along the last axis if the scales are along it, else along the first."""
    count = 1 if t.quant is None else len(t.quant.scale)
    axis = 0 if t.quant is None else t.quant.axis
    last = axis == len(t.shape) - 1 and count > 1
    if t.size % count or (axis != 0 and not last):
        raise UnsupportedError(f"compression with {count} channels along axis {axis} of {t} is not supported")
    index = np.arange(t.size)
    return np.asarray(index % count if last else index // max(t.size // count, 1))


def _values(t: TensorType, table: bytes) -> np.ndarray:
    """A table as elements of the result; an incomplete last element is dropped."""
    size = t.np_dtype.itemsize
    return np.frombuffer(table[: len(table) // size * size], t.np_dtype.newbyteorder("<")).astype(t.np_dtype)


def _taken(values: np.ndarray, index: np.ndarray) -> np.ndarray:
    if index.size and index.max() >= values.size:
        raise CorruptModelError("a compressed constant names a value that its table does not have")
    return np.asarray(values[index])


def _by_table(t: TensorType, packed: bytes, header: bytes) -> np.ndarray:
    """Decodes indices: each element is an index into its channel's table."""
    width, stride = header[5] & 7, header[6]
    bits = np.unpackbits(np.frombuffer(packed, np.uint8))
    if width == 0 or bits.size < width * t.size:
        raise CorruptModelError(f"{bits.size} bits do not hold {t.size} indices of {width} bits")
    index = bits[: width * t.size].reshape(-1, width) @ (1 << np.arange(width)[::-1])
    return _taken(_values(t, header[_HEADER:]), _channels(t) * stride + index)


def _by_zeros(t: TensorType, packed: bytes, header: bytes) -> np.ndarray:
    """Decodes a mask: a bit for each element, and the values of the elements whose bit is 1; the others are zero."""
    bits = np.unpackbits(np.frombuffer(packed, np.uint8))[: t.size].astype(bool)
    if bits.size < t.size:
        raise CorruptModelError(f"a mask of {bits.size} bits does not fit {t.size} elements")
    zeros = (0,) if t.quant is None else t.quant.zero_point
    found = np.array(zeros)[_channels(t)].astype(t.np_dtype)
    found[bits] = _taken(_values(t, header[_HEADER:]), np.arange(int(bits.sum())))
    return np.asarray(found)


def _by_codes(t: TensorType, packed: bytes, header: bytes) -> np.ndarray:
    """Decodes Huffman codes by tables of 2^n entries: a symbol and its number of bits, or the next table."""
    dtype, shift, symbol_flag = _TABLES[bool(header[5] & 1)]
    if t.dtype not in (("s8", "s16") if header[5] & 1 else ("s8",)):
        raise UnsupportedError(f"Huffman codes of {t.dtype} elements are not supported")
    body = header[_HEADER:]
    table = np.frombuffer(body[: len(body) // int(dtype[2]) * int(dtype[2])], dtype).tolist()
    first, total, at = (header[5] >> 4) + 1, 8 * len(packed), 0
    values = []
    for _ in range(t.size):
        used, place = first, 0
        while True:
            place += _bits(packed, at, used)
            at += used
            if place >= len(table) or at > total + 32:
                raise CorruptModelError("a compressed constant has a code that its tables do not have")
            entry = table[place]
            count = entry >> shift & 15
            if entry & symbol_flag:
                break
            used, place = count + 1, place + (entry & ((1 << shift) - 1))
        at -= max(used - count, 0)
        if at > total:
            raise CorruptModelError(f"{total} bits do not hold {t.size} codes")
        values.append(entry & 0xFFFF)
    return np.array(values, np.uint16).astype(t.np_dtype)


def _bits(packed: bytes, at: int, count: int) -> int:
    """`count` bits from bit `at` on, as a number; bits after the last one are 0."""
    near = packed[at // 8 : at // 8 + 4].ljust(4, b"\0")
    return int.from_bytes(near, "big") >> (32 - at % 8 - count) & ((1 << count) - 1)


_WAYS: Mapping[int, Callable[[TensorType, bytes, bytes], np.ndarray]] = {0: _by_table, 1: _by_codes, 2: _by_zeros}
IMPORTS = (Import("tflite", "CUSTOM:TFLM_DECODE", expand=expand),)
