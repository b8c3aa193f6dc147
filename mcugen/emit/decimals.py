# SPDX-License-Identifier: Apache-2.0
"""Arrays as decimals, millions of elements at a time. Each float has the shortest text that round-trips the float32.

The digits of all floats are computed at once. Floats with the same sign, number of digits and exponent are then written
together into one array of bytes. The texts of one-byte integers come from a table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
import numpy.typing as npt

LOW, HIGH = np.float32(1e-4), np.float32(1e5)
"""Magnitudes in [LOW, HIGH), and zero, are written without an exponent. Others are rare."""

MOST_DIGITS = 9
"""9 significant digits round-trip any float32."""

_FIRST = 6
"""Number of digits tried first. Most weights need at least as many."""

_POWERS = np.array([10.0**k for k in range(-4, 5)])
_LEAST_SHIFT = -4
_SHIFTS = 10.0 ** np.arange(_LEAST_SHIFT, MOST_DIGITS + 5)
"""Factors that move the point of a magnitude behind its last digit."""

_SEPARATOR = ", "
_UNUSED = 0
_INDENT = "    "

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
_Shape = tuple[Ints, Bytes]
"""Indices of elements whose texts have one length, and the characters of each text with the separator after it."""


def text(data: npt.NDArray[np.float32], per_line: int, strange: Callable[[float], str]) -> str:
    """Float32 elements as lines of an initialiser, `per_line` to a line. strange: gives the text of a magnitude outside
    [LOW, HIGH).
    """
    size = np.abs(data)
    plain = (size >= LOW) & (size < HIGH) | (size == 0)
    shapes = [*_plain(data, np.flatnonzero(plain)), *_strange(data, np.flatnonzero(~plain), strange)]
    cells = np.full((len(data), max(chars.shape[1] for _, chars in shapes)), _UNUSED, np.uint8)
    lengths = np.empty(len(data), np.int64)
    for where, chars in shapes:
        cells[where, : chars.shape[1]] = chars
        lengths[where] = chars.shape[1]
    return _lines(cells, lengths, per_line)


def text_of_bytes(data: npt.NDArray[np.int8] | npt.NDArray[np.uint8], per_line: int) -> str:
    """One-byte integers as lines of an initialiser, `per_line` to a line."""
    cells, lengths = _of_every_byte(data.dtype.kind == "i")
    at = data.view(np.uint8)
    return _lines(cells[at], lengths[at], per_line)


@cache
def _of_every_byte(signed: bool) -> tuple[Bytes, Ints]:
    """The text of each byte with the separator after it, padded to one width, and its length."""
    values = np.arange(256, dtype=np.uint8).view(np.int8 if signed else np.uint8)
    texts = np.array([f"{value}{_SEPARATOR}".encode() for value in values.tolist()])
    return texts.view(np.uint8).reshape(256, -1), np.char.str_len(texts).astype(np.int64)


def _lines(cells: Bytes, lengths: Ints, per_line: int) -> str:
    """The texts in the rows of `cells`, each with the separator after it, as indented lines. lengths: of each text."""
    last = np.append(np.arange(per_line - 1, len(cells) - 1, per_line), len(cells) - 1)  # of each line
    cells[last, lengths[last] - 1] = ord("\n")
    whole = cells.tobytes().translate(None, bytes([_UNUSED])).decode("ascii")
    return _INDENT + whole[:-1].replace("\n", f"\n{_INDENT}") + "\n"


def _plain(data: npt.NDArray[np.float32], where: Ints) -> Iterator[_Shape]:
    digits, count, exponent = _digits(np.abs(data[where]))
    minus = np.signbit(data[where])
    keys = ((count * 16 + exponent + 8) * 2 + minus).astype(np.int16)
    order = np.argsort(keys, kind="stable")
    for one in np.split(order, np.flatnonzero(np.diff(keys[order])) + 1) if len(where) else []:
        k = one[0]
        yield where[one], _characters(digits[one], int(count[k]), int(exponent[k]), bool(minus[k]))


def _strange(data: npt.NDArray[np.float32], where: Ints, text: Callable[[float], str]) -> Iterator[_Shape]:
    for k in where.tolist():
        chars = np.frombuffer(f"{text(float(data[k]))}{_SEPARATOR}".encode(), np.uint8)
        yield np.array([k]), chars[None]


def _digits(wanted: npt.NDArray[np.float32]) -> tuple[Ints, Ints, Ints]:
    """For each magnitude: its fewest digits that round-trip, as one integer; their number; and the decimal exponent of
    the first digit.
    """
    size = wanted.astype(np.float64)
    exponent = np.searchsorted(_POWERS, size, side="right").astype(np.int64) - 5
    digits, count = np.zeros(len(size), np.int64), np.full(len(size), MOST_DIGITS, np.int64)

    def take(k: int, where: Ints) -> npt.NDArray[np.bool_]:
        """Round these elements to k digits, store those that round-trip, and return a mask of them."""
        shift = _SHIFTS[k - 1 - _LEAST_SHIFT - exponent[where]]
        rounded = np.rint(size[where] * shift)
        same: npt.NDArray[np.bool_] = (rounded / shift).astype(np.float32) == wanted[where]
        taken = where[same]
        digits[taken], count[taken] = rounded[same].astype(np.int64), k
        return same

    left = np.arange(len(size))
    for k in range(_FIRST, MOST_DIGITS + 1):
        left = left[~take(k, left)]
    fewer = np.flatnonzero(count == _FIRST)
    for k in range(_FIRST - 1, 0, -1):
        fewer = fewer[take(k, fewer)]
    over = digits == 10**count
    digits[over], count[over], exponent[over] = 1, 1, exponent[over] + 1
    exponent[size == 0] = 0
    return digits, count, exponent


def _characters(digits: Ints, count: int, exponent: int, minus: bool) -> Bytes:
    """Texts of elements with one sign, number of digits and exponent, one row each, with the separator."""
    point = exponent + 1
    if point <= 0:
        text = "0." + "0" * -point + "#" * count
    elif point < count:
        text = "#" * point + "." + "#" * (count - point)
    else:
        text = "#" * count + "0" * (point - count) + ".0"
    form = np.frombuffer(f"{'-' * minus}{text}f{_SEPARATOR}".encode(), np.uint8)
    chars = np.tile(form, (len(digits), 1))
    left = digits.astype(np.uint32)
    for column in np.flatnonzero(form == ord("#"))[::-1].tolist():
        left, figure = np.divmod(left, np.uint32(10))
        chars[:, column] = figure + ord("0")
    return chars
