# SPDX-License-Identifier: Apache-2.0
"""Float arrays as decimals, millions at a time. Each element is the shortest text that round-trips the float32.

Digits are computed for all elements at once. Elements with the same sign, number of digits and exponent are then
written together into one array of bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt

LOW, HIGH = np.float32(1e-4), np.float32(1e5)
"""Magnitudes in [LOW, HIGH), and zero, are written without an exponent. Others are rare."""

MOST_DIGITS = 9
"""9 significant digits round-trip any float32."""

_FIRST = 6
"""Number of digits tried first. Most weights need at least as many."""

_POWERS = np.array([10.0**k for k in range(-4, 5)])
_SEPARATOR = b", "

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
_Shape = tuple[Ints, Bytes]
"""Indices of elements whose texts have one length, and the characters of each text."""


def lines(data: npt.NDArray[np.float32], per_line: int, strange: Callable[[float], str]) -> list[str]:
    """Float32 elements as C constants, `per_line` to a line. strange: gives the text of a magnitude outside [LOW,
    HIGH).
    """
    size = np.abs(data)
    plain = (size >= LOW) & (size < HIGH) | (size == 0)
    shapes = [*_plain(data, np.flatnonzero(plain)), *_strange(data, np.flatnonzero(~plain), strange)]
    lengths = np.empty(len(data), np.int64)
    for where, chars in shapes:
        lengths[where] = chars.shape[1] + len(_SEPARATOR)
    ends = np.cumsum(lengths)
    out = np.empty(int(lengths.sum()), np.uint8)
    for where, chars in shapes:
        out[(ends - lengths)[where, None] + np.arange(chars.shape[1])] = chars
    for k, char in enumerate(_SEPARATOR):
        out[ends - len(_SEPARATOR) + k] = char
    whole = out.tobytes().decode("ascii")
    cuts = [0, *ends[per_line - 1 : -1 : per_line].tolist(), *ends[-1:].tolist()]
    return [whole[start : end - len(_SEPARATOR)] for start, end in pairwise(cuts)]


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
        chars = np.frombuffer(text(float(data[k])).encode(), np.uint8)
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
        shift = 10.0 ** (k - 1 - exponent[where])
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
    """Texts of elements with one sign, number of digits and exponent: one row of characters per element."""
    point = exponent + 1
    if point <= 0:
        text = "0." + "0" * -point + "#" * count
    elif point < count:
        text = "#" * point + "." + "#" * (count - point)
    else:
        text = "#" * count + "0" * (point - count) + ".0"
    form = np.frombuffer(f"{'-' * minus}{text}f".encode(), np.uint8)
    chars = np.tile(form, (len(digits), 1))
    left = digits.astype(np.uint32)
    for column in np.flatnonzero(form == ord("#"))[::-1].tolist():
        left, figure = np.divmod(left, np.uint32(10))
        chars[:, column] = figure + ord("0")
    return chars
