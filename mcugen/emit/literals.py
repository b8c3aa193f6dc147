"""C text of numbers, arrays, comments and identifiers. A model's contents become data, never code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import numpy as np

from mcugen.emit import decimals
from mcugen.errors import QuantizationError
from mcugen.ir.types import PACKED_BITS, TensorType

C_TYPES = {
    "s8": "int8_t",
    "u8": "uint8_t",
    "s16": "mg_s16",
    "s32": "mg_s32",
    "s64": "mg_s64",
    "u32": "mg_u32",
    "u64": "mg_u64",
    "f32": "mg_f32",
    "bool": "uint8_t",
} | dict.fromkeys(PACKED_BITS, "uint8_t")
"""C types of tensors in the arena. The wider types may alias the arena's bytes."""

ARRAY_TYPES = {
    np.dtype(np.int8): "int8_t",
    np.dtype(np.uint8): "uint8_t",
    np.dtype(np.bool_): "uint8_t",
    np.dtype(np.int16): "int16_t",
    np.dtype(np.uint16): "uint16_t",
    np.dtype(np.int32): "int32_t",
    np.dtype(np.uint32): "uint32_t",
    np.dtype(np.int64): "int64_t",
    np.dtype(np.uint64): "uint64_t",
    np.dtype(np.float32): "float",
}
_LARGEST = float(np.finfo(np.float32).max)
_PER_LINE = 24
_LINES = 2048
"""Number of lines of text generated at a time."""


def type_text(t: TensorType) -> str:
    """A tensor's type for a comment: `s8[1,28,28,1]`."""
    return f"{t.dtype}[{','.join(str(d) for d in t.shape)}]"


def number(value: int | float) -> str:
    """An integer or float constant. A NumPy float32 counts as data, which may be NaN or infinite.

    Raises QuantizationError for any other NaN.
    """
    if isinstance(value, np.float32):
        return data_float(float(value))
    if isinstance(value, float | np.floating):
        return float32(float(value))
    return integer(int(value))


def integer(value: int) -> str:
    """A decimal constant of the smallest C type that holds the value. The least integers are written as -MAX - 1, since
    their positive counterparts are out of range.

    Negative constants have no brackets: they are initialisers, not parts of an expression.
    """
    if value == -(2**31):
        return "(-2147483647 - 1)"
    if value == -(2**63):
        return "(-9223372036854775807 - 1)"
    if value >= 2**31:
        return f"{value}u" if value < 2**32 else f"{value}"
    return str(value)


def float32(value: float) -> str:
    """The shortest decimal that round-trips the float. An infinity becomes the largest float."""
    if value != value:
        raise QuantizationError("a constant computed from the scales is not a number")
    limited = np.float32(min(max(value, -_LARGEST), _LARGEST))
    short = np.format_float_scientific(limited, unique=True, trim="0")
    plain = np.format_float_positional(limited, unique=True, trim="0")
    chosen = plain if len(plain) <= len(short) else short
    return f"{chosen}f"


def data_float(value: float) -> str:
    """A float of the model's data. It may be infinite or NaN."""
    if value != value:
        return "MCUGEN_NAN"
    if np.isinf(value):
        return "MCUGEN_INFINITY" if value > 0 else "-MCUGEN_INFINITY"
    return float32(value)


def packed(items: Iterable[str], width: int = 112) -> list[str]:
    """Items in order, joined by blanks into lines of at most `width` characters. No item is broken."""
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + 1 + len(item) <= width:
            lines[-1] += f" {item}"
        else:
            lines.append(item)
    return lines


def times(text: str, factor: int, suffix: str = "") -> str:
    """The product of a C term and a constant."""
    return text if factor == 1 else f"{text} * {factor}{suffix}"


def plus(text: str, term: int, suffix: str = "") -> str:
    """The sum of a C term and a constant."""
    return f"{text} {'-' if term < 0 else '+'} {abs(term)}{suffix}" if term else text


def remainder(text: str, divisor: int) -> str:
    """An unsigned C term modulo a constant."""
    return f"{text} % {divisor}u" if divisor != 1 else "0u"


def bracketed(literal: str) -> str:
    """A constant as a macro's value: negative constants are bracketed."""
    return f"({literal})" if literal.startswith("-") else literal


def array_text(data: np.ndarray) -> Iterator[str]:
    """The elements of an array in memory order, as lines of an initialiser. The text is generated in pieces of many
    lines, as it is much larger than the array.
    """
    flat = data.reshape(-1)
    for start in range(0, len(flat), _PER_LINE * _LINES):
        piece = flat[start : start + _PER_LINE * _LINES]
        if piece.dtype == np.float32:
            yield decimals.text(piece, _PER_LINE, data_float)
        elif piece.dtype.itemsize == 1 and piece.dtype.kind in "iu":
            yield decimals.text_of_bytes(piece, _PER_LINE)
        else:
            small = piece.dtype.itemsize < 4
            items = list(map(str if small else integer, piece.astype(np.int32).tolist() if small else piece.tolist()))
            lines = (", ".join(items[i : i + _PER_LINE]) for i in range(0, len(items), _PER_LINE))
            yield "".join([f"    {line},\n" for line in lines])


def comment(text: str, most: int = 120) -> str:
    """Text that can neither end nor start a comment nor break a line. Characters beyond plain ASCII become `?`."""
    cleaned = re.sub(r"[^\x20-\x7e]|\\", "?", text)[:most]
    return re.sub(r"(?<=\*)(?=/)|(?<=/)(?=\*)|(?<=\?)(?=\?)", " ", cleaned)
